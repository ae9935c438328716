"""What Batsim 5 sends, in its JSON form <-> `batdispatch.core.line.messages.Message`.

Fields beyond those named here are tolerated.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import msgspec

from batdispatch.batsim.hosts import read_hosts
from batdispatch.batsim.machine import read_machine, write_hosts
from batdispatch.batsim.numbers import on_microsecond, require_finite
from batdispatch.batsim.shapes import Count, Fields, Name, Time
from batdispatch.batsim.table import Column, Dialect, Row, Table, finite, plain
from batdispatch.batsim.v5.extra import read_extra
from batdispatch.batsim.v5.host_states import write_on_off, write_pstate
from batdispatch.batsim.v5.jobs import read_job, write_job
from batdispatch.batsim.v5.profiles import full_id, read_profile, split_id, write_profile
from batdispatch.batsim.v5.progress import read_progress, write_progress
from batdispatch.batsim.v5.shapes import JobData, ProfileData
from batdispatch.batsim.v5.state import ExchangeState
from batdispatch.core.errors import FieldError, InputError, SimulationError
from batdispatch.core.jobs.job import JobState
from batdispatch.core.line import events as e
from batdispatch.core.line.messages import Message
from batdispatch.core.machine.machine import Host

SOURCE = "message from Batsim"
#: Type inside the data of a generic external event -> what it says. The convention is that of Batsim 5's manual.
AVAILABILITY: dict[str, type[e.MachinesUnavailable] | type[e.MachinesAvailable]] = {
    "machine_unavailable": e.MachinesUnavailable,
    "machine_available": e.MachinesAvailable,
}
_AVAILABILITY_KINDS = {struct: kind for kind, struct in AVAILABILITY.items()}

#: Batsim 5.0.0-rc2 stamps these with the time of the last event before them, be it hours ago.
_STAMPED_EARLY = frozenset((e.MachinesUnavailable, e.MachinesAvailable, e.Notified, e.ResourceStateChanged))
_COUNTS = ("computation_host_number", "storage_host_number", "host_number")
_HOSTS = ("computation_hosts", "storage_hosts")

_encode = msgspec.json.Encoder().encode


def decode_message(data: bytes, state: ExchangeState) -> Message:
    """Read a frame from Batsim; events must be in order of time and not later than ``now``.

    Batsim 5 prints its clock with nanoseconds and more, and comes to a moment that it was asked for a little early or
    late. So each time is put on the microsecond; the reply goes out with a time that Batsim has reached.

    Raises:
        InputError: the frame is not what Batsim 5 sends in its JSON form.
        SimulationError: Batsim reports an error of its own.
    """
    data = data.rstrip(b"\0")
    if data and not data.lstrip().startswith(b"{"):
        raise InputError("is not JSON; batprotocol's binary form is not supported", source=SOURCE)
    frame = _TABLE.decode(data)
    reached = frame.now
    now = frame.now = on_microsecond(reached)
    for event in frame.events:
        # Most events are of the frame's own time.
        event.timestamp = now if event.timestamp == reached else on_microsecond(event.timestamp)
    events = _TABLE.read(frame, state)
    state.reached = reached
    if not _STAMPED_EARLY.isdisjoint(map(type, events)):
        _stamp(events, now)
    return Message(now, events)


def encode_message(message: Message, state: ExchangeState) -> bytes:
    """Write a message; it ends with a NUL byte, as Batsim sends it.

    Raises:
        SimulationError: something in it cannot be said in Batsim 5's protocol.
    """
    return _TABLE.encode_message(message, state)


def _stamp(events: list[e.Event], now: float) -> None:
    """Give events that carry the time of an earlier one the time of the next that tells its own, or the frame's."""
    for index in reversed(range(len(events))):
        event = events[index]
        if type(event) in _STAMPED_EARLY:
            events[index] = msgspec.structs.replace(event, time=now)
        else:
            now = event.time


