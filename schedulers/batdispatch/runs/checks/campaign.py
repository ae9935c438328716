"""Whether the table of a campaign is that of its cells."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from batdispatch.audit.findings import Violation, part
from batdispatch.core.errors import InputError
from batdispatch.inputs.files import read_record
from batdispatch.results.run_files import RESULT
from batdispatch.results.run_names import belied_name
from batdispatch.results.runs import read_result
from batdispatch.results.starvation import starved_columns
from batdispatch.runs.campaign.leftovers import NEEDS, Needs
from batdispatch.runs.campaign.plan import Places
from batdispatch.runs.campaign.table import NAMES, CellResult, Row, outcome, place_in_run, read_all_rows

KIND = "table"
#: What a file states about a row, before the dot of a column.
_STATED = ("platform", "workload", "dispatcher", "setting")


def cells_of(folder: Path) -> list[Path]:
    """Return the folders of the runs of a campaign that did not fail, in the order of its table.

    Raises:
        InputError: the table cannot be read, or no run of it is there.
    """
    rows = [row for row in read_all_rows(folder) if row["failure"] is None]
    found = [cell for cell in dict.fromkeys(_cell(folder, row) for row in rows) if (cell / RESULT).is_file()]
    if rows and not found:
        raise InputError("none of the campaign's runs is there (cells, beside the folder)", source=str(folder))
    return found


def _cell(folder: Path, row: Row) -> Path:
    return Places(folder.absolute().parent).cell(str(row["cell"]))


def check_campaign(folder: Path) -> Iterator[Violation]:
    """Yield where results.parquet says otherwise than the runs do.

    Raises:
        InputError: the table or a run cannot be read.
    """
    rows = read_all_rows(folder)
    yield from _missing(folder, rows)
    starved = starved_columns(_cell(folder, row) for row in rows if row["failure"] is None)
    #: What a platform and a workload are called -> the digests of their files.
    inputs: dict[tuple[Any, ...], Any] = {}
    for row in rows:
        about = " / ".join(str(row[name]) for name in NAMES[:5])
        cell = _cell(folder, row)
        if row["failure"] is not None:
            continue
        if not (cell / RESULT).is_file():
            yield Violation(KIND, f"{about}: its run {cell.name} is not there")
            continue
        result = read_result(cell)
        digests = [result.input_digests.get(name) for name in ("platform", "workload")]
        if inputs.setdefault(_place(row), digests) != digests:
            yield Violation(KIND, f"{about}: its run has another platform or workload than others of its place")
        said = [*_names(row, result.settings)]
        try:
            place = place_in_run(row, result.workload.parts)
        except ValueError as problem:
            said.append(str(problem))
        else:
            counts = starved[cell][place] if starved[cell] else {}
            said += _figures(row, outcome(read_record(cell / RESULT, CellResult), place)[0] | counts)
        for text in said:
            yield Violation(KIND, f"{about}: {text}")


def _missing(folder: Path, rows: list[Row]) -> Iterator[Violation]:
    """Yield the parts whose rows are not the runs that the campaign needs."""
    path = folder / NEEDS
    if not path.is_file():
        return
    needs = read_record(path, Needs).parts
    for name in dict.fromkeys(str(row["part"]) for row in rows):
        cells = {row["cell"] for row in rows if row["part"] == name}
        if name in needs and cells != set(needs[name].cells):
            count = len(needs[name].cells)
            yield Violation(KIND, f"part {name}: the table has {len(cells)} runs, {NEEDS} names {count}")


def _place(row: Row) -> tuple[Any, ...]:
    stated = (name for name in sorted(row) if name.partition(".")[0] in ("platform", "workload"))
    return (row["replicate"], *((name, row[name]) for name in stated))


def _names(row: Row, settings: Mapping[str, Any]) -> Iterator[str]:
    """Yield where a row calls its run what it is not."""
    if said := belied_name(str(row["dispatcher"]), settings):
        yield said
    options = {f"dispatcher.{key}": text for key, text in part(settings, "options").items()}
    window = row.get("workload.window")
    if window is not None and f"window {window}" != row["replicate"].rpartition(", ")[2]:
        yield f"workload.window is {window}"
    expected = {"seed": settings.get("seed"), **options}
    for name, found in row.items():
        stated = name == "seed" or name.startswith("dispatcher.")
        if stated and found is not None and not _agrees(found, expected.get(name)):
            yield f"{name} is {found}, its run has {expected.get(name)}"


def _figures(row: Row, expected: Row) -> Iterator[str]:
    """Yield where the figures of a row are not those of its run."""
    for name in dict.fromkeys([*row, *expected]):
        before = name.partition(".")[0]
        if name in (*NAMES, "failure") or ("." in name and before in _STATED):
            continue
        if not _agrees(row.get(name), expected.get(name)):
            yield f"{name} is {row.get(name)}, its run gives {expected.get(name)}"


def _agrees(found: Any, expected: Any) -> bool:
    """Return whether two values are the same; a column of texts or of numbers has one form for all."""
    if found is None or expected is None:
        return found is expected
    try:
        return float(found) == float(expected) or (math.isnan(float(found)) and math.isnan(float(expected)))
    except (TypeError, ValueError):
        return str(found).lower() == str(expected).lower()
