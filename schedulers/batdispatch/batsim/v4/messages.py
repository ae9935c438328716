"""What Batsim 4 sends <-> `batdispatch.core.line.messages.Message`. Fields beyond those named here are tolerated."""

from __future__ import annotations

from typing import Any

import msgspec

from batdispatch.batsim.hosts import read_hosts
from batdispatch.batsim.machine import read_machine, write_hosts
from batdispatch.batsim.numbers import raw_number, with_microseconds
from batdispatch.batsim.shapes import Count, Fields, Int32, Name
from batdispatch.batsim.table import Column, Dialect, Row, Table, plain
from batdispatch.batsim.v4.jobs import read_job, write_job
from batdispatch.core.errors import FieldError
from batdispatch.core.jobs.job import JobState
from batdispatch.core.line import events as e
from batdispatch.core.line.messages import Message
from batdispatch.core.machine.machine import Host

#: How deep a killed sequence's ``current_task`` may be nested.
MAX_TASK_DEPTH = 100
_FLAGS = ("allow_compute_sharing", "allow_storage_sharing")
_COUNTS = ("nb_compute_resources", "nb_storage_resources", "nb_resources")
_HOSTS = ("compute_resources", "storage_resources")


def decode_message(data: bytes) -> Message:
    """Read a frame from Batsim; events must be in order of time and not later than ``now``.

    Raises:
        InputError: the frame is not what Batsim 4 sends; says which event, its type, the field, found and expected.
    """
    frame = _TABLE.decode(data)
    return Message(frame.now, _TABLE.read(frame))


def encode_message(message: Message) -> bytes:
    """Write a message as Batsim 4.2.1 prints it: floating-point numbers with microseconds.

    Raises:
        SimulationError: something in it cannot be written as JSON (a number that is not finite, a foreign object).
    """
    return _TABLE.encode_message(message)


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


def _read_begins(time: float, data: BeginsData, _: object) -> e.Event:
    machine = read_machine(data, "data", _COUNTS, _HOSTS, _read_host)
    config = {**data.config, **{name: getattr(data, name) for name in _FLAGS}}
    return e.SimulationBegins(time, machine, config, data.workloads, data.profiles)


def _write_begins(event: e.SimulationBegins, _: object) -> dict[str, Any]:
    compute, storage = write_hosts(event.machine, _write_host)
    return {
        "nb_resources": len(compute) + len(storage),
        "nb_compute_resources": len(compute),
        "nb_storage_resources": len(storage),
        "allow_compute_sharing": bool(event.config.get("allow_compute_sharing", False)),
        "allow_storage_sharing": bool(event.config.get("allow_storage_sharing", True)),
        "config": with_microseconds({name: value for name, value in event.config.items() if name not in _FLAGS}),
        "compute_resources": compute,
        "storage_resources": storage,
        "workloads": event.workloads,
        "profiles": with_microseconds(event.profiles),
    }


def _read_host(resource: Resource, storage: bool) -> Host:
    properties = (
        {**resource.zone_properties, **resource.properties} if resource.zone_properties else resource.properties
    )
    return Host(id=resource.id, name=resource.name, properties=properties, storage=storage)


def _write_host(host: Host) -> dict[str, Any]:
    return {
        "id": host.id,
        "name": host.name,
        "state": "idle",
        "properties": dict(host.properties),
        "zone_properties": {},
    }


class SubmittedData(msgspec.Struct):
    """Data of JOB_SUBMITTED."""

    job_id: Name
    job: Fields
    profile: Fields | None = None


def _read_submitted(time: float, data: SubmittedData, _: object) -> e.Event:
    return e.JobSubmitted(time, read_job(data.job, data.job_id), data.profile)


def _write_submitted(event: e.JobSubmitted, _: object) -> dict[str, Any]:
    data: dict[str, Any] = {"job_id": event.job.id, "job": with_microseconds(write_job(event.job))}
    if event.profile is not None:
        data["profile"] = with_microseconds(event.profile)
    return data


class CompletedData(msgspec.Struct):
    """Data of JOB_COMPLETED."""

    job_id: Name
    job_state: JobState
    return_code: Int32
    alloc: str | None = None


def _read_completed(time: float, data: CompletedData, _: object) -> e.Event:
    allocation = None if data.alloc is None else read_hosts(data.alloc, "data.alloc")
    return e.JobCompleted(time, data.job_id, data.job_state, data.return_code, allocation)


def _write_completed(event: e.JobCompleted, _: object) -> dict[str, Any]:
    data: dict[str, Any] = {"job_id": event.job_id, "job_state": event.state, "return_code": event.return_code}
    if event.allocation is not None:
        data["alloc"] = str(event.allocation)
    return data


class KilledData(msgspec.Struct):
    """Data of JOB_KILLED."""

    job_ids: list[str]
    job_progress: dict[str, Fields]


def _read_killed(time: float, data: KilledData, _: object) -> e.Event:
    for job_id, progress in data.job_progress.items():
        if job_id not in data.job_ids:
            raise FieldError("data.job_progress", job_id, "only jobs of data.job_ids")
        _check_progress(f"data.job_progress.{job_id[:40]}", progress)
    return e.JobsKilled(time, data.job_ids, data.job_progress)


