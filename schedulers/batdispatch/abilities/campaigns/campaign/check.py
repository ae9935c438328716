"""Whether the table of a campaign is that of its cells."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from batdispatch.abilities.campaigns.campaign.cell import AUDIT_FAILURE
from batdispatch.abilities.campaigns.campaign.check_cells import against_inputs, against_link, against_run
from batdispatch.abilities.campaigns.campaign.leftovers import NEEDS, Needs
from batdispatch.abilities.campaigns.campaign.names import LINKS, Row
from batdispatch.abilities.campaigns.campaign.plan import Places
from batdispatch.abilities.campaigns.campaign.table import (
    NAMES,
    RESULTS,
    TIMINGS,
    CellResult,
    outcome,
    place_in_run,
    read_all_rows,
    read_headings,
)
from batdispatch.core.errors import InputError
from batdispatch.inputs.files import read_record
from batdispatch.results.run_files import RESULT
from batdispatch.results.run_names import belied_name
from batdispatch.results.runs import read_result
from batdispatch.results.starvation import starved_columns

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


def check_campaign(folder: Path) -> Iterator[str]:
    """Yield where the tables, their headings and the links of a campaign say otherwise than the runs do.

    Raises:
        InputError: a table, the names of the cells, or a run cannot be read.
    """
    rows = read_all_rows(folder)
    needs = read_record(folder / NEEDS, Needs) if (folder / NEEDS).is_file() else None
    if needs is None:
        yield f"{NEEDS}, which binds the names in the table to the runs, is missing"
    else:
        yield from _bound(folder, rows, needs)
    starved = starved_columns(_cell(folder, row) for row in rows if row["failure"] is None)
    #: What a platform and a workload are called -> the digests of their files.
    inputs: dict[tuple[Any, ...], Any] = {}
    for row in rows:
        about = " / ".join(str(row[name]) for name in NAMES[:5])
        cell = _cell(folder, row)
        if row["failure"] is not None:
            # What the audit refused is there.
            if (cell / RESULT).is_file() and not str(row["failure"]).startswith(AUDIT_FAILURE):
                yield f"{about}: it is said to have failed, and its run is there"
            continue
        if not (cell / RESULT).is_file():
            yield f"{about}: its run {cell.name} is not there"
            continue
        result = read_result(cell)
        digests = [result.input_digests.get(name) for name in ("platform", "workload")]
        if inputs.setdefault(_place(row), digests) != digests:
            yield f"{about}: its run has another platform or workload than others of its place"
        said = [*_names(row, result.settings)]
        try:
            place = place_in_run(row, result.workload.parts)
        except ValueError as problem:
            said.append(str(problem))
        else:
            counts = starved[cell][place] if starved[cell] else {}
            said += _figures(row, outcome(read_record(cell / RESULT, CellResult), place)[0] | counts)
        for text in said:
            yield f"{about}: {text}"


def _bound(folder: Path, rows: list[Row], needs: Needs) -> Iterator[str]:
    """Yield where names, headings and links are not those that were bound to the cells before they were made."""
    for name in (RESULTS, TIMINGS):
        path = folder / name
        if not path.is_file():
            continue
        if read_headings(path) != (needs.name, needs.title):
            told = ", ".join(map(repr, read_headings(path)))
            yield f"{name} is headed {told}, {NEEDS} says {needs.name!r}, {needs.title!r}"
        yield from _as_bound(name, rows if name == RESULTS else read_all_rows(folder, TIMINGS), needs)
    parts = dict.fromkeys(str(row["part"]) for row in rows)
    named = [one for part in parts if part in needs.parts for one in needs.parts[part].named]
    failed = {row["cell"] for row in rows if row["failure"] is not None}
    for one in {one.cell: one for one in named if one.cell not in failed}.values():
        cell = Places(folder.absolute().parent).cell(one.cell)
        if (cell / RESULT).is_file():
            for text in against_run(one, read_result(cell)):
                yield f"cell {one.cell}: {text}"
    for one in named:
        for text in (*against_inputs(one), *against_link(one)):
            yield f"{one.link}: {text}"
    # Parts that the last call left out may have links, too.
    links = {one.link: one.cell for part in needs.parts.values() for one in part.named}
    yield from _links(folder, links)


def _as_bound(table: str, rows: list[Row], needs: Needs) -> Iterator[str]:
    """Yield the rows whose names are not those of the cells that a campaign needs, in their order."""
    for each in dict.fromkeys(str(row["part"]) for row in rows):
        own = [row for row in rows if row["part"] == each]
        bound = needs.parts[each].named if each in needs.parts else []
        expected = [row for one in bound for row in one.rows]
        if len(own) != len(expected):
            yield f"part {each}: {table} has {len(own)} rows, {NEEDS} names {len(expected)}"
            continue
        for row, names in zip(own, expected, strict=True):
            stated = [name for name in row if "." in name and name.partition(".")[0] in _STATED]
            for name in dict.fromkeys([*NAMES, *names, *stated]):
                if not _agrees(row.get(name), names.get(name)):
                    about = " / ".join(str(names[key]) for key in NAMES[:5])
                    yield f"{about}: {name} is {row.get(name)}, {NEEDS} says {names.get(name)}"


def _links(folder: Path, links: Mapping[str, str]) -> Iterator[str]:
    """Yield the links that lead to another run than the one of their name; a copy may have the runs themselves."""
    root = folder / LINKS
    for path in sorted(run for run in root.rglob("*") if (run / RESULT).is_file()):
        name = path.relative_to(root).as_posix()
        if name not in links:
            yield f"{LINKS}/{name}: {NEEDS} names no such run"
            continue
        cell = Places(folder.absolute().parent).cell(links[name])
        there = (cell / RESULT).is_file() and (path / RESULT).read_bytes() == (cell / RESULT).read_bytes()
        if not there:
            yield f"{LINKS}/{name} is not the run {links[name]}, which {NEEDS} binds to that name"


def _place(row: Row) -> tuple[Any, ...]:
    stated = (name for name in sorted(row) if name.partition(".")[0] in ("platform", "workload"))
    return (row["replicate"], *((name, row[name]) for name in stated))


def _names(row: Row, settings: Mapping[str, Any]) -> Iterator[str]:
    """Yield where a row calls its run what it is not."""
    if said := belied_name(str(row["dispatcher"]), settings):
        yield said
    given = settings.get("options")
    options = {f"dispatcher.{key}": text for key, text in given.items()} if isinstance(given, dict) else {}
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
