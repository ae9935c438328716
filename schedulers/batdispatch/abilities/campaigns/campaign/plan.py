"""What a campaign has to do: its cells with the digests that name them, those that are there, and batches of the rest.

A folder of campaigns holds

- ``inputs/KEY.xml`` and ``KEY.json``: the platforms and workloads, each under a digest of what it was made from;
- ``cells/KEY``: a run, under a digest of its settings, of the keys of its inputs, and of the code;
- a folder a campaign, which has what is particular to it.

So a cell that several parts or campaigns name is simulated once, and if something about a cell changes, it is another
one.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import msgspec

from batdispatch.abilities.campaigns.campaign.file import Campaign, Cell
from batdispatch.abilities.campaigns.campaign.inputs import Input, cell_key
from batdispatch.inputs.files import file_digest
from batdispatch.links.nix import pins_of
from batdispatch.results.run_files import RESULT
from batdispatch.runs.provenance import code_of_others, environment, is_whole, made_from
from batdispatch.runs.spec import RunSpec

#: Says in a cell's folder that the audit found nothing.
AUDIT_MARK = "audited"
#: The most cells of a batch, and how long one should take, s. An interruption loses no whole cell of a batch.
MOST, LEAST_SECONDS, MOST_SECONDS = 250, 15.0, 600.0
#: Fields of a `RunSpec` that say where a file is; what is in it has a digest.
PATHS = ("platform", "workload", "external_events")


class Recipe(msgspec.Struct, frozen=True, kw_only=True):
    """How an input is made.

    Attributes:
        label: its name, for people.
        output: the file to write, absolute.
        file: the file that it is a copy of, and its digest; None: a command makes it.
        words: of the command.
        paths: option -> file; "": what is named before the options.
        needs: outputs of other recipes among `paths`.
    """

    label: str
    output: str
    file: tuple[str, str] | None = None
    words: Sequence[str] = ()
    paths: Mapping[str, str] = {}
    needs: Sequence[str] = ()


class CellTask(msgspec.Struct, frozen=True, kw_only=True):
    """A cell for a worker.

    Attributes:
        key: its digest.
        label: its name, for people.
        spec: the run, with absolute paths.
        audit: whether it is audited.
    """

    key: str
    label: str
    spec: RunSpec
    audit: bool


@dataclass(frozen=True)
class PlannedCell:
    """A cell of the file with its task."""

    cell: Cell
    task: CellTask


class Places:
    """Where things are in a folder of campaigns."""

    def __init__(self, root: Path, name: str = "") -> None:
        self.root = root.absolute()
        self.inputs = self.root / "inputs"
        self.cells = self.root / "cells"
        #: Of the campaign.
        self.own = self.root / name
        #: Of what the campaign's cells and inputs printed: ``KEY.txt``.
        self.logs = self.own / "logs"

    def input(self, one: Input) -> str:
        """Return the file of an input."""
        return str(self.inputs / one.output)

    def cell(self, key: str) -> Path:
        """Return the folder of a cell."""
        return self.cells / key


class Plan:
    """A campaign in a folder.

    Attributes:
        campaign: the file.
        places: where things are.
        planned: its cells, in the order of the file.
        tasks: key -> task, each cell once, in order.
        names: key -> part and dispatcher of the first cell that has it.
        kept: keys of the cells that are there.
    """

    def __init__(self, campaign: Campaign, root: Path, *, fresh: bool = False) -> None:
        """Work out keys, and look which cells are there.

        Args:
            campaign: the file.
            root: the folder.
            fresh: take none as there.

        Raises:
            InputError: a file cannot be read.
        """
        self.campaign = campaign
        self.here = campaign.path.absolute().parent
        self.places = Places(root, campaign.name)
        self.planned = [PlannedCell(cell, self._task(cell)) for cell in campaign.cells]
        self.tasks = {one.task.key: one.task for one in self.planned}
        for one in self.planned:
            if one.task.audit and not self.tasks[one.task.key].audit:
                self.tasks[one.task.key] = one.task
        self.names: dict[str, tuple[str, str]] = {}
        for one in self.planned:
            self.names.setdefault(one.task.key, (one.cell.part, one.cell.dispatcher.label))
        self.kept = set() if fresh else {key for key, task in self.tasks.items() if is_kept(task, self.places)}

    @cached_property
    def pending(self) -> list[CellTask]:
        """The cells that are not there; those with the same inputs follow each other."""
        groups: dict[tuple[str, str], list[CellTask]] = defaultdict(list)
        for key, task in self.tasks.items():
            if key not in self.kept:
                groups[task.spec.platform, task.spec.workload].append(task)
        return [task for group in groups.values() for task in group]

    def recipes(self) -> dict[str, Recipe]:
        """Return the recipes of the inputs that pending cells need and that are not there, by output.

        What others are made from comes before them.
        """
        wanted = {path for task in self.pending for path in (task.spec.platform, task.spec.workload)}
        found: dict[str, Recipe] = {}
        for one in self.planned:
            for made in (one.cell.platform, one.cell.workload):
                if self.places.input(made) in wanted:
                    self._enter(made, found)
            if one.cell.events is not None and one.task.spec.external_events not in found:
                recipe = self._events(one.cell.events)
                found[recipe.output] = recipe
        return {output: recipe for output, recipe in found.items() if not Path(output).is_file()}

    def inputs(self) -> set[str]:
        """Return the names of the files of all inputs of all cells, those of what they are made from too."""
        found: dict[str, Recipe] = {}
        for one in self.planned:
            for made in (one.cell.platform, one.cell.workload):
                self._enter(made, found)
        events = (one.task.spec.external_events for one in self.planned)
        return {Path(path).name for path in (*found, *events) if path is not None}

    def knows(self, name: str) -> bool:
        """Return whether a name is the key of a cell or the name of an input's file."""
        return name in self.tasks or name in self._outputs

    @cached_property
    def _outputs(self) -> set[str]:
        return {made.output for one in self.planned for made in (one.cell.platform, one.cell.workload)}

    def label(self, key: str) -> str:
        """Return what people call a cell, given its key, or an input, given its file."""
        if key in self.tasks:
            return self.tasks[key].label
        made = (made for one in self.planned for made in (one.cell.platform, one.cell.workload))
        return next((f"{one.kind} {one.label}" for one in made if self.places.input(one) == key), Path(key).name)

    def _enter(self, made: Input, found: dict[str, Recipe]) -> None:
        output = self.places.input(made)
        if output in found:
            return
        paths, needs = {}, []
        for option, one in made.paths.items():
            if isinstance(one, Input):
                self._enter(one, found)
                needs.append(self.places.input(one))
                paths[option] = needs[-1]
            else:
                paths[option] = str(one)
        file = None if made.file is None else (str(made.file), digest(made.file))
        found[output] = Recipe(label=made.label, output=output, file=file, words=made.words, paths=paths, needs=needs)

    def _events(self, path: Path) -> Recipe:
        known = digest(path)
        return Recipe(label=path.name, output=str(self.places.inputs / f"{known}.events"), file=(str(path), known))

    def _task(self, cell: Cell) -> CellTask:
        events = None if cell.events is None else str(self.places.inputs / f"{digest(cell.events)}.events")
        spec = msgspec.structs.replace(
            cell.spec,
            platform=self.places.input(cell.platform),
            workload=self.places.input(cell.workload),
            external_events=events,
        )
        key = cell_key(
            cell.spec,
            [cell.platform.key, cell.workload.key],
            None if cell.events is None else digest(cell.events),
            code_of_others(cell.spec.dispatcher, *cell.spec.options.values(), here=self.here),
            _environment(),
            None if cell.spec.nix is None else _pinned(cell.spec.nix, self.here),
        )
        return CellTask(key=key, label=cell.label, spec=spec, audit=cell.audit)


