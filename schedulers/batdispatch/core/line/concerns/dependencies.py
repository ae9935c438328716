"""When jobs enter the queue that wait for others, or that a layer keeps back, and which of them never can.

`core.line.roll` notes who waits for whom; here the ledger's queue follows it. The session asks in turn for what is
final, hopeless and ready (`settle`, `reject_hopeless`, `unblock`), until nothing changes any more.

Invariant: no job that is blocked or kept back is in the queue.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from batdispatch.core.jobs.job import Job
from batdispatch.core.line.concern import Concern
from batdispatch.core.line.ledger import Ledger
from batdispatch.core.line.ticks import TICK


class Dependencies(Concern):
    """The jobs of a ledger that came and are not shown yet. The session asks it, and no start or end does."""

    offers = ("bring_back", "keep_back", "parents", "reject_hopeless", "settle", "static_jobs_done", "unblock")
    ledger: Ledger

    def __init__(self, ledger: Ledger) -> None:
        super().__init__(ledger)
        #: When the call comes that was asked for last on behalf of blocked jobs, s.
        self._called = -math.inf

    @property
    def parents(self) -> Mapping[str, str]:
        """Id of each job that continues another one -> id of that one."""
        return self.ledger.roll.parents

    @property
    def static_jobs_done(self) -> bool:
        """Whether no job will come any more but by registration."""
        return self.ledger.roll.no_more

    def settle(self, *, decided: bool = True) -> None:
        """Note that what ended and was not continued by now is over.

        Args:
            decided: whether the dispatcher has decided about what it heard of. The decision after the answer to a kill
                may still continue what was killed.
        """
        if self.ledger.roll.unsettled:
            self.ledger.roll.settle(decided=decided)

    def reject_hopeless(self) -> list[Job]:
        """Reject the blocked jobs that can never start, since what they wait for cannot succeed, and return them."""
        rejected = []
        for job, reason in self.ledger.roll.take_hopeless():
            self.ledger.queue[job.id] = job
            self.ledger.reject(job, reason)
            rejected.append(job)
        return rejected

    def unblock(self) -> list[Job]:
        """Let the jobs into the queue that have nothing to wait for any more, and return them, in order of arrival."""
        ledger = self.ledger
        ready = [ledger.line_up(job) for job in ledger.roll.take_ready(ledger.now + TICK)]
        due = ledger.roll.due
        if due < math.inf and not ledger.now < self._called <= ledger.call_from(due):
            self._called = ledger.wake_at(due)
        return ready

    def keep_back(self, job: Job) -> None:
        """Hide a waiting job from the dispatcher until `bring_back`."""
        del self.ledger.queue[job.id]
        self.ledger.roll.withhold(job)

    def bring_back(self, job: Job) -> None:
        """Let a job wait again, in the order of arrival, that was kept back."""
        self.ledger.roll.show(job.id)
        self.ledger.queue[job.id] = job
        self.ledger.roll.sort(self.ledger.queue)

    def check(self, idle: Any) -> Any:
        assert not self.ledger.blocked.keys() & self.ledger.queue.keys(), "a job is in the queue and is not shown"
        return idle