def _check_progress(field: str, progress: Any) -> None:
    for _ in range(MAX_TASK_DEPTH):
        if type(progress) is not dict:
            raise FieldError(field, progress, "an object")
        if type(progress.get("profile_name")) is not str:
            raise FieldError(f"{field}.profile_name", progress.get("profile_name"), "the name of a profile")
        if "current_task_index" not in progress:
            done = progress.get("progress")
            if not isinstance(done, int | float) or not 0 <= done <= 1:
                raise FieldError(f"{field}.progress", done, "a number from 0 to 1")
            return
        index = progress["current_task_index"]
        if type(index) is not int or index < 0:
            raise FieldError(f"{field}.current_task_index", index, "a whole number, at least 0")
        field += ".current_task"
        if "current_task" not in progress:
            raise FieldError(field, None, "an object")
        progress = progress["current_task"]
    raise FieldError(field[:60], "more", f"at most {MAX_TASK_DEPTH} nested tasks")


def _write_killed(event: e.JobsKilled, _: object) -> dict[str, Any]:
    return {"job_ids": event.job_ids, "job_progress": with_microseconds(event.progress)}


class StateData(msgspec.Struct):
    """Data of RESOURCE_STATE_CHANGED."""

    resources: str
    state: str


def _read_state(time: float, data: StateData, _: object) -> e.Event:
    return e.ResourceStateChanged(time, read_hosts(data.resources, "data.resources"), data.state)


def _write_state(event: e.ResourceStateChanged, _: object) -> dict[str, Any]:
    return {"resources": str(event.hosts), "state": event.state}


#: Kinds of notification that say all by themselves, and those that name hosts.
_SIGNALS: dict[str, type[e.NoMoreStaticJobs] | type[e.NoMoreExternalEvents]] = {
    "no_more_static_job_to_submit": e.NoMoreStaticJobs,
    "no_more_external_event_to_occur": e.NoMoreExternalEvents,
}
_AVAILABILITY: dict[str, type[e.MachinesUnavailable] | type[e.MachinesAvailable]] = {
    "event_machine_unavailable": e.MachinesUnavailable,
    "event_machine_available": e.MachinesAvailable,
}
_KINDS: dict[type[e.Event], str] = {struct: kind for kind, struct in (*_SIGNALS.items(), *_AVAILABILITY.items())}


def _read_notification(time: float, data: Fields, _: object) -> e.Event:
    kind = data.get("type")
    if type(kind) is not str:
        raise FieldError("data.type", kind, "the kind of notification")
    if kind in _SIGNALS:
        return _SIGNALS[kind](time)
    if kind in _AVAILABILITY:
        text = data.get("resources")
        if type(text) is not str:
            raise FieldError("data.resources", text, "intervals of host ids such as '0-3 5'")
        return _AVAILABILITY[kind](time, read_hosts(text, "data.resources"))
    return e.Notified(time, kind, data)


def _write_signal(event: e.Event, _: object) -> dict[str, Any]:
    return {"type": _KINDS[type(event)]}


def _write_availability(event: e.MachinesUnavailable | e.MachinesAvailable, _: object) -> dict[str, Any]:
    return {"type": _KINDS[type(event)], "resources": str(event.hosts)}


def _write_notification(event: e.Notified, _: object) -> dict[str, Any]:
    return {**with_microseconds(event.data), "type": event.kind}


#: Batsim 4 writes times with microseconds.
DIALECT = Dialect("type", "data", lenient=False, moment=raw_number, end=b"")
_TABLE = Table(
    DIALECT,
    [
        Row("SIMULATION_BEGINS", BeginsData, _read_begins, {e.SimulationBegins: _write_begins}),
        Row("JOB_SUBMITTED", SubmittedData, _read_submitted, {e.JobSubmitted: _write_submitted}),
        Row("JOB_COMPLETED", CompletedData, _read_completed, {e.JobCompleted: _write_completed}),
        Row("JOB_KILLED", KilledData, _read_killed, {e.JobsKilled: _write_killed}),
        Row("RESOURCE_STATE_CHANGED", StateData, _read_state, {e.ResourceStateChanged: _write_state}),
        plain("REQUESTED_CALL", e.RequestedCall, optional=True),
        plain("FROM_JOB_MSG", e.JobMessage, Column("job_id", Name), Column("msg", Any, "message", with_microseconds)),
        plain("ANSWER", e.EnergyAnswer, Column("consumed_energy", float, "consumed", raw_number)),
        Row(
            "NOTIFY",
            Fields,
            _read_notification,
            {
                **dict.fromkeys(_SIGNALS.values(), _write_signal),
                **dict.fromkeys(_AVAILABILITY.values(), _write_availability),
                e.Notified: _write_notification,
            },
        ),
        plain("SIMULATION_ENDS", e.SimulationEnds, optional=True),
    ],
    source="message from Batsim",
    whole="the message",
    lacking={e.ProbeData: "Batsim 4 has no probes"},
)
