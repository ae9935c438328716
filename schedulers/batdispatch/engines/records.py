"""What the engine is told to do and what it knows of each job."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import msgspec

from batdispatch.core.hosts.allocation import Allocation
from batdispatch.core.jobs.job import Job, JobState
from batdispatch.engines.choices import CountEnergy
from batdispatch.engines.execution import Execution


class EngineOptions(msgspec.Struct, frozen=True, kw_only=True):
    """Batsim's options that change what a scheduler may do or is told."""

    dynamic_jobs: bool = False
    acknowledge_dynamic_jobs: bool = True
    forward_profiles: bool = False
    #: Several jobs on a host. None: where the platform states capacities, which the dispatcher then has to respect.
    compute_sharing: bool | None = None
    forward_unknown_events: bool = True
    #: One message for each event, even of simultaneous ones (submissions first, as Batsim reports them), instead of one
    #: for all: shows how much of a result hangs on the order of ties.
    split_simultaneous: bool = False
    #: How energy is counted; None: it is not, and there are no power states.
    energy: CountEnergy | None = None
    #: Whether hosts are turned on and off by another event than their power states are changed by, and the ranks of a
    #: usage trace do not tell of their ends by messages: as in Batsim 5.
    turns_hosts: bool = False
    #: Text handed to the scheduler as ``sched-config``.
    scheduler_config: str = ""


class Record:
    """What the engine knows of a submitted job."""

    __slots__ = (
        "allocation",
        "due",
        "execution",
        "id",
        "joules",
        "metadata",
        "profile",
        "profiles",
        "start",
        "state",
        "submission",
        "units",
        "walltime",
    )

    def __init__(self, job: Job, profiles: Mapping[str, Mapping[str, Any]]) -> None:
        """Take a job, and the profiles of its workload by name."""
        self.id = job.id
        self.submission = job.submission
        self.units = job.units
        self.walltime = job.walltime
        self.profile = job.profile
        self.profiles = profiles
        self.state = JobState.SUBMITTED
        self.start = math.nan
        self.allocation: Allocation | None = None
        #: When the job's next calendar entry is due; entries with another time are stale.
        self.due = math.inf
        self.execution: Execution | None = None
        self.metadata = ""
        #: Burnt by its hosts before it started.
        self.joules = 0.0

    @property
    def first_host(self) -> int:
        """The lowest id of the job's hosts."""
        assert self.allocation is not None
        return self.allocation.bounds[0]
