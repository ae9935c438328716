"""How well windows, and slices from idle, agree with the whole log: each ordering against easy, in three figures.

    nice -n 15 .venv/bin/python benchmarks/window_agreement.py LOG... [--out FOLDER] [--replicates N] [--window N]

Runs that are whole in FOLDER are kept. A figure is marked * if it differs from the whole log's by more than 25 %.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import batdispatch as bd

ORDERINGS = (
    *("sjf", "smallest-area", "smallest-first", "f1", "f2", "f3", "f4", "unicef", "wfp3", "slowdown", "aged-area"),
    *("ljf", "largest-area", "largest-first", "lcfs"),
)
OTHERS = ("easy[backfill=sjf]", "filler[ordering=sjf]", "fcfs", "conservative")
GUARDED = "easy[ordering=guarded]"
DISPATCHERS = ("easy", *(f"easy[ordering={name}]" for name in ORDERINGS), GUARDED, *OTHERS)
FIGURES = ("mean_bounded_slowdown", "mean_waiting_time", "max_waiting_time")
#: Relative difference above which two figures do not agree.
MOST = 0.25
Ratios = dict[str, dict[str, float]]


def main() -> None:
    read = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    read.add_argument("logs", nargs="+", type=Path)
    read.add_argument("--out", type=Path, default=Path("window-agreement"))
    read.add_argument("--replicates", type=int, default=10)
    read.add_argument("--window", type=float, default=None)
    given = read.parse_args()
    for log in given.logs:
        _measure(log, given.out / log.name.partition(".")[0], given.replicates, given.window)


def _measure(log: Path, out: Path, replicates: int, window: float | None) -> None:
    whole = _of_whole(bd.compare(log, list(DISPATCHERS), out=out / "whole", record=False))
    windows = bd.replicate(
        log, list(DISPATCHERS), replicates, window=window, out=out / f"windows-{window or 'default'}"
    )
    slices = bd.replicate(log, list(DISPATCHERS), replicates, replicate_by="slices", out=out / "slices")
    print(f"\n{log.name}: {windows.facts.how}\n")
    print("| against easy: slowdown / mean wait / longest wait | whole log | windows | slices of 1,000 from idle |")
    print("|---|---|---|---|")
    found = [_of_replicates(windows), _of_replicates(slices)]
    for name in DISPATCHERS[1:]:
        cells = [" / ".join(f"{whole[name][figure]:.2f}" for figure in FIGURES)]
        cells += [" / ".join(_cell(one[name][figure], whole[name][figure]) for figure in FIGURES) for one in found]
        print(f"| `{name}` | {' | '.join(cells)} |")


def _cell(value: float, true: float) -> str:
    return f"{value:.2f}{'' if true / (1 + MOST) <= value <= true * (1 + MOST) else '*'}"


def _of_whole(comparison: Any) -> Ratios:
    """Return the ratios to easy of one run each, by the dispatchers' names as they were given."""
    runs = dict(zip(DISPATCHERS, comparison.values(), strict=True))
    easy = runs["easy"].metrics
    return {name: {figure: run.metrics[figure] / easy[figure] for figure in FIGURES} for name, run in runs.items()}


def _of_replicates(found: Any) -> Ratios:
    ratios: Ratios = {name: {} for name in DISPATCHERS}
    for answer in found.sections[0].answers:
        for pair in answer.pairs:
            ratios[pair.ours][answer.aim.metric] = pair.effect.value
    return ratios


if __name__ == "__main__":
    main()
