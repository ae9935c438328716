"""How often the 95 % intervals of `campaigns.statistics.mean_effect` hold the true mean, and how wide they are.

    nice -n 15 .venv/bin/python benchmarks/interval_coverage.py

Effects are drawn around a known mean of 0: independent and normal; from an autoregressive process of first order with a
correlation of 0.3 or 0.8; independent around a line that rises by 3 standard deviations ("trend", whose mean is 0); and
skewed (exponential, less their mean). "Windows" is the interval of windows and slices of one log, "replicates" that of
independent replicates. BCa (`bootstrap`) is the peer: its share, and how many times as wide the interval of windows is
(median). The last column is the share of cases in which all windows are on one side of 0, by chance alone: where it is
large, no procedure that calls such windows different can hold the mean in 95 % of the cases.
"""

from __future__ import annotations

import sys

import numpy as np
from numpy.typing import NDArray

from batdispatch.abilities.campaigns.statistics.bootstrap import Draws, mean_by_bootstrap
from batdispatch.abilities.campaigns.statistics.estimate import Estimate
from batdispatch.abilities.campaigns.statistics.mean_effect import mean_effect

Floats = NDArray[np.float64]
WINDOWS = (6, 10, 30)
TRIALS = 2000
#: Fewer than a page takes, so that this takes minutes; 9,999 move an end by a hundredth of the width.
RESAMPLES = 999
#: Name of each kind of effects, and the correlation of neighbours.
KINDS = {"independent": 0.0, "AR(.3)": 0.3, "AR(.8)": 0.8, "trend": 0.0, "skewed": 0.0}
#: How far a trend rises from the first to the last window, standard deviations.
RISE = 3.0


def main(trials: int = TRIALS) -> None:
    print("| windows | effects | windows | replicates | BCa | width over BCa | all on one side |")
    print("|---:|---|---:|---:|---:|---:|---:|")
    for n in WINDOWS:
        for place, kind in enumerate(KINDS):
            rng = np.random.default_rng([n, place])
            held, ratios, sided = np.zeros(3), [], 0
            for trial in range(trials):
                values = effects(rng, n, kind)
                found = (
                    mean_effect(values, in_time=True),
                    mean_effect(values),
                    mean_by_bootstrap(values, Draws(resamples=RESAMPLES, seed=trial)),
                )
                held += [_holds(one) for one in found]
                ratios.append(_width(found[0]) / _width(found[2]))
                sided += bool((values > 0).all() or (values < 0).all())
            shares = " | ".join(f"{100 * count / trials:.1f} %" for count in held)
            print(f"| {n} | {kind} | {shares} | {np.median(ratios):.2f} | {100 * sided / trials:.1f} % |", flush=True)


def effects(rng: np.random.Generator, n: int, kind: str) -> Floats:
    """Return n effects of a kind, whose mean is 0."""
    if kind == "skewed":
        return np.asarray(rng.exponential(size=n) - 1.0)
    values, correlation = rng.normal(size=n), KINDS[kind]
    for at in range(1, n):
        values[at] = correlation * values[at - 1] + np.sqrt(1 - correlation**2) * values[at]
    return values + RISE * np.linspace(-0.5, 0.5, n) if kind == "trend" else values


def _holds(found: Estimate) -> bool:
    assert found.low is not None
    assert found.high is not None
    return found.low <= 0.0 <= found.high


def _width(found: Estimate) -> float:
    assert found.low is not None
    assert found.high is not None
    return found.high - found.low


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
