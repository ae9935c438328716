"""Lines of positions: what PCP'20's models have in common on whatever solver."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from math import gcd
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from batdispatch.abilities.solvers.constraint.models.problem import InstanceModel
from batdispatch.abilities.solvers.constraint.models.relevance import Demand, relevance
from batdispatch.abilities.solvers.solving.runner import Value
from batdispatch.core.jobs.job import Job


class PositionLine:
    """All units of a resource in one line, in node order (figure 2 of the PCP'20 paper).

    Attributes:
        begins, ends: the first position of each node, and the one behind its last.
    """

    def __init__(self, capacity: NDArray[np.int64]) -> None:
        self._behind = capacity.cumsum()
        self.ends: list[int] = self._behind.tolist()
        self.begins: list[int] = (self._behind - capacity).tolist()

    def node_of(self, position: int) -> int:
        """Return the node of a position."""
        return int(np.searchsorted(self._behind, position, side="right"))


class Box(NamedTuple):
    """What is held from `begin` to `end`, in s from now, of the positions from `low` up to the one before `high`."""

    begin: int
    end: int
    low: int
    high: int


def join_boxes(boxes: Sequence[Box]) -> list[Box]:
    """Return boxes of which those are one that lie side by side for the same time, on whichever nodes."""
    found: list[Box] = []
    for box in sorted(boxes):
        last = found[-1] if found else None
        if last is not None and last[:2] == box[:2] and last.high == box.low:
            found[-1] = last._replace(high=box.high)
        else:
            found.append(box)
    return found


class OnLines(InstanceModel):
    """Each unit is a box in time x position, for each resource type it needs. Whole nodes have no box.

    Amounts of a resource are counted in the largest amount that divides all of them. Positions that are full for as
    long as the window takes are not in the lines (see `batdispatch.abilities.solvers.constraint.models.relevance`).

    A box needs consecutive positions, which the machine does not ask for: the optimum may be above that of `Counts`.

    Attributes:
        unit_at: by job and unit: a resource type, and the variable of the unit's position on it.
    """

    unit_at: dict[int, list[tuple[int, Any]]]

    def expresses(self, job: Job) -> bool:
        return super().expresses(job) and not self.instance.space.need(job).whole

    def reduce(self) -> None:
        if not self.moved:
            return
        demands = [
            Demand(self.durations[job], self.units(job), np.array(self.amounts(job), dtype=np.int64))
            for job in self.moved
        ]
        soonest, latest, self.capacity, self.held, full = relevance(demands, self.capacity, self.held, self.horizon)
        self.soonest = dict(zip(self.moved, soonest, strict=True))
        self.latest = dict(zip(self.moved, latest, strict=True))
        # Licences are further resources of the totals, and on no node.
        for axis, taken in enumerate(full.tolist()):
            self.totals[axis] -= taken

    @cached_property
    def grains(self) -> list[int]:
        """What a position of each resource type stands for."""
        return [self._grain(axis) for axis in range(self.capacity.shape[1])]

    @cached_property
    def lines(self) -> Sequence[PositionLine]:
        """The line of each resource type."""
        return [PositionLine(self.capacity[:, axis] // grain) for axis, grain in enumerate(self.grains)]

    def used(self, job: int) -> list[tuple[int, int]]:
        """Return the resource types that a job needs, and how many positions its units take of each."""
        return [(axis, amount // self.grains[axis]) for axis, amount in enumerate(self.amounts(job)) if amount]

    def counts(self, job: int, value: Value) -> dict[int, int]:
        there: dict[int, int] = {}
        for axis, y in self.unit_at[job]:
            node = self.lines[axis].node_of(value(y))
            there[node] = there.get(node, 0) + 1
        return there

    def _grain(self, axis: int) -> int:
        """Return the largest amount of a resource that divides all amounts of it."""
        amounts = [int(amount) for amount in np.unique(self.capacity[:, axis])]
        amounts += [int(amount) for held in self.held for amount in held.amounts[:, axis]]
        amounts += [self.amounts(job)[axis] for job in self.moved]
        return gcd(*amounts) or 1

    def fixed_boxes(self, axis: int) -> list[Box]:
        """Return boxes of what jobs hold that are not moved, each on one node.

        What a job holds on a node takes the lowest positions of the node that are free when it begins, in several
        pieces if need be. Of the jobs that begin together the longest takes its positions first: what they leave free
        is then in one piece at any time.
        """
        line, grain = self.lines[axis], self.grains[axis]
        by_node: dict[int, list[Box]] = {}
        for held in sorted(self.held, key=lambda one: (one.begin, -one.end)):
            for node, amount in zip(held.nodes.tolist(), (held.amounts[:, axis] // grain).tolist(), strict=True):
                mine = by_node.setdefault(node, [])
                taken = sorted((low, high) for _, end, low, high in mine if end > held.begin)
                at, behind = line.begins[node], line.ends[node]
                for low, high in [*taken, (behind, behind)]:
                    piece = min(low - at, amount)
                    if piece > 0:
                        mine.append(Box(held.begin, held.end, at, at + piece))
                        amount -= piece
                    at = max(at, high)
        return [box for mine in by_node.values() for box in mine]
