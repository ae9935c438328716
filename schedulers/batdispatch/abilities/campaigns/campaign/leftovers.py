"""Finds and removes the runs and inputs that no campaign of a folder needs any more.

Theory of operation. Runs are kept under digests, so whatever decides over a run makes another one when it changes: an
option, a file, the code. What is left of before is never read again, unless somebody goes back. Each call of a campaign
notes in `NEEDS` what its cells are and what it calls them, before it makes any. A run is needed if such a note names
it, if a table of results does (its campaign may be under way with newer code), or if the campaign that is being cleaned
for would take it. Anything else can go.

Whoever cleans claims the folder of cells and then sees to it that no campaign is under way; a campaign claims its own
folder and then sees to it that nobody cleans. A cell that is removed loses first what says that it is whole.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import msgspec
import pyarrow.parquet as pq
from pyarrow.lib import ArrowException

from batdispatch.abilities.campaigns.campaign.names import NamedCell, named_cells
from batdispatch.abilities.campaigns.campaign.plan import Places, Plan
from batdispatch.abilities.campaigns.campaign.table import RESULTS
from batdispatch.core.errors import InputError
from batdispatch.inputs.files import read_record, write_json
from batdispatch.inputs.folders import MARK, Claim, FolderClaim, check_free
from batdispatch.results.run_files import RESULT
from batdispatch.results.runs import read_result
from batdispatch.runs.provenance import environment

#: In a campaign's folder: which cells and inputs it needs.
NEEDS = "needs.json"
_CELL = re.compile(r"[0-9a-f]{16,64}")
_INPUT = re.compile(r"[0-9a-f]{16,64}\.(xml|json|events)")


class PartNeeds(msgspec.Struct):
    """What a part of a campaign needs.

    Attributes:
        cells: keys of its cells.
        inputs: names of the files of inputs.
        named: what its cells are called, in the order of the table.
    """

    cells: list[str]
    inputs: list[str]
    named: list[NamedCell] = []


class Needs(msgspec.Struct):
    """What a campaign needs, by its parts, as of the last call that ran them, and what it is called."""

    parts: dict[str, PartNeeds]
    name: str = ""
    title: str = ""


@dataclass(frozen=True)
class Leftover:
    """A run or an input that nobody needs.

    Attributes:
        path: its folder, or its file.
        is_run: whether it is a run.
        label: the dispatcher of a run; what an input is.
        why: which runs of this label these are, for people.
        size: bytes.
    """

    path: Path
    is_run: bool
    label: str
    why: str
    size: int


def note_needs(plan: Plan) -> None:
    """Write down what a campaign needs, whose folder is claimed; what a call leaves out stays as it was.

    Raises:
        InputError: an earlier note cannot be read.
    """
    path = plan.places.own / NEEDS
    parts = dict(read_record(path, Needs).parts) if path.is_file() and not plan.campaign.whole else {}
    inputs, named = sorted(plan.inputs()), named_cells(plan)
    for name in dict.fromkeys(one.cell.part for one in plan.planned):
        own = [one for one in named if one.names["part"] == name]
        parts[name] = PartNeeds(list(dict.fromkeys(one.cell for one in own)), inputs, own)
    write_json(path, msgspec.to_builtins(Needs(parts, plan.campaign.name, plan.campaign.title)))


def clean(plan: Plan, *, remove: bool) -> list[Leftover]:
    """Return what no campaign of a folder needs, largest first, and remove it.

    Args:
        plan: of a campaign in the folder, all parts of it.
        remove: whether to remove it.

    Raises:
        InputError: a campaign is under way, or it cannot be told what one needs.
    """
    places = plan.places
    if not places.cells.is_dir():
        return []
    with Claim(places.cells):
        cells, inputs = set(plan.tasks), plan.inputs()
        for folder in _campaigns(places):
            check_free(folder)
            more_cells, more_inputs = _needs_of(folder, places)
            cells |= more_cells
            inputs |= more_inputs
        found = sorted(_leftovers(places, cells, inputs), key=lambda one: (not one.is_run, -one.size, one.path))
        if remove:
            # Inputs go last: a whole cell whose input is missing is none.
            for one in found:
                _remove(one)
    return found


def _campaigns(places: Places) -> list[Path]:
    names = (NEEDS, RESULTS, MARK)
    folders = (path for path in places.root.iterdir() if path.is_dir() and path not in (places.cells, places.inputs))
    return sorted(path for path in folders if any((path / name).exists() for name in names))


def _needs_of(folder: Path, places: Places) -> tuple[set[str], set[str]]:
    """Return the keys of the cells, and the names of the inputs, that a campaign needs."""
    cells: set[str] = set()
    inputs: set[str] = set()
    path, table = folder / NEEDS, folder / RESULTS
    if path.is_file():
        for part in read_record(path, Needs).parts.values():
            cells.update(part.cells)
            inputs.update(part.inputs)
    elif (folder / MARK).exists():
        raise InputError("was interrupted, and does not say what it needs: run it once more first", source=str(folder))
    if table.is_file():
        shown = _cells_of(table) - cells
        cells |= shown
        for key in shown:
            inputs |= _inputs_of(places.cell(key))
    return cells, inputs


def _cells_of(table: Path) -> set[str]:
    try:
        # The function read_table would import pandas.
        with pq.ParquetFile(table) as file:
            return set(file.read(columns=["cell"])["cell"].to_pylist())
    except (ArrowException, OSError, KeyError) as problem:
        raise InputError(f"is no table of results: {problem}", source=str(table)) from None


def _inputs_of(cell: Path) -> set[str]:
    try:
        result = read_result(cell)
    except InputError:
        return set()
    events = result.settings.get("external_events")
    return {Path(path).name for path in (result.platform.path, result.workload.path, events) if path}


def _leftovers(places: Places, cells: set[str], inputs: set[str]) -> Iterator[Leftover]:
    for path in places.cells.iterdir():
        if _CELL.fullmatch(path.name) and path.name not in cells and path.is_dir():
            try:
                check_free(path)
            except FolderClaim:
                # A task on a cluster may outlive the call that submitted it.
                continue
            size = sum(file.lstat().st_size for file in path.rglob("*") if not file.is_dir())
            yield Leftover(path, True, *_about(path), size)
    for path in places.inputs.iterdir() if places.inputs.is_dir() else ():
        if _INPUT.fullmatch(path.name) and path.name not in inputs:
            label = "platforms" if path.suffix == ".xml" else "workloads" if path.suffix == ".json" else "events"
            yield Leftover(path, False, label, "", path.stat().st_size)


def _about(cell: Path) -> tuple[str, str]:
    """Return the dispatcher of a run, and whether it was made by this code."""
    if not (cell / RESULT).is_file():
        return "unknown", "unfinished"
    try:
        result = read_result(cell)
    except InputError:
        return "unknown", "unfinished"
    return result.dispatcher, "this code" if result.made_from.get("code") == environment()["code"] else "other code"


def _remove(one: Leftover) -> None:
    if not one.is_run:
        one.path.unlink(missing_ok=True)
        return
    (one.path / RESULT).unlink(missing_ok=True)
    shutil.rmtree(one.path, ignore_errors=True)
