"""Which queued jobs are decided about together: how many, and in what order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from batdispatch.core.jobs.job import Job
from batdispatch.core.line.hindsight import Reason, name_list
from batdispatch.core.line.ledger import Ledger
from batdispatch.parts.ordering.base import Ordering


class Window:
    """How many jobs a model takes: half as many after each failure of the solver, at least 1; all after a success.

    Attributes:
        size: for the next model.
        halved: how often it was halved.
    """

    def __init__(self, size: int) -> None:
        self._full = self.size = size
        self.halved = 0

    def failed(self, jobs: int) -> None:
        """Take half as many jobs next time as in the model of `jobs` jobs that failed."""
        self.size = max(1, min(self.size, jobs) // 2)
        self.halved += 1

    def succeeded(self) -> None:
        """Take as many jobs as at first."""
        self.size = self._full


def in_order(ledger: Ledger, ordering: Ordering, jobs: Sequence[Job], expected: Callable[[Job], float]) -> list[Job]:
    """Return jobs as an ordering wants them now; ties go by arrival.

    Args:
        ledger: the cluster.
        ordering: the ordering, which has begun.
        jobs: queued jobs.
        expected: how long a job is expected to run, s.
    """
    key, rank, now = ordering.key, ledger.rank, ledger.now
    # A key is a number or a tuple, of one form for all jobs.
    keys: dict[str, Any] = {job.id: (key(job, now, expected(job)), rank(job)) for job in jobs}
    return sorted(jobs, key=lambda job: keys[job.id])


def why_ahead(ledger: Ledger, ordering: Ordering, job: Job, expected: Callable[[Job], float]) -> Reason | None:
    """Return why an ordering puts a job before others, and before which; None: by its key. As `in_order` otherwise."""
    said = ordering.why_first(job, ledger.now)
    if said is None:
        return None
    jobs = in_order(ledger, ordering, list(ledger.queue.values()), expected)
    behind = [other.id for other in jobs if ordering.why_first(other, ledger.now) is None]
    before = f"; goes before {name_list(behind)}" if behind else ""
    return Reason(f"{said.why}: goes before the jobs that are not", f"it {said.how}{before}")


def why_behind(ledger: Ledger, ordering: Ordering, job: Job, expected: Callable[[Job], float]) -> Reason | None:
    """Return which job an ordering puts before another one whatever their keys, and why; None: there is none."""
    if type(ordering).why_first is Ordering.why_first or ordering.why_first(job, ledger.now) is not None:
        return None
    first = [other for other in ledger.queue.values() if ordering.why_first(other, ledger.now) is not None]
    ahead = in_order(ledger, ordering, first, expected)
    if not ahead:
        return None
    said = ordering.why_first(ahead[0], ledger.now)
    assert said is not None
    more = f"; {len(ahead) - 1:,} more are {said.why}" if len(ahead) > 1 else ""
    return Reason(f"waits behind the {said.why} job {ahead[0].id}", f"which {said.how}{more}")
