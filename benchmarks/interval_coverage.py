"""How often the 95 % intervals of `results.statistics` hold the true ratio, for few replicates.

    nice -n 15 .venv/bin/python benchmarks/interval_coverage.py

Ratios are drawn whose logarithms are normal, or skewed (exponential, less their mean): the true geometric mean is 1.
"""

from __future__ import annotations

import numpy as np

from batdispatch.results.statistics.bootstrap import Draws, geometric_mean_by_bootstrap
from batdispatch.results.statistics.signed_rank import signed_rank

REPLICATES = (3, 5, 6, 10, 20, 30)
TRIALS = 1000
#: Fewer than of a comparison, so that this takes minutes; 9,999 move an end by a hundredth of the width.
RESAMPLES = 1999


def main() -> None:
    print("| replicates | logarithms | BCa | percentile | signed ranks say no difference |")
    print("|---:|---|---:|---:|---:|")
    for n in REPLICATES:
        for name in ("normal", "skewed"):
            rng = np.random.default_rng([n, len(name)])
            held = {"BCa": 0, "percentile": 0}
            silent = 0
            for trial in range(TRIALS):
                logs = rng.normal(size=n) if name == "normal" else rng.exponential(size=n) - 1.0
                silent += signed_rank(logs) >= 0.05
                for method in held:
                    draws = Draws(resamples=RESAMPLES, seed=trial, method=method)  # type: ignore[arg-type]
                    found = geometric_mean_by_bootstrap(np.exp(logs), draws)
                    assert found.low is not None
                    assert found.high is not None
                    held[method] += found.low <= 1.0 <= found.high
            shares = [f"{100 * count / TRIALS:.1f} %" for count in (*held.values(), silent)]
            print(f"| {n} | {name} | {' | '.join(shares)} |", flush=True)


if __name__ == "__main__":
    main()
