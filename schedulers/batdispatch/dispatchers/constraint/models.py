"""The constraint models, for CP-SAT: pooled (HCP'19), node-wise (PCP'19), positions (PCP'20), counts (ours)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from ortools.sat.python import cp_model

from batdispatch.core.errors import InputError
from batdispatch.dispatchers.constraint.greedy import Place, Plan
from batdispatch.dispatchers.constraint.instance import Instance, room

#: Positions of a resource up to which the map from positions to nodes is written out.
MOST_POSITIONS = 4096


class Model:
    """A CP-SAT model of an instance with a start variable a job, the objective, and the horizon.

    Attributes:
        cp: the model.
        starts: start variables, s from now.
        places: reads the places of all jobs off a solver that has a solution; None where the model has none.
    """

    def __init__(self, instance: Instance) -> None:
        self.instance = instance
        self.cp = cp_model.CpModel()
        horizon = instance.horizon()
        self.starts = [self.cp.new_int_var(0, horizon, f"s{job}") for job in range(len(instance.ids))]
        self.durations: list[int] = instance.durations.tolist()
        self.spans = [
            self.cp.new_fixed_size_interval_var(start, duration, f"t{job}")
            for job, (start, duration) in enumerate(zip(self.starts, self.durations, strict=True))
        ]
        self.horizon = horizon
        weights: list[int] = instance.weights().tolist()
        self.cp.minimize(sum(weight * start for weight, start in zip(weights, self.starts, strict=True)))
        self.weights = weights
        self.places: Callable[[Any], list[Place]] | None = None
        #: Sets hints for variables beyond the starts.
        self.hint_places: Callable[[Plan], None] = lambda plan: None

    def hint(self, plan: Plan) -> None:
        """Give the solver a solution, and forbid worse ones."""
        for start, value in zip(self.starts, plan.starts.tolist(), strict=True):
            self.cp.add_hint(start, value)
        self.hint_places(plan)
        for start, weight in zip(self.starts, self.weights, strict=True):
            self.cp.add(start <= min(self.horizon, plan.cost // weight))

    def size(self) -> tuple[int, int]:
        """Return numbers of variables and constraints as CP-SAT counts them, intervals among the latter."""
        proto = self.cp.proto
        return len(proto.variables), len(proto.constraints)


def pooled(instance: Instance) -> Model:
    """HCP'19's scheduling model: one cumulative a resource type over the sum of all nodes' capacity."""
    model = Model(instance)
    _pool(model)
    return model


def _pool(model: Model) -> None:
    instance = model.instance
    needs = instance.totals()
    for axis, capacity in enumerate(instance.capacity.sum(axis=0).tolist()):
        spans, demands = [], []
        for job in np.flatnonzero(needs[:, axis]).tolist():
            spans.append(model.spans[job])
            demands.append(int(needs[job, axis]))
        held = [(one.remaining, int(one.amounts[:, axis].sum())) for one in instance.running]
        _cumulative(model, spans, demands, held, capacity)


def _cumulative(model: Model, spans: list[Any], demands: list[Any], held: list[tuple[int, int]], capacity: int) -> None:
    """Add a cumulative constraint with what the running jobs hold."""
    if not spans:
        return
    spans, demands = list(spans), list(demands)
    for remaining, amount in held:
        if amount:
            spans.append(model.cp.new_fixed_size_interval_var(0, remaining, ""))
            demands.append(amount)
    model.cp.add_cumulative(spans, demands, capacity)


