"""How often the 95 % intervals of `results.statistics` hold the true ratio, for few replicates.

    nice -n 15 .venv/bin/python benchmarks/interval_coverage.py

Ratios are drawn whose logarithms are normal, skewed (exponential, less their mean), or normal with a correlation of
neighbours (an autoregressive process of first order): the true geometric mean is 1. "Neighbours" is what windows and
slices of a log get: Student's interval if they resemble their neighbours, else BCa. "Blocks" is the usual remedy, a
bootstrap of circular blocks, whose length is that of Carlstein's rule for such a process.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from batdispatch.results.statistics.bootstrap import Draws, mean_by_bootstrap
from batdispatch.results.statistics.dependence import MOST, autocorrelation, equivalent_size
from batdispatch.results.statistics.signed_rank import signed_rank
from batdispatch.results.statistics.student import mean_by_student

REPLICATES = (3, 5, 6, 10, 20, 30)
TRIALS = 1000
#: Fewer than of a comparison, so that this takes minutes; 9,999 move an end by a hundredth of the width.
RESAMPLES = 1999


Floats = NDArray[np.float64]
#: Name of each kind of logarithms, and the correlation of neighbours.
KINDS = {"normal": 0.0, "skewed": 0.0, "neighbours 0.3": 0.3, "neighbours 0.5": 0.5}


def main() -> None:
    print("| replicates | logarithms | BCa | percentile | blocks | neighbours | signed ranks say no difference |")
    print("|---:|---|---:|---:|---:|---:|---:|")
    for n in REPLICATES:
        for name, correlation in KINDS.items():
            rng = np.random.default_rng([n, len(name), int(10 * correlation)])
            held = dict.fromkeys(("BCa", "percentile", "blocks", "neighbours"), 0)
            silent = 0
            for trial in range(TRIALS):
                logs = rng.exponential(size=n) - 1.0 if name == "skewed" else _process(rng, n, correlation)
                silent += signed_rank(logs) >= 0.05
                ends = {
                    method: mean_by_bootstrap(logs, Draws(resamples=RESAMPLES, seed=trial, method=method))[1:3]
                    for method in ("BCa", "percentile")
                }
                size = equivalent_size(logs)
                ends["neighbours"] = mean_by_student(logs, size=size)[1:3] if size < n else ends["BCa"]
                ends["blocks"] = _blocks(logs, np.random.default_rng(trial))
                for method, (low, high) in ends.items():
                    held[method] += low <= 0.0 <= high
            shares = [f"{100 * count / TRIALS:.1f} %" for count in (*held.values(), silent)]
            print(f"| {n} | {name} | {' | '.join(shares)} |", flush=True)


def _process(rng: np.random.Generator, n: int, correlation: float) -> Floats:
    values = rng.normal(size=n)
    for at in range(1, n):
        values[at] = correlation * values[at - 1] + np.sqrt(1 - correlation**2) * values[at]
    return values


def _blocks(values: Floats, rng: np.random.Generator) -> tuple[float, float]:
    """Return the ends of the percentile interval of a mean, drawn in circular blocks (Politis and Romano 1992)."""
    n, alike = len(values), max(autocorrelation(values), 0.0)
    length = max(round((np.sqrt(6) * alike / (1 - min(alike, MOST) ** 2)) ** (2 / 3) * n ** (1 / 3)), 1)
    first = rng.integers(n, size=(RESAMPLES, -(-n // length), 1))
    drawn = values[((first + np.arange(length)) % n).reshape(RESAMPLES, -1)[:, :n]]
    low, high = np.quantile(drawn.mean(axis=1), [0.025, 0.975])
    return float(low), float(high)


if __name__ == "__main__":
    main()
