"""Jobs, what one unit of a job needs, and the states a job goes through."""

from __future__ import annotations

import math
from collections.abc import Mapping
from enum import StrEnum
from typing import Any

import msgspec

from batdispatch.core.allocation import Allocation


class JobState(StrEnum):
    """A job's state, with Batsim's names."""

    SUBMITTED = "SUBMITTED"
    RUNNING = "RUNNING"
    COMPLETED_SUCCESSFULLY = "COMPLETED_SUCCESSFULLY"
    COMPLETED_FAILED = "COMPLETED_FAILED"
    COMPLETED_WALLTIME_REACHED = "COMPLETED_WALLTIME_REACHED"
    COMPLETED_KILLED = "COMPLETED_KILLED"
    REJECTED = "REJECTED"

    @property
    def is_final(self) -> bool:
        """Whether a job in this state is over."""
        return self not in (JobState.SUBMITTED, JobState.RUNNING)


class Job(msgspec.Struct, eq=False, kw_only=True):
    """A job as a dispatcher sees it: what was asked for, and what the ledger knows about it now.

    A job is made of `units` equal units. On a machine of exclusive hosts a unit is a host. On a machine whose nodes
    have several resources a unit needs `demand` on one node, several units may share a node, and a job without a
    demand takes whole nodes.
    """

    #: ``workload!number`` as Batsim writes it.
    id: str
    #: Number of units (Batsim's ``res``), at least 1.
    units: int
    #: Seconds.
    submission: float = 0.0
    #: Longest run time allowed, in seconds; infinite when none was asked for.
    walltime: float = math.inf
    #: Name of the profile inside the job's workload.
    profile: str = ""
    #: Amount of each named resource that one unit needs on one node; None: a whole host.
    demand: Mapping[str, int] | None = None
    #: Name of the user, empty when unknown.
    user: str = ""
    #: The job's fields beyond Batsim's own (id, subtime, res, walltime, profile), as they were written; `user` and
    #: `demand` are read from here.
    extra: dict[str, Any] = {}

    # Kept by the ledger.
    state: JobState = JobState.SUBMITTED
    #: `demand` along the machine's resource axis; None: whole hosts.
    request: tuple[int, ...] | None = None
    #: Position in the order of arrival, for ties.
    rank: int = 0
    #: Start time in seconds; NaN while waiting.
    start: float = math.nan
    allocation: Allocation | None = None

    def __repr__(self) -> str:
        return f"Job({self.id!r}, units={self.units}, walltime={self.walltime:g}, {self.state})"
