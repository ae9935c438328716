"""The constraint models, for CP-SAT: pooled (HCP'19), node-wise (PCP'19), positions (PCP'20), counts (ours).

All models but the pooled one know two kinds of jobs: those whose units need amounts of resources, and those of whole
nodes. They cannot express what a request may say beyond that (amounts once per node, numbers of nodes, named nodes,
consecutive nodes, licences), nor units that need nothing; PCP'20's boxes cannot express whole nodes either. Such a job
keeps the start and the place that the list schedule gave it, as running jobs keep theirs, and the model plans the
others around it. The optimum of such a model is not that of the instance: its status is then FEASIBLE, without a bound.

References:
    [1] C. Galleguillos, Z. Kiziltan, R. Soto. A constraint programming-based job dispatcher for modern HPC systems and
        applications. 2020. Section 2.2 has the scheduling model and PCP'19's allocation model, section 3 PCP'20's.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from batdispatch.core import hostset
from batdispatch.core.allocation import Allocation, Place
from batdispatch.core.job import Job
from batdispatch.core.pooled import SOMEWHERE
from batdispatch.dispatchers.constraint.instance import Instance
from batdispatch.dispatchers.constraint.lists import Plan
from batdispatch.parts.solving.cp_sat import CpSatModel
from batdispatch.parts.solving.runner import Answer, Limits, Value

#: Positions of a resource up to which the map from positions to nodes is written out.
MOST_POSITIONS = 4096


class Held(NamedTuple):
    """What a job that the model does not move holds from `begin` to `end`, in s: `amounts` [node of it, resource]."""

    begin: int
    end: int
    nodes: NDArray[np.intp]
    amounts: NDArray[np.int64]


class Model(CpSatModel):
    """A model of an instance with one start variable per job, the objective, and the horizon.

    Attributes:
        instance: the instance.
        plan: a feasible plan.
        moved: the jobs that the model plans; the others keep what `plan` says.
        starts: start variables, s from now, by job.
        spans: intervals in time, by job.
        capacity: int64 [node, resource], what nodes have once the running jobs have ended.
        held: what jobs hold that the model does not move.
    """

    #: Whether all nodes are one node.
    pooled = False

    def __init__(self, instance: Instance, plan: Plan, *, hint: bool = True) -> None:
        """Make the model.

        Args:
            instance: the instance.
            plan: a feasible plan of it.
            hint: whether the solver is told the plan, and that worse ones are of no use.
        """
        super().__init__()
        self.instance, self.plan = instance, plan
        self.pooled = self.pooled or instance.pooled
        self.durations: list[int] = instance.durations.tolist()
        self.moved = [
            index for index, job in enumerate(instance.jobs) if plan.places[index] is not None and self.expresses(job)
        ]
        self.capacity = self._capacity()
        self.held = self._held()
        self.horizon = instance.horizon()
        weights: list[int] = instance.weights.tolist()
        # A plan that costs no more than the hint delays no job by more than this.
        budget = sum(weights[job] * int(plan.starts[job]) for job in self.moved)
        latest = {job: min(self.horizon, budget // weights[job]) if hint else self.horizon for job in self.moved}
        self.starts = {job: self.cp.new_int_var(0, latest[job], f"s{job}") for job in self.moved}
        self.spans = {
            job: self.cp.new_fixed_size_interval_var(start, self.durations[job], f"t{job}")
            for job, start in self.starts.items()
        }
        self.cp.minimize(sum(weights[job] * start for job, start in self.starts.items()))
        self.build()
        if hint:
            for job, start in self.starts.items():
                self.cp.add_hint(start, int(plan.starts[job]))
            self.hint_places()

    # ------------------------------------------------------------------ what a formulation says

    def expresses(self, job: Job) -> bool:
        """Return whether the model knows all that a job asks for."""
        if self.pooled:
            return True
        need = self.instance.space.need(job)
        return need.plain and (need.whole or any(need.amounts))

    def build(self) -> None:
        """Add the constraints."""

    def hint_places(self) -> None:
        """Set hints for variables beyond the starts."""

    def counts(self, job: int, value: Value) -> dict[int, int]:
        """Return how many units of a job are on which node."""
        raise NotImplementedError

    # ------------------------------------------------------------------ amounts

    @property
    def _exclusive(self) -> bool:
        return self.instance.ledger.machine.exclusive

    def amounts(self, job: int) -> tuple[int, ...]:
        """Return what a unit takes of each resource; empty: a whole node."""
        if self._exclusive:
            return (1,)
        need = self.instance.space.need(self.instance.jobs[job])
        return () if need.whole else need.amounts

    def amount(self, job: int, node: int, axis: int) -> int:
        """Return what a unit takes of a resource on a node."""
        amounts = self.amounts(job)
        return amounts[axis] if amounts else int(self.capacity[node, axis])

    def units(self, job: int) -> int:
        """Return how many units a job has."""
        return self.instance.jobs[job].units

    def able(self, job: int) -> dict[int, int]:
        """Return how many of a job's units each node holds by itself, for the nodes that hold any."""
        room = self.instance.room(self.instance.jobs[job])
        return {node: int(room[node]) for node in room.nonzero()[0].tolist()}

    def _capacity(self) -> NDArray[np.int64]:
        instance = self.instance
        if self.pooled:
            return instance.total[None, :]
        nodes = instance.space.nodes(instance.idle)
        if not self._exclusive:
            return np.asarray(nodes)
        table = np.zeros((len(instance.ledger.machine.hosts), 1), dtype=np.int64)
        table[hostset.ids(nodes)] = 1
        return table

    def _held(self) -> list[Held]:
        instance, plan = self.instance, self.plan
        held = [
            self._holding(0, one.seconds, one.stay.job, one.allocation, instance.returns[index])
            for index, one in enumerate(instance.running)
        ]
        moved = set(self.moved)
        for index, (job, place) in enumerate(zip(instance.jobs, plan.places, strict=True)):
            if index not in moved and place is not None:
                begin = int(plan.starts[index])
                held.append(
                    self._holding(begin, begin + self.durations[index], job, place.allocation, instance.needs[index])
                )
        return held

    def _holding(self, begin: int, end: int, job: Job, allocation: Allocation, sums: NDArray[np.int64]) -> Held:
        if self.pooled:
            return Held(begin, end, np.zeros(1, dtype=np.intp), sums[None, :])
        nodes = np.array(allocation.ids, dtype=np.intp)
        return Held(begin, end, nodes, self.instance.space.use(job, allocation))

    # ------------------------------------------------------------------ constraints that several formulations have

    def cumulative(self, spans: list[Any], demands: list[Any], held: list[tuple[int, int, int]], capacity: int) -> None:
        """Add a cumulative constraint; `held` are (begin, end, amount) of jobs that are not moved."""
        if not spans:
            return
        spans, demands = list(spans), list(demands)
        for begin, end, amount in held:
            if amount:
                spans.append(self.cp.new_fixed_size_interval_var(begin, end - begin, ""))
                demands.append(amount)
        self.cp.add_cumulative(spans, demands, capacity)

    def held_on(self, node: int, axis: int) -> list[tuple[int, int, int]]:
        """Return (begin, end, amount) of what jobs that are not moved hold of a resource on a node."""
        return [
            (held.begin, held.end, int(amount))
            for held in self.held
            for amount in held.amounts[held.nodes == node, axis]
        ]

    def pool(self) -> None:
        """Add one cumulative per resource over the sums of all nodes: HCP'19's scheduling model."""
        instance = self.instance
        totals = [instance.total[axis] for axis in range(len(instance.total))]
        width = self.capacity.shape[1]
        for axis, capacity in enumerate(map(int, totals[:width])):
            using = [job for job in self.moved if instance.needs[job, axis]]
            demands = [int(instance.needs[job, axis]) for job in using]
            held = [(one.begin, one.end, int(one.amounts[:, axis].sum())) for one in self.held]
            self.cumulative([self.spans[job] for job in using], demands, held, capacity)

    # ------------------------------------------------------------------ the solution

    def solve(self, limits: Limits) -> Answer:
        """Solve the model; what holds only for the jobs that it moves is neither a proof nor a bound."""
        answer = super().solve(limits)
        if len(self.moved) == len(self.instance.jobs):
            return answer
        return answer._replace(status="FEASIBLE" if answer.status == "OPTIMAL" else answer.status, bound=-math.inf)

    def read(self, value: Value) -> tuple[Plan, float]:
        """Return the plan that the variables' values stand for, and its cost."""
        starts, places = self.plan.starts.copy(), list(self.plan.places)
        for job in self.moved:
            starts[job] = value(self.starts[job])
            places[job] = self._place(job, value)
        cost = self.instance.cost(starts)
        return Plan(starts, cost, places), cost

    def _place(self, job: int, value: Value) -> Place:
        if self.pooled:
            return SOMEWHERE
        there = sorted((node, count) for node, count in self.counts(job, value).items() if count)
        return Place(Allocation.of([node for node, _ in there], [count for _, count in there]))

    def planned(self, job: int) -> dict[int, int]:
        """Return how many units of a job the plan has on which node."""
        place = self.plan.places[job]
        if place is None:
            return {}
        return {0: self.units(job)} if self.pooled else dict(place.allocation.per_host())


