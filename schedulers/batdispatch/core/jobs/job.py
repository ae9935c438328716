"""Jobs as they were submitted, and the states a job goes through."""

from __future__ import annotations

import math
from enum import StrEnum
from typing import Any

import msgspec

from batdispatch.core.hosts.allocation import Allocation
from batdispatch.core.jobs.request import Request


class JobState(StrEnum):
    """A job's state, with Batsim's names."""

    SUBMITTED = "SUBMITTED"
    RUNNING = "RUNNING"
    COMPLETED_SUCCESSFULLY = "COMPLETED_SUCCESSFULLY"
    COMPLETED_FAILED = "COMPLETED_FAILED"
    COMPLETED_WALLTIME_REACHED = "COMPLETED_WALLTIME_REACHED"
    COMPLETED_KILLED = "COMPLETED_KILLED"
    REJECTED = "REJECTED"


#: The states that a job may end in; columns of states count along it.
FINAL_STATES: tuple[JobState, ...] = tuple(
    state for state in JobState if state not in (JobState.SUBMITTED, JobState.RUNNING)
)


class Job(msgspec.Struct, eq=False, frozen=True, kw_only=True, gc=False):
    """A job as it was submitted; it never changes. What happens to it is the ledger's to know."""

    #: ``workload!number`` as Batsim writes it.
    id: str
    request: Request
    #: Seconds.
    submission: float = 0.0
    #: Longest run time allowed, in seconds; infinite when none was asked for.
    walltime: float = math.inf
    #: Name of the profile inside the job's workload.
    profile: str = ""
    #: Name of the user, empty when unknown.
    user: str = ""
    #: Id of the job that this one continues (a further attempt, a resized rest, a restart); empty for most jobs. Jobs
    #: joined by it are one logical job, see `Ledger.root`.
    parent: str = ""
    #: The job's fields beyond Batsim's own (id, subtime, res, walltime, profile), as they were written. Those that this
    #: package knows (`core.jobs.request`, ``user``, ``parent``) are read from here at the door.
    extra: dict[str, Any] = {}

    @property
    def units(self) -> int:
        """Number of units asked for."""
        return self.request.units

    def __repr__(self) -> str:
        return f"Job({self.id!r}, units={self.units}, walltime={self.walltime:g})"


class Resumption(msgspec.Struct, frozen=True, gc=False):
    """How a job continues another one that ended in a checkpoint. Times in seconds."""

    #: Run time of the logical job that was saved before.
    saved: float
    #: How long the job takes to read the checkpoint, before its work goes on.
    restart: float


class Stay(msgspec.Struct, eq=False, kw_only=True, gc=False):
    """A job on its hosts, from its start on; kept by the ledger, and changed by nobody else."""

    #: The job, as it was submitted.
    job: Job
    #: Start time in seconds.
    start: float
    #: The hosts that it has, and its units on each of them.
    allocation: Allocation
    #: Position in the order of arrival, for ties.
    rank: int = 0
    #: RUNNING, or how the job ended.
    state: JobState = JobState.RUNNING

    def __repr__(self) -> str:
        return f"Stay({self.job.id!r}, start={self.start:g}, allocation={str(self.allocation)!r}, {self.state})"


def full_id(job: Job, name: str) -> str:
    """Return the id of the job that another one names; a name without a workload is of a job of the same workload."""
    return name if "!" in name else f"{job.id.partition('!')[0]}!{name}"
