"""AUCSCHED."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

import msgspec

from batdispatch.abilities.solvers.auction import interval_bids, switch_bids
from batdispatch.abilities.solvers.auction.base import AuctionDispatcher, AuctionOptions
from batdispatch.abilities.solvers.auction.bid_weights import Rule, Variant, preferences
from batdispatch.abilities.solvers.auction.bids import SCALE, Bids, Most, generate
from batdispatch.abilities.solvers.auction.plans import Plan, choice_of, value_of
from batdispatch.abilities.solvers.auction.problem import Choice, Problem
from batdispatch.abilities.solvers.auction.settlement import AuctionResult, settle
from batdispatch.abilities.solvers.solving import Effort, SolverResult, result_without_solver
from batdispatch.core.line.hindsight import Reason
from batdispatch.core.line.options import Options

_Number = Annotated[int, msgspec.Meta(ge=1)] | None
_Seconds = Annotated[float, msgspec.Meta(ge=0)] | None


class AucschedOptions(AuctionOptions, frozen=True, kw_only=True):
    """Options of AUCSCHED.

    variant: 2: jobs bid on intervals of consecutive nodes. 3: jobs bid on nodes below the same switches.
    alpha: Weigh preferences against priorities in this way. `lexicographic`: they only decide between plans of equal
        sums of priorities. `slides` and `code` are the factors of the slides and of the published code, to compare
        with: with these, a preference may win over a priority.
    window: Decide together about at most this many of the waiting jobs, those of the highest priorities. `none` (the
        default): 100 in variant 2, 250 in variant 3.
    period: Decide at most once in this many seconds of simulated time. `none` (the default): 3 in variant 2, 5 in
        variant 3. 0: at each event.
    bids_per_job: Let each job make at most this many bids (MAXBIDPERJOB). `none` (the default): 15 in variant 2, 500 in
        variant 3.
    bids: Let all jobs together make at most this many bids (MAXBID). `none` (the default): 250 in variant 2, 25,000 in
        variant 3.
    classes: Choose the bids of a job from at most this many sets of nodes.
    work: Stop CP-SAT after this many of its deterministic seconds at each solve. An auction has two solves or more. 0:
        do not call it, and carry out the greedy plan.
    wall: Stop CP-SAT after this many seconds of wall-clock time at each solve. This is a safety net: a stop makes the
        run depend on the machine, so each one is counted as a fallback.
    """

    variant: Variant = 2
    alpha: Rule = "lexicographic"
    window: _Number = None
    period: _Seconds = None
    bids_per_job: _Number = None
    bids: _Number = None
    classes: Annotated[int, msgspec.Meta(ge=1)] = 500
    work: Annotated[float, msgspec.Meta(ge=0)] = 3.0
    wall: Annotated[float, msgspec.Meta(gt=0)] = 30.0


#: The published code's values for what is not given.
_PUBLISHED: dict[int, dict[str, float]] = {
    2: {"window": 100, "period": 3.0, "bids_per_job": 15, "bids": 250},
    3: {"window": 250, "period": 5.0, "bids_per_job": 500, "bids": 25_000},
}


class Aucsched(AuctionDispatcher):
    """Starts the jobs whose bids on sets of nodes win an auction: the highest priorities, on the nodes they prefer.

    Each job of the window that fits bids on sets of nodes: windows at the ends of intervals of consecutive free nodes,
    windows inside them, and unions of successive intervals (variant 2), or sets below few switches (variant 3). An
    integer program grants at most one bid of each job [1]. It is solved twice: for the largest sum of priorities, and
    then, with that sum fixed, for the largest sum of preferences. Jobs that win no bid wait for the next auction.

    The greedy plan goes through the jobs in the order of priority and grants each the bid that it prefers most of those
    for which there is still room. The solver begins with this plan, and no worse plan is carried out. If the solver is
    stopped before it has found a better plan or has proved that there is none, the window is halved and solved again;
    the best plan of all windows is carried out.

    Typical use: clusters whose nodes have several resources (cores and GPUs) and whose jobs run better on nodes near
        each other.
    Limits: there are no reservations, so large jobs may starve, and walltimes are not used. A job that fits makes no
        bid if the jobs before it have used up `bids`. It is counted (`cut_off`) and has its turn at the next auction.
        On large windows the preferences, and sometimes the priorities, are not proven to be the best in the time
        allowed. There is no `placement`: the preferences of the bids say which nodes a job had better have, and the
        auction weighs them for all jobs together.
    Guarantee: `priorities(plan) >= priorities(greedy)`, with the default alpha. If the status is OPTIMAL or BOUND, no
        grant of these bids has a larger sum of priorities, and none with that sum has a larger sum of preferences. If
        any job of the window fits, at least one starts. There is no guarantee on waiting times.
    Time: bounded by `10 work` deterministic seconds at each decision, the building and loading of programs counted. A
        decision that comes to this end has the best plan found until then, and is counted and told (`beyond_limit`).
        What is too large for it is not built. The program has at most `B + 2 K` variables for B bids and K pairs of a
        job and a group of equal nodes on which the job bids.
    Deviations:
        - The published factors alpha are meant to let preferences only break ties, but none of them does. Here the
          program is solved twice instead.
        - The slides leave out that a job uses only nodes of the bid that it is granted. As printed, their equation (3)
          forbids two bids of one job to share a node. Here it is a sum over all nodes of the job.
        - The slides do not say on how many nodes a job bids that leaves the number open. Here it bids on the smallest
          sets that hold it and, at the ends of intervals, on sets twice, four times, eight times as large. A job that
          no window holds bids where first fit would put it.
        - The slides know cores and GPUs. Here bids and program take all that a request can say. Requests have no ranges
          of GPUs, so the term for these is left out.
        - In variant 3 the published objective is (P - alpha F) times an amount that no source explains. Here the amount
          is 1.
        - If the time is up, the published code halves the window and solves again. Here it does so unless the solver
          has found a plan that is better than the greedy one. The best plan of all windows is carried out.
        - CP-SAT with a deterministic limit stands in place of CPLEX.
    References:
        [1] Soner, Özturan: "Integer programming based heterogeneous CPU-GPU clusters", slides, Boğaziçi University, 10
            October 2012. The published plug-ins for Slurm give the numbers of bids and jobs, the periods and the
            preferences.
    """

    options_type: ClassVar[type[Options]] = AucschedOptions

    def __init__(self, options: Options | None = None, seed: int = 0) -> None:
        chosen: Any = AucschedOptions() if options is None else options
        published = _PUBLISHED[chosen.variant]
        missing = {name: value for name, value in published.items() if getattr(chosen, name) is None}
        super().__init__(msgspec.structs.replace(chosen, **missing), seed)
        sets = interval_bids.IntervalBids if self.options.variant == 2 else switch_bids.SwitchBids
        self._sets = sets(self.options.classes)
        self._last_resort = interval_bids.LAST_RESORT if self.options.variant == 2 else switch_bids.LAST_RESORT
        #: Sum of the preferences of the bids granted at the last decision.
        self._preference = 0.0

    def choose(self, problem: Problem, counters: dict[str, int]) -> SolverResult[Choice]:
        began = self.clock()
        bids, cut = self._bids(problem)
        took = self.clock() - began
        counters.update(bids=sum(map(len, bids.values())), cut_off=len(cut), halved=0, refined=0)
        if not bids:
            self._preference = 0.0
            return result_without_solver([None] * len(problem.askings), 0, bound=0, seconds=took)
        found = self._auction(problem, bids, counters)
        self._preference = value_of(found.solution, preferences(bids)) / SCALE
        names = [name for name in found.__struct_fields__ if name not in ("solution", "build_seconds")]
        return SolverResult(
            solution=choice_of(problem, found.solution),
            build_seconds=found.build_seconds + took,
            **{name: getattr(found, name) for name in names},
        )

    def _auction(self, problem: Problem, bids: Bids, counters: dict[str, int]) -> SolverResult[Plan]:
        """Settle an auction; on a time-out halve the window and solve again, and return the best plan of all."""
        jobs, effort = list(bids), Effort(self.limits, self.clock)
        rounds: list[AuctionResult] = []
        while not rounds or (rounds[-1].timed_out and len(jobs) > 1 and not effort.beyond):
            if rounds:
                self.window.failed(len(jobs))
                counters["halved"] += 1
                jobs = jobs[: self.window.size]
            some = {job: bids[job] for job in jobs}
            rounds.append(settle(problem, some, self.options.alpha, self.options.variant, effort))
            counters["refined"] += rounds[-1].refinements
        self.window.succeeded()
        # A plan of some of the jobs is a plan of all of them: the others wait. The first one of the best is kept.
        best = max(rounds, key=lambda one: one.value).found
        found = rounds[0].found
        if len(rounds) > 1:
            # Only the first round was about the whole window.
            better = best.cost < found.first
            found = msgspec.structs.replace(
                found,
                solution=best.solution,
                cost=best.cost,
                status="FEASIBLE" if better else "UNKNOWN",
                **effort.figures(),
            )
        return found

    def _bids(self, problem: Problem) -> tuple[Bids, list[int]]:
        """Return the bids of a problem's jobs, and the jobs that fit and found all bids used up."""
        most = Most(self.options.bids_per_job, self.options.bids)
        return generate(problem, self._sets, self._last_resort, most)

    def chance(self, problem: Problem, index: int) -> Reason:
        bids, _ = self._bids(problem)
        if index not in bids:
            return Reason(
                "it fitted, but those before it had used up all bids", f"{self.options.bids:,} bids were made"
            )
        made = len(bids[index])
        return Reason("", f"it made {made:,} {'bid' if made == 1 else 'bids'}, and won none")

    def facts(self) -> dict[str, float]:
        return {"preference": self._preference}
