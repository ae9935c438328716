"""How well windows, and slices from idle, agree with the whole log: each ordering against easy, in three figures.

    nice -n 15 .venv/bin/python benchmarks/window_agreement.py LOG... [--out FOLDER] [--replicates N] [--ways WAY,...]
    [--rows NAME,...]

Runs that are whole in FOLDER are kept. A figure is marked * if it differs from the whole log's by more than 25 %.
--rows says which dispatchers have rows; the last row counts all.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import batdispatch as bd
from batdispatch.core.line.options import split_list

ORDERINGS = (
    *("sjf", "smallest-area", "smallest-first", "f1", "f2", "f3", "f4", "unicef", "wfp3", "slowdown", "aged-area"),
    *("ljf", "largest-area", "largest-first", "lcfs"),
)
OTHERS = ("easy[backfill=sjf]", "filler[ordering=sjf]", "fcfs", "conservative")
GUARDED = "easy[ordering=guarded]"
DISPATCHERS = ("easy", *(f"easy[ordering={name}]" for name in ORDERINGS), GUARDED, *OTHERS)
FIGURES = ("mean_bounded_slowdown", "mean_waiting_time", "max_waiting_time")
#: What is held against the whole log -> how its replicates are made.
WAYS: dict[str, dict[str, Any]] = {
    "windows": {},
    "windows of 10000": {"window": 10_000},
    "separate windows of 10000": {"replicate_by": "separate-windows", "window": 10_000},
    "slices of 1000 from idle": {"replicate_by": "slices", "slice_jobs": 1_000},
}
#: Relative difference above which two figures do not agree.
MOST = 0.25
STAR = "\\*"
Ratios = dict[str, dict[str, float]]


def main() -> None:
    read = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    read.add_argument("logs", nargs="+", type=Path)
    read.add_argument("--out", type=Path, default=Path("window-agreement"))
    read.add_argument("--replicates", type=int, default=10)
    read.add_argument("--ways", default=",".join(WAYS), help="what is held against the whole log")
    read.add_argument("--rows", default=",".join(DISPATCHERS[1:]), help="dispatchers that have rows")
    given = read.parse_args()
    ways, rows = given.ways.split(","), split_list(given.rows)
    for log in given.logs:
        _measure(log, given.out / log.name.partition(".")[0], given.replicates, ways, rows)


def _measure(log: Path, out: Path, replicates: int, ways: list[str], rows: Sequence[str]) -> None:
    whole = _of_whole(bd.compare(log, list(DISPATCHERS), out=out / "whole", record=False))
    made = {
        name: bd.replicate(log, list(DISPATCHERS), replicates, out=out / name.replace(" ", "-"), **WAYS[name])
        for name in ways
    }
    for name, one in made.items():
        print(f"{log.name}, {name}: {one.facts.how}", file=sys.stderr)
    found = [_of_replicates(one) for one in made.values()]
    what = f"{log.name.partition('.')[0]}, against easy: slowdown / mean wait / longest wait"
    print(f"| {what} | whole log | {' | '.join(made)} |")
    print(f"|---|{'---|' * (len(made) + 1)}")
    for name in rows:
        cells = [" / ".join(f"{whole[name][figure]:.2f}" for figure in FIGURES)]
        cells += [" / ".join(_cell(one[name][figure], whole[name][figure]) for figure in FIGURES) for one in found]
        print(f"| `{name}` | {' | '.join(cells)} |")
    agree = [
        sum(all(_agrees(one[name][figure], whole[name][figure]) for figure in FIGURES) for name in DISPATCHERS[1:])
        for one in found
    ]
    print(f"| agree in all three figures | | {' | '.join(f'{count} of {len(DISPATCHERS) - 1}' for count in agree)} |")


def _agrees(value: float, true: float) -> bool:
    return true / (1 + MOST) <= value <= true * (1 + MOST)


def _cell(value: float, true: float) -> str:
    return f"{value:.2f}{'' if _agrees(value, true) else STAR}"


def _of_whole(comparison: Any) -> Ratios:
    """Return the ratios to easy of one run each, by the dispatchers' names as they were given."""
    runs = dict(zip(DISPATCHERS, comparison.values(), strict=True))
    easy = runs["easy"].metrics
    return {name: {one: _ratio(run.metrics[one], easy[one]) for one in FIGURES} for name, run in runs.items()}


def _ratio(value: float, base: float) -> float:
    """Return a ratio; where nobody waits under easy, 1 if nobody waits, else infinity."""
    return value / base if base else math.inf if value else 1.0


def _of_replicates(found: Any) -> Ratios:
    ratios: Ratios = {name: {} for name in DISPATCHERS}
    for answer in found.sections[0].answers:
        for pair in answer.pairs:
            ratios[pair.ours][answer.aim.metric] = math.nan if pair.effect is None else pair.effect.value
    return ratios


if __name__ == "__main__":
    main()