def node_wise(instance: Instance) -> Model:
    """PCP'19: an optional interval for each unit that each node could hold; exactly the job's number are present."""
    model = Model(instance)
    cp = model.cp
    present: list[dict[int, list[Any]]] = []
    spans: list[dict[int, list[Any]]] = []
    for job, (request, units) in enumerate(zip(instance.requests, instance.units.tolist(), strict=True)):
        able = room(instance.capacity, request, instance.capacity, units)
        literals: dict[int, list[Any]] = {}
        intervals: dict[int, list[Any]] = {}
        for node in able.nonzero()[0].tolist():
            literals[node] = [cp.new_bool_var(f"x{job},{node},{k}") for k in range(int(able[node]))]
            # The alternative: a present unit has the start and duration of its job.
            intervals[node] = [
                cp.new_optional_fixed_size_interval_var(model.starts[job], model.durations[job], literal, "")
                for literal in literals[node]
            ]
        cp.add(sum(literal for row in literals.values() for literal in row) == units)
        present.append(literals)
        spans.append(intervals)

    for node, axis in np.argwhere(instance.capacity > 0).tolist():
        listed, demands = [], []
        for job, intervals in enumerate(spans):
            amount = _amount(instance, job, node, axis)
            if amount and node in intervals:
                listed += intervals[node]
                demands += [amount] * len(intervals[node])
        _cumulative(model, listed, demands, _held_on(instance, node, axis), int(instance.capacity[node, axis]))

    def places(solver: Any) -> list[Place]:
        return [
            _place({node: sum(solver.boolean_value(x) for x in row) for node, row in literals.items()})
            for literals in present
        ]

    def hint(plan: Plan) -> None:
        for literals, (nodes, counts) in zip(present, plan.places, strict=True):
            there = dict(zip(nodes.tolist(), counts.tolist(), strict=True))
            for node, row in literals.items():
                for k, literal in enumerate(row):
                    cp.add_hint(literal, k < there.get(node, 0))

    model.places, model.hint_places = places, hint
    return model


def counts(instance: Instance) -> Model:
    """Ours: how many units of each job are on each node; a cumulative with these demands per node and resource.

    Has the same solutions as PCP'19 without telling equal units of a node apart. Nodes that no job could use are left
    out, and the pooled capacity is an implied constraint.
    """
    model = Model(instance)
    cp = model.cp
    placed: list[dict[int, Any]] = []
    for job, (request, units) in enumerate(zip(instance.requests, instance.units.tolist(), strict=True)):
        able = room(instance.capacity, request, instance.capacity, units)
        row = {node: cp.new_int_var(0, int(able[node]), f"n{job},{node}") for node in able.nonzero()[0].tolist()}
        cp.add(sum(row.values()) == units)
        placed.append(row)
    for node, axis in np.argwhere(instance.capacity > 0).tolist():
        spans, demands = [], []
        for job, row in enumerate(placed):
            amount = _amount(instance, job, node, axis)
            if amount and node in row:
                spans.append(model.spans[job])
                demands.append(amount * row[node])
        _cumulative(model, spans, demands, _held_on(instance, node, axis), int(instance.capacity[node, axis]))
    if len(instance.capacity) > 1:
        _pool(model)

    def places(solver: Any) -> list[Place]:
        return [_place({node: solver.value(count) for node, count in row.items()}) for row in placed]

    def hint(plan: Plan) -> None:
        for row, (nodes, units) in zip(placed, plan.places, strict=True):
            there = dict(zip(nodes.tolist(), units.tolist(), strict=True))
            for node, variable in row.items():
                cp.add_hint(variable, there.get(node, 0))

    model.places, model.hint_places = places, hint
    return model


def node_map(instance: Instance, axis: int) -> list[int]:
    """Return the node of each position of a resource type, in node order (figure 2 of the PCP'20 paper)."""
    return np.repeat(np.arange(len(instance.capacity)), instance.capacity[:, axis]).tolist()


