"""What a scheduler answers to Batsim 4 <-> `batdispatch.core.line.messages.Reply`.

Batsim counts the keys of most events' data, so no others may be there; it tolerates them in registrations, messages to
jobs, changes of a job's state and notifications.
"""

from __future__ import annotations

import math
from typing import Annotated, Any

import msgspec

from batdispatch.batsim.executors import read_mapping
from batdispatch.batsim.hosts import read_hosts
from batdispatch.batsim.numbers import require_finite
from batdispatch.batsim.shapes import Count, Empty, Fields, Name, Time
from batdispatch.batsim.table import Column, Row, Table, plain
from batdispatch.batsim.v4.jobs import read_job, write_job
from batdispatch.batsim.v4.messages import DIALECT
from batdispatch.core.errors import FieldError, ImpossibleDecision
from batdispatch.core.hosts.allocation import Allocation, IoJob
from batdispatch.core.jobs.job import JobState
from batdispatch.core.line import decisions as d
from batdispatch.core.line.messages import Reply


def decode_reply(data: bytes) -> Reply:
    """Read a frame from a scheduler; events must be in order of time and not later than ``now``.

    Raises:
        InputError: Batsim 4 would refuse the frame; says which event, its type, the field, found and expected.
    """
    frame = _TABLE.decode(data)
    return Reply(frame.now, _TABLE.read(frame))


def encode_reply(reply: Reply) -> bytes:
    """Write a reply with exactly the keys that Batsim accepts.

    Raises:
        ImpossibleDecision: a decision cannot be said to Batsim 4: times out of order or not finite, more than one of
            mapping, storage mapping and I/O job, double quotes in metadata, values that are no JSON.
    """
    return _TABLE.encode_reply(reply)


class IoJobData(msgspec.Struct):
    """The ``additional_io_job`` of EXECUTE_JOB."""

    alloc: str
    profile_name: str
    profile: Fields | None = None


class ExecuteData(msgspec.Struct, forbid_unknown_fields=True):
    """Data of EXECUTE_JOB; at most one of the last three may be there."""

    job_id: Name
    alloc: str
    mapping: dict[str, str | int] | None = None
    storage_mapping: dict[str, Count] | None = None
    additional_io_job: IoJobData | None = None


def _read_execute(time: float, data: ExecuteData, _: object) -> d.Decision:
    io_data = data.additional_io_job
    optional = {"mapping": data.mapping, "storage_mapping": data.storage_mapping, "additional_io_job": io_data}
    given = [name for name, value in optional.items() if value is not None]
    if len(given) > 1:
        raise FieldError("data", " and ".join(given), "at most one of " + ", ".join(optional))
    allocation, mapping = _hosts(data.alloc, "data.alloc"), None
    if data.mapping is not None:
        allocation, mapping = read_mapping(data.mapping, allocation)
    io_job = None
    if io_data is not None:
        where = _hosts(io_data.alloc, "data.additional_io_job.alloc")
        io_job = IoJob(where, io_data.profile_name, io_data.profile)
    return d.Execute(time, data.job_id, allocation, mapping, data.storage_mapping, io_job)


def _hosts(text: str, field: str) -> Allocation:
    allocation = read_hosts(text, field)
    if not allocation.bounds:
        raise FieldError(field, text, "at least one host")
    return allocation


def execute_fields(decision: d.Execute, _: object = None) -> dict[str, Any]:
    """Return the data of an EXECUTE_JOB.

    Raises:
        ImpossibleDecision: it would need more than one of the optional fields.
    """
    if decision.overrides:
        raise ImpossibleDecision(f"job {decision.job_id}: Batsim 4 cannot run parts of a job on other hosts")
    data: dict[str, Any] = {"job_id": decision.job_id, "alloc": str(decision.allocation)}
    executors = decision.executors()
    if executors is not None:
        data["mapping"] = {str(executor): str(index) for executor, index in executors.items()}
    if decision.storage is not None:
        data["storage_mapping"] = dict(decision.storage)
    if decision.io_job is not None:
        data["additional_io_job"] = _io_job(decision.io_job)
    if len(data) > 3:
        raise ImpossibleDecision(
            f"job {decision.job_id}: Batsim accepts only one of mapping (which units that share a host need), storage "
            f"mapping and I/O job, not {', '.join(list(data)[2:])} together"
        )
    return data


def _io_job(io_job: IoJob) -> dict[str, Any]:
    data: dict[str, Any] = {"alloc": str(io_job.allocation), "profile_name": io_job.profile_name}
    if io_job.profile is not None:
        data["profile"] = _finite(io_job.profile, f"I/O profile {io_job.profile_name}")
    return data


def _finite(value: dict[str, Any], what: str) -> dict[str, Any]:
    try:
        require_finite(value)
    except (ValueError, RecursionError) as problem:
        raise ImpossibleDecision(f"{what}: {problem}") from None
    return value


