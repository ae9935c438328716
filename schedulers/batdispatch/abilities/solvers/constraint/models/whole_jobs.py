"""PCP'20's search for windows of so many units that a variable for each position would exceed the limit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from ortools.constraint_solver import pywrapcp

from batdispatch.abilities.solvers.constraint.instance import Instance
from batdispatch.abilities.solvers.constraint.lists import Plan
from batdispatch.abilities.solvers.constraint.models.interleaved_search import Later, next_end
from batdispatch.abilities.solvers.constraint.models.lines import Box, join_boxes
from batdispatch.abilities.solvers.constraint.models.positions import LineModel
from batdispatch.abilities.solvers.solving.runner import ENTRY_SECONDS, Value

#: Deterministic seconds to place a job, for each node, each unit of a mean job, and each box that may be in its way.
PLACE_SECONDS = 2e-7


class WholeJobs(LineModel):
    """PCP'20's starts as variables, and boxes that the search places: all units of a job at once.

    The search rule gives each position its largest value, so that a start says where a job goes. A job starts only
    where its boxes overlap no other box, which the search sees to. Along the time, a cumulative says so as well. Only
    starts are taken back, so that nothing is proved.
    """

    name = "whole-jobs"
    task_seconds = 5e-7
    complete = False

    def __init__(self, instance: Instance, plan: Plan) -> None:
        #: Starts of a plan that the search has found -> where its jobs are.
        self.found: dict[tuple[int, ...], dict[int, JobPlace]] = {}
        super().__init__(instance, plan)

    def build(self) -> None:
        self.fixed = [_Busy.of(join_boxes(self.fixed_boxes(axis))) for axis in range(self.capacity.shape[1])]
        self._boxes = sum(len(busy.lows) for busy in self.fixed)
        self.pool()

    def build_work(self) -> float:
        return super().build_work() + self._boxes * ENTRY_SECONDS

    def branch_work(self) -> float:
        units = sum(self.units(job) for job in self.moved) / max(1, len(self.moved))
        return super().branch_work() + (len(self.capacity) + units + self._boxes) * PLACE_SECONDS

    def search(self) -> Any:
        return WholeJobSearch(self)

    def counts(self, job: int, value: Value) -> dict[int, int]:
        placed = self.found[tuple(value(self.starts[one]) for one in self.moved)][job]
        return dict(zip(placed.nodes.tolist(), placed.counts.tolist(), strict=True))

    def place(self, job: int, start: int, others: Sequence[JobPlace]) -> JobPlace | None:
        """Return the largest free positions for all units of a job that starts then, or None if there are too few.

        Args:
            job: the job.
            start: its start, s from now.
            others: the jobs that have places.
        """
        end = start + self.durations[job]
        met = [other for other in others if other.start < end and other.end > start]
        used = self.used(job)
        slots = []
        for axis, amount in used:
            busy = [self.fixed[axis].during(start, end), *(other.busy[axis] for other in met if axis in other.busy)]
            slots.append(_Slots.of(np.array(self.lines[axis].ends), busy, amount))
        room = np.min([one.of_nodes for one in slots], axis=0)
        # The last nodes first: their positions are the largest.
        taken = np.minimum(room[::-1].cumsum(), self.units(job))[::-1]
        counts = taken - np.append(taken[1:], 0)
        if taken[0] < self.units(job):
            return None
        nodes = counts.nonzero()[0]
        spans = {axis: one.last(counts) for (axis, _), one in zip(used, slots, strict=True)}
        return JobPlace(start, end, nodes, counts[nodes], spans)


class JobPlace(NamedTuple):
    """A job that has its places: s from now, nodes, units on each of these, and positions taken, by resource type."""

    start: int
    end: int
    nodes: NDArray[np.intp]
    counts: NDArray[np.int64]
    busy: dict[int, NDArray[np.int64]]


class _Busy(NamedTuple):
    """Boxes that do not move, as arrays."""

    begins: NDArray[np.int64]
    ends: NDArray[np.int64]
    lows: NDArray[np.int64]
    highs: NDArray[np.int64]

    @staticmethod
    def of(boxes: Sequence[Box]) -> _Busy:
        return _Busy(*np.array(boxes, dtype=np.int64).reshape(-1, 4).T)

    def during(self, start: int, end: int) -> NDArray[np.int64]:
        """Return the positions that are taken at some time from `start` to `end`, int64 [box, (low, high)]."""
        met = (self.begins < end) & (self.ends > start)
        return np.column_stack([self.lows[met], self.highs[met]])


class _Slots(NamedTuple):
    """Free places for units on a line: the ends of free stretches, each on one node, with how many units it holds.

    Attributes:
        ends: the position behind each stretch, ascending.
        nodes: the node of each.
        numbers: of units that each holds.
        amount: positions of a unit.
        of_nodes: number of units that each node holds.
    """

    ends: NDArray[np.int64]
    nodes: NDArray[np.intp]
    numbers: NDArray[np.int64]
    amount: int
    of_nodes: NDArray[np.int64]

    @staticmethod
    def of(behind: NDArray[np.int64], busy: Sequence[NDArray[np.int64]], amount: int) -> _Slots:
        """Return the free places beside what is busy, where `behind` has the position behind each node's last."""
        edges = np.column_stack([behind, behind])
        taken = np.concatenate([*busy, edges])
        taken = taken[np.lexsort((taken[:, 1], taken[:, 0]))]
        begins = np.append(0, np.maximum.accumulate(taken[:, 1])[:-1])
        lengths = taken[:, 0] - begins
        free = lengths >= amount
        numbers = lengths[free] // amount
        nodes = np.searchsorted(behind, begins[free], side="right")
        of_nodes = np.bincount(nodes, weights=numbers, minlength=len(behind)).astype(np.int64)
        return _Slots(taken[free, 0], nodes, numbers, amount, of_nodes)

    def last(self, counts: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the last places on each node, so many as `counts` says, int64 [stretch, (low, high)]."""
        behind = self.numbers[::-1].cumsum()[::-1] - self.numbers
        # What stretches further behind on the same node hold already.
        of_later_nodes = self.of_nodes[::-1].cumsum()[::-1] - self.of_nodes
        held = np.clip(counts[self.nodes] - (behind - of_later_nodes[self.nodes]), 0, self.numbers)
        some = held > 0
        return np.column_stack([self.ends[some] - held[some] * self.amount, self.ends[some]])


class WholeJobSearch(pywrapcp.PyDecisionBuilder):  # type: ignore[misc]
    """PCP'20's search rule, where the units of a job get their positions at once.

    Of the jobs that can start first, take the first in order, at its earliest start, and place it; and so on. If a
    start leads to nothing better, or has no places, the job starts when the next job ends, at the earliest.
    """

    def __init__(self, model: WholeJobs) -> None:
        super().__init__()
        self._model = model
        self._starts = [model.starts[job] for job in model.moved]
        self._durations = [model.durations[job] for job in model.moved]
        self._ends = sorted({held.end for held in model.held})
        #: Whether a job has its places; the solver takes these back when it backtracks.
        self._done = [pywrapcp.RevBool(False) for _ in model.moved]
        self._placed: list[JobPlace | None] = [None] * len(model.moved)
        #: The solver does not own decisions that Python made.
        self._made: list[Later] = []

    def Next(self, solver: Any) -> Any:
        try:
            return self._next(solver)
        except BaseException as problem:
            self._model.raised.append(problem)
            return solver.FailDecision()

    def _next(self, solver: Any) -> Any:
        """Return the next decision, or None at a solution."""
        model = self._model
        while True:
            left = [(start.Min(), job) for job, start in enumerate(self._starts) if not self._done[job].Value()]
            placed = [one for one, done in zip(self._placed, self._done, strict=True) if done.Value() and one]
            if not left:
                named = dict(zip(model.moved, placed, strict=True))
                model.found[tuple(start.Value() for start in self._starts)] = named
                return None
            first, chosen = min(left)
            start = self._starts[chosen]
            if not start.Bound():
                self._made.append(
                    Later(start, first, next_end(self._starts, self._durations, self._ends, chosen, first))
                )
                return self._made[-1]
            place = model.place(model.moved[chosen], first, placed)
            if place is None:
                return solver.FailDecision()
            self._placed[chosen] = place
            self._done[chosen].SetValue(solver, True)
