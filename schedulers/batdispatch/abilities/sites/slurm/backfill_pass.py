"""One backfill pass: each job in order starts, or has the nodes of its earliest start reserved.

References:
    Slurm 22.05, `_attempt_backfill` in backfill.c.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence

from batdispatch.abilities.sites.slurm.completions import Completions
from batdispatch.abilities.sites.slurm.main_loop import lacks_licence
from batdispatch.abilities.sites.slurm.options import SlurmOptions
from batdispatch.abilities.sites.slurm.partitions import Partitions
from batdispatch.abilities.sites.slurm.preemption import Preemption
from batdispatch.abilities.sites.slurm.reserved_licences import ReservedLicences
from batdispatch.abilities.sites.slurm.reserved_nodes import ReservedNodes
from batdispatch.abilities.sites.slurm.will_run import Chooser, RunningJobs, WillRun
from batdispatch.core.hosts.allocation import Place
from batdispatch.core.jobs.fields import array_of
from batdispatch.core.jobs.job import Job
from batdispatch.core.line.concerns.site_rules import SiteRules
from batdispatch.core.line.ledger import Ledger
from batdispatch.core.plans.moments import end_of


class BackfillPass:
    """One pass.

    Attributes:
        reserved: id of each job that nodes are reserved for -> when its reservation begins, s.
        stopped: whether jobs were left that the pass did not look at.
    """

    def __init__(
        self,
        ledger: Ledger,
        options: SlurmOptions,
        choose: Chooser,
        running: RunningJobs,
        booked: Callable[[Job], float],
        partitions: Partitions,
        completing: Completions,
        preemption: Preemption | None = None,
    ) -> None:
        self.reserved: dict[str, float] = {}
        self.stopped = False
        self._ledger = ledger
        self._options = options
        self._booked = booked
        self._partitions = partitions
        self._completing = completing
        self._preemption = preemption
        clock = options.clock
        self._will_run = WillRun(
            ledger, completing.free, choose, running, options.end_window, options.window_linear, clock
        )
        there = ledger.machine.compute & ~ledger.unavailable
        self._nodes = ReservedNodes(ledger.now, options.window, options.resolution, clock, there)
        self._licences: ReservedLicences | None = None
        if options.licenses:
            self._licences = ReservedLicences([amount for _, amount in ledger.machine.licences])
            for end, _, stay in running:
                self._licences.add(ledger.space.need(stay.job).licences, 0.0, self._nodes.rounded(end))
        #: Jobs that were tried, and how many of them of each user and partition.
        self._tried = 0
        self._tried_of: Counter[tuple[str, str]] = Counter()
        self._reserved_in: Counter[str] = Counter()
        #: Tasks of each array that have a reservation.
        self._reserved_of: Counter[str] = Counter()

    def run(self, jobs: Sequence[Job]) -> list[Job]:
        """Start the jobs that may run ahead, and return them."""
        started: list[Job] = []
        fitting = self._ledger.space.fitting(self._completing.free(), jobs) if self._preemption is None else jobs
        candidates = list(fitting[::-1])
        for job in jobs:
            while candidates and not self._may_start(candidates[-1]):
                candidates.pop()
            # What is reserved behind the last job that can start matters to nobody.
            if not candidates:
                break
            if self._tried >= self._options.most_tried or 0 < self._options.starts <= len(started):
                self.stopped = True
                break
            if candidates[-1] is job:
                candidates.pop()
            # It may have started in another one of its partitions.
            if job.id not in self._ledger.queue:
                continue
            if not self._is_skipped(job) and self._try(job):
                started.append(job)
        return started

    def _may_start(self, job: Job) -> bool:
        """Return whether a job could start now as far as is reserved by now: False only if it surely cannot."""
        ledger = self._ledger
        if job.id not in ledger.queue:
            return False
        if self._preemption is not None and self._preemption.candidates(job):
            return True
        _, hosts, _ = self._available(job, ledger.now, end_of(ledger.now, self._booked(job)))
        return ledger.space.fits(ledger.space.only(self._completing.free(), hosts), job)

    def _is_skipped(self, job: Job) -> bool:
        """Return whether a job is passed over; if not, count it for the limits of its user and partition."""
        options, counts = self._options, self._tried_of
        if not options.licenses and lacks_licence(self._ledger, self._completing.free, job):
            return True
        limits = (("user", job.user, options.user_jobs), ("partition", self._partitions.name(job), options.part_jobs))
        if any(0 < most <= counts[kind, name] for kind, name, most in limits):
            return True
        counts.update((kind, name) for kind, name, most in limits if most)
        return False

    def _try(self, job: Job) -> bool:
        """Start a job now, or reserve nodes for it if it may have a reservation; return whether it was started."""
        ledger, counted = self._ledger, False
        now = start = ledger.now
        length = self._booked(job)
        now_only = self._may_not_reserve(job)
        while start < math.inf:
            shown, hosts, later = self._available(job, start, end_of(start, length))
            found = None
            if hosts.bit_count() >= ledger.space.need(job).least:
                if not counted:
                    counted = True
                    self._tried += 1
                found = self._first(shown, hosts, now_only=now_only)
            if found is not None:
                begin, place, preempts = max(found[0], start), *found[1:]
                if begin <= now and not preempts:
                    self._start(job, place, end_of(now, length))
                    return True
                if preempts and self._preemption is not None and begin <= now:
                    self._preemption.preempt(job, hosts)
                    later = 0.0
                if not (start < later < begin):
                    later = self._reserve(job, place, begin, end_of(begin, length), now_only)
            if now_only or later <= start:
                return False
            start = later
        return False

    def _first(self, job: Job, hosts: int, *, now_only: bool) -> tuple[float, Place, bool] | None:
        """Return when and where a job could start, and whether running jobs must give way to it; None: never."""
        preemption = self._preemption
        gone = [] if preemption is None else preemption.candidates(job)
        kept = [] if preemption is None else preemption.suspension.kept(job)
        found = self._will_run.beside(kept).first(job, hosts, now_only=now_only or bool(gone))
        if found is None and preemption is not None and gone:
            alone = self._will_run.without(gone, preemption.without(gone)).beside(kept)
            found = alone.first(job, hosts, now_only=now_only)
            return None if found is None else (*found, True)
        return None if found is None else (*found, False)

    def _available(self, job: Job, start: float, end: float) -> tuple[Job, int, float]:
        """Return a job as it is shown at a start, the hosts that it may have until an end, and when to look again.

        Times are in s; 0: to look again would be of no use.
        """
        ledger, change = self._ledger, 0.0
        openings = SiteRules.of(ledger).openings
        if openings is not None:
            shown, change = openings.opened(job, start)
            shown = self._partitions.within(shown, job)
            entered = openings.entered(job.id)
            # Slurm looks at advance reservations only where one is in the way at the start that it looks at.
            if entered is not None and self._partitions.within(entered, job).request == shown.request:
                change = 0.0
            job = shown
        hosts = ledger.machine.compute & ~ledger.unavailable if job.request.plain else ledger.space.need(job).hosts
        hosts, later = self._nodes.available(hosts, start, end)
        if self._licences is not None and job.request.licences:
            missing = self._licences.missing_until(ledger.space.need(job).licences, start, end)
            hosts, later = (0, missing) if missing else (hosts, later)
        return job, hosts, min(later, change) if later and change else later or change

    def _may_not_reserve(self, job: Job) -> bool:
        options = self._options
        if self._ledger.now - job.submission < options.min_age:
            return True
        if 0 < options.reservations <= self._reserved_in[self._partitions.name(job)]:
            return True
        array = array_of(job) if options.array_tasks else None
        return array is not None and options.array_tasks <= self._reserved_of[array.id]

    def _start(self, job: Job, place: Place, end: float) -> None:
        ledger = self._ledger
        self._partitions.start(job, place)
        self._will_run.started(ledger.running[job.id], end)
        self._take_licences(job, 0.0, end)
        if ledger.machine.takes_hosts(job.request):
            self._nodes.add(place.allocation.mask, ledger.now, end)

    def _reserve(self, job: Job, place: Place, begin: float, end: float, now_only: bool) -> float:
        """Reserve a job's nodes if they are nobody else's. If they are, return when to look again; otherwise 0."""
        if now_only or begin > self._ledger.now + self._options.window:
            return 0.0
        hosts = place.allocation.mask
        if self._nodes.overlaps(hosts, begin, end):
            return begin
        self._nodes.add(hosts, begin, end)
        self._take_licences(job, begin, end)
        self.reserved[job.id] = min(begin, self.reserved.get(job.id, math.inf))
        self._reserved_in[self._partitions.name(job)] += 1
        if self._options.array_tasks and (array := array_of(job)) is not None:
            self._reserved_of[array.id] += 1
        return 0.0

    def _take_licences(self, job: Job, begin: float, end: float) -> None:
        if self._licences is not None and job.request.licences:
            nodes, need = self._nodes, self._ledger.space.need(job)
            self._licences.add(need.licences, nodes.rounded(begin), nodes.rounded(end))