def positions(instance: Instance) -> Model:
    """PCP'20, the literal model: each unit is a box in time x position, for each resource type it needs.

    diffn for each type; alldifferent positions within a job; cumulatives in both directions (durations, not start
    times, are the demands on the axis of positions); a unit's boxes are on one node (element), and none straddles two.

    Raises:
        InputError: a job asks for whole nodes, for which the model has no box.
    """
    model = Model(instance)
    cp = model.cp
    axes = range(len(instance.resources))
    totals: list[int] = instance.capacity.sum(axis=0).tolist()
    # Memory in MiB has millions of positions, of which no map is made.
    maps = [node_map(instance, axis) if totals[axis] <= MOST_POSITIONS else None for axis in axes]
    first = [np.concatenate(([0], instance.capacity[:, axis].cumsum()[:-1])).tolist() for axis in axes]
    boxes: list[tuple[list[Any], list[Any], list[int], list[int]]] = [([], [], [], []) for _ in axes]
    #: By job and unit: position variables by axis, and the variable of the node.
    units_of: list[list[tuple[dict[int, Any], Any]]] = []
    for job, request in enumerate(instance.requests.tolist()):
        if request[0] < 0:
            raise InputError(
                f"job {instance.ids[job]} asks for whole nodes, for which PCP'20's model of positions has no box: give "
                "it a demand, or use another formulation"
            )
        used = [axis for axis in axes if request[axis]]
        rows: list[tuple[dict[int, Any], Any]] = []
        for unit in range(int(instance.units[job])):
            node = cp.new_int_var(0, len(instance.capacity) - 1, f"n{job},{unit}")
            row: dict[int, Any] = {}
            for axis in used:
                size = request[axis]
                y = cp.new_int_var(0, totals[axis] - size, f"y{job},{axis},{unit}")
                _on_node(model, y, size, node, axis, maps[axis])
                row[axis] = y
                spans, lines, sizes, lasts = boxes[axis]
                spans.append(model.spans[job])
                lines.append(cp.new_fixed_size_interval_var(y, size, ""))
                sizes.append(size)
                lasts.append(model.durations[job])
            rows.append((row, node))
        if len(rows) > 1:
            for axis in used:
                cp.add_all_different(row[axis] for row, _ in rows)
        units_of.append(rows)
    for axis in axes:
        spans, lines, sizes, lasts = boxes[axis]
        if not spans:
            continue
        taken = [0] * len(instance.capacity)
        # Longest first, so that what they leave free on a node is in one piece at any time.
        for held in reversed(instance.running):
            for node, amount in zip(held.hosts.tolist(), held.amounts[:, axis].tolist(), strict=True):
                if amount:
                    # Running jobs are packed from the first position of their node.
                    origin = first[axis][node] + taken[node]
                    taken[node] += amount
                    spans.append(cp.new_fixed_size_interval_var(0, held.remaining, ""))
                    lines.append(cp.new_fixed_size_interval_var(origin, amount, ""))
                    sizes.append(amount)
                    lasts.append(held.remaining)
        cp.add_no_overlap_2d(spans, lines)
        cp.add_cumulative(spans, sizes, totals[axis])
        cp.add_cumulative(lines, lasts, model.horizon)

    def places(solver: Any) -> list[Place]:
        found = []
        for rows in units_of:
            there: dict[int, int] = {}
            for _, node in rows:
                there[solver.value(node)] = there.get(solver.value(node), 0) + 1
            found.append(_place(there))
        return found

    def hint(plan: Plan) -> None:
        for rows, (nodes, units) in zip(units_of, plan.places, strict=True):
            for (_, variable), node in zip(rows, np.repeat(nodes, units).tolist(), strict=True):
                cp.add_hint(variable, node)

    model.places, model.hint_places = places, hint
    return model


def _on_node(model: Model, y: Any, size: int, node: Any, axis: int, positions_of: list[int] | None) -> None:
    """Let the `size` positions from `y` on lie on one node: element(map, y) = node = element(map, y + size - 1)."""
    cp = model.cp
    if positions_of is not None:
        cp.add_element(y, positions_of, node)
        if size > 1:
            cp.add_element(y, positions_of[size - 1 :], node)
        return
    # The same, said of the bounds of each node's positions.
    ends = model.instance.capacity[:, axis].cumsum()
    low = cp.new_int_var(0, int(ends[-1]), "")
    high = cp.new_int_var(0, int(ends[-1]), "")
    cp.add_element(node, (ends - model.instance.capacity[:, axis]).tolist(), low)
    cp.add_element(node, ends.tolist(), high)
    cp.add(low <= y)
    cp.add(y + size <= high)


def _amount(instance: Instance, job: int, node: int, axis: int) -> int:
    """Return what a unit takes of a resource on a node."""
    amount = int(instance.requests[job, axis])
    return int(instance.capacity[node, axis]) if amount < 0 else amount


def _held_on(instance: Instance, node: int, axis: int) -> list[tuple[int, int]]:
    """Return (remaining time, amount) of what running jobs hold of a resource on a node."""
    return [
        (held.remaining, int(amount)) for held in instance.running for amount in held.amounts[held.hosts == node, axis]
    ]


def _place(there: dict[int, int]) -> Place:
    listed = sorted((node, count) for node, count in there.items() if count)
    return np.array([node for node, _ in listed], dtype=np.intp), np.array([n for _, n in listed], dtype=np.int64)


#: Formulations by name.
FORMULATIONS: dict[str, Callable[[Instance], Model]] = {
    "pooled": pooled,
    "node-wise": node_wise,
    "positions": positions,
    "counts": counts,
}