class Pooled(Model):
    """HCP'19's scheduling model: one cumulative per resource over the sum of all nodes' capacity.

    Expresses any request, by what it takes of the machine at least.
    """

    name = "pooled"
    pooled = True

    def build(self) -> None:
        self.pool()


class NodeWise(Model):
    """PCP'19: an optional interval for each unit that each node could hold; exactly the job's number are present."""

    name = "node-wise"

    def build(self) -> None:
        cp = self.cp
        #: By job and node: literals of the units that may be there.
        self.present: dict[int, dict[int, list[Any]]] = {}
        spans: dict[int, dict[int, list[Any]]] = {}
        for job in self.moved:
            able = self.able(job)
            self.present[job] = {
                node: [cp.new_bool_var(f"x{job},{node},{k}") for k in range(count)] for node, count in able.items()
            }
            # The alternative: a present unit has the start and duration of its job.
            spans[job] = {
                node: [
                    cp.new_optional_fixed_size_interval_var(self.starts[job], self.durations[job], literal, "")
                    for literal in literals
                ]
                for node, literals in self.present[job].items()
            }
            # Exactly as many units are present as the job has.
            cp.add(sum(literal for row in self.present[job].values() for literal in row) == self.units(job))
        # A cumulative per node and resource.
        for node, axis in np.argwhere(self.capacity > 0).tolist():
            listed, demands = [], []
            for job, by_node in spans.items():
                amount = self.amount(job, node, axis)
                if amount and node in by_node:
                    listed += by_node[node]
                    demands += [amount] * len(by_node[node])
            self.cumulative(listed, demands, self.held_on(node, axis), int(self.capacity[node, axis]))

    def hint_places(self) -> None:
        for job, by_node in self.present.items():
            there = self.planned(job)
            for node, row in by_node.items():
                for k, literal in enumerate(row):
                    self.cp.add_hint(literal, k < there.get(node, 0))

    def counts(self, job: int, value: Value) -> dict[int, int]:
        return {node: sum(value(literal) for literal in row) for node, row in self.present[job].items()}


