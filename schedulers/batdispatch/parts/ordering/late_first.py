"""Any ordering, with a bound on how long others may go ahead of a job."""

from __future__ import annotations

import math
from bisect import bisect_left, insort
from collections import deque
from typing import Annotated

import msgspec

from batdispatch.core.jobs.job import Job, Stay
from batdispatch.core.line.ledger import Ledger
from batdispatch.core.line.options import Options
from batdispatch.parts.ordering.base import LateJobsFirst

#: The usual wait is worked out from the waits of this many jobs, those that ended last.
MEMORY = 300
#: Share of these jobs that waited no longer than the usual wait.
SHARE = 0.75


class LateFirstOptions(Options, frozen=True, kw_only=True):
    """Options of late-first.

    ordering: Take the jobs that are not late in this order (`batdispatch list orderings`).
    after: Count no job as late before it has waited for this many seconds. 0: `multiple` alone decides.
    multiple: Count a job as late once it has waited this many times as long as three of four recent jobs waited at
        most. 0 (the default): `after` alone decides.
    """

    ordering: str = "smallest-area"
    after: Annotated[float, msgspec.Meta(ge=0)] = 604_800.0
    multiple: Annotated[float, msgspec.Meta(ge=0)] = 0.0


class LateFirst(LateJobsFirst):
    """Puts jobs that have waited too long first, by arrival, and then the others in an ordering of choice.

    A job is late once it has waited longer than max(`after`, `multiple` x u). The usual wait u is the third quartile of
    the waits of the last 300 jobs that ended: three of four waited no longer. How long the others waited, the jobs that
    starve among them, does not matter, so a job that waits for long does not let the next one wait for longer. It is
    looked at when a dispatcher decides, and nothing wakes a dispatcher for it.

    Typical use: where an ordering such as `smallest-area` lets some jobs wait for too long.
    Guarantee: of two late jobs the one that came first goes first, and no other job goes before them. So with `easy`,
        which reserves for the first job, a late job only waits for late jobs that came before it, and for those that
        run: no job starves, whatever the ordering, if walltimes are known.
    References: [1] Lelong, Reis, Trystram: "Tuning EASY-backfilling queues", JSSPP 2017 (the threshold in
        seconds; the multiple of the usual wait is ours).
    """

    options_type = LateFirstOptions

    def begin(self, ledger: Ledger) -> None:
        super().begin(ledger)
        self._waits: deque[float] = deque()
        self._sorted: list[float] = []

    def ended(self, stay: Stay, now: float) -> None:
        super().ended(stay, now)
        if len(self._waits) == MEMORY:
            del self._sorted[bisect_left(self._sorted, self._waits.popleft())]
        wait = stay.start - stay.job.submission
        self._waits.append(wait)
        insort(self._sorted, wait)

    def patience(self, job: Job) -> float:
        usual = self._sorted[math.ceil(SHARE * len(self._sorted)) - 1] if self._sorted else 0.0
        patience: float = max(self.options.after, self.options.multiple * usual)
        return patience
