"""HCP'19."""

from __future__ import annotations

from typing import ClassVar

from batdispatch.abilities.solvers.constraint.base import NotNegative
from batdispatch.abilities.solvers.constraint.instance import Instance
from batdispatch.abilities.solvers.constraint.lists import Plan
from batdispatch.abilities.solvers.constraint.model_search import SearchDispatcher, SearchOptions
from batdispatch.abilities.solvers.solving import SolverResult
from batdispatch.core.jobs.job import Job
from batdispatch.core.line.ledger import Ledger
from batdispatch.core.line.options import Options


class Hcp19Options(SearchOptions, frozen=True, kw_only=True):
    """Options of HCP'19.

    ordering: Take the jobs that would fit now in this order (`batdispatch list orderings`). The first `window` of them
        are planned, and of those that could start together the first one is preferred. The default breaks ties as the
        authors' code of HCP'19 does.
    placement: Place the jobs of the second stage by this rule. The default is best fit by plain sums of what is free,
        as in the authors' simulator. With several resources it depends on their units: of cores and MiB, almost only
        the MiB count. `best-fit` takes shares of the largest capacity instead.
    repair: When jobs find no place, make the schedule again at once from a list, up to this many times. 0, as
        published: these jobs wait for the next decision.
    """

    ordering: str = "pcp20-priority[ties=smaller]"
    placement: str = "best-fit[sums=amounts]"
    repair: NotNegative = 0


class Hcp19(SearchDispatcher):
    """Schedules the waiting jobs as if all nodes were one, then places those that start now.

    In the first stage, a search looks for the least sum of slowdowns under one cumulative constraint per resource. It
    sets times forward: of the jobs that can start first, the shortest starts as early as it can, and so on. It goes on
    for better schedules until the limit, which is doubled, four times at most, until two limits in a row give the same
    cost. In the second stage, the jobs that start now are placed by best fit in the order of priority. A job that finds
    no place waits for the next decision [1].

    Typical use: to compare with the papers, on machines of any size. For everyday use take `best-list`.
    Limits: a planned start may find no nodes. Wide jobs may starve. Durations are rounded up to whole seconds. The
        plain sums of the default placement suit resources with amounts of like size, such as cores and GB.
    Guarantee: what is started never exceeds a capacity. There is no guarantee on waiting times: of the jobs that do not
        fit now only `ahead` are planned for.
    Time: bounded by `16 work` deterministic seconds at each decision, with the building of the model and all
        propagation counted. A model that takes more than `160 work` to be built is not searched, which is counted and
        told (`beyond_limit`). The model has `|Q|` variables and `|R|`
        cumulatives for |Q| jobs in the window and |R| resources. The second stage takes `O(|Q| p)`, with p for one
        placement.
    Deviations:
        - The limits are deterministic in place of the authors' wall clock. A doubled limit goes on where the authors
          begin anew.
        - A schedule that still improves at the last limit is taken. The authors' code counts it as a failure.
        - Any request takes part in the first stage, with the least that it can take of the machine. The placement takes
          care of what the first stage does not know.
        - A job that has no walltime is expected to run for 10^8 s.
    References:
        [1] Galleguillos, Kiziltan, Sîrbu, Babaoglu: "Constraint programming-based job dispatching for modern HPC
            applications", CP 2019, LNCS 11802, pp. 438-455, section 5. doi:10.1007/978-3-030-30048-7_26
    """

    options_type: ClassVar[type[Options]] = Hcp19Options

    def on_submit(self, ledger: Ledger, job: Job) -> None:
        super().on_submit(ledger, job)
        # As published, a job that comes makes a new plan due, even if it does not fit itself: jobs that fit may have
        # waited for others that do not fit any more, and that a new plan leaves out.
        self._left = set()

    def takes_nodes_for_one(self, ledger: Ledger) -> bool:
        return True

    def plan(self, instance: Instance, counters: dict[str, int]) -> SolverResult[Plan]:
        found = self.search("pooled", instance)
        plan, refused = self.place_now(instance, found.solution)
        counters.update(put_back=len(refused), repairs=0)
        # Nothing ends before this moment, so that a job that finds no place now finds none before it.
        soonest = float(min([int(instance.durations.min()), *(one.seconds for one in instance.running)]))
        after = [-1.0] * len(instance.jobs)
        placed = self.clock()
        while refused and counters["repairs"] < self.options.repair:
            counters["repairs"] += 1
            for job in refused:
                after[job] = soonest
            plan, refused = self.place_now(instance, self.first(instance, after))
            counters["put_back"] += len(refused)
        if counters["repairs"]:
            # A solver that found nothing has failed, whatever the lists made of it.
            found.status = "GREEDY" if found.solved else found.status
            found.solve_seconds += self.clock() - placed
        found.solution, found.cost = plan, plan.cost
        return found