def _read_profiles(listed: list[ProfileData], field: str, state: ExchangeState) -> dict[str, dict[str, Fields]]:
    """Return profiles by workload and name, and remember them."""
    profiles: dict[str, dict[str, Fields]] = {}
    for index, data in enumerate(listed):
        workload, name, profile = read_profile(data, f"{field}[{index}]")
        profiles.setdefault(workload, {})[name] = profile
        state.add(workload, name, profile)
    return profiles


class Property(msgspec.Struct):
    """A property of a host or of its zone."""

    key: str
    value: str = ""


class HostData(msgspec.Struct):
    """One host in SimulationBeginsEvent."""

    name: str
    id: Count = 0
    pstate: Count = 0
    pstate_count: Count = 1
    state: str = "IDLE"
    properties: list[Property] = []
    zone_properties: list[Property] = []
    core_count: Count = 1
    #: Flop/s of a core, by power state.
    computation_speed: list[float] = []


class WorkloadData(msgspec.Struct):
    """A workload and the file it was read from."""

    name: str
    filename: str = ""


class BeginsData(msgspec.Struct):
    """Data of SimulationBeginsEvent."""

    host_number: Count = 0
    computation_host_number: Count = 0
    computation_hosts: list[HostData] = []
    storage_host_number: Count = 0
    storage_hosts: list[HostData] = []
    batsim_arguments: list[str] = []
    batsim_execution_context_json: str = ""
    workloads: list[WorkloadData] = []
    profiles: list[ProfileData] = []
    batsim_version: str = ""
    batsim_commit: str = ""


def _read_begins(time: float, data: BeginsData, state: ExchangeState) -> e.Event:
    machine = read_machine(data, "event", _COUNTS, _HOSTS, _read_host)
    features = state.features
    config = {
        "batsim_version": data.batsim_version,
        "batsim_commit": data.batsim_commit,
        "batsim_arguments": data.batsim_arguments,
        "batsim_execution_context_json": data.batsim_execution_context_json,
        "dynamic-jobs-enabled": features.dynamic_registration,
        "dynamic-jobs-acknowledged": features.acknowledge_dynamic_jobs,
        "calls-in-milliseconds": True,
        "profile-reuse-enabled": features.profile_reuse,
        "profiles-forwarded-on-submission": features.forward_profiles_on_job_submission,
    }
    workloads = {workload.name: workload.filename for workload in data.workloads}
    state.workloads.update(workloads)
    profiles: dict[str, dict[str, Fields]] = {name: {} for name in workloads}
    profiles |= _read_profiles(data.profiles, "event.profiles", state)
    return e.SimulationBegins(time, machine, config, workloads, profiles)


def _write_begins(event: e.SimulationBegins, state: ExchangeState) -> dict[str, Any]:
    state.workloads.update(event.workloads)
    for workload, profiles in event.profiles.items():
        for name, profile in profiles.items():
            state.add(workload, name, profile)
    compute, storage = write_hosts(event.machine, _write_host)
    forwarded = event.profiles if state.features.forward_profiles_on_simulation_begins else {}
    config = event.config
    return {
        "host_number": len(compute) + len(storage),
        "computation_host_number": len(compute),
        "computation_hosts": compute,
        "storage_host_number": len(storage),
        "storage_hosts": storage,
        "batsim_arguments": config.get("batsim_arguments", []),
        "batsim_execution_context_json": config.get("batsim_execution_context_json", "{}"),
        "workloads": [{"name": name, "filename": path} for name, path in event.workloads.items()],
        "profiles": [
            _profile(workload, name, forwarded[workload][name])
            for workload in sorted(forwarded)
            for name in sorted(forwarded[workload])
        ],
        "batsim_version": config.get("batsim_version", "batdispatch"),
        "batsim_commit": config.get("batsim_commit", ""),
    }