def is_kept(task: CellTask, places: Places) -> bool:
    """Return whether the cell's folder holds its whole run, made from the same settings and inputs by the same code."""
    folder = places.cell(task.key)
    if not (folder / RESULT).is_file() or (task.audit and not (folder / AUDIT_MARK).is_file()):
        return False
    paths = (task.spec.platform, task.spec.workload, task.spec.external_events)
    if not all(path is None or Path(path).is_file() for path in paths):
        return False
    platform, workload, events = (None if path is None else digest(Path(path)) for path in paths)
    expected = made_from(task.spec, platform=platform, workload=workload, events=events)
    return is_whole(folder, expected, elsewhere=PATHS)


def batches(costs: Sequence[float | None], processes: int, most: int | None = None) -> Iterator[range]:
    """Cut tasks, which are numbered from 0, into batches for one worker each.

    A batch is worth some minutes where costs are known, so that starting workers costs little, few cells wait behind
    another, and all processes have work until the end.

    Args:
        costs: seconds that each task is expected to take; None: unknown.
        processes: how many workers at a time.
        most: the most tasks of a batch; None: `MOST`.
    """
    known = [cost for cost in costs if cost is not None]
    mean = sum(known) / len(known) if known else 0.0
    filled = [mean if cost is None else cost for cost in costs]
    goal = min(max(sum(filled) / (8 * processes), LEAST_SECONDS), MOST_SECONDS) if known else math.inf
    limit = most or min(MOST, -(-len(costs) // (2 * processes)))
    if known and most is None:
        limit = MOST
    begin, spent = 0, 0.0
    for index, cost in enumerate(filled):
        spent += cost
        if spent >= goal or index + 1 - begin >= limit:
            yield range(begin, index + 1)
            begin, spent = index + 1, 0.0
    if begin < len(filled):
        yield range(begin, len(filled))


@cache
def digest(path: Path) -> str:
    """Return the digest of a file, which is read once."""
    return file_digest(path)


@cache
def _environment() -> dict[str, Any]:
    return environment()


@cache
def _pinned(shell: str, here: Path) -> dict[str, str]:
    return pins_of(shell, here)
