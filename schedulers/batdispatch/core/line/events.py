"""What a simulator tells a dispatcher. Times are seconds.

Events are made for each message and refer to nothing that refers to them, so the garbage collector leaves them alone.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from batdispatch.core.hosts.allocation import Allocation
from batdispatch.core.jobs.job import Job, JobState
from batdispatch.core.machine.machine import Machine

#: What a probe makes of its hosts' joules: nothing, or one number.
Aggregate = Literal["", "sum", "mean"]


class Event(msgspec.Struct, frozen=True, gc=False):
    """Base of all events."""

    time: float


class SimulationBegins(Event, frozen=True):
    """The first event of every simulation."""

    machine: Machine
    #: Batsim's ``config`` object and the ``allow_*_sharing`` flags, keys as Batsim writes them.
    config: dict[str, Any] = {}
    #: Workload name -> where it was read from.
    workloads: dict[str, str] = {}
    #: Workload name -> profile name -> profile.
    profiles: dict[str, dict[str, dict[str, Any]]] = {}


class JobSubmitted(Event, frozen=True):
    """A job entered the queue. `profile` is there when the simulator forwards profiles on submission."""

    job: Job
    profile: dict[str, Any] | None = None


class JobCompleted(Event, frozen=True):
    """A job ended, in whatever way. The return code is -1 for a walltime or a killed delay, -2 for a killed task."""

    job_id: str
    state: JobState
    return_code: int = 0
    #: None when the simulator does not repeat it (Batsim 5).
    allocation: Allocation | None = None


class JobsKilled(Event, frozen=True):
    """The answer to a Kill, after the JobCompleted of those that died.

    `progress` maps a job id to ``{"profile_name", "progress"}`` or, for a sequence, to ``{"profile_name",
    "current_task_index", "current_task"}``; jobs that had ended by themselves are in `job_ids` but may miss there.
    """

    job_ids: list[str]
    progress: dict[str, dict[str, Any]] = {}
    #: Workload -> name -> profile of the killed jobs, when the simulator forwards them (Batsim 5).
    profiles: dict[str, dict[str, dict[str, Any]]] = {}


class ResourceStateChanged(Event, frozen=True):
    """Hosts finished switching to a power state."""

    hosts: Allocation
    state: str
    #: Whether the hosts were turned on or off; None: not said (Batsim 4).
    switched: bool | None = None


class RequestedCall(Event, frozen=True):
    """The time asked for with CallMeLater or CallEvery has come."""

    #: What the call was named when it was asked for (Batsim 5).
    call_id: str = ""
    #: Whether a call that comes again and again does so no more (Batsim 5).
    last: bool = False


class JobMessage(Event, frozen=True):
    """A running job says something (profile type ``send``)."""

    job_id: str
    message: Any


class EnergyAnswer(Event, frozen=True):
    """The answer to QueryEnergy: joules consumed so far."""

    consumed: float


class ProbeData(Event, frozen=True):
    """What a probe tells: joules burnt since 0 s (Batsim 5, which calls them power)."""

    probe_id: str
    hosts: Allocation
    #: Of each host in order of ids or, if the probe aggregates, one number.
    joules: list[float]
    aggregate: Aggregate = ""


class MachinesUnavailable(Event, frozen=True):
    """Hosts went away: nothing new may start on them; what runs there goes on."""

    hosts: Allocation


class MachinesAvailable(Event, frozen=True):
    """Hosts came back."""

    hosts: Allocation


class NoMoreStaticJobs(Event, frozen=True):
    """Every job of the workload files has been submitted."""


class NoMoreExternalEvents(Event, frozen=True):
    """Every external event has happened."""


class Notified(Event, frozen=True):
    """A generic external event, forwarded as it was written."""

    kind: str
    data: dict[str, Any]


class SimulationEnds(Event, frozen=True):
    """The last event of every simulation."""
