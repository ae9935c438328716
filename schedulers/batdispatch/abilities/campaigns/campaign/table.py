"""The results of a campaign as one tidy table, and the times that its cells took as another one.

``results.parquet`` has a row for each cell of the file, in its order, and for each window of one: names, what the file
states, and what came out, each in a column; units stand in the schema. Nothing in it was measured by a clock, unless
decisions took measured time, so that the same campaign gives the same bytes. ``timings.parquet`` has what was measured.
"""

from __future__ import annotations

import io
import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from batdispatch.abilities.campaigns.campaign.names import Row, named_cells
from batdispatch.abilities.campaigns.campaign.plan import Plan
from batdispatch.core.errors import InputError, SimulationError
from batdispatch.core.numerals import number_of
from batdispatch.inputs.files import read_record, write_whole
from batdispatch.inputs.folders import check_finished
from batdispatch.results.decisions import CLOCKED_FIELDS
from batdispatch.results.metrics.compute import describe
from batdispatch.results.run_files import CAMPAIGN_TABLE, RESULT
from batdispatch.results.runs import Result
from batdispatch.results.starvation import starved_columns

RESULTS, TIMINGS = CAMPAIGN_TABLE, "timings.parquet"
#: Columns that every table begins with.
NAMES = ("part", "platform", "workload", "replicate", "dispatcher", "seed", "cell")
_MEASURED = "Decision time"
#: What the metadata of a table says of its campaign.
_HEADINGS = ("campaign", "title")
#: Facts of a dispatcher's report that a clock measured.
_CLOCKED = (*CLOCKED_FIELDS, "cpu_seconds")
#: Units of what is no metric.
_UNITS = {"cpu_seconds": "s", "load_seconds": "s", "simulation_seconds": "s", "peak_memory_mib": "MiB"}


class CellResult(Result, kw_only=True):
    """What a table takes of a result.json."""

    attempts: dict[str, Any] = {}


def write_tables(plan: Plan, failures: Mapping[str, str]) -> None:
    """Write both tables into the campaign's folder.

    Args:
        plan: of the campaign.
        failures: key -> why a cell failed.

    Raises:
        InputError: a result.json cannot be read, or the tables cannot be written.
    """
    read: dict[str, CellResult] = {}
    results: list[Row] = []
    timings: list[Row] = []
    for one in named_cells(plan):
        key = one.cell
        if key not in failures and key not in read:
            read[key] = read_record(plan.places.cell(key) / RESULT, CellResult)
        for place, row in enumerate(one.rows):
            came, took = outcome(read[key], place) if key in read else ({}, {})
            results.append({**row, **came, "failure": failures.get(key)})
            timings.append({**row, **took})
    starved = starved_columns(plan.places.cell(row["cell"]) for row in results if row["failure"] is None)
    for row in results:
        if counts := starved.get(plan.places.cell(row["cell"])):
            row |= counts[place_in_run(row, counts)]
    headings = (plan.campaign.name, plan.campaign.title)
    about = {f"batdispatch:{what}": text for what, text in zip(_HEADINGS, headings, strict=True)}
    own = plan.places.own
    _write(own / TIMINGS, timings, about)
    _write(own / RESULTS, results, about)


def place_in_run(row: Row, parts: Sequence[object]) -> int:
    """Return which of the parts of its run a row is about.

    Raises:
        ValueError: it is about none of them.
    """
    place = int(row["replicate"].rpartition("window ")[2]) if len(parts) > 1 else 0
    if not 0 <= place < len(parts):
        raise ValueError(f"its run has no {row['replicate']}")
    return place


def outcome(found: CellResult, place: int) -> tuple[Row, Row]:
    """Return what a run's row of the results has of its result.json, and what its row of the timings has.

    Args:
        found: what the run's result.json says.
        place: which of its rows; of windows of one run, the number of the window.
    """
    metrics = (found.workload.parts[place] or found).metrics
    measured = {name for name in metrics if _is_measured(name)}
    row: Row = {name: value for name, value in metrics.items() if name not in measured}
    row |= {f"attempts.{name}": value for name, value in _flat(found.attempts)}
    timing: Row = {}
    for name, value in _flat(found.report):
        told = timing if name.rpartition(".")[2] in _CLOCKED else row
        told[f"report.{name}"] = value
    row |= {"rejected": len(found.rejected), "fallbacks": found.fallbacks}
    timing |= {name: metrics[name] for name in metrics if name in measured}
    return row, timing | dict(found.performance)


