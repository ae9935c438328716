"""CPU seconds and wall time of ``batdispatch compare``: 24 dispatchers on one workload, beside another version.

Usage: ``python benchmarks/compare.py --platform P.xml --workload W.json [--processes 2] [--before CHECKOUT]``

The time is that of the whole command, from its start to its end, with all processes that it starts: reading,
simulating, writing, the metrics, and the report. With ``--before`` (a folder that holds ``schedulers/batdispatch``,
such as an older checkout), that version runs as well, in turn with this one, and the files of all runs are compared
byte for byte (result.json, solver.jsonl and schedule.csv without the times that were measured).
"""

from __future__ import annotations

import argparse
import csv
import json
import statistics
import tempfile
from pathlib import Path
from typing import Any

from timing import ROOT, command

#: Runs of every family that needs no solver, with the orderings that users compare.
DISPATCHERS = [
    *("fcfs", "filler", "easy", "easy[reservation=hosts]", "conservative", "best-list"),
    *("easy[placement=contiguous]", "easy[placement=best-fit]", "filler[placement=contiguous]"),
    "fcfs[placement=last-fit]",
    *(f"easy[ordering={name}]" for name in ("sjf", "ljf", "smallest-first", "largest-first", "wfp3", "unicef", "f1")),
    *(f"filler[ordering={name}]" for name in ("sjf", "smallest-area", "wfp3", "f1")),
    *("easy[prediction=last-two]", "easy[prediction=oracle,ordering=sjf]", "conservative[ordering=sjf]"),
]


def measured(checkout: Path, given: argparse.Namespace, out: Path) -> tuple[float, float]:
    """Return the CPU seconds and the wall time of a comparison by the code of a checkout."""
    words = ["--platform", given.platform, "--workload", given.workload, "--jobs", str(given.processes)]
    words += ["--dispatchers", ",".join(DISPATCHERS), *([] if given.record else ["--no-record"])]
    used = command("compare", "--out", str(out), *words, checkout=checkout)
    return used.cpu, used.wall


def content(path: Path) -> Any:
    """Return a file of a run without the times that were measured."""
    if path.name == "schedule.csv":
        (row,) = csv.DictReader(path.open())
        return {name: value for name, value in row.items() if name not in ("scheduling_time", "simulation_time")}
    if path.name == "solver.jsonl":
        return [json.loads(line) | {"solve_seconds": 0} for line in path.read_bytes().splitlines()]
    if path.name == "result.json":
        result = json.loads(path.read_bytes())
        metrics = {name: value for name, value in result["metrics"].items() if not name.startswith("decisions_seconds")}
        return {"metrics": metrics, "report": result["report"] | {"means": {}}, "rejected": result["rejected"]}
    return path.read_bytes()


def differing(one: Path, other: Path) -> list[str]:
    """Return the files of runs that are not the same in two comparisons."""
    names = {path.relative_to(out) for out in (one, other) for path in out.glob("*/*") if path.parent.name != "report"}
    return [
        str(name)
        for name in sorted(names)
        if not ((one / name).exists() and (other / name).exists() and content(one / name) == content(other / name))
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--platform", required=True)
    parser.add_argument("--workload", required=True)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--before", type=Path, metavar="CHECKOUT", help="An older version to compare with.")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--record", action=argparse.BooleanOptionalAction, default=True)
    given = parser.parse_args()
    versions = {"now": ROOT} if given.before is None else {"before": given.before, "now": ROOT}
    figures: dict[str, list[tuple[float, float]]] = {name: [] for name in versions}
    with tempfile.TemporaryDirectory() as name:
        for number in range(given.rounds):
            for version, checkout in versions.items():
                out = Path(name) / f"{version}{number}"
                figures[version].append(measured(checkout, given, out))
        if given.before is not None:
            different = differing(Path(name) / "before0", Path(name) / "now0")
            print(f"files that differ: {', '.join(different) or 'none'}")
    print(f"{len(DISPATCHERS)} runs, {given.processes} at a time; medians of {given.rounds}")
    for version, found in figures.items():
        cpu, wall = (statistics.median(values) for values in zip(*found, strict=True))
        print(f"{version:7} {cpu:8.1f} CPU-s {wall:8.1f} s wall")


if __name__ == "__main__":
    main()
