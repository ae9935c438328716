"""The typed shape of what a scheduler answers to Batsim 4.

Batsim counts the keys of most events' data, so no others may be there; it tolerates them in registrations, messages to
jobs, changes of a job's state and notifications.
"""

from __future__ import annotations

from typing import Annotated

import msgspec

from batdispatch.batsim.shapes import Count, Fields, Name, Nothing, Time
from batdispatch.batsim.v4.shapes import Timed
from batdispatch.core.jobs.job import JobState


class IoJobData(msgspec.Struct, omit_defaults=True):
    """The ``additional_io_job`` of EXECUTE_JOB."""

    alloc: str
    profile_name: str
    profile: Fields | None = None


class ExecuteData(msgspec.Struct, omit_defaults=True, forbid_unknown_fields=True):
    """Data of EXECUTE_JOB; at most one of the last three may be there."""

    job_id: Name
    alloc: str
    mapping: dict[str, str | int] | None = None
    storage_mapping: dict[str, Count] | None = None
    additional_io_job: IoJobData | None = None


class StateData(msgspec.Struct, forbid_unknown_fields=True):
    """Data of SET_RESOURCE_STATE."""

    resources: str
    state: str


class RejectData(msgspec.Struct, forbid_unknown_fields=True):
    """Data of REJECT_JOB."""

    job_id: Name


class KillData(msgspec.Struct, forbid_unknown_fields=True):
    """Data of KILL_JOB."""

    job_ids: list[Name]


class CallData(msgspec.Struct, forbid_unknown_fields=True):
    """Data of CALL_ME_LATER."""

    timestamp: Time


class RegisterProfileData(msgspec.Struct):
    """Data of REGISTER_PROFILE."""

    workload_name: Name
    profile_name: Name
    profile: Fields


class RegisterJobData(msgspec.Struct):
    """Data of REGISTER_JOB."""

    job_id: Name
    job: Fields


class ConsumedEnergy(msgspec.Struct, forbid_unknown_fields=True):
    """The only query."""

    consumed_energy: Nothing = Nothing()


class QueryData(msgspec.Struct, forbid_unknown_fields=True):
    """Data of QUERY."""

    requests: ConsumedEnergy


class MetadataData(msgspec.Struct, forbid_unknown_fields=True):
    """Data of SET_JOB_METADATA."""

    job_id: Name
    metadata: Annotated[str, msgspec.Meta(pattern='^[^"]*$')]


class ToJobData(msgspec.Struct):
    """Data of TO_JOB_MSG."""

    job_id: Name
    msg: str


class ChangeStateData(msgspec.Struct):
    """Data of CHANGE_JOB_STATE."""

    job_id: Name
    job_state: JobState


class RegistrationData(msgspec.Struct):
    """Data of a scheduler's NOTIFY."""

    type: str


class ExecuteJob(Timed, tag="EXECUTE_JOB"):
    """EXECUTE_JOB."""

    data: ExecuteData


class RejectJob(Timed, tag="REJECT_JOB"):
    """REJECT_JOB."""

    data: RejectData


class KillJob(Timed, tag="KILL_JOB"):
    """KILL_JOB."""

    data: KillData


class CallMeLater(Timed, tag="CALL_ME_LATER"):
    """CALL_ME_LATER."""

    data: CallData


class RegisterProfile(Timed, tag="REGISTER_PROFILE"):
    """REGISTER_PROFILE."""

    data: RegisterProfileData


class RegisterJob(Timed, tag="REGISTER_JOB"):
    """REGISTER_JOB."""

    data: RegisterJobData


class SetResourceState(Timed, tag="SET_RESOURCE_STATE"):
    """SET_RESOURCE_STATE."""

    data: StateData


class Query(Timed, tag="QUERY"):
    """QUERY."""

    data: QueryData


class SetJobMetadata(Timed, tag="SET_JOB_METADATA"):
    """SET_JOB_METADATA."""

    data: MetadataData


class ToJobMsg(Timed, tag="TO_JOB_MSG"):
    """TO_JOB_MSG."""

    data: ToJobData


class ChangeJobState(Timed, tag="CHANGE_JOB_STATE"):
    """CHANGE_JOB_STATE."""

    data: ChangeStateData


class Registration(Timed, tag="NOTIFY"):
    """NOTIFY."""

    data: RegistrationData


SchedulerEvent = (
    ExecuteJob
    | RejectJob
    | KillJob
    | CallMeLater
    | RegisterProfile
    | RegisterJob
    | SetResourceState
    | Query
    | SetJobMetadata
    | ToJobMsg
    | ChangeJobState
    | Registration
)


class SchedulerFrame(msgspec.Struct):
    """A frame from a scheduler."""

    now: Time
    events: list[SchedulerEvent]
