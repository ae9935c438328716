"""The data that a claim is about, and which of them a campaign lacks: a quick version has others, or has fewer."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from batdispatch.abilities.campaigns.campaign.entries import read_entries
from batdispatch.abilities.campaigns.campaign.file import Cell, read_campaign
from batdispatch.abilities.campaigns.campaign.inputs import Input, MissingLog
from expe.common.claims import Claim

#: Settings of an input that number its replicates. With fewer of them, the data are the same, and there are fewer.
_NUMBERS = ("seed", "number", "count")


class ClaimData:
    """The data of a folder's campaign, in the version that is run and in the whole one.

    Attributes:
        run: the cells of the version that is run.
        whole: part -> its cells in the whole version, or None if a log of it is not here.
        workloads: the names of all workloads of the file.
    """

    def __init__(
        self, run: Iterable[Cell], whole: Mapping[str, Collection[Cell] | None], workloads: Collection[str]
    ) -> None:
        self.run = tuple(run)
        self.whole = whole
        self.workloads = workloads

    @classmethod
    def read(cls, path: Path, *, quick: bool, logs: Path | None = None) -> ClaimData:
        """Read both versions of a campaign's file.

        Raises:
            InputError: the file is wrong.
            MissingLog: a log of the version that is run is not here.
        """
        run = read_campaign(path, quick=quick, logs=logs).cells
        top = read_entries(path).table("a campaign")
        whole = {part: _cells(path, part, logs) for part in top["parts"].table("parts")}
        return cls(run, whole, top["workloads"].table("workloads"))

    def lacking(self, claim: Claim, rows: pd.DataFrame) -> list[str]:
        """Return which of a claim's data the rows do not have as the whole campaign has them.

        A workload of the campaign must be there on each platform and with each option that the claim asks about. With
        fewer seeds, slices or windows it is there too, unless the claim is about each of them: an interval accounts
        for their number. Other data, which a ``show.py`` makes, are there if rows have their name.
        """
        present = set(rows["workload"]) if "workload" in rows else set()
        return [name for name in claim.data if name not in present or not self._has(claim, name)]

    def _has(self, claim: Claim, name: str) -> bool:
        if name not in self.workloads:
            return True
        # A part that is not of the campaign is made from others: from all that have this workload.
        own = {str(where["part"]) for where in claim.ours.choices() if where.get("part") in self.whole}
        parts = {part: cells for part, cells in self.whole.items() if not own or part in own}
        if own and None in parts.values():
            return False
        wanted = {fact for cells in parts.values() for fact in _facts(claim, name, cells or ())}
        found = set(_facts(claim, name, (cell for cell in self.run if cell.part in parts)))
        return bool(wanted) and wanted <= found


def _cells(path: Path, part: str, logs: Path | None) -> Collection[Cell] | None:
    try:
        return read_campaign(path, parts=[part], logs=logs).cells
    except MissingLog:
        return None


def _facts(claim: Claim, name: str, cells: Iterable[Cell]) -> Iterator[Any]:
    """Yield what tells the data of a claim's runs on a workload apart from others."""
    for cell in cells:
        if cell.workload.name == name and any(_agrees(cell, where) for where in claim.ours.choices()):
            stated = tuple(sorted(cell.stated.items()))
            yield cell.part, _input(cell.platform, claim.each_run), _input(cell.workload, claim.each_run), stated


def _agrees(cell: Cell, where: Mapping[str, Any]) -> bool:
    """Return whether a cell's inputs and settings are those that a claim asks about, as far as it says so."""
    known = {"part": cell.part, "platform": cell.platform.name, "workload": cell.workload.name}
    for table, stated in (
        ("platform", cell.platform.stated),
        ("workload", cell.workload.stated),
        ("setting", cell.stated),
    ):
        known |= {f"{table}.{key}": text for key, text in stated.items()}
    # What a claim calls otherwise is a column of a `show.py`.
    return all(str(known[key]) == str(value) for key, value in where.items() if key in known and key != "part")


def _input(one: Input, numbered: bool) -> Any:
    """Return what an input is made of; its replicates are told apart only if they are `numbered`."""
    settings = tuple(sorted((key, value) for key, value in one.settings.items() if numbered or key not in _NUMBERS))
    paths = tuple(
        sorted(
            (key, _input(path, numbered) if isinstance(path, Input) else str(path)) for key, path in one.paths.items()
        )
    )
    return one.kind, one.name, str(one.file or ""), one.words[:1], settings, paths, numbered and one.windows