def _read_host(host: HostData, storage: bool) -> Host:
    properties = {each.key: each.value for each in (*host.zone_properties, *host.properties)}
    speeds = host.computation_speed
    speed = speeds[host.pstate] if host.pstate < len(speeds) else 0.0
    return Host(
        id=host.id,
        name=host.name,
        properties=properties,
        storage=storage,
        speed=speed,
        speeds=tuple(speeds),
        cores=host.core_count,
        pstate=host.pstate,
    )


def _write_host(host: Host) -> dict[str, Any]:
    return {
        "id": host.id,
        "name": host.name,
        "pstate": host.pstate,
        "pstate_count": len(host.speeds) or 1,
        "state": "IDLE",
        "properties": [{"key": key, "value": host.properties[key]} for key in sorted(host.properties)],
        "zone_properties": [],
        "core_count": host.cores,
        "computation_speed": list(host.speeds) or [host.speed],
    }


def _profile(workload: str, name: str, profile: dict[str, Any]) -> dict[str, Any]:
    require_finite(profile)
    return write_profile(workload, name, profile)


class SubmittedData(msgspec.Struct):
    """Data of JobSubmittedEvent."""

    job_id: Name
    job: JobData
    submission_time: Time = 0.0
    profile: ProfileData | None = None


def _read_submitted(time: float, data: SubmittedData, state: ExchangeState) -> e.Event:
    job = read_job(data.job, data.job_id, on_microsecond(data.submission_time))
    profile = None
    if data.profile is not None:
        workload, name, profile = read_profile(data.profile, "event.profile")
        state.add(workload, name, profile)
    return e.JobSubmitted(time, job, profile)


def _write_submitted(event: e.JobSubmitted, state: ExchangeState) -> dict[str, Any]:
    job = event.job
    data: dict[str, Any] = {"job_id": job.id, "job": write_job(job), "submission_time": job.submission}
    if event.profile is not None:
        workload, _, name = full_id(job.profile, job.id.partition("!")[0]).partition("!")
        data["profile"] = _profile(workload, name, event.profile)
    return data


class CompletedData(msgspec.Struct):
    """Data of JobCompletedEvent. The return code is unsigned on the wire: -1 reads 4294967295."""

    job_id: Name
    state: JobState = JobState.COMPLETED_SUCCESSFULLY
    return_code: int = 0


def _read_completed(time: float, data: CompletedData, state: ExchangeState) -> e.Event:
    if not -(2**31) <= data.return_code < 2**32:
        raise FieldError("event.return_code", data.return_code, "32 bits")
    code = data.return_code - 2**32 if data.return_code >= 2**31 else data.return_code
    return e.JobCompleted(time, data.job_id, data.state, code)


def _write_completed(event: e.JobCompleted, state: ExchangeState) -> dict[str, Any]:
    return {"job_id": event.job_id, "state": event.state, "return_code": event.return_code & 0xFFFFFFFF}


class ProgressData(msgspec.Struct):
    """How far a killed job was."""

    job_id: Name
    wrapper: Fields


class KilledData(msgspec.Struct):
    """Data of JobsKilledEvent."""

    job_ids: list[Name]
    progresses: list[ProgressData] = []
    profiles: list[ProfileData] = []


def _read_killed(time: float, data: KilledData, state: ExchangeState) -> e.Event:
    profiles = _read_profiles(data.profiles, "event.profiles", state)
    progress: dict[str, Fields] = {}
    for index, each in enumerate(data.progresses):
        field = f"event.progresses[{index}]"
        if each.job_id not in data.job_ids:
            raise FieldError(f"{field}.job_id", each.job_id, "one of event.job_ids")
        workload, _ = split_id(each.job_id, f"{field}.job_id")
        progress[each.job_id] = read_progress(each.wrapper, workload, state.lengths, f"{field}.wrapper")
    return e.JobsKilled(time, data.job_ids, progress, profiles)


