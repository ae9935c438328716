"""The typed shape of what Batsim 4 sends. Fields beyond these are tolerated."""

from __future__ import annotations

from typing import Any

import msgspec

from batdispatch.batsim.shapes import Count, Fields, Int32, Name, Nothing, Time
from batdispatch.batsim.v4.shapes import Timed
from batdispatch.core.jobs.job import JobState


class Resource(msgspec.Struct):
    """One host in SIMULATION_BEGINS."""

    id: Count
    name: str
    state: str = "idle"
    properties: dict[str, str] = {}
    zone_properties: dict[str, str] = {}


class BeginsData(msgspec.Struct):
    """Data of SIMULATION_BEGINS."""

    nb_resources: Count
    nb_compute_resources: Count
    nb_storage_resources: Count
    allow_compute_sharing: bool
    allow_storage_sharing: bool
    config: Fields
    compute_resources: list[Resource]
    storage_resources: list[Resource]
    workloads: dict[str, str]
    profiles: dict[str, dict[str, Fields]]


class SubmittedData(msgspec.Struct, omit_defaults=True):
    """Data of JOB_SUBMITTED."""

    job_id: Name
    job: Fields
    profile: Fields | None = None


class CompletedData(msgspec.Struct, omit_defaults=True):
    """Data of JOB_COMPLETED."""

    job_id: Name
    job_state: JobState
    return_code: Int32
    alloc: str | None = None


class KilledData(msgspec.Struct):
    """Data of JOB_KILLED."""

    job_ids: list[str]
    job_progress: dict[str, Fields]


class StateChangedData(msgspec.Struct):
    """Data of RESOURCE_STATE_CHANGED."""

    resources: str
    state: str


class JobMessageData(msgspec.Struct):
    """Data of FROM_JOB_MSG."""

    job_id: Name
    msg: Any


class AnswerData(msgspec.Struct):
    """Data of ANSWER."""

    consumed_energy: float


class SimulationBegins(Timed, tag="SIMULATION_BEGINS"):
    """SIMULATION_BEGINS."""

    data: BeginsData


class JobSubmitted(Timed, tag="JOB_SUBMITTED"):
    """JOB_SUBMITTED."""

    data: SubmittedData


class JobCompleted(Timed, tag="JOB_COMPLETED"):
    """JOB_COMPLETED."""

    data: CompletedData


class JobKilled(Timed, tag="JOB_KILLED"):
    """JOB_KILLED."""

    data: KilledData


class ResourceStateChanged(Timed, tag="RESOURCE_STATE_CHANGED"):
    """RESOURCE_STATE_CHANGED."""

    data: StateChangedData


class RequestedCall(Timed, tag="REQUESTED_CALL"):
    """REQUESTED_CALL."""

    data: Nothing = Nothing()


class FromJobMsg(Timed, tag="FROM_JOB_MSG"):
    """FROM_JOB_MSG."""

    data: JobMessageData


class Answer(Timed, tag="ANSWER"):
    """ANSWER."""

    data: AnswerData


class Notify(Timed, tag="NOTIFY"):
    """NOTIFY."""

    data: Fields


class SimulationEnds(Timed, tag="SIMULATION_ENDS"):
    """SIMULATION_ENDS."""

    data: Nothing = Nothing()


BatsimEvent = (
    SimulationBegins
    | JobSubmitted
    | JobCompleted
    | JobKilled
    | ResourceStateChanged
    | RequestedCall
    | FromJobMsg
    | Answer
    | Notify
    | SimulationEnds
)


class BatsimFrame(msgspec.Struct):
    """A frame from Batsim."""

    now: Time
    events: list[BatsimEvent]
