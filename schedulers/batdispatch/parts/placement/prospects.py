"""What jobs that wait may expect of a placement: ever a place? And from when on places that it refuses now?"""

from __future__ import annotations

import math
from heapq import heappop, heappush
from typing import Literal

from batdispatch.core.capacity.space import CACHE_SIZE
from batdispatch.core.jobs.job import Job
from batdispatch.core.jobs.request import Request
from batdispatch.core.line.ledger import Ledger
from batdispatch.core.line.scene import Scene
from batdispatch.core.line.ticks import tick_after
from batdispatch.parts.placement.base import Placement

#: Whether there is a place for a job on the idle machine: one was found, there is proven to be none, or neither.
Chance = Literal["some", "none", "unknown"]


class Prospects:
    """Of the waiting jobs of one dispatcher.

    `hear` asks for a call at the moment when the first waiting job is to get a place that it is refused now. At most
    one call is asked for at a time, so a job that starts at once costs none of its own.

    Attributes:
        turns: how often such a moment has come. Who remembers what did not fit forgets it when this changes.
    """

    def __init__(self, placement: Placement, name: str) -> None:
        """Prepare; `name` is the placement's, as it was chosen."""
        self.turns = 0
        self._placement = placement
        self._name = name
        #: Whether every job that fits the machine finds a place, and none is refused now that is taken later.
        self._sure = placement.complete and type(placement).patience is Placement.patience
        self._chances: dict[Request, Chance] = {}
        #: (tick of the clock in s, position in the order of arrival, moment in s, job).
        self._moments: list[tuple[float, int, float, Job]] = []
        self._called = math.inf

    def why_never(self, ledger: Ledger, job: Job) -> str:
        """Return why a job finds no place even on the idle machine, however long it waits, or an empty text.

        Only a proof counts. A job for which the search finds none there without a proof waits, and the ledger notes it.
        """
        if self._placement.complete:
            return ""
        job = ledger.concerns.at_best(job)
        chance = self._chances.get(job.request)
        if chance is None:
            if len(self._chances) >= CACHE_SIZE:
                self._chances.clear()
            chance = self._chances[job.request] = self._chance(ledger, job)
        if chance == "unknown":
            ledger.overlooked[job.id] = self._name
        return f"placement {self._name} finds no place for it even on the idle machine" if chance == "none" else ""

    def _chance(self, ledger: Ledger, job: Job) -> Chance:
        idle = Scene(ledger, ledger.space.whole(), tuple, (job,), math.inf)
        if self._placement.place_in_choice(idle, job) is not None:
            return "some"
        return "none" if self._placement.proves_never(idle, job) else "unknown"

    def admits(self, ledger: Ledger, job: Job) -> bool:
        """Reject a job that was submitted if it never finds a place; note it otherwise. Return whether it waits."""
        if self._sure:
            return True
        never = self.why_never(ledger, job)
        if never:
            ledger.reject(job, never)
        else:
            self.came(ledger, job)
        return not never

    def came(self, ledger: Ledger, job: Job) -> None:
        """Note a job that waits from now on."""
        if self._wait(job, ledger.rank(job), ledger.now):
            self.hear(ledger)

    def _wait(self, job: Job, rank: int, after: float) -> bool:
        """Note the next moment of a job after some time, in s; return whether there is one."""
        moment = self._placement.patience(job, after)
        if moment < math.inf:
            heappush(self._moments, (tick_after(moment), rank, moment, job))
        return moment < math.inf

    def hear(self, ledger: Ledger) -> None:
        """See whose moment has come, and ask for a call at the next one."""
        now, moments = ledger.now, self._moments
        if self._called <= now:
            self._called = math.inf
        while moments and (moments[0][0] <= now or moments[0][3].id not in ledger.queue):
            _, rank, moment, job = heappop(moments)
            if job.id in ledger.queue:
                self.turns += 1
                self._wait(job, rank, max(moment, now))
        if moments and ledger.call_from(moments[0][0]) < self._called:
            self._called = ledger.wake_at(moments[0][0])