def _write_killed(event: e.JobsKilled, state: ExchangeState) -> dict[str, Any]:
    progresses = []
    names: dict[str, None] = {}
    for job_id, progress in event.progress.items():
        workload = job_id.partition("!")[0]
        progresses.append({"job_id": job_id, "wrapper": write_progress(progress, workload, state.lengths)})
        names[full_id(str(progress["profile_name"]), workload)] = None
    profiles = []
    if state.features.forward_profiles_on_jobs_killed:
        known = [(name.partition("!"), state.profiles[name]) for name in names if name in state.profiles]
        profiles = [_profile(workload, name, profile) for (workload, _, name), profile in known]
    return {"job_ids": event.job_ids, "progresses": progresses, "profiles": profiles}


class ExternalData(msgspec.Struct):
    """Data of ExternalEventOccurredEvent."""

    id: str = ""
    external_event_type: str = "GenericExternalEvent"
    external_event: Fields = {}


def _read_external(time: float, data: ExternalData, state: ExchangeState) -> e.Event:
    field = "event.external_event.data"
    text = data.external_event.get("data", "")
    if not isinstance(text, str):
        raise FieldError(field, text, "a text")
    fields = read_extra(text, field)
    kind = fields.pop("type", None)
    if kind in AVAILABILITY:
        resources = fields.get("resources")
        if not isinstance(resources, str):
            raise FieldError(field, text, "a text 'resources' with intervals of host ids")
        return AVAILABILITY[kind](time, read_hosts(resources, field))
    if data.id:
        fields["external_event_id"] = data.id
    return e.Notified(time, kind if isinstance(kind, str) else "generic", fields)


def _write_availability(event: e.MachinesUnavailable | e.MachinesAvailable, state: ExchangeState) -> dict[str, Any]:
    return _external(_AVAILABILITY_KINDS[type(event)], {"resources": str(event.hosts)})


def _write_notification(event: e.Notified, state: ExchangeState) -> dict[str, Any]:
    require_finite(event.data)
    return _external(event.kind, event.data)


def _external(kind: str, fields: Mapping[str, Any]) -> dict[str, Any]:
    given = dict(fields)
    name = given.pop("external_event_id", "")
    # A generic event whose text is no JSON object.
    text = given.get("extra_data") if kind == "generic" and len(given) == 1 else None
    if not isinstance(text, str):
        text = _encode({"type": kind, **given}).decode()
    return {"id": name, "external_event_type": "GenericExternalEvent", "external_event": {"data": text}}


class PStateData(msgspec.Struct):
    """Data of HostsPStateChangedEvent."""

    host_ids: str
    pstate: Count = 0


def _read_pstate(time: float, data: PStateData, state: ExchangeState) -> e.Event:
    return e.ResourceStateChanged(time, read_hosts(data.host_ids, "event.host_ids"), str(data.pstate), False)


class OnOffData(msgspec.Struct):
    """Data of HostsTurnedOnOffEvent: the power state that the hosts are in now."""

    host_ids: str
    state: Count = 0


def _read_on_off(time: float, data: OnOffData, state: ExchangeState) -> e.Event:
    hosts = read_hosts(data.host_ids, "event.host_ids")
    return e.ResourceStateChanged(time, hosts, str(data.state), True)


class ProbedHosts(msgspec.Struct):
    """Those that a probe is about."""

    host_ids: str


class ProbedData(msgspec.Struct):
    """Joules: of each host, or one number."""

    data: list[float] | float


class ProbeData(msgspec.Struct, kw_only=True):
    """Data of ProbeDataEmittedEvent. The metric is called power and counts joules since 0 s (rc2)."""

    probe_id: Name
    resources: ProbedHosts
    data: ProbedData
    resources_type: Literal["HostResources"] = "HostResources"
    metrics: Literal["Power"] = "Power"
    data_type: Literal["VectorialProbeData", "AggregatedProbeData"] = "VectorialProbeData"


