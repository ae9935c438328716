"""An ordering that was tried for look-ahead and is not shipped: late is who would wait longer than under easy.

The campaign beside this file measures it, by its file: ``expe/look_ahead/beside.py:BesideEasy``.
"""

from __future__ import annotations

import math
from bisect import insort
from typing import Annotated, Any, ClassVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from batdispatch.core.capacity.space import Space
from batdispatch.core.capacity.totals import ResourceTotals
from batdispatch.core.jobs.job import Job, Stay
from batdispatch.core.line.ledger import Ledger
from batdispatch.core.line.options import Options
from batdispatch.parts.ordering import Ordering, make_ordering

Ints = NDArray[np.int64]


class Beside:
    """EASY, in order of arrival, on sums over the machine.

    How long a job runs is known once it has ended in the real schedule; until then it is taken to run for its walltime.
    If its end becomes known when it should have ended here already, it ends here at once. So waits here are somewhat
    longer than those of `easy` in a run of its own.

    Attributes:
        started: when each job started here, s.
    """

    def __init__(self, space: Space[Any]) -> None:
        self.started: dict[str, float] = {}
        self._pool = ResourceTotals(space)
        self._free: Ints = np.asarray(self._pool.whole()).copy()
        self._queue: list[Job] = []
        #: Ends as far as they are known, s; walltimes' ends, s; of each job that runs here.
        self._ends: dict[str, float] = {}
        self._hoped: list[tuple[float, str]] = []
        self._jobs: dict[str, Job] = {}
        self._lasts: dict[str, float] = {}
        self._longest = 0.0

    def come(self, job: Job, now: float) -> None:
        """Enter a job that has come; one that is known already changes nothing. `now`: s."""
        if job.id in self._jobs:
            return
        self.advance(now)
        self._jobs[job.id] = job
        self._queue.append(job)
        self._decide(now)

    def learn(self, job: Job, runtime: float, now: float) -> None:
        """Take note of how long a job ran in the real schedule; times in s."""
        self.advance(now)
        self._lasts[job.id] = runtime
        if job.id in self._ends:
            self._ends[job.id] = max(now, self.started[job.id] + runtime)
            self.advance(now)

    def longest(self, now: float) -> float:
        """Return the longest wait here so far, those that still wait included, in s."""
        return max(self._longest, now - self._queue[0].submission if self._queue else 0.0)

    def advance(self, now: float) -> None:
        """Let end here what ends until `now`, in s, and start what starts then."""
        while self._ends:
            end = min(self._ends.values())
            if end > now:
                return
            for name in [name for name, when in self._ends.items() if when == end]:
                del self._ends[name]
                self._free = self._free + self._pool.pooled_need(self._jobs[name])
                self._hoped.remove((self.started[name] + self._jobs[name].walltime, name))
            self._decide(end)

    def _decide(self, now: float) -> None:
        while self._queue and self._fits(self._queue[0]):
            self._start(self._queue.pop(0), now)
        if len(self._queue) < 2:
            return
        shadow, spare = self._reserve(self._queue[0])
        left = self._queue[:1]
        for job in self._queue[1:]:
            fits = self._fits(job)
            if fits and now + job.walltime > shadow:
                need = self._pool.pooled_need(job)
                fits = bool((need <= spare).all())
                spare = spare - need if fits else spare
            if fits:
                self._start(job, now)
            else:
                left.append(job)
        self._queue = left

    def _reserve(self, head: Job) -> tuple[float, Ints]:
        """Return the head's shadow time, s, and what it leaves spare then."""
        need, free, shadow = self._pool.pooled_need(head), self._free, math.inf
        for end, name in self._hoped:
            if end > shadow:
                break
            free = free + self._pool.pooled_need(self._jobs[name])
            if (need <= free).all():
                shadow = end
        return shadow, free - need

    def _fits(self, job: Job) -> bool:
        return bool((self._pool.pooled_need(job) <= self._free).all())

    def _start(self, job: Job, now: float) -> None:
        self._free = self._free - self._pool.pooled_need(job)
        self.started[job.id] = now
        self._longest = max(self._longest, now - job.submission)
        self._ends[job.id] = now + self._lasts.get(job.id, job.walltime)
        insort(self._hoped, (now + job.walltime, job.id))


class BesideEasyOptions(Options, frozen=True, kw_only=True):
    """Options of BesideEasy.

    ordering: the order of the jobs that are not late.
    multiple: a job is late once it has waited so many times as long as any job so far in the schedule beside.
    own: a job is late as soon as it has started in the schedule beside, too.
    """

    ordering: str = "smallest-area"
    multiple: Annotated[float, msgspec.Meta(ge=0)] = 1.0
    own: bool = False


class BesideEasy(Ordering):
    """Late jobs first, by arrival: those that waited longer than jobs wait under `easy`, which is simulated beside.

    See `Beside` for how. The jobs that are late go first, so that `easy` reserves for the first of them; it
    still waits for those that run, and for the late ones before it. So the longest wait is near that of `easy`, and not
    bounded by it.
    """

    options_type: ClassVar[type[Options]] = BesideEasyOptions
    dynamic = True

    def begin(self, ledger: Ledger) -> None:
        super().begin(ledger)
        self._inner = make_ordering(self.options.ordering)
        self._inner.begin(ledger)
        self._beside = Beside(ledger.space)

    def ended(self, stay: Stay, now: float) -> None:
        self._inner.ended(stay, now)
        self._beside.learn(stay.job, now - stay.start, now)

    def is_late(self, job: Job, now: float) -> bool:
        self._beside.advance(now)
        if self.options.own and job.id in self._beside.started:
            return True
        return now - job.submission > self.options.multiple * self._beside.longest(now)

    def key(self, job: Job, now: float, expected: float) -> tuple[float, ...]:
        self._beside.come(job, now)
        if self.is_late(job, now):
            return 0.0, job.submission
        key = self._inner.key(job, now, expected)
        return (1.0, *key) if isinstance(key, tuple) else (1.0, key)
