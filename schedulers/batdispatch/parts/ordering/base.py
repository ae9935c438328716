"""What an ordering is, and how one is found by name."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar

from batdispatch.core.jobs.job import Job, Stay
from batdispatch.core.line import registry
from batdispatch.core.line.hindsight import Reason, plain
from batdispatch.core.line.ledger import Ledger
from batdispatch.core.line.options import Part

#: Entry-point group in which a package announces its orderings.
GROUP = "batdispatch.orderings"


class Ordering(Part, ABC):
    """Says which waiting job goes first. Ties go by arrival.

    Attributes:
        ledger: the cluster, to look at; set before any key is asked for.
    """

    #: Whether keys change while a job waits, so that the queue is sorted again at every decision.
    dynamic: ClassVar[bool] = False

    def begin(self, ledger: Ledger) -> None:
        """Prepare for a simulation; called once, before any job."""
        self.ledger = ledger

    @abstractmethod
    def key(self, job: Job, now: float, expected: float) -> float | tuple[float, ...]:
        """Return the job's key, always of one form; the smallest goes first.

        Args:
            job: a waiting job.
            now: simulated time, s.
            expected: how long the job is expected to run, s: its walltime unless the dispatcher predicts; may be
                infinite.
        """

    def is_late(self, job: Job, now: float) -> bool:
        """Return whether a waiting job goes first since it has waited too long at `now`, in seconds.

        A dispatcher that keeps room free keeps none from a late job.
        """
        return False

    def reserving(self, jobs: Sequence[Job], now: float) -> Sequence[Job]:
        """Return the waiting jobs that may have room reserved for them at `now`, in seconds, in the order given.

        A job that may not holds up nobody: jobs behind it start as if it did not wait. `easy` reserves for the first
        job that may.
        """
        return jobs

    def why_first(self, job: Job, now: float) -> Reason | None:
        """Return why a waiting job goes before jobs that have no such reason at `now`, in seconds; None: by its key.

        It is asked for `explain-wait`, after the run. `Reason.why` is what such a job is called: ``late``.
        """
        return None

    def came(self, job: Job, now: float) -> None:
        """Learn that a job waits from `now` on, in seconds."""

    def ended(self, stay: Stay, now: float) -> None:
        """Learn that a job ended at `now`, in seconds; a fair share counts what it used."""


def make_ordering(text: str) -> Ordering:
    """Build an ordering from its name, with options in brackets if any: ``wfp3``, ``multifactor[age=1000]``.

    Raises:
        InputError: there is none of that name, or an option is wrong.
    """
    return registry.make(GROUP, text, Ordering, "ordering")


class LateJobsFirst(Ordering):
    """An ordering that puts late jobs first, by arrival, and then the others in that of its option `ordering`."""

    dynamic = True

    def begin(self, ledger: Ledger) -> None:
        super().begin(ledger)
        self.inner = make_ordering(self.options.ordering)
        self.inner.begin(ledger)

    def came(self, job: Job, now: float) -> None:
        self.inner.came(job, now)

    def ended(self, stay: Stay, now: float) -> None:
        self.inner.ended(stay, now)

    @abstractmethod
    def patience(self, job: Job) -> float:
        """Return for how long a job may wait before it is late, in seconds, as far as is known now."""

    def is_late(self, job: Job, now: float) -> bool:
        return now - job.submission > self.patience(job)

    def why_first(self, job: Job, now: float) -> Reason | None:
        if not self.is_late(job, now):
            return None
        waited, allowed = plain(now - job.submission), plain(self.patience(job))
        return Reason("late", f"has waited {waited} s, more than the threshold of {allowed} s")

    def key(self, job: Job, now: float, expected: float) -> tuple[float, ...]:
        if self.is_late(job, now):
            return 0.0, job.submission
        key = self.inner.key(job, now, expected)
        return (1.0, *key) if isinstance(key, tuple) else (1.0, key)
