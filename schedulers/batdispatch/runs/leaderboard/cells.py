"""The runs of the leaderboard, one a row, each with the digests that let anyone make it again."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from batdispatch.inputs.files import read_record
from batdispatch.results.metrics.compute import STARVATION
from batdispatch.results.run_files import RESULT

#: Metrics that the table has.
METRICS = (
    "mean_bounded_slowdown",
    "mean_waiting_time",
    "p99_waiting_time",
    "max_waiting_time",
    STARVATION.name,
    "makespan",
    "utilisation",
)


class CellInputs(msgspec.Struct):
    """What a run was made from."""

    settings: dict[str, Any]
    sha256: dict[str, Any]
    code: str
    batdispatch: str
    python: str
    packages: dict[str, str]


class _Result(msgspec.Struct):
    made_from: CellInputs


class Cell(NamedTuple):
    """A run: its row in the campaign's table, and what it was made from."""

    row: Mapping[str, Any]
    made: CellInputs


def read_cells(rows: Sequence[Mapping[str, Any]], folder: Path) -> list[Cell]:
    """Return the runs of a campaign that did not fail.

    Args:
        rows: of its table.
        folder: of the cells of all campaigns.

    Raises:
        InputError: a result.json cannot be read.
    """
    return [
        Cell(row, read_record(folder / str(row["cell"]) / RESULT, _Result).made_from)
        for row in rows
        if row["failure"] is None
    ]


def as_csv(cells: Sequence[Cell]) -> str:
    """Return the runs as a table: names, metrics, and digests (SHA-256) of platform, workload and code.

    If parts of a run are replicates, each has a row, and what the run was made from stands in the first one.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    names = ("part", "workload", "replicate", "dispatcher")
    facts = ("platform", "workload_sha256", "code", "batdispatch", "python", "packages")
    writer.writerow([*names, *METRICS, "cell", *facts])
    known: set[tuple[object, ...]] = set()
    for row, made in cells:
        packages = " ".join(f"{name}={version}" for name, version in sorted(made.packages.items()))
        made_of = [made.sha256["platform"], made.sha256["workload"], made.code, made.batdispatch, made.python, packages]
        run = (row["part"], row["cell"])
        told = [""] * len(facts) if run in known else made_of
        known.add(run)
        values = (_number(row.get(name)) for name in METRICS)
        writer.writerow([*(row[name] for name in names), *values, row["cell"], *told])
    return text.getvalue()


def _number(value: Any) -> str:
    return "" if value is None else f"{value:.10g}"