class Counts(Model):
    """Ours: how many units of each job are on each node; a cumulative with these demands per node and resource.

    Has the same solutions as PCP'19 without telling equal units of a node apart. Nodes that no job could use are left
    out, and the pooled capacity is an implied constraint.
    """

    name = "counts"

    def build(self) -> None:
        cp = self.cp
        self.placed: dict[int, dict[int, Any]] = {}
        for job in self.moved:
            able = self.able(job)
            self.placed[job] = {node: cp.new_int_var(0, count, f"n{job},{node}") for node, count in able.items()}
            # Every unit is somewhere.
            cp.add(sum(self.placed[job].values()) == self.units(job))
        # A cumulative per node and resource.
        for node, axis in np.argwhere(self.capacity > 0).tolist():
            spans, demands = [], []
            for job, row in self.placed.items():
                amount = self.amount(job, node, axis)
                if amount and node in row:
                    spans.append(self.spans[job])
                    demands.append(amount * row[node])
            self.cumulative(spans, demands, self.held_on(node, axis), int(self.capacity[node, axis]))
        if len(self.capacity) > 1:
            self.pool()

    def hint_places(self) -> None:
        for job, row in self.placed.items():
            there = self.planned(job)
            for node, variable in row.items():
                self.cp.add_hint(variable, there.get(node, 0))

    def counts(self, job: int, value: Value) -> dict[int, int]:
        return {node: value(count) for node, count in self.placed[job].items()}


def node_map(capacity: NDArray[np.int64], axis: int) -> list[int]:
    """Return the node of each position of a resource type, in node order (figure 2 of the PCP'20 paper)."""
    nodes: list[int] = np.repeat(np.arange(len(capacity)), capacity[:, axis]).tolist()
    return nodes


