"""One metric of many runs as a table: a row for each replicate of each workload, a column for each dispatcher."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from batdispatch.core.errors import InputError

Floats = NDArray[np.float64]
#: Columns that a tidy table of runs has beside its metrics; it has one row for each run.
WORKLOAD, REPLICATE, DISPATCHER = COLUMNS = ("workload", "replicate", "dispatcher")
#: What parts of one workload in order of time are called, before their number.
PARTS = ("window", "slice")


class Block(NamedTuple):
    """What all dispatchers ran on alike: a replicate of a workload."""

    workload: str
    replicate: str


@dataclass(frozen=True)
class RunMetric:
    """A metric of runs.

    Attributes:
        metric: its name.
        blocks: the rows, in order of first appearance; windows and slices in order of time.
        dispatchers: the columns, in order of first appearance.
        values: [block, dispatcher], nan where there is no run or the metric has no value.
        independent: how many blocks there is room for that share no job; None: for all of them.
    """

    metric: str
    blocks: tuple[Block, ...]
    dispatchers: tuple[str, ...]
    values: Floats
    independent: int | None = None

    @property
    def size(self) -> int:
        """Number of blocks that there is room for that share no job."""
        return min(len(self.blocks), self.independent or len(self.blocks))

    @property
    def kind(self) -> str:
        """What the blocks are if they are parts of one workload in order of time: window or slice; else empty.

        Parts of a drawn workload say which draw: ``seed 0, window 3``. Those of several draws are no such parts.
        """
        wholes = {(block.workload, block.replicate.rpartition(", ")[0]) for block in self.blocks}
        kinds = {block.replicate.rpartition(", ")[2].partition(" ")[0] for block in self.blocks}
        kind = kinds.pop() if len(kinds) == 1 and len(wholes) == 1 else ""
        return kind if kind in PARTS else ""

    @property
    def workloads(self) -> tuple[str, ...]:
        """Names of the workloads, each once."""
        return tuple(dict.fromkeys(block.workload for block in self.blocks))

    @property
    def whole(self) -> tuple[str, ...]:
        """The dispatchers that have a value in every block."""
        return tuple(name for name in self.dispatchers if np.isfinite(self.of(name)).all())

    def of(self, dispatcher: str) -> Floats:
        """Return the values [block] of a dispatcher."""
        return self.values[:, self.dispatchers.index(dispatcher)]

    def on(self, workload: str) -> RunMetric:
        """Return the part of one workload."""
        rows = [index for index, block in enumerate(self.blocks) if block.workload == workload]
        return replace(self, blocks=tuple(self.blocks[row] for row in rows), values=self.values[rows])

    def only(self, dispatchers: Sequence[str]) -> RunMetric:
        """Return the columns of some dispatchers."""
        columns = [self.dispatchers.index(name) for name in dispatchers]
        return replace(self, dispatchers=tuple(dispatchers), values=self.values[:, columns])


def _in_time(blocks: Sequence[Block]) -> list[Block]:
    """Return blocks in order of first appearance, but windows and slices of one workload in order of time.

    Their effects resemble those of their neighbours, so the order in which a table lists them must not matter.
    """
    places: dict[tuple[str, str], list[int]] = {}
    for place, (workload, replicate) in enumerate(blocks):
        head, _, last = replicate.rpartition(", ")
        kind, _, number = last.partition(" ")
        if kind in PARTS and number.isdecimal():
            places.setdefault((workload, head), []).append(place)
    ordered = list(blocks)
    for own in places.values():
        in_time = sorted(own, key=lambda place: int(blocks[place].replicate.rpartition(" ")[2]))
        for place, source in zip(own, in_time, strict=True):
            ordered[place] = blocks[source]
    return ordered


def metric_of(runs: pd.DataFrame, metric: str) -> RunMetric:
    """Return one metric of a tidy table of runs.

    Args:
        runs: one row for each run, with the columns of `COLUMNS` and one for each metric.
        metric: name of a column.

    Raises:
        InputError: a column is missing, or two rows have the same workload, replicate and dispatcher.
    """
    if missing := [name for name in (*COLUMNS, metric) if name not in runs.columns]:
        raise InputError(f"a table of runs has no column {missing[0]!r}: found {', '.join(map(str, runs.columns))}")
    keys = runs[list(COLUMNS)].astype(str)
    if keys.duplicated().any():
        twice = " / ".join(keys[keys.duplicated()].iloc[0])
        raise InputError(f"two runs have the same workload, replicate and dispatcher: {twice}")
    found = dict.fromkeys(Block(*pair) for pair in zip(keys[WORKLOAD], keys[REPLICATE], strict=True))
    blocks = _in_time(list(found))
    names = list(dict.fromkeys(keys[DISPATCHER]))
    rows = {block: row for row, block in enumerate(blocks)}
    columns = {name: column for column, name in enumerate(names)}
    values = np.full((len(blocks), len(names)), np.nan)
    numbers = pd.to_numeric(runs[metric], errors="coerce").to_numpy(dtype=np.float64, na_value=np.nan)
    for (workload, replicate, dispatcher), value in zip(keys.itertuples(index=False), numbers, strict=True):
        values[rows[Block(workload, replicate)], columns[dispatcher]] = value if np.isfinite(value) else np.nan
    return RunMetric(metric, tuple(blocks), tuple(names), values)
