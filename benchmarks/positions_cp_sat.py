"""PCP'20's model on CP-SAT, which learns from conflicts, and can be told a plan, and rules by which to branch.

It is no part of any dispatcher: `published_models.py` measures what it finds.
"""

from __future__ import annotations

from functools import cached_property
from itertools import pairwise
from typing import Any, Literal, NamedTuple

import numpy as np
from ortools.sat.python import cp_model

from batdispatch.abilities.solvers.constraint.instance import Instance
from batdispatch.abilities.solvers.constraint.lists import Plan
from batdispatch.abilities.solvers.constraint.models.for_cp_sat import ForCpSat
from batdispatch.abilities.solvers.constraint.models.lines import Box, OnLines, join_boxes

#: For each resource type and node: what is taken.
Taken = dict[tuple[int, int], list[Box]]


class PositionsCpSat(OnLines, ForCpSat):
    """PCP'20's boxes in time x position: no overlap for each resource type, and the implied cumulative in time.

    A unit's positions of all types are its node's first ones plus an offset, which is linear over each run of equal
    nodes, in place of the element constraints: CP-SAT would make of these a Boolean variable for each node and unit.
    The positions of a job's units increase.
    """

    name = "positions, CP-SAT"

    def __init__(
        self, instance: Instance, plan: Plan, *, told: bool = False, rule: Literal["", "jobs", "starts"] = ""
    ) -> None:
        """Make the model.

        Args:
            instance: the instance.
            plan: a feasible plan of it.
            told: whether the solver is told the plan: starts, positions, nodes and offsets. Of a job for which `packed`
                finds no consecutive positions, it is told the start alone.
            rule: by which rule CP-SAT branches alone; empty: by its own. The published rule chooses the next job by the
                state of the search, sets its start, and then its positions, which no strategy of CP-SAT can. `jobs`:
                the jobs come in the order of the starts of `plan`, each with its positions. While nothing is taken
                back, this is the published rule, if `plan` is its first solution. `starts`: of all jobs the one that
                can start first, the first in order among equals; when all starts are set, the positions. Either way a
                job starts as early as it can, and positions get their largest values, the one with the fewest values
                left first.
        """
        super().__init__(instance, plan, bounded=False)
        self.follows_rule = bool(rule)
        #: Variables and their values in the plan.
        self._told: list[tuple[Any, int]] = []
        #: Positions in the plan, see `packed`.
        self.places = packed(self) if told else {}
        self._build()
        for variable, value in self._told:
            self.cp.add_hint(variable, value)
        if told:
            for job in self.moved:
                self.cp.add_hint(self.starts[job], int(plan.starts[job]))
        strategy = self.cp.add_decision_strategy
        if rule == "jobs":
            for job in sorted(self.moved, key=lambda job: int(plan.starts[job])):
                strategy([self.starts[job]], cp_model.CHOOSE_FIRST, cp_model.SELECT_MIN_VALUE)
                strategy(self.positions[job], cp_model.CHOOSE_MIN_DOMAIN_SIZE, cp_model.SELECT_MAX_VALUE)
        elif rule == "starts" and self.moved:
            everywhere = [y for row in self.positions.values() for y in row]
            strategy(list(self.starts.values()), cp_model.CHOOSE_LOWEST_MIN, cp_model.SELECT_MIN_VALUE)
            strategy(everywhere, cp_model.CHOOSE_MIN_DOMAIN_SIZE, cp_model.SELECT_MAX_VALUE)

    def _build(self) -> None:
        cp = self.cp
        axes = range(self.capacity.shape[1])
        rectangles: list[tuple[list[Any], list[Any]]] = [([], []) for _ in axes]
        self.unit_at = {}
        #: Position variables by job.
        self.positions: dict[int, list[Any]] = {}
        for job in self.moved:
            used = self.used(job)
            told = self.places.get(job)
            rows: dict[int, list[Any]] = {axis: [] for axis, _ in used}
            for unit in range(self.units(job)):
                node = None
                if len(used) > 1:
                    line = self.lines[used[0][0]]
                    node = self._node(job, None if told is None else line.node_of(told[used[0][0]][unit]))
                for axis, amount in used:
                    y = self._position(axis, amount, node, None if told is None else told[axis][unit])
                    rows[axis].append(y)
                    rectangles[axis][0].append(self.spans[job])
                    rectangles[axis][1].append(cp.new_fixed_size_interval_var(y, amount, ""))
            for axis, amount in used:
                for y, after in pairwise(rows[axis]):
                    cp.add(y + amount <= after)
            self.positions[job] = [y for row in rows.values() for y in row]
            self.unit_at[job] = [(used[0][0], y) for y in rows[used[0][0]]]
        for axis in axes:
            times, places = rectangles[axis]
            if times:
                for begin, end, low, high in join_boxes(self.fixed_boxes(axis)):
                    times.append(cp.new_fixed_size_interval_var(begin, end - begin, ""))
                    places.append(cp.new_fixed_size_interval_var(low, high - low, ""))
                # diffn.
                cp.add_no_overlap_2d(times, places)
        # The implied cumulative in the direction of time.
        self.pool()

    def _position(self, axis: int, amount: int, node: _Node | None, told: int | None) -> Any:
        """Return a variable of a first position, from which `amount` positions lie on one node, and on this one."""
        cp, line = self.cp, self.lines[axis]
        spans = zip(line.begins, line.ends, strict=True)
        inside = [[begin, end - amount] for begin, end in spans if end - begin >= amount]
        y = cp.new_int_var_from_domain(cp_model.Domain.from_intervals(inside), "")
        if told is not None:
            self._told.append((y, told))
        if node is not None:
            sizes = np.subtract(line.ends, line.begins)
            offset = cp.new_int_var(0, int(sizes.max()) - amount, "")
            for (first, _), there in node.runs.items():
                size = int(sizes[first])
                begin = line.begins[first] + size * (node.number - first)
                cp.add(y == begin + offset).only_enforce_if(there)
                cp.add(offset <= size - amount).only_enforce_if(there)
            if told is not None:
                self._told.append((offset, told - line.begins[line.node_of(told)]))
        return y

    def _node(self, job: int, told: int | None) -> _Node:
        """Return the node of a unit that needs several resource types."""
        cp, able = self.cp, self.able(job)
        number = cp.new_int_var_from_domain(cp_model.Domain.from_values(sorted(able)), "")
        if told is not None:
            self._told.append((number, told))
        runs = {run: cp.new_bool_var("") for run in self._runs if not able.keys().isdisjoint(range(run[0], run[1] + 1))}
        for (first, last), there in runs.items():
            cp.add(number >= first).only_enforce_if(there)
            cp.add(number <= last).only_enforce_if(there)
            if told is not None:
                self._told.append((there, int(first <= told <= last)))
        cp.add_exactly_one(runs.values())
        return _Node(number, runs)

    @cached_property
    def _runs(self) -> list[tuple[int, int]]:
        """The first and the last of each run of successive nodes with equal capacities."""
        changes = (np.diff(self.capacity, axis=0) != 0).any(axis=1).nonzero()[0].tolist()
        firsts = [0, *(last + 1 for last in changes)]
        return list(zip(firsts, [*changes, len(self.capacity) - 1], strict=True))


