"""Any ordering, with a bound on waits that EASY in order of arrival sets."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Annotated

import msgspec

from batdispatch.core.jobs.job import Job, Stay
from batdispatch.core.line.ledger import Ledger
from batdispatch.core.line.options import Options
from batdispatch.parts.ordering.base import LateJobsFirst
from batdispatch.parts.ordering.easy_beside import EasyBeside, Twin


class GuardOptions(Options, frozen=True, kw_only=True):
    """Options of guarded.

    ordering: Take the jobs that are not late in this order (`batdispatch list orderings`).
    share: Count a job as late once it has waited for this share of the longest wait under EASY that is remembered.
        0: `floor` alone decides.
    slack: Count a job as late, too, once it has waited longer than under EASY by this share of that longest wait.
        0: as soon as it has waited longer than there.
    floor: Count no job as late before it has waited for this many seconds, or for the longest wait so far under EASY
        if that is shorter. 0: `share` and `slack` alone decide.
    memory: Keep a wait under EASY in mind for this many seconds after the job has started there. 0: only while the job
        waits there. A very large number: for ever.
    """

    ordering: str = "aged-area[width=0,head_start=14400,power=2]"
    share: Annotated[float, msgspec.Meta(ge=0)] = 0.75
    slack: Annotated[float, msgspec.Meta(ge=0)] = 0.25
    floor: Annotated[float, msgspec.Meta(ge=0)] = 3600.0
    memory: Annotated[float, msgspec.Meta(ge=0)] = 14 * 86400.0


class Guard(LateJobsFirst):
    """Puts late jobs first, by arrival, and then the others in an ordering of choice.

    EASY in order of arrival is simulated beside, with the same jobs, as far as it is certain (see `EasyBeside`). L is
    the longest wait there of the jobs that wait, and of those that started within `memory`: an outage is forgotten. F
    is `floor`, or the longest wait there since the beginning if that is shorter. A job is late once it has waited
    longer than max(F, `share` x L). It is late sooner, too, where EASY has started it already: once it has waited
    longer than max(F, its wait under EASY + `slack` x L). Only a late job, and one that EASY has started already, may
    have room reserved for it. For the others nothing is reserved.

    Typical use: under `easy`, to serve short and small jobs quickly, while no job waits much longer than under EASY in
        order of arrival.
    Guarantee: the threshold of lateness is never above max(F, `share` x the longest wait that EASY in order of arrival
        gives to a job that waits there now or has started there within `memory`), so never above the longest wait that
        EASY has given to any job if `share` is at most 1. No other job goes before a late one. So with `easy` a late
        job only waits for late jobs that came before it, and for those that run.
    Deviations: EASY beside pools the hosts. It knows no hosts that are away, no limits and no reservations.
    """

    options_type = GuardOptions

    def begin(self, ledger: Ledger) -> None:
        super().begin(ledger)
        whole = [int(amount) for amount in ledger.space.pooled(ledger.space.whole())]
        self._beside = EasyBeside(whole, self.options.memory)
        #: Of the jobs that have not ended.
        self._twins: dict[str, Twin] = {}
        self._looked = -math.inf

    def came(self, job: Job, now: float) -> None:
        super().came(job, now)
        if job.id in self._twins:
            # It is shown again, since reservations leave other hosts to it.
            return
        needs = [int(amount) for amount in self.ledger.space.sums_needed(job)]
        twin = self._twins[job.id] = Twin(job.id, now, needs, job.walltime)
        self._beside.submit(twin)

    def ended(self, stay: Stay, now: float) -> None:
        super().ended(stay, now)
        twin = self._twins.pop(stay.job.id, None)
        if twin is not None:
            self._beside.start(twin, stay.start)
            self._beside.end(twin, now - stay.start)

    def patience(self, job: Job) -> float:
        longest, floor = self._beside.longest, self._floor()
        most: float = max(floor, self.options.share * longest)
        twin = self._twins.get(job.id)
        if twin is None or twin.begun is None:
            return most
        slack: float = self.options.slack * longest
        return min(most, max(floor, twin.begun - job.submission + slack))

    def _floor(self) -> float:
        """Return before which wait no job is late, in seconds."""
        return min(float(self.options.floor), self._beside.ever)

    def is_late(self, job: Job, now: float) -> bool:
        """Return whether a job has waited for too long at `now`, in seconds."""
        if now != self._looked:
            self._look(now)
        # Of most jobs it is known without a look at EASY beside.
        if now - job.submission <= self._floor():
            return False
        return super().is_late(job, now)

    def reserving(self, jobs: Sequence[Job], now: float) -> Sequence[Job]:
        overdue = self._beside.overdue
        return [job for job in jobs if self.is_late(job, now) or job.id in overdue]

    def key(self, job: Job, now: float, expected: float) -> tuple[float, ...]:
        if job.id not in self._twins:
            # Not every dispatcher says that a job came.
            self.came(job, now)
        return super().key(job, now, expected)

    def _look(self, now: float) -> None:
        """Let EASY beside go on as far as is certain now."""
        self._beside.advance(now)
        while self._tell_of_starts():
            self._beside.advance(now)
        self._looked = now

    def _tell_of_starts(self) -> bool:
        """Tell EASY beside which of the jobs that stop its clock no longer wait; return whether any does not."""
        running, waiting = self.ledger.running, self.ledger.queue
        gone = [twin for name, twin in self._beside.overdue.items() if name not in waiting]
        for twin in gone:
            if twin.name in running:
                self._beside.start(twin, running[twin.name].start)
            else:
                self._beside.end(self._twins.pop(twin.name, twin), 0.0)
        return bool(gone)
