"""IPSCHED's integer program over groups of nodes, for CP-SAT.

With one node in each group this is the program of the slides [1]; with larger groups it is a relaxation of it, since it
does not say which jobs meet on one node. Numbers in brackets are those of the slides' constraints:

    maximise    sum_j p_j (2 N s_j - sum_k T_jk)                                  2 N times the objective, with (4)
    subject to  sum_k X_jk = r_j s_j                                              (2)
                Nmin_j s_j <= sum_k T_jk <= Nmax_j s_j                            (5)
                T_jk <= X_jk <= R_jk T_jk, or X_jk = e_j T_jk                     (6)
                sum_j (a_jr X_jk + o_jr T_jk) <= m_k F_kr     for each resource r (1), (3)
                sum_j l_jr s_j <= L_r                         for each licence r

s_j says whether job j starts, T_jk on how many of the m_k nodes of group k, X_jk with how many units there. R_jk is how
many of its units one such node can take, F_kr what it has free; a_jr is what a unit takes, o_jr what the job takes once
of every node that it uses, e_j the number of units on each node where the job fixes it.

What the program says beyond that holds for every plan, or for one of the best:

- meeting: of the jobs that take at least q of a resource on each node, floor(F_kr / q) at most meet on one node:
  sum_j T_jk <= m_k floor(F_kr / q);
- crowding: a node that job j fills alone is shared with nobody. With f_jk the number of those, X_jk <= (R_jk - 1) T_jk
  + f_jk, and sum_j f_jk plus the nodes of jobs that never meet is at most m_k;
- symmetry: of jobs that ask alike, those of higher priorities start first: s_a >= s_b. If s_a = 0 and s_b = 1, the two
  may change places, and p_a >= p_b. This only spares the search plans that are worth no more.

References:
    [1] S. Soner, C. Özturan. Integer programming based heterogeneous CPU-GPU clusters. Slides, Slurm User Group, 2012.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from math import floor, gcd, inf
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from ortools.sat.python import cp_model

from batdispatch.abilities.solvers.auction.groups import Group
from batdispatch.abilities.solvers.auction.problem import Problem
from batdispatch.abilities.solvers.solving.cp_sat import CpSatModel
from batdispatch.abilities.solvers.solving.runner import Answer, Limits, Value

#: A variable of a linear relaxation that is closer to a whole number counts as that number.
_SOME = 1e-6

#: Entries of the program for each pair of a job and a group, and for each job of a set that may meet on a node.
PAIR_ENTRIES, MEETING_ENTRIES = 11, 6

#: For each (job, index of a group): on how many of its nodes the job is, and with how many units.
Spread = Mapping[tuple[int, int], tuple[int, int]]
#: Jobs that meet on a node, ascending.
GroupMeeting = tuple[int, ...]


class MeetingCell(NamedTuple):
    """Nodes that all carry the same jobs: how many nodes, and how many units of each job they carry together."""

    nodes: int
    units: Mapping[int, int]


class Layout(NamedTuple):
    """A solution of the program: its spread, and the cells of the groups for which it says who meets whom."""

    spread: Spread
    cells: Mapping[int, Sequence[MeetingCell]] = {}


def entries_of(pairs: int, meetings: Mapping[int, Sequence[GroupMeeting]] | None = None) -> int:
    """Return about how many entries a program has, of so many pairs of a job and a group (see `Program`)."""
    told = [len(jobs) for sets in (meetings or {}).values() for jobs in sets]
    return PAIR_ENTRIES * pairs + MEETING_ENTRIES * (sum(told) + len(told))


class Program(CpSatModel):
    """The program of a problem over groups of its nodes. Costs are minus 2 N times the slides' objective.

    Attributes:
        groups: the groups.
        jobs: the jobs that may start, by their positions in the problem.
    """

    name = "ipsched"

    def __init__(
        self,
        problem: Problem,
        jobs: Sequence[int],
        groups: Sequence[Group],
        hint: Spread | None = None,
        meetings: Mapping[int, Sequence[GroupMeeting]] | None = None,
        *,
        symmetry: bool = True,
        pairs: Container[tuple[int, int]] | None = None,
    ) -> None:
        """Make the program.

        Args:
            problem: the problem.
            jobs: those that may start, the most urgent first.
            groups: groups of the problem's nodes; what is in none of them stays free.
            hint: a plan that the solver is told.
            meetings: by group, all sets of jobs that may meet on one of its nodes, where the program is to say how many
                nodes carry which set.
            symmetry: whether jobs that ask alike start in the order of priority.
            pairs: the (job, index of a group) that may be used; all if not given.
        """
        super().__init__()
        self.problem, self.jobs, self.groups = problem, jobs, groups
        self._starts = {job: self.cp.new_bool_var(f"s{job}") for job in jobs}
        #: How many jobs start.
        self._count = self.cp.new_int_var(0, len(jobs), "n")
        self.cp.add(sum(self._starts.values()) == self._count)
        self._nodes: dict[tuple[int, int], cp_model.IntVar] = {}
        self._units: dict[tuple[int, int], cp_model.IntVar] = {}
        #: The jobs that may use each group.
        self._of: list[list[int]] = [
            [job for job in jobs if group.rooms[job] and (pairs is None or (job, index) in pairs)]
            for index, group in enumerate(groups)
        ]
        for job in jobs:
            self._job(job)
        for index in range(len(groups)):
            self._capacity(index)
            self._meeting(index)
            self._crowding(index)
        #: For each (group, set of jobs): how many nodes carry it, and how many units of each of its jobs are there.
        self._cells: dict[tuple[int, GroupMeeting], tuple[cp_model.IntVar, dict[int, cp_model.IntVar]]] = {}
        for index, sets in (meetings or {}).items():
            self._meetings(index, sets)
        self._licences()
        if symmetry:
            self._symmetry()
        self._objective()
        if hint is not None:
            self._tell(hint)

    # ------------------------------------------------------------------ what a job asks for

    def _job(self, job: int) -> None:
        asking = self.problem.askings[job]
        start, places = self._starts[job], []
        for index, group in enumerate(self.groups):
            room = group.rooms[job]
            if job not in self._of[index]:
                continue
            place = (job, index)
            places.append(place)
            count = len(group.nodes)
            nodes = self._nodes[place] = self.cp.new_int_var(0, min(count, asking.most), f"T{job},{index}")
            units = self._units[place] = self.cp.new_int_var(0, min(asking.units, room * count), f"X{job},{index}")
            if asking.each:
                self.cp.add(units == asking.each * nodes)
            else:
                # A node that is used carries a unit, and no more than it has room for.
                self.cp.add(units >= nodes)
                self.cp.add(units <= room * nodes)
        # All units, or none.
        self.cp.add(sum(self._units[place] for place in places) == asking.units * start)
        # The range of nodes.
        used = sum(self._nodes[place] for place in places)
        self.cp.add(used >= asking.least * start)
        self.cp.add(used <= asking.most * start)

    # ------------------------------------------------------------------ what nodes have

    def _capacity(self, index: int) -> None:
        group = self.groups[index]
        for axis, free in enumerate(group.free):
            terms = []
            for job in self._of[index]:
                asking = self.problem.askings[job]
                amount, once = int(asking.amounts[axis]), group.once(asking)[axis]
                if amount:
                    terms.append(amount * self._units[job, index])
                if once:
                    terms.append(once * self._nodes[job, index])
            if terms:
                self.cp.add(sum(terms) <= len(group.nodes) * free)

    def _meeting(self, index: int) -> None:
        """Add for how many jobs that ask for much of a resource on each node there are nodes."""
        group = self.groups[index]
        for axis, free in enumerate(group.free):
            least = {job: group.least_use(self.problem.askings[job])[axis] for job in self._of[index]}
            for amount in sorted({use for use in least.values() if use > 1}):
                together = [self._nodes[job, index] for job, use in least.items() if use >= amount]
                self.cp.add(sum(together) <= len(group.nodes) * (free // amount))

    def _crowding(self, index: int) -> None:
        """Add that a node which a job fills is not shared, for groups of which the program does not know the nodes."""
        group = self.groups[index]
        if len(group.nodes) == 1:
            return
        least = {job: group.least_use(self.problem.askings[job]) for job in self._of[index]}
        never_meet = self._never_meet(group, least)
        filling = [job for job in self._of[index] if self._fills(group, job, least)]
        if not filling or not never_meet:
            return
        alone = {}
        for job in filling:
            place = (job, index)
            full = alone[job] = self.cp.new_int_var(0, len(group.nodes), f"f{job},{index}")
            self.cp.add(full <= self._nodes[place])
            self.cp.add(self._units[place] <= (group.rooms[job] - 1) * self._nodes[place] + full)
        shared = [self._nodes[job, index] for job in never_meet]
        others = [full for job, full in alone.items() if job not in never_meet]
        self.cp.add(sum(shared) + sum(others) <= len(group.nodes))

    def _never_meet(self, group: Group, least: Mapping[int, Sequence[int]]) -> set[int]:
        """Return jobs of which no two fit on one node: those that need more than half of the same resource."""
        best: set[int] = set()
        for axis, free in enumerate(group.free):
            large = {job for job, use in least.items() if 2 * use[axis] > free}
            if len(large) > len(best):
                best = large
        return best

    def _fills(self, group: Group, job: int, least: Mapping[int, Sequence[int]]) -> bool:
        """Return whether a node that carries as many units of a job as it can take has no room for any other job."""
        asking = self.problem.askings[job]
        if asking.each:
            return False
        room, once = group.rooms[job], group.once(asking)
        left = [free - once[axis] - room * int(asking.amounts[axis]) for axis, free in enumerate(group.free)]
        return all(
            any(use > rest for use, rest in zip(least[other], left, strict=True)) for other in least if other != job
        )

    def _meetings(self, index: int, sets: Sequence[GroupMeeting]) -> None:
        """Say which jobs meet on how many nodes of a group.

        On a node that carries a set of jobs, each of them has a unit. Within a cell, the nodes that carry one set, the
        units can be told apart no further, and need not be: see `node_plans.realise`.
        """
        group, count = self.groups[index], len(self.groups[index].nodes)
        on: dict[int, list[cp_model.IntVar]] = {job: [] for job in self._of[index]}
        carried: dict[int, list[cp_model.IntVar]] = {job: [] for job in self._of[index]}
        for number, jobs in enumerate(sets):
            nodes = self.cp.new_int_var(0, count, f"n{index},{number}")
            units: dict[int, cp_model.IntVar] = {}
            for job in jobs:
                asking, room = self.problem.askings[job], group.rooms[job]
                here = units[job] = self.cp.new_int_var(0, min(asking.units, room * count), f"y{job},{index},{number}")
                if asking.each:
                    self.cp.add(here == asking.each * nodes)
                else:
                    self.cp.add(here >= nodes)
                    self.cp.add(here <= room * nodes)
                on[job].append(nodes)
                carried[job].append(here)
            for axis, free in enumerate(group.free):
                once = sum(group.once(self.problem.askings[job])[axis] for job in jobs)
                amounts = [(int(self.problem.askings[job].amounts[axis]), here) for job, here in units.items()]
                if once or any(amount for amount, _ in amounts):
                    self.cp.add(sum(amount * here for amount, here in amounts if amount) <= (free - once) * nodes)
            self._cells[index, jobs] = nodes, units
        self.cp.add(sum(nodes for (group_of, _), (nodes, _) in self._cells.items() if group_of == index) <= count)
        for job in self._of[index]:
            self.cp.add(sum(on[job]) == self._nodes[job, index])
            self.cp.add(sum(carried[job]) == self._units[job, index])

    def _licences(self) -> None:
        for axis, left in enumerate(self.problem.licences.tolist()):
            terms = [
                int(self.problem.askings[job].licences[axis]) * start
                for job, start in self._starts.items()
                if self.problem.askings[job].licences[axis]
            ]
            if terms:
                self.cp.add(sum(terms) <= left)

    # ------------------------------------------------------------------ which plan is best

    def _symmetry(self) -> None:
        last: dict[object, int] = {}
        for job in self.jobs:
            request = self.problem.askings[job].job.request
            before = last.get(request)
            if before is not None:
                self.cp.add(self._starts[before] >= self._starts[job])
            last[request] = job

    def _objective(self) -> None:
        priorities = {job: self.problem.askings[job].priority for job in self.jobs}
        #: What all priorities are multiples of.
        self._unit = gcd(*priorities.values())
        started = 2 * len(self.problem.hosts)
        terms = [-started * (priorities[job] // self._unit) * start for job, start in self._starts.items()]
        terms += [priorities[job] // self._unit * nodes for (job, _), nodes in self._nodes.items()]
        self.cp.minimize(sum(terms))

    def _tell(self, hint: Spread) -> None:
        started = {job for job, _ in hint}
        for job, start in self._starts.items():
            self.cp.add_hint(start, job in started)
        for place, nodes in self._nodes.items():
            count, units = hint.get(place, (0, 0))
            self.cp.add_hint(nodes, count)
            self.cp.add_hint(self._units[place], units)

    # ------------------------------------------------------------------ linear relaxations

    def none_of(self, jobs: Iterable[int], pairs: Iterable[tuple[int, int]]) -> dict[int, tuple[float, float]]:
        """Return bounds with which a relaxation does without some jobs, and some pairs of jobs and groups."""
        left_out = [self._starts[job] for job in jobs] + [self._nodes[place] for place in pairs]
        return {variable.index: (0, 0) for variable in left_out}

    def counts(self, values: NDArray[np.float64]) -> list[dict[int, tuple[float, float]]]:
        """Return bounds of two relaxations, one of which holds a plan: fewer jobs start than in a relaxation, or more.

        Nothing is returned if a whole number of jobs starts in the relaxation.
        """
        count = float(values[self._count.index])
        if abs(count - round(count)) <= _SOME:
            return []
        return [{self._count.index: (0, floor(count))}, {self._count.index: (floor(count) + 1, inf)}]

    def support(self, values: NDArray[np.float64]) -> tuple[set[tuple[int, int]], set[int]]:
        """Return the (job, index of a group) that a relaxation's optimum uses, and the jobs that start in part."""
        used = {place for place, nodes in self._nodes.items() if values[nodes.index] > _SOME}
        partly = {job for job, start in self._starts.items() if _SOME < values[start.index] < 1 - _SOME}
        return used, partly

    def worth(self, cost: float) -> float:
        """Return the worth, 2 N times the slides' objective, of what costs so much in the solver's terms."""
        return -cost * self._unit

    # ------------------------------------------------------------------ the answer

    def solve(self, limits: Limits) -> Answer:
        answer = super().solve(limits)
        return answer._replace(bound=answer.bound * self._unit)

    def read(self, value: Value) -> tuple[Layout, float]:
        """Return how the jobs are laid out, and minus 2 N times the objective."""
        spread = {
            place: (value(nodes), value(self._units[place])) for place, nodes in self._nodes.items() if value(nodes)
        }
        cells: dict[int, list[MeetingCell]] = {index: [] for index, _ in self._cells}
        for (index, _), (nodes, units) in self._cells.items():
            if value(nodes):
                cells[index].append(MeetingCell(value(nodes), {job: value(here) for job, here in units.items()}))
        return Layout(spread, cells), cost_of(self.problem, spread)


def cost_of(problem: Problem, spread: Spread) -> int:
    """Return minus 2 N times the objective of a plan, exact."""
    started = {job for job, _ in spread}
    used = sum(problem.askings[job].priority * nodes for (job, _), (nodes, _) in spread.items())
    return used - 2 * len(problem.hosts) * sum(problem.askings[job].priority for job in started)
