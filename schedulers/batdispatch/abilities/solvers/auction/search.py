"""IPSCHED's search for the best plan: solve over groups of nodes, split over the nodes, refine what has no split.

The program over classes of nodes is a relaxation, so that its bound holds, while its solutions need a split
(`node_plans`). A group without a split is refined: the program is told which jobs may meet on the group's nodes, or is
given each of the nodes. Then it is solved again. Where all groups are single nodes, nothing is left to refine.

CP-SAT alone finds no good plans of large programs in seconds. There, linear relaxations choose the pairs of jobs and
groups that matter: the optimum of a relaxation uses few pairs, and all but one or two of its jobs start wholly or not
at all. The program over these pairs is small. Forbidding the jobs that started in part gives another relaxation, and
more pairs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet

import msgspec

from batdispatch.abilities.solvers.auction.groups import Group, classes, single_nodes
from batdispatch.abilities.solvers.auction.node_plans import Counts, cells_on_nodes, cost, meetings, pack
from batdispatch.abilities.solvers.auction.problem import Choice, Problem
from batdispatch.abilities.solvers.auction.program import GroupMeeting, Layout, Program, entries_of
from batdispatch.abilities.solvers.auction.worth import spread_of, worth
from batdispatch.abilities.solvers.solving import Effort, Limits
from batdispatch.abilities.solvers.solving.highs import READ_SECONDS, Relaxation, RelaxedOptimum
from batdispatch.abilities.solvers.solving.runner import ENTRY_SECONDS
from batdispatch.core.hosts.allocation import Allocation

#: A plan is proven optimal when its worth and the bound differ by at most this share of its worth.
PROVEN = 1e-9
#: Programs with more variables are large.
LARGE = 1500
#: How many linear relaxations choose pairs of a large program.
RELAXATIONS = 6
#: Share of all work below which no further program is tried.
ENOUGH = 0.1
#: What a bound of a linear relaxation is rounded up by, for the tolerances of its solver.
ROUNDING = 1e-6
#: Share of the work that is left for each program over chosen pairs, and for each whole program; splits need the rest.
PART, WHOLE = 0.35, 0.7
#: Share of all work for the split of one group.
SPLIT = 0.05
#: Most sets of jobs that may meet on a node of a group for which the program is told all of them.
MOST_MEETINGS = 256
#: Most sets of jobs with which a split is tried; larger sets are left out.
MOST_TRIED = 250
#: Most pairs of a job and a node for which a group is taken apart into its nodes.
MOST_PAIRS = 2000
#: Most pairs of a job and a group in a program that is refined.
MOST_REFINED = 1000


class PlanSearch:
    """The search for one problem. Worths and bounds are 2 N times the objective.

    Attributes:
        choice: the best plan so far.
        worth: of it.
        bound: no plan is worth more.
        class_bound: the bound of the program over classes, before anything was refined.
        unsolved: whether a solver was called and found no plan at all.
        effort: what all programs and relaxations have taken.
        counters: programs: how many were solved; splits: groups that were split over their nodes; split_programs: those
            for which it took a program; refined: groups about which the program was told more.
    """

    def __init__(
        self, problem: Problem, choice: Choice, bound: int, limits: Limits, clock: Callable[[], float]
    ) -> None:
        """Begin a search.

        Args:
            problem: the problem.
            choice: a plan.
            bound: no plan is worth more.
            limits: when the search stops, the sum over all programs.
            clock: seconds, for the account.
        """
        self.problem, self.choice = problem, choice
        self.worth = worth(problem, choice)
        self.bound = self.class_bound = bound
        self.unsolved = True
        self.effort = Effort(limits, clock)
        self.counters = {"programs": 0, "splits": 0, "split_programs": 0, "refined": 0}

    @property
    def closed(self) -> bool:
        """Whether no plan is worth more than the best one, to the last unit."""
        return self.bound <= self.worth

    @property
    def proven(self) -> bool:
        """Whether worth and bound differ by at most a share of `PROVEN`."""
        return self.bound - self.worth <= PROVEN * abs(self.worth)

    @property
    def _left(self) -> float:
        return 0.0 if self.effort.beyond else self.effort.limits.work - self.effort.work

    def improve(self, jobs: Sequence[int], *, single: bool) -> None:
        """Improve the plan until it is proven optimal, nothing is left to refine, or the limit is reached.

        Args:
            jobs: the jobs that may start, by their positions in the problem, the most urgent first.
            single: whether each node is a group of its own from the start.
        """
        groups = classes(self.problem, jobs)
        if single:
            groups = [node for group in groups for node in single_nodes(group)]
        known: dict[int, list[GroupMeeting]] = {}
        while not self.closed and self._left > 0:
            refined = bool(self.counters["refined"])
            failed = self._round(jobs, groups, known)
            if not refined:
                self.class_bound = self.bound
            if self.closed or not failed:
                return
            finer = self._refined(jobs, groups, known, failed)
            if finer is None:
                return
            groups, known = finer

    # ------------------------------------------------------------------ solving

    def _round(
        self, jobs: Sequence[int], groups: Sequence[Group], known: Mapping[int, Sequence[GroupMeeting]]
    ) -> list[int]:
        """Solve the program over some groups and split its solutions; return the groups without a split."""
        pairs = _pairs(jobs, groups)
        if 2 * pairs > LARGE and not known:
            self._over_chosen_pairs(jobs, groups)
            if self.closed or self._left <= ENOUGH * self.effort.limits.work:
                return []
        hint = Layout(spread_of(self.problem, self.choice, groups))
        cost = -self.worth
        layout, found, bound = self._solve(
            lambda: Program(self.problem, jobs, groups, hint.spread, known),
            hint,
            cost,
            entries_of(pairs, known),
            self._left * WHOLE,
        )
        self.bound = min(self.bound, bound)
        # A plan that the program does not improve on needs no split: it is one.
        return self._split(jobs, groups, layout)[0] if found < cost else []

    def _solve(
        self, build: Callable[[], Program], hint: Layout, cost: int, entries: int, work: float
    ) -> tuple[Layout, int, int]:
        """Solve a program; return the better of what is found and the hint, its cost, and a bound on worths.

        Args:
            build: makes the program.
            hint: a layout, and `cost` its cost.
            entries: about how many entries the program has.
            work: deterministic time for it.
        """
        found = self.effort.run(build, (hint, cost), bound=-math.inf, entries=entries, work=max(work, 1e-3))
        self.counters["programs"] += 1
        self.unsolved &= not found.solved
        bound = self.bound if found.bound == -math.inf else math.floor(-found.bound)
        return found.solution, round(found.cost), bound

    def _over_chosen_pairs(self, jobs: Sequence[int], groups: Sequence[Group]) -> None:
        """Improve the plan by programs over few pairs of jobs and groups; the bound is that of the first relaxation.

        The jobs that started in part, and the jobs in the groups where a split had no place for them, are left out of
        the next relaxation.
        """
        effort = self.effort
        pairs = _pairs(jobs, groups)
        if not effort.spend(entries_of(pairs) * (ENTRY_SECONDS + READ_SECONDS)):
            return
        began = effort.clock()
        program = Program(self.problem, jobs, groups)
        relaxation = Relaxation(program.cp)
        effort.build_seconds += effort.clock() - began
        best, cost = Layout({}), 0
        chosen: set[tuple[int, int]] = set()
        forbidden: set[int] = set()
        placeless: set[tuple[int, int]] = set()
        for number in range(RELAXATIONS):
            relaxed = relaxation.solve(program.none_of(forbidden, placeless), effort)
            if relaxed is None or relaxed.cost == -math.inf:
                return
            if not number:
                self._bound_by(program, relaxation, relaxed)
            used, partly = program.support(relaxed.values)
            chosen |= used
            best, cost, _ = self._solve(
                self._over(jobs, groups, best, chosen - placeless),
                best,
                cost,
                entries_of(len(chosen)),
                self._left * PART,
            )
            forbidden |= partly
            if number and cost < -self.worth:
                _, lost = self._split(jobs, groups, best)
                placeless |= lost
                # What was found is no plan, and the plan made of it is the next one to improve on.
                best, cost = Layout(spread_of(self.problem, self.choice, groups)), -self.worth
                chosen |= set(best.spread)
            if self.closed or self._left <= ENOUGH * effort.limits.work or (number and not partly and not placeless):
                return

    def _bound_by(self, program: Program, relaxation: Relaxation, relaxed: RelaxedOptimum) -> None:
        """Take the bound of a relaxation.

        Where a fraction of a job more starts, the bound is that of whole numbers: of fewer jobs or of more.
        """
        sides = [relaxation.solve(bounds, self.effort) for bounds in program.counts(relaxed.values)]
        cost = min((side.cost for side in sides if side is not None), default=relaxed.cost)
        if cost == -math.inf:
            # A side was cut short.
            cost = relaxed.cost
        # Worths are whole numbers.
        self.bound = min(self.bound, math.floor(program.worth(cost) * (1 + ROUNDING)))

    def _over(
        self, jobs: Sequence[int], groups: Sequence[Group], hint: Layout, pairs: AbstractSet[tuple[int, int]]
    ) -> Callable[[], Program]:
        able = {job for job, _ in pairs}
        return lambda: Program(
            self.problem, [job for job in jobs if job in able], groups, hint.spread or None, pairs=pairs
        )

    # ------------------------------------------------------------------ splitting

    def _split(
        self, jobs: Sequence[int], groups: Sequence[Group], layout: Layout
    ) -> tuple[list[int], set[tuple[int, int]]]:
        """Split a solution over the nodes, and keep the plan if it is the best.

        Returns the groups without a split, and the (job, index of a group) for which there was no place.
        """
        failed: list[int] = []
        counts: Counts = {}
        nodes: dict[int, int] = {}
        for (job, _), (used, _) in layout.spread.items():
            nodes[job] = nodes.get(job, 0) + used
        lost: set[tuple[int, int]] = set()
        for index, group in enumerate(groups):
            wanted = {job: here for (job, of), here in layout.spread.items() if of == index}
            if not wanted:
                continue
            part, whole = self._split_group(group, wanted, layout, index, nodes)
            if not whole:
                failed.append(index)
                lost.update((job, index) for job in wanted if job not in part)
            for job, here in part.items():
                counts.setdefault(job, {}).update(here)
        without = {job for job, _ in lost}
        choice: list[Allocation | None] = [None] * len(self.problem.askings)
        for job, here in counts.items():
            if job not in without:
                choice[job] = self.problem.allocation(here)
        # What the split left out comes first, then whatever still fits.
        filled = self.problem.filled(choice, [*sorted(without), *jobs])
        value = worth(self.problem, filled)
        if value > self.worth:
            self.choice, self.worth = filled, value
        return failed, lost

    def _split_group(
        self, group: Group, wanted: Mapping[int, tuple[int, int]], layout: Layout, index: int, nodes: dict[int, int]
    ) -> tuple[Counts, bool]:
        """Return a split of a group's part of a plan, and whether it is what the plan says, on as many nodes.

        Args:
            group: the group.
            wanted: for each job, on how many nodes it is, and with how many units.
            layout: the plan.
            index: of the group.
            nodes: on how many nodes each job is in all. **This is changed** where a job is now on more.
        """
        problem = self.problem
        if len(group.nodes) == 1:
            node = int(group.nodes[0])
            return {job: {node: units} for job, (_, units) in wanted.items()}, True
        self.counters["splits"] += 1
        if index in layout.cells:
            part = cells_on_nodes(problem, group, layout.cells[index])
            if part is not None:
                return part, True
        most = {
            job: min(used + problem.askings[job].most - nodes[job], units, len(group.nodes))
            for job, (used, units) in wanted.items()
        }
        part = pack(problem, group, wanted, most)
        if all(job in part and len(part[job]) == used for job, (used, _) in wanted.items()):
            return part, True
        better = self._split_program(group, wanted, most)
        if better is not None and cost(problem, wanted, better) < cost(problem, wanted, part):
            part = better
        for job, here in part.items():
            nodes[job] += len(here) - wanted[job][0]
        return part, all(job in part and len(part[job]) <= used for job, (used, _) in wanted.items())

    def _split_program(
        self, group: Group, wanted: Mapping[int, tuple[int, int]], most: Mapping[int, int]
    ) -> Counts | None:
        """Return a split by a program over sets of jobs that meet, or None. Jobs may be on more nodes, or be left out.

        Args:
            group: the group.
            wanted: for each job, on how many nodes it is, and with how many units.
            most: for each job, on how many nodes it may be.
        """
        jobs = sorted(wanted)
        sets, complete = meetings(self.problem, group, jobs, MOST_TRIED)
        if not complete or self._left <= 0:
            return None
        self.counters["split_programs"] += 1
        askings = {}
        for job, (used, units) in wanted.items():
            asking = self.problem.askings[job]
            askings[job] = msgspec.structs.replace(
                asking, units=units, least=used, most=most[job], licences=asking.licences * 0
            )
        problem = self.problem.asking(askings)
        work = min(self._left, self.effort.limits.work * SPLIT)
        layout, value, _ = self._solve(
            lambda: Program(problem, jobs, [group], meetings={0: sets}, symmetry=False),
            Layout({}),
            0,
            entries_of(len(jobs), {0: sets}),
            work,
        )
        return cells_on_nodes(problem, group, layout.cells.get(0, ())) if value else None

    # ------------------------------------------------------------------ refining

    def _refined(
        self,
        jobs: Sequence[int],
        groups: Sequence[Group],
        known: Mapping[int, list[GroupMeeting]],
        failed: Sequence[int],
    ) -> tuple[list[Group], dict[int, list[GroupMeeting]]] | None:
        """Return groups of which the program knows more: who may meet on their nodes, or the nodes themselves.

        None: all that failed are too large for either.
        """
        if _pairs(jobs, groups) > MOST_REFINED:
            return None
        finer: list[Group] = []
        told: dict[int, list[GroupMeeting]] = {}
        refined = 0
        for index, group in enumerate(groups):
            if index not in failed:
                if index in known:
                    told[len(finer)] = known[index]
                finer.append(group)
                continue
            able = [job for job in jobs if group.rooms[job]]
            sets, complete = ([], False) if index in known else meetings(self.problem, group, able, MOST_MEETINGS)
            if complete:
                told[len(finer)] = sets
                finer.append(group)
                refined += 1
            elif len(able) * len(group.nodes) <= MOST_PAIRS:
                finer += single_nodes(group)
                refined += 1
            else:
                if index in known:
                    told[len(finer)] = known[index]
                finer.append(group)
        self.counters["refined"] += refined
        return (finer, told) if refined else None


def _pairs(jobs: Sequence[int], groups: Sequence[Group]) -> int:
    """Return how many pairs of a job and a group there are on which the job has room."""
    return sum(1 for group in groups for job in jobs if group.rooms[job])
