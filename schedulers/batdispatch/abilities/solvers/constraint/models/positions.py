"""PCP'20's model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from batdispatch.abilities.solvers.constraint.instance import Instance
from batdispatch.abilities.solvers.constraint.lists import Plan
from batdispatch.abilities.solvers.constraint.models.interleaved_search import InterleavedSearch
from batdispatch.abilities.solvers.constraint.models.lines import OnLines, PositionLine, join_boxes
from batdispatch.abilities.solvers.constraint.models.searched_model import SearchedModel
from batdispatch.abilities.solvers.solving.depth_first import BRANCH_SECONDS
from batdispatch.abilities.solvers.solving.runner import ENTRY_SECONDS

#: Positions of a resource up to which the map from positions to nodes is written out.
MOST_POSITIONS = 4096
#: Deterministic seconds of a branch for each pair of boxes of which the first can move.
PAIR_SECONDS = 5e-9
#: Deterministic seconds of a branch for each unit that only the order of units keeps apart from others.
ORDER_SECONDS = 1e-6
#: How many branches more the pairs count for until the first plan, which moves all boxes.
FIRST_BRANCHES = 60
#: How much longer than its limit PCP'20 searches while it has no solution: 1 s, and four extensions of 0.5 s.
EXTENSION = 3.0

Units = Literal["increasing", "different"]
Backtracking = Literal["all", "starts"]


def node_map(capacity: NDArray[np.int64], axis: int) -> list[int]:
    """Return the node of each position of a resource type, in node order (figure 2 of the PCP'20 paper)."""
    nodes: list[int] = np.repeat(np.arange(len(capacity)), capacity[:, axis]).tolist()
    return nodes


class LineModel(OnLines, SearchedModel):
    """A model of boxes on lines that is searched within PCP'20's limit."""

    def enough(self, spent: float, limit: float, best: Callable[[], int | None]) -> bool:
        return spent >= limit and (spent >= EXTENSION * limit or best() is not None)


def first_plan_work(instance: Instance) -> float:
    """Return the least deterministic seconds that `Positions` takes until its first plan, running jobs left out.

    The model need not be built for that. Each start and each position takes a branch.
    """
    used = instance.needs > 0
    units = np.array([job.units for job in instance.jobs], dtype=np.int64)
    own = (units[:, None] * used).sum(axis=0)
    branches = len(units) + int(own.sum())
    pairs = int((own * own).sum())
    tasks = int(own.sum() + used.sum())
    branch = BRANCH_SECONDS + tasks * Positions.task_seconds + pairs * PAIR_SECONDS
    return pairs * PAIR_SECONDS * FIRST_BRANCHES + branches * (ENTRY_SECONDS + branch)


class Positions(LineModel):
    """PCP'20, the published model: each unit is a box in time x position, for each resource type it needs.

    For each type, boxes do not overlap (diffn), and a cumulative along the time is implied. A unit's boxes are on one
    node (element), and none straddles two.

    Attributes:
        positions: position variables by job.
    """

    name = "positions"
    task_seconds = 3e-6

    def __init__(
        self, instance: Instance, plan: Plan, *, units: Units = "increasing", backtracking: Backtracking = "all"
    ) -> None:
        """Make the model.

        Args:
            instance: the instance.
            plan: a feasible plan of it.
            units: whether the positions of a job's units increase, or are only different.
            backtracking: whether the search takes back starts and positions, or starts alone.
        """
        self._increasing = units == "increasing"
        self._only_starts = backtracking == "starts"
        self.complete = not self._only_starts
        self._pairs = self._ordered = 0
        super().__init__(instance, plan)

    @cached_property
    def lines(self) -> Sequence[_MappedLine]:
        return [_MappedLine(self.capacity[:, axis] // grain) for axis, grain in enumerate(self.grains)]

    def build(self) -> None:
        cp = self.cp
        axes = range(self.capacity.shape[1])
        lines = self.lines
        boxes: list[_Boxes] = [_Boxes([], [], [], []) for _ in axes]
        self.positions: dict[int, list[Any]] = {}
        self.unit_at = {}
        for job in self.moved:
            used = self.used(job)
            rows: dict[int, list[Any]] = {axis: [] for axis, _ in used}
            for unit in range(self.units(job)):
                nodes = []
                for axis, amount in used:
                    y = lines[axis].variable(cp, amount, f"y{job},{axis},{unit}")
                    rows[axis].append(y)
                    boxes[axis].add(self.starts[job], y, self.durations[job], amount)
                    if len(used) > 1 or not lines[axis].short:
                        nodes.append(lines[axis].node(cp, y, amount))
                # The element constraints: the unit's positions of all types lie on one node.
                for one, other in pairwise(nodes):
                    cp.Add(one == other)
            for axis, amount in used:
                if self._increasing:
                    for y, after in pairwise(rows[axis]):
                        cp.Add(y + amount <= after)
                elif len(rows[axis]) > 1:
                    # alldifferent, implied: the positions of a job's units are all different.
                    cp.Add(cp.AllDifferent(rows[axis]))
            self.positions[job] = [y for row in rows.values() for y in row]
            self.unit_at[job] = [(used[0][0], y) for y in rows[used[0][0]]]
            self.variables += self.positions[job]
        for axis in axes:
            own = len(boxes[axis].starts)
            fixed = join_boxes(self.fixed_boxes(axis)) if own else []
            if not fixed and self._increasing and len(self.moved) == 1:
                # The order of the units of one job keeps them apart.
                self._ordered += own
            elif own:
                for begin, end, low, high in fixed:
                    boxes[axis].add(cp.IntConst(begin), cp.IntConst(low), end - begin, high - low)
                # diffn.
                starts, ys, durations, amounts = boxes[axis]
                widths, heights = [cp.IntConst(one) for one in durations], [cp.IntConst(one) for one in amounts]
                cp.Add(cp.NonOverlappingBoxesConstraint(starts, ys, widths, heights))
                self.tasks += len(starts)
                # Fixed boxes are compared with others, but never move: they push none.
                self._pairs += own * len(starts)
        # The implied cumulative in the direction of time.
        self.pool()

    def build_work(self) -> float:
        return super().build_work() + self._pairs * PAIR_SECONDS * FIRST_BRANCHES

    def branch_work(self) -> float:
        return super().branch_work() + self._pairs * PAIR_SECONDS + self._ordered * ORDER_SECONDS

    def search(self) -> Any:
        return InterleavedSearch(
            [self.starts[job] for job in self.moved],
            [self.positions[job] for job in self.moved],
            [self.durations[job] for job in self.moved],
            sorted({held.end for held in self.held}),
            raised=self.raised,
            only_starts=self._only_starts,
        )


class _MappedLine(PositionLine):
    """A line as the depth-first solver sees it.

    Attributes:
        short: whether the map from positions to nodes is written out.
    """

    def __init__(self, capacity: NDArray[np.int64]) -> None:
        super().__init__(capacity)
        self.short = self.ends[-1] <= MOST_POSITIONS
        self._map = node_map(capacity[:, None], 0) if self.short else []
        self._starts: dict[int, list[int]] = {}

    def variable(self, cp: Any, size: int, name: str) -> Any:
        """Return a variable of a first position, from which `size` positions lie on one node."""
        if not self.short:
            return cp.IntVar(0, self.ends[-1] - size, name)
        # element(map, y) = element(map, y + size - 1) concerns one variable, and is said by its domain.
        if size not in self._starts:
            spans = zip(self.begins, self.ends, strict=True)
            self._starts[size] = [y for begin, end in spans for y in range(begin, end - size + 1)]
        return cp.IntVar(self._starts[size], name)

    def node(self, cp: Any, y: Any, size: int) -> Any:
        """Return the node of `size` positions from `y` on, and let them lie on one."""
        if self.short:
            return cp.Element(self._map, y)
        # The same, said of the bounds of each node's positions. If two expressions are compared, the solver makes a
        # variable of each, and that of an element has a bit for each position: 10 MB on 1,200 nodes with 64 GB each.
        node = cp.IntVar(0, len(self.ends) - 1, "")
        cp.Add(y - cp.Element(self.begins, node) >= 0)
        cp.Add(cp.Element(self.ends, node) - y >= size)
        return node


class _Boxes(NamedTuple):
    """Boxes of one resource: starts in time, first positions, durations in s, and amounts."""

    starts: list[Any]
    ys: list[Any]
    durations: list[int]
    amounts: list[int]

    def add(self, start: Any, y: Any, duration: int, amount: int) -> None:
        self.starts.append(start)
        self.ys.append(y)
        self.durations.append(duration)
        self.amounts.append(amount)