class _Node(NamedTuple):
    """The variable of a node, and for each run of equal nodes whether it is one of these."""

    number: Any
    runs: dict[tuple[int, int], Any]


def packed(model: OnLines) -> dict[int, dict[int, list[int]]]:
    """Return positions for a plan that says only on which nodes units are: by job and resource type, ascending.

    Jobs come in the order of their starts, and of those that start together the longest first. Each unit takes the
    smallest gap that holds it for as long as the job runs, and of these the lowest. A job for which some gap is missing
    is left out: boxes need consecutive positions, and this greedy rule does not always find them where they exist.

    Time: O(units x boxes of a node), for each resource type.
    """
    taken: Taken = {}
    for axis, line in enumerate(model.lines):
        for begin, end, low, high in model.fixed_boxes(axis):
            taken.setdefault((axis, line.node_of(low)), []).append(Box(begin, end, low, high))
    found: dict[int, dict[int, list[int]]] = {}
    for job in sorted(model.moved, key=lambda job: (int(model.plan.starts[job]), -model.durations[job], job)):
        rows = _of_job(model, job, taken)
        if rows is not None:
            found[job] = rows
    return found


def _of_job(model: OnLines, job: int, taken: Taken) -> dict[int, list[int]] | None:
    begin = int(model.plan.starts[job])
    end = begin + model.durations[job]
    rows: dict[int, list[int]] = {}
    new: Taken = {}
    for axis, amount in model.used(job):
        line = model.lines[axis]
        rows[axis] = []
        for node, count in sorted(model.planned(job).items()):
            here = [box for box in taken.get((axis, node), []) if box[0] < end and begin < box[1]]
            mine: list[int] = []
            for _ in range(count):
                position = _smallest_gap(line.begins[node], line.ends[node], amount, [box[2:] for box in here])
                if position is None:
                    return None
                here.append(Box(begin, end, position, position + amount))
                mine.append(position)
            rows[axis] += sorted(mine)
            new[axis, node] = here[-count:]
    for key, boxes in new.items():
        taken.setdefault(key, []).extend(boxes)
    return rows


def _smallest_gap(first: int, behind: int, amount: int, taken: list[tuple[int, int]]) -> int | None:
    """Return where the smallest gap begins that holds `amount` positions from `first` to `behind`, or None."""
    chosen, size, at = None, behind - first + 1, first
    for low, high in [*sorted(taken), (behind, behind)]:
        if amount <= low - at < size:
            chosen, size = at, low - at
        at = max(at, high)
    return chosen
