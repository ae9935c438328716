"""Names of the cells of a campaign: in the table with the options that the file states, and links for people.

Each name is worked out here, from the plan. `note_needs` binds them to the cells before any is made, the table and the
links show them, and the check compares these with that.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

import msgspec

from batdispatch.abilities.campaigns.campaign.file import Cell
from batdispatch.abilities.campaigns.campaign.inputs import label_of
from batdispatch.abilities.campaigns.campaign.plan import Plan, PlannedCell

#: The folder of links to cells, for people: runs/PART/PLATFORM/WORKLOAD/DISPATCHER.
LINKS = "runs"
Row = dict[str, Any]


class NamedInput(msgspec.Struct, frozen=True, kw_only=True):
    """A platform or workload of a cell.

    Attributes:
        output: name of its file.
        facts: what its key is a digest of, beside code and versions, see `Input.facts`.
    """

    output: str
    facts: dict[str, Any]


class NamedCell(msgspec.Struct, frozen=True, kw_only=True):
    """The names of a cell.

    Attributes:
        cell: its key.
        names: column of the table -> what stands there.
        windows: how many rows it has, one for each window of it; 0: one row.
        link: path of the link to it, in `LINKS`.
        platform, workload: what it is simulated on.
    """

    cell: str
    names: dict[str, Any]
    windows: int
    link: str
    platform: NamedInput
    workload: NamedInput

    @property
    def rows(self) -> list[Row]:
        """The names in each of its rows of the table."""
        row: Row = {**self.names, "cell": self.cell}
        if not self.windows:
            return [row | {"replicate": row["replicate"] or f"run seed {row['seed']}"}]
        before = f"{row['replicate']}, " if row["replicate"] else ""
        return [
            row | {"replicate": f"{before}window {place}", "workload.window": str(place)}
            for place in range(self.windows)
        ]


def named_cells(plan: Plan) -> list[NamedCell]:
    """Return what a campaign calls its cells, in the order of its file."""
    found = []
    for one, link in zip(plan.planned, _links(plan.planned), strict=True):
        platform, workload = (
            NamedInput(output=made.output, facts=made.facts) for made in (one.cell.platform, one.cell.workload)
        )
        found.append(
            NamedCell(
                cell=one.task.key,
                names=_names(one.cell),
                windows=one.cell.workload.windows,
                link=link,
                platform=platform,
                workload=workload,
            )
        )
    return found


def _names(cell: Cell) -> Row:
    row: Row = {
        "part": cell.part,
        "platform": cell.platform.name,
        "workload": cell.workload.name,
        "replicate": cell.workload.replicate,
        "dispatcher": cell.dispatcher.name,
        "seed": cell.spec.seed,
    }
    tables: Mapping[str, Mapping[str, str]] = {
        "platform": cell.platform.stated,
        "workload": cell.workload.stated,
        "dispatcher": cell.dispatcher.stated,
        "setting": cell.stated,
    }
    return row | {f"{table}.{name}": text for table, stated in tables.items() for name, text in stated.items()}


def _links(planned: Sequence[PlannedCell]) -> list[str]:
    """Return the path of the link to each cell; two cells have none in common."""
    #: (part, setting) -> its values.
    values: dict[tuple[str, str], set[str]] = {}
    for one in planned:
        for key, text in one.cell.stated.items():
            values.setdefault((one.cell.part, key), set()).add(text)
    taken: dict[str, str] = {}
    links = []
    for one in planned:
        cell, key = one.cell, one.task.key
        varied = {name: text for name, text in cell.stated.items() if len(values[cell.part, name]) > 1}
        row = label_of(cell.dispatcher.label, {**varied, **({"seed": str(cell.spec.seed)} if cell.spec.seed else {})})
        folder = PurePosixPath(*map(_plain, (cell.part, cell.platform.label, cell.workload.label)))
        link = str(folder / _plain(row))
        if taken.setdefault(link, key) != key:
            # Another row has the same name, once marks that no folder should have are left out.
            link = f"{link}-{key[:6]}"
            taken[link] = key
        links.append(link)
    return links


def _plain(label: str) -> str:
    """Return a name for a folder."""
    return re.sub(r"[^A-Za-z0-9=.,_+-]+", "_", label)[:150].lstrip(".") or "_"