def read_all_rows(folder: Path, name: str = RESULTS) -> list[Row]:
    """Read the rows of a table of a campaign, those of failed runs too; the rest is as for `read_rows`."""
    check_finished(folder)
    path = folder / name
    if not path.is_file():
        raise InputError("there is no such table: run the campaign first", source=str(path))
    table = _read(path)
    needed = (*NAMES, "failure") if name == RESULTS else NAMES
    missing = [column for column in needed if column not in table.column_names]
    if missing:
        raise InputError(f"is no table of results: it has no column {missing[0]!r}", source=str(path))
    rows: list[Row] = table.to_pylist()
    return rows


def read_rows(folder: Path) -> list[Row]:
    """Return the rows of the results of a campaign in which every run is whole.

    Args:
        folder: of the campaign, in the folder of campaigns.

    Raises:
        InputError: the campaign has not been run, is being run, or was interrupted.
        SimulationError: a run failed.
    """
    rows, path = read_all_rows(folder), folder / RESULTS
    failed = [row for row in rows if row["failure"] is not None]
    if failed:
        first = " / ".join(str(failed[0][name]) for name in NAMES[:5])
        raise SimulationError(f"{path}: {len(failed)} of {len(rows)} runs failed, {first}: {failed[0]['failure']}")
    return rows


def read_table(folder: Path) -> tuple[pd.DataFrame, str]:
    """Return the results of a campaign, also of runs that failed, and its title, or else its name.

    Raises:
        InputError: the table cannot be read.
    """
    name, title = read_headings(folder / RESULTS)
    return _read(folder / RESULTS).to_pandas(), title or name or folder.name


def read_headings(path: Path) -> tuple[str, str]:
    """Return the name and the title of the campaign that a table says it is of.

    Raises:
        InputError: the table cannot be read.
    """
    told = _read(path).schema.metadata or {}
    name, title = (told.get(f"batdispatch:{what}".encode(), b"").decode(errors="replace") for what in _HEADINGS)
    return name, title


def _read(path: Path) -> pa.Table:
    try:
        with pq.ParquetFile(path) as file:
            return file.read()
    except (OSError, pa.ArrowInvalid) as problem:
        raise InputError(f"cannot be read: {problem}", source=str(path)) from None


def _is_measured(name: str) -> bool:
    known = describe(name)
    return known is not None and known.group == _MEASURED


def _flat(table: Mapping[str, Any], before: str = "") -> Iterable[tuple[str, Any]]:
    """Yield the numbers of nested tables, with dots between the keys."""
    for name, value in table.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{before}{name}.")
        elif isinstance(value, int | float):
            yield f"{before}{name}", value


def _write(path: Path, rows: Sequence[Row], about: Mapping[str, str]) -> None:
    names = list(dict.fromkeys([*NAMES, *(name for row in rows for name in row)]))
    if "failure" in names:
        names.remove("failure")
        names.append("failure")
    arrays, fields = [], []
    for name in names:
        array = column(
            [row.get(name) for row in rows], stated="." in name and not name.startswith(("report.", "attempts."))
        )
        fields.append(pa.field(name, array.type, metadata=_about(name)))
        arrays.append(array)
    table = pa.Table.from_arrays(arrays, schema=pa.schema(fields, metadata=dict(about)))
    content = io.BytesIO()
    pq.write_table(table, content, compression="zstd", store_schema=True)
    write_whole(path, content.getvalue())


def column(values: Sequence[Any], *, stated: bool = False) -> pa.Array:
    """Return a column: whole numbers, numbers, true and false, or texts, whichever all values are.

    Args:
        values: None where there is none.
        stated: they are texts of a file, which may stand for numbers.
    """
    known = [value for value in values if value is not None]
    if stated:
        for read in (_truth, int, _number):
            try:
                return column([None if value is None else read(value) for value in values])
            except ValueError:
                continue
    if known and all(isinstance(value, bool) for value in known):
        return pa.array(values, pa.bool_())
    if known and all(isinstance(value, int) for value in known):
        return pa.array(values, pa.int64())
    if all(isinstance(value, int | float) for value in known):
        return pa.array([None if value is None else float(value) for value in values], pa.float64())
    return pa.array([None if value is None else str(value) for value in values], pa.string())


def _truth(text: str) -> bool:
    if text not in ("true", "false"):
        raise ValueError
    return text == "true"


def _number(text: str) -> float:
    found = number_of(text)
    if math.isnan(found):
        raise ValueError
    return found


def _about(name: str) -> dict[str, str] | None:
    known = describe(name)
    if known is None:
        return {"unit": _UNITS[name]} if name in _UNITS else None
    return {"unit": known.unit, "label": known.label, "formula": known.formula}