def _check_call(decision: d.CallMeLater) -> None:
    if not decision.time < decision.at < math.inf:
        raise ImpossibleDecision(f"a call at {decision.at} s was asked for at {decision.time} s")


def _check_profile(decision: d.RegisterProfile) -> None:
    _finite(decision.profile, f"profile {decision.workload}!{decision.name}")


class JobData(msgspec.Struct):
    """Data of REGISTER_JOB."""

    job_id: Name
    job: Fields


def _read_job(time: float, data: JobData, _: object) -> d.Decision:
    workload, mark, name = data.job_id.partition("!")
    if not (workload and mark and name):
        raise FieldError("data.job_id", data.job_id, "workload!name")
    return d.RegisterJob(time, read_job(data.job, data.job_id, short_id=True))


def _write_job(decision: d.RegisterJob, _: object) -> dict[str, Any]:
    job = decision.job
    return {"job_id": job.id, "job": _finite(write_job(job), f"job {job.id}")}


class StateData(msgspec.Struct, forbid_unknown_fields=True):
    """Data of SET_RESOURCE_STATE."""

    resources: str
    state: str


def _read_state(time: float, data: StateData, _: object) -> d.Decision:
    state = data.state
    if not (state.isascii() and state.isdigit() and len(state) < 10):
        raise FieldError("data.state", state, "the number of a power state, as a text")
    return d.SetResourceState(time, _hosts(data.resources, "data.resources"), state)


def _write_state(decision: d.SetResourceState, _: object) -> dict[str, Any]:
    return {"resources": str(decision.hosts), "state": decision.state}


class EnergyQuery(msgspec.Struct, forbid_unknown_fields=True):
    """The only query."""

    consumed_energy: Empty = Empty()


class QueryData(msgspec.Struct, forbid_unknown_fields=True):
    """Data of QUERY."""

    requests: EnergyQuery


def _check_metadata(decision: d.SetMetadata) -> None:
    if '"' in decision.metadata:
        raise ImpossibleDecision(f"job {decision.job_id}: metadata must not contain double quotes")


class NotificationData(msgspec.Struct):
    """Data of a scheduler's NOTIFY."""

    type: str


_SIGNALS: dict[str, type[d.FinishRegistration] | type[d.ContinueRegistration]] = {
    "registration_finished": d.FinishRegistration,
    "continue_registration": d.ContinueRegistration,
}
_KINDS = {struct: kind for kind, struct in _SIGNALS.items()}


def _read_notification(time: float, data: NotificationData, _: object) -> d.Decision:
    if data.type not in _SIGNALS:
        raise FieldError("data.type", data.type, " or ".join(_SIGNALS))
    return _SIGNALS[data.type](time)


_JOB = Column("job_id", Name)
_TABLE = Table(
    DIALECT,
    [
        Row("EXECUTE_JOB", ExecuteData, _read_execute, {d.Execute: execute_fields}),
        plain("REJECT_JOB", d.Reject, _JOB, strict=True),
        plain("KILL_JOB", d.Kill, Column("job_ids", list[Name]), strict=True),
        plain("CALL_ME_LATER", d.CallMeLater, Column("timestamp", Time, "at"), check=_check_call, strict=True),
        plain(
            "REGISTER_PROFILE",
            d.RegisterProfile,
            Column("workload_name", Name, "workload"),
            Column("profile_name", Name, "name"),
            Column("profile", Fields),
            check=_check_profile,
        ),
        Row("REGISTER_JOB", JobData, _read_job, {d.RegisterJob: _write_job}),
        Row("SET_RESOURCE_STATE", StateData, _read_state, {d.SetResourceState: _write_state}),
        Row(
            "QUERY",
            QueryData,
            lambda time, *_: d.QueryEnergy(time),
            {d.QueryEnergy: lambda *_: {"requests": {"consumed_energy": {}}}},
        ),
        plain(
            "SET_JOB_METADATA",
            d.SetMetadata,
            _JOB,
            Column("metadata", Annotated[str, msgspec.Meta(pattern='^[^"]*$')]),
            check=_check_metadata,
            strict=True,
        ),
        plain("TO_JOB_MSG", d.SendMessage, _JOB, Column("msg", str, "message")),
        plain("CHANGE_JOB_STATE", d.ChangeState, _JOB, Column("job_state", JobState, "state", read=str)),
        Row(
            "NOTIFY",
            NotificationData,
            _read_notification,
            dict.fromkeys(_SIGNALS.values(), lambda decision, _: {"type": _KINDS[type(decision)]}),
        ),
    ],
    source="reply of the scheduler",
    whole="the reply",
    lacking={
        d.StopSimulation: "Batsim 4 cannot end a simulation early",
        **dict.fromkeys((d.CallEvery, d.StopCalls), "Batsim 4 has no calls that come again and again (wake_at)"),
        **dict.fromkeys((d.CreateProbe, d.StopProbe), "Batsim 4 has no probes (query_energy)"),
    },
)