def _read_probe(time: float, data: ProbeData, state: ExchangeState) -> e.Event:
    hosts, joules = read_hosts(data.resources.host_ids, "event.resources.host_ids"), data.data.data
    many = data.data_type == "VectorialProbeData"
    if isinstance(joules, list) != many or (isinstance(joules, list) and len(joules) != hosts.size):
        raise FieldError("event.data.data", joules, f"{hosts.size} numbers" if many else "a number")
    aggregate = "" if many else state.probes.get(data.probe_id, "sum")
    return e.ProbeData(time, data.probe_id, hosts, joules if isinstance(joules, list) else [joules], aggregate)


def _write_probe(event: e.ProbeData, state: ExchangeState) -> dict[str, Any]:
    joules: Any = event.joules[0] if event.aggregate else event.joules
    return {
        "probe_id": event.probe_id,
        "resources_type": "HostResources",
        "resources": {"host_ids": str(event.hosts)},
        "metrics": "Power",
        "data_type": "AggregatedProbeData" if event.aggregate else "VectorialProbeData",
        "data": {"data": joules},
        "manually_triggered": False,
        "nb_emitted": 0,
        "nb_triggered": 0,
    }


def _refuse_greeting(time: float, data: Fields, state: ExchangeState) -> e.Event:
    raise FieldError("event_type", "a greeting", "it only at the beginning of an exchange")


class ErrorData(msgspec.Struct):
    """Data of SimulationErrorEvent."""

    error: str = ""


def _read_error(time: float, data: ErrorData, state: ExchangeState) -> e.Event:
    raise SimulationError(f"at {time:.6f} s: Batsim reports an error: {data.error[:1000]}")


#: A message ends with a NUL byte.
DIALECT = Dialect("event_type", "event", lenient=True, moment=finite, end=b"\0")
_TABLE = Table(
    DIALECT,
    [
        Row("SimulationBeginsEvent", BeginsData, _read_begins, {e.SimulationBegins: _write_begins}),
        Row("JobSubmittedEvent", SubmittedData, _read_submitted, {e.JobSubmitted: _write_submitted}),
        Row("JobCompletedEvent", CompletedData, _read_completed, {e.JobCompleted: _write_completed}),
        Row("JobsKilledEvent", KilledData, _read_killed, {e.JobsKilled: _write_killed}),
        plain(
            "RequestedCallEvent",
            e.RequestedCall,
            Column("call_me_later_id", str, "call_id", default=""),
            Column("last_periodic_call", bool, "last", default=False),
            optional=True,
        ),
        plain("AllStaticJobsHaveBeenSubmittedEvent", e.NoMoreStaticJobs, optional=True),
        plain("AllStaticExternalEventsHaveBeenInjectedEvent", e.NoMoreExternalEvents, optional=True),
        Row(
            "ExternalEventOccurredEvent",
            ExternalData,
            _read_external,
            {**dict.fromkeys(AVAILABILITY.values(), _write_availability), e.Notified: _write_notification},
        ),
        Row("HostsPStateChangedEvent", PStateData, _read_pstate, {e.ResourceStateChanged: write_pstate}),
        Row("HostsTurnedOnOffEvent", OnOffData, _read_on_off, {e.ResourceStateChanged: write_on_off}),
        Row("ProbeDataEmittedEvent", ProbeData, _read_probe, {e.ProbeData: _write_probe}),
        Row("BatsimHelloEvent", Fields, _refuse_greeting, optional=True),
        Row("SimulationErrorEvent", ErrorData, _read_error),
        plain("SimulationEndsEvent", e.SimulationEnds, optional=True),
    ],
    source=SOURCE,
    whole="the message",
    lacking={
        e.JobMessage: "Batsim 5 has no messages from jobs",
        e.EnergyAnswer: "Batsim 5 answers no queries of the energy consumed",
    },
)
