"""Conservative backfilling."""

from __future__ import annotations

import math
from collections.abc import Iterable

from batdispatch.core.hosts.allocation import Place
from batdispatch.core.jobs.job import Job, JobState, Stay
from batdispatch.core.line.events import Event, MachinesAvailable, MachinesUnavailable
from batdispatch.core.line.ledger import Ledger
from batdispatch.core.line.roles import Gap
from batdispatch.core.machine.machine import Machine
from batdispatch.core.plans.lateness import overdue
from batdispatch.core.plans.moments import end_of
from batdispatch.core.plans.timeline import gaps_from_now
from batdispatch.dispatchers.backfilling.queue import Ends, PlanningQueue


class Conservative(PlanningQueue):
    """Plans a start and hosts for every waiting job. Jobs that come later may not delay it.

    A new job gets the earliest start that the plan allows. When a job ends, the plan is compressed: each waiting job in
    turn gets the earliest start that it would have if it were taken out of the plan, while the others keep theirs.

    Typical use: where users want to know at submission when their job will start at the latest.
    Limits: its time grows with the queue, since every waiting job is planned. A job that could only start after the end
        of a job without a walltime waits without a plan. The plan keeps nothing for units that need nothing.
    Guarantee: `start(j) <= planned(j)`, the start planned at the submission of job j, in the default order, if no job
        outlives its expected end, no host goes away, the site has no advance reservations, and each unit needs
        something. Ends that are told a moment late delay the plan by as much.
    Time: `O(s)` as a rule, and `O(s^2)` at worst, for the earliest start of one job in a plan of s steps. A compression
        is `O(q s)` for q waiting jobs, but looks only at the steps before the end of what was given back since the job
        was placed last.
    Deviations:
        - The plan holds particular hosts, as batsched's conservative_bf does. The literature plans numbers of
          processors.
        - On nodes that jobs share, a compression leaves a job in place if it cannot start earlier on its own nodes.
        - When a job outlives its expected end by more than 10 ms, or hosts come or go, the plan is made anew in order.
          `correction` says when the late job is expected to end from then on (compare [2]).
        - Where the site has advance reservations, each job is planned on hosts that are open to it at its start. The
          plan is made anew in order whenever hosts open or close to a waiting job.
        - A place in the plan may be up to 10 ms too short for its job. Jobs planned behind it move by as little as they
          must. With an `rjms_delay` of 10 ms or more no place is too short.
    References:
        [1] Mu'alem, Feitelson: "Utilization, predictability, workloads, and user runtime estimates in scheduling the
            IBM SP2 with backfilling", IEEE TPDS 12(6), 2001, pp. 529-543, section 2.2. doi:10.1109/71.932708
        [2] Tsafrir, Etsion, Feitelson: "Backfilling using system-generated predictions rather than user runtime
            estimates", IEEE TPDS 18(6), 2007, pp. 789-803. doi:10.1109/TPDS.2007.70606
    """

    effort = 1
    plans_openings = True
    heeds_choices = True

    @staticmethod
    def keeps_places(machine: Machine) -> bool:
        """Return whether a job that cannot start earlier keeps its nodes, instead of choosing them anew."""
        return not machine.exclusive

    def begin(self, ledger: Ledger) -> None:
        super().begin(ledger)
        self.plan = self.reservations(ledger)
        self._ends = Ends()
        self._keeps_place = self.keeps_places(ledger.machine)
        #: Whether a job can only gain by what was returned since it was placed last.
        self._stable = self.placement.stable or (self.placement.complete and self._keeps_place)
        #: Whether capacity was freed since the last decision, and whether the plan no longer holds.
        self._freed = False
        self._void = False

    def on_submit(self, ledger: Ledger, job: Job) -> None:
        super().on_submit(ledger, job)
        if job.parent:
            self.plan.put_back(job.parent, job.id, job)

    def on_start(self, ledger: Ledger, stay: Stay) -> None:
        if stay.start > ledger.now:
            self.plan.delay(stay.job.id, stay.start)
        self._ends.add(stay, self.plan.held[stay.job.id].expected_end)

    def on_end(self, ledger: Ledger, stay: Stay) -> None:
        super().on_end(ledger, stay)
        kept = self.plan.end(stay.job.id)
        self._ends.remove(stay.job.id)
        self._freed = True
        if stay.state in (JobState.COMPLETED_SUCCESSFULLY, JobState.COMPLETED_FAILED):
            self.plan.give_back(stay.job.id)
        if overdue(kept.expected_end, ledger.now) or kept.place.allocation.mask & ledger.unavailable:
            self._void = True

    def on_event(self, ledger: Ledger, event: Event) -> None:
        turns = self.prospects.turns
        super().on_event(ledger, event)
        self._freed |= self.prospects.turns > turns
        if isinstance(event, MachinesAvailable | MachinesUnavailable):
            self._void = True

    def decide(self, ledger: Ledger) -> None:
        self.plan.timeline.advance(ledger.now)
        self._extend_overdue(ledger)
        if self._void:
            self.plan.renew()
        else:
            self.plan.settle()
        candidates = self.fresh_in_order(ledger)
        if self._freed or self._void or self.ordering.dynamic:
            candidates = self.in_order(ledger)
        self._freed = self._void = False
        self.forget_started([job for job in candidates if self._put(ledger, job)])
        if not self.predictions.sure:
            self.call_if_missed(min((kept.start for kept in self.plan.planned.values()), default=math.inf))

    def _put(self, ledger: Ledger, job: Job) -> bool:
        """Reserve a waiting job's earliest start, and start it if that is now and its hosts are free."""
        kept = self.plan.replan(job.id, job, self.booked(job), keep=self._keeps_place, stable=self._stable)
        if kept is None or kept.start > ledger.now:
            return False
        if not self.is_free(job, kept.place):
            return False
        self.plan.begin(job.id)
        ledger.start(job, kept.place)
        return True

    def _extend_overdue(self, ledger: Ledger) -> None:
        """Give running jobs that outlived their expected end a later one, which makes the plan void."""
        for end, stay in self.correct(self._ends):
            self.plan.extend(stay.job.id, end)
            self._void = True

    # ------------------------------------------------------------------ questions of layers

    def planned_starts(self, ledger: Ledger) -> Iterable[tuple[float, int]]:
        return ((kept.start, kept.place.allocation.mask) for kept in self.plan.planned.values())

    def gaps(self, ledger: Ledger) -> Iterable[Gap]:
        return (Gap(*gap) for gap in gaps_from_now(self.plan.timeline, ledger.now, less=self.lateness.delay))

    def may_lend(self, ledger: Ledger, job: Job, gap: Gap) -> bool:
        kept = self.plan.planned.get(job.id)
        return kept is None or kept.start >= end_of(ledger.now, self.lateness.booked(gap.length))

    def lend(self, ledger: Ledger, job: Job, gap: Gap, place: Place) -> None:
        super().lend(ledger, job, gap, place)
        # Its planned start waits for the outcome.
        self.plan.lend(job.id)
        self.plan.hold(job, place, end_of(ledger.now, self.lateness.booked(gap.length)))

    def give_way(self, ledger: Ledger, job: Job, place: Place) -> None:
        super().give_way(ledger, job, place)
        self.plan.timeline.advance(ledger.now)
        self._extend_overdue(ledger)
        self.plan.renew()
        self.plan.hold(job, place, end_of(ledger.now, self.booked(job)))
        self._void = True

    def on_withdrawn(self, ledger: Ledger, job: Job) -> None:
        super().on_withdrawn(ledger, job)
        self.plan.withdraw(job.id)
        self._freed = True
        # A reservation closes or opens hosts to it: with its old place in the plan, others may have been planned worse.
        self._void |= job.id in ledger.queue or job.id in ledger.blocked
