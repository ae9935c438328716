"""IPSCHED."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

import msgspec

from batdispatch.abilities.solvers.auction.base import AuctionDispatcher, AuctionOptions
from batdispatch.abilities.solvers.auction.problem import Choice, JobDemand, Problem
from batdispatch.abilities.solvers.auction.worth import dense, fewest_nodes, worth
from batdispatch.abilities.solvers.solving import SolverResult, result_without_solver
from batdispatch.core.line.hindsight import Reason
from batdispatch.core.line.options import Options

#: CP-SAT adds up in 64 bits, and refuses a program that might exceed them.
LARGEST = 2**61


class IpschedOptions(AuctionOptions, frozen=True, kw_only=True):
    """Options of IPSCHED.

    formulation: `classes`: the program has variables for each class of equal nodes, and its plan is split over the
        nodes. `nodes`: it has variables for each node, as in the slides.
    work: Stop CP-SAT after this many of its deterministic seconds at each decision. 0: do not call it, and carry out
        the greedy plan.
    window: Decide together about at most this many of the waiting jobs, those of the highest priorities.
    period: Decide at most once in this many seconds of simulated time. 0: at each event.
    """

    formulation: Literal["nodes", "classes"] = "classes"
    work: Annotated[float, msgspec.Meta(ge=0)] = 1.0
    window: Annotated[int, msgspec.Meta(ge=1)] = 200
    period: Annotated[float, msgspec.Meta(ge=0)] = 4.0


class Ipsched(AuctionDispatcher):
    """Starts, of the first waiting jobs, those whose priorities have the largest sum, each on few nodes.

    At each decision, an integer program chooses s_j, whether job j starts, and x_ij, how many of its units run on node
    i, for the largest `sum_j p_j (s_j - c_j)` [1]. p_j is the priority, and c_j the number of nodes used over twice the
    number of all nodes: it costs less to spread a job than not to start it. The program is solved over classes of equal
    nodes. Its plan is split over the nodes, and classes that cannot be split are refined. HiGHS solves linear
    relaxations, CP-SAT the integer programs.

    Typical use: clusters whose nodes have several resources (cores and GPUs), with jobs that say how many nodes they
        want and what they need on each.
    Limits: there are no reservations, so large jobs may starve, and walltimes are not used. On large windows of mixed
        requests the optimum is not proven in the time allowed. A job that asks for consecutive nodes starts only where
        a list plan puts it. There is no `placement`: the program chooses jobs and nodes together, and the fewer nodes a
        plan takes, the more it is worth.
    Guarantee: `worth(plan) >= worth(greedy)`, the worth of a backfilling pass over the window in order of priority, and
        `worth(plan) <= bound`, which each decision states and no plan exceeds. The status OPTIMAL means that plan and
        bound differ by at most 1e-9 of the worth. There is no guarantee on waiting times.
    Time: bounded by `work` deterministic seconds of CP-SAT at each decision, and by `10 work` with the building and
        loading of programs and with linear relaxations. A decision that comes to this end has the best plan found until
        then, and is counted and told (`beyond_limit`). What is too large for it is not built. The program has `O(w k)`
        variables for w jobs and k classes of equal nodes.
    Deviations:
        - The authors' CPLEX plug-in for Slurm solves the linear relaxation. This is the integer program of the slides.
        - The slides print the range of nodes, (5), without s_j, as if it bound jobs that do not start. Here it binds
          only jobs that start.
        - The slides know cores and GPUs. The program takes all that a request says, except that it wants consecutive
          nodes. A job that asks for those keeps the place of the greedy plan, and the program plans the others around
          it; the bound is then a loose one.
        - `work` counts CP-SAT's deterministic seconds. The slides allow the solver 3 s by the clock.
    References:
        [1] Soner, Özturan: "Integer programming based heterogeneous CPU-GPU clusters", slides, Slurm User Group, 2012.
    """

    options_type: ClassVar[type[Options]] = IpschedOptions

    def __init__(self, options: Options | None = None, seed: int = 0) -> None:
        super().__init__(options, seed)
        self._class_bound = 0.0

    def choose(self, problem: Problem, counters: dict[str, int]) -> SolverResult[Choice]:
        began = self.clock()
        counters.update(programs=0, splits=0, split_programs=0, refined=0)
        jobs = problem.fitting()
        twice = 2 * len(problem.hosts)
        greedy = problem.greedy()
        first = worth(problem, greedy)
        # No plan is worth more than all jobs, each placed as if it were alone.
        alone = [problem.askings[job] for job in jobs]
        bound = sum(asking.priority * (twice - fewest_nodes(asking)) for asking in alone)
        self._class_bound = bound / twice
        if first >= bound or not self.options.work:
            return result_without_solver(greedy, -first / twice, bound=-bound / twice, seconds=self.clock() - began)
        if twice * sum(asking.priority for asking in alone) > LARGEST:
            return result_without_solver(greedy, -first / twice, bound=-bound / twice, status="UNKNOWN")
        other = problem.filled([None] * len(problem.askings), dense(problem, jobs))
        plan = other if worth(problem, other) > first else greedy
        aside = [
            allocation if _consecutive(asking) else None
            for asking, allocation in zip(problem.askings, plan, strict=True)
        ]
        sayable = [job for job in jobs if not _consecutive(problem.askings[job])]
        rest = problem
        if len(sayable) < len(jobs):
            rest = problem.without(aside)
            fits = set(rest.fitting())
            sayable = [job for job in sayable if job in fits]
        # A solver takes half a second to load, which commands that only list dispatchers should not pay.
        from batdispatch.abilities.solvers.auction.search import PlanSearch

        others = [None if kept else allocation for kept, allocation in zip(aside, plan, strict=True)]
        search = PlanSearch(rest, others, bound, self.limits, self.clock)
        search.improve(sayable, single=self.options.formulation == "nodes")
        counters.update(search.counters)
        chosen = [kept or allocation for kept, allocation in zip(aside, search.choice, strict=True)]
        value = worth(problem, chosen)
        if len(sayable) == len(jobs):
            bound = search.bound
            self._class_bound = search.class_bound / twice
        proven = len(sayable) == len(jobs) and search.proven
        return SolverResult(
            solution=chosen,
            cost=-value / twice,
            status="OPTIMAL" if proven else "UNKNOWN" if search.unsolved else "FEASIBLE",
            bound=-bound / twice,
            first=-first / twice,
            **search.effort.figures(),
        )

    def chance(self, problem: Problem, index: int) -> Reason:
        if _consecutive(problem.askings[index]):
            return Reason(
                "it fitted, but the first plan had no consecutive nodes for it, and the program knows of none"
            )
        return Reason("")

    def facts(self) -> dict[str, float]:
        return {"class_bound": self._class_bound}


def _consecutive(asking: JobDemand) -> bool:
    """Return whether a job asks for consecutive nodes, which the program cannot say; one node always is."""
    return asking.contiguous and asking.most > 1
