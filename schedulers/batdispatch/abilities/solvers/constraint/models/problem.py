"""What the models have in common: which jobs they plan, what the nodes have, and what else is held.

All models but the pooled one know two kinds of jobs: those whose units need amounts of resources, and those of whole
nodes. They cannot express what a request may say beyond that (amounts once per node, numbers of nodes, named nodes,
consecutive nodes, licences), nor units that need nothing; PCP'20's boxes cannot express whole nodes either. Such a job
keeps the start and the place that the list schedule gave it, as running jobs keep theirs, and the model plans the
others around it. The optimum of such a model is not that of the instance: its status is then FEASIBLE, without a bound.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from batdispatch.abilities.solvers.constraint.instance import Instance
from batdispatch.abilities.solvers.constraint.lists import Plan
from batdispatch.abilities.solvers.solving.runner import Answer, Value
from batdispatch.core.capacity.totals import SOMEWHERE
from batdispatch.core.hosts.allocation import Allocation, Place
from batdispatch.core.jobs.job import Job


class FixedJob(NamedTuple):
    """What a job that the model does not move holds from `begin` to `end`, in s: `amounts` [node of it, resource]."""

    begin: int
    end: int
    nodes: NDArray[np.intp]
    amounts: NDArray[np.int64]


class InstanceModel:
    """An instance as models see it. A subclass is a model on some backend, and has one start variable per job.

    Attributes:
        instance: the instance.
        plan: a feasible plan.
        moved: the jobs that the model plans; the others keep what `plan` says.
        durations: of the jobs, s.
        weights: the cost of each second of delay, by job.
        starts: start variables, s from now, by job of `moved`.
        spans: intervals in time, by job of `moved`.
        capacity: int64 [node, resource], what nodes have once the running jobs have ended.
        totals: what all nodes together have once the running jobs have ended, by resource.
        held: what jobs hold that the model does not move.
        horizon: latest start, s from now.
    """

    #: Whether all nodes are one node.
    pooled = False

    def __init__(self, instance: Instance, plan: Plan) -> None:
        super().__init__()
        self.instance, self.plan = instance, plan
        self.pooled = self.pooled or instance.pooled
        self.durations: list[int] = instance.durations.tolist()
        self.weights: list[int] = instance.weights.tolist()
        self.moved = [
            index for index, job in enumerate(instance.jobs) if plan.places[index] is not None and self.expresses(job)
        ]
        self.starts: dict[int, Any] = {}
        self.spans: dict[int, Any] = {}
        self.capacity = self._capacity()
        self.totals: list[int] = instance.total.tolist()
        self.held = self._held()
        self.horizon = instance.horizon()
        #: First and last start of each job of `moved`, s from now.
        self.soonest = dict.fromkeys(self.moved, 0)
        self.latest = dict.fromkeys(self.moved, self.horizon)
        self.reduce()

    @property
    def whole(self) -> bool:
        """Whether the model plans all jobs, so that its optimum is the instance's."""
        return len(self.moved) == len(self.instance.jobs)

    # ------------------------------------------------------------------ what a formulation says

    def expresses(self, job: Job) -> bool:
        """Return whether the model knows all that a job asks for."""
        if self.pooled:
            return True
        need = self.instance.space.need(job)
        return need.plain and (need.whole or any(need.amounts))

    def reduce(self) -> None:
        """Leave out what no best plan needs, before the model is built. Most models leave out nothing."""

    def counts(self, job: int, value: Value) -> dict[int, int]:
        """Return how many units of a job are on which node."""
        raise NotImplementedError

    def cumulative(self, spans: list[Any], demands: list[Any], held: list[tuple[int, int, int]], capacity: int) -> None:
        """Add a cumulative constraint; `held` are (begin, end, amount) of jobs that are not moved."""
        raise NotImplementedError

    def pool(self) -> None:
        """Add one cumulative per resource over the sums of all nodes: HCP'19's scheduling model."""
        for axis in range(self.capacity.shape[1]):
            needs: list[int] = self.instance.needs[:, axis].tolist()
            using = [job for job in self.moved if needs[job]]
            spans, demands = [self.spans[job] for job in using], [needs[job] for job in using]
            self.cumulative(spans, demands, self.held_in_all(axis), self.totals[axis])

    # ------------------------------------------------------------------ amounts

    def amounts(self, job: int) -> tuple[int, ...]:
        """Return what a unit takes of each resource; empty: a whole node."""
        need = self.instance.space.need(self.instance.jobs[job])
        # Where all nodes are one, licences are further resources, and no job asks for any.
        return () if need.whole else need.amounts + (0,) * (self.capacity.shape[1] - len(need.amounts))

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
        return instance.space.table(instance.idle)

    def _held(self) -> list[FixedJob]:
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

    def _holding(self, begin: int, end: int, job: Job, allocation: Allocation, sums: NDArray[np.int64]) -> FixedJob:
        if self.pooled:
            return FixedJob(begin, end, np.zeros(1, dtype=np.intp), sums[None, :])
        nodes = np.array(allocation.ids, dtype=np.intp)
        return FixedJob(begin, end, nodes, self.instance.space.use(job, allocation))

    def held_on(self, node: int, axis: int) -> list[tuple[int, int, int]]:
        """Return (begin, end, amount) of what jobs that are not moved hold of a resource on a node."""
        return [
            (held.begin, held.end, int(amount))
            for held in self.held
            for amount in held.amounts[held.nodes == node, axis]
            if amount
        ]

    def held_in_all(self, axis: int) -> list[tuple[int, int, int]]:
        """Return (begin, end, amount) of what jobs that are not moved hold of a resource on all nodes together."""
        sums = [(held.begin, held.end, int(held.amounts[:, axis].sum())) for held in self.held]
        return [held for held in sums if held[2]]

    # ------------------------------------------------------------------ the solution

    def admit(self, answer: Answer) -> Answer:
        """Return a backend's answer; what holds for the jobs that the model moves alone is no proof and no bound."""
        if self.whole:
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