class Positions(Model):
    """PCP'20, the published model: each unit is a box in time x position, for each resource type it needs.

    For each type, boxes do not overlap (diffn), the positions of a job's units are all different, and two cumulatives
    are implied, along the time and along the positions; on the latter, durations and not start times are the demands. A
    unit's boxes are on one node (element), and none straddles two. Whole nodes have no box.

    A box needs consecutive positions, which the machine does not ask for: the optimum may be above that of `Counts`.
    """

    name = "positions"

    def expresses(self, job: Job) -> bool:
        return super().expresses(job) and (self._exclusive or not self.instance.space.need(job).whole)

    def build(self) -> None:
        cp, capacity = self.cp, self.capacity
        axes = range(capacity.shape[1])
        totals: list[int] = capacity.sum(axis=0).tolist()
        # Memory in MiB has millions of positions, of which no map is made.
        maps = [node_map(capacity, axis) if totals[axis] <= MOST_POSITIONS else None for axis in axes]
        boxes: list[_Boxes] = [_Boxes([], [], [], []) for _ in axes]
        #: By job and unit: the variable of the node.
        self.nodes: dict[int, list[Any]] = {}
        for job in self.moved:
            used = [(axis, amount) for axis, amount in enumerate(self.amounts(job)) if amount]
            lines: dict[int, list[Any]] = {axis: [] for axis, _ in used}
            self.nodes[job] = []
            for unit in range(self.units(job)):
                node = cp.new_int_var(0, len(capacity) - 1, f"n{job},{unit}")
                self.nodes[job].append(node)
                for axis, amount in used:
                    y = cp.new_int_var(0, totals[axis] - amount, f"y{job},{axis},{unit}")
                    # The element constraints: the unit's positions of all types lie on one node.
                    self._on_node(y, amount, node, axis, maps[axis])
                    lines[axis].append(y)
                    line = cp.new_fixed_size_interval_var(y, amount, "")
                    boxes[axis].add(self.spans[job], line, amount, self.durations[job])
            # alldifferent, implied: the positions of a job's units are all different.
            for axis, _ in used:
                if len(lines[axis]) > 1:
                    cp.add_all_different(lines[axis])
        for axis in axes:
            spans, intervals, amounts, durations = boxes[axis]
            if not spans:
                continue
            for begin, end, low, high in self._fixed_boxes(axis):
                span = cp.new_fixed_size_interval_var(begin, end - begin, "")
                boxes[axis].add(span, cp.new_fixed_size_interval_var(low, high - low, ""), high - low, end - begin)
            # diffn, and the implied cumulatives in both directions.
            cp.add_no_overlap_2d(spans, intervals)
            cp.add_cumulative(spans, amounts, totals[axis])
            cp.add_cumulative(intervals, durations, self.horizon)

    def _fixed_boxes(self, axis: int) -> list[tuple[int, int, int, int]]:
        """Return boxes (begin, end, first position, position behind the last) of what jobs hold that are not moved.

        What a job holds on a node takes the lowest positions of the node that are free when it begins, in several
        pieces if need be. Of the jobs that begin together the longest takes its positions first: what they leave free
        is then in one piece at any time.
        """
        ends = self.capacity[:, axis].cumsum()
        boxes: list[tuple[int, int, int, int]] = []
        by_node: dict[int, list[tuple[int, int, int, int]]] = {}
        for held in sorted(self.held, key=lambda one: (one.begin, -one.end)):
            for node, amount in zip(held.nodes.tolist(), held.amounts[:, axis].tolist(), strict=True):
                mine = by_node.setdefault(node, [])
                taken = sorted((low, high) for _, end, low, high in mine if end > held.begin)
                at = int(ends[node]) - int(self.capacity[node, axis])
                for low, high in [*taken, (int(ends[node]), int(ends[node]))]:
                    piece = min(low - at, amount)
                    if piece > 0:
                        mine.append((held.begin, held.end, at, at + piece))
                        amount -= piece
                    at = max(at, high)
        for mine in by_node.values():
            boxes += mine
        return boxes

    def _on_node(self, y: Any, size: int, node: Any, axis: int, positions_of: list[int] | None) -> None:
        """Let the `size` positions from `y` on lie on one node: element(map, y) = node = element(map, y + size - 1)."""
        cp = self.cp
        if positions_of is not None:
            cp.add_element(y, positions_of, node)
            if size > 1:
                cp.add_element(y, positions_of[size - 1 :], node)
            return
        # The same, said of the bounds of each node's positions.
        ends = self.capacity[:, axis].cumsum()
        low = cp.new_int_var(0, int(ends[-1]), "")
        high = cp.new_int_var(0, int(ends[-1]), "")
        cp.add_element(node, (ends - self.capacity[:, axis]).tolist(), low)
        cp.add_element(node, ends.tolist(), high)
        cp.add(low <= y)
        cp.add(y + size <= high)

    def hint_places(self) -> None:
        for job, variables in self.nodes.items():
            there = self.planned(job)
            listed = [node for node, count in sorted(there.items()) for _ in range(count)]
            for variable, node in zip(variables, listed, strict=True):
                self.cp.add_hint(variable, node)

    def counts(self, job: int, value: Value) -> dict[int, int]:
        there: dict[int, int] = {}
        for variable in self.nodes[job]:
            node = value(variable)
            there[node] = there.get(node, 0) + 1
        return there


class _Boxes(NamedTuple):
    """Boxes of one resource: intervals in time, intervals of positions, amounts, and durations in s."""

    spans: list[Any]
    lines: list[Any]
    amounts: list[int]
    durations: list[int]

    def add(self, span: Any, line: Any, amount: int, duration: int) -> None:
        self.spans.append(span)
        self.lines.append(line)
        self.amounts.append(amount)
        self.durations.append(duration)


#: Formulations by name.
FORMULATIONS: dict[str, Callable[..., Model]] = {model.name: model for model in (Pooled, NodeWise, Positions, Counts)}
