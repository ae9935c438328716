"""`batdispatch.core.line.messages.Message` -> what Batsim 5 sends, in its JSON form."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import msgspec

from batdispatch.batsim.numbers import require_finite
from batdispatch.batsim.v5.jobs import write_job
from batdispatch.batsim.v5.known import Known
from batdispatch.batsim.v5.profiles import full_id, write_profile
from batdispatch.batsim.v5.progress import write_progress
from batdispatch.core.errors import SimulationError
from batdispatch.core.line import events as e
from batdispatch.core.line.messages import Message
from batdispatch.core.machine.machine import Host

_encode = msgspec.json.Encoder().encode


def encode_message(message: Message, known: Known) -> bytes:
    """Write a message; it ends with a NUL byte, as Batsim sends it.

    Raises:
        SimulationError: something in it cannot be said in Batsim 5's protocol.
    """
    try:
        require_finite(message.now)
        events = []
        for event in message.events:
            kind, data = _WRITE[type(event)](event, known)
            require_finite(event.time)
            events.append({"timestamp": event.time, "event_type": kind, "event": data})
        return _encode({"now": message.now, "events": events}) + b"\0"
    except (ValueError, TypeError, RecursionError) as problem:
        raise SimulationError(f"message at {message.now} s cannot be written: {problem}") from None


def _begins(event: e.SimulationBegins, known: Known) -> tuple[str, dict[str, Any]]:
    known.workloads.update(event.workloads)
    for workload, profiles in event.profiles.items():
        for name, profile in profiles.items():
            known.add(workload, name, profile)
    storage = event.machine.storage
    compute = [host for host in event.machine.hosts if not host.storage]
    forwarded = event.profiles if known.features.forward_profiles_on_simulation_begins else {}
    config = event.config
    return "SimulationBeginsEvent", {
        "host_number": len(compute) + len(storage),
        "computation_host_number": len(compute),
        "computation_hosts": [_host(host) for host in compute],
        "storage_host_number": len(storage),
        "storage_hosts": [_host(host) for host in storage],
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


def _host(host: Host) -> dict[str, Any]:
    return {
        "id": host.id,
        "name": host.name,
        "pstate": 0,
        "pstate_count": 1,
        "state": "IDLE",
        "properties": [{"key": key, "value": host.properties[key]} for key in sorted(host.properties)],
        "zone_properties": [],
        "core_count": 1,
        "computation_speed": [host.speed],
    }


def _profile(workload: str, name: str, profile: dict[str, Any]) -> dict[str, Any]:
    require_finite(profile)
    return write_profile(workload, name, profile)


def _submitted(event: e.JobSubmitted, known: Known) -> tuple[str, dict[str, Any]]:
    job = event.job
    data: dict[str, Any] = {"job_id": job.id, "job": write_job(job), "submission_time": job.submission}
    if event.profile is not None:
        workload, _, name = full_id(job.profile, job.id.partition("!")[0]).partition("!")
        data["profile"] = _profile(workload, name, event.profile)
    return "JobSubmittedEvent", data


def _completed(event: e.JobCompleted, known: Known) -> tuple[str, dict[str, Any]]:
    # Unsigned on Batsim 5's wire.
    return "JobCompletedEvent", {
        "job_id": event.job_id,
        "state": event.state,
        "return_code": event.return_code & 0xFFFFFFFF,
    }


def _killed(event: e.JobsKilled, known: Known) -> tuple[str, dict[str, Any]]:
    progresses = []
    named: dict[str, None] = {}
    for job_id, progress in event.progress.items():
        workload = job_id.partition("!")[0]
        progresses.append({"job_id": job_id, "wrapper": write_progress(progress, workload, known.lengths)})
        named[full_id(str(progress["profile_name"]), workload)] = None
    data: dict[str, Any] = {"job_ids": event.job_ids, "progresses": progresses, "profiles": []}
    if known.features.forward_profiles_on_jobs_killed:
        data["profiles"] = [_profile(*_named(name), known.profiles[name]) for name in named if name in known.profiles]
    return "JobsKilledEvent", data


def _named(profile_id: str) -> tuple[str, str]:
    workload, _, name = profile_id.partition("!")
    return workload, name


def _state_changed(event: e.ResourceStateChanged, known: Known) -> tuple[str, dict[str, Any]]:
    if event.state in ("on", "off"):
        return "HostsTurnedOnOffEvent", {"host_ids": str(event.hosts), "state": int(event.state == "off")}
    return "HostsPStateChangedEvent", {"host_ids": str(event.hosts), "pstate": int(event.state)}


def _called(event: e.RequestedCall, known: Known) -> tuple[str, dict[str, Any]]:
    return "RequestedCallEvent", {"call_me_later_id": event.call_id, "last_periodic_call": False}


def _external(kind: str, fields: Iterable[tuple[str, Any]]) -> tuple[str, dict[str, Any]]:
    given = dict(fields)
    name = given.pop("external_event_id", "")
    # A generic event whose text is no JSON object.
    plain = given.get("extra_data") if kind == "generic" and len(given) == 1 else None
    text = plain if isinstance(plain, str) else _encode({"type": kind, **given}).decode()
    return "ExternalEventOccurredEvent", {
        "id": name,
        "external_event_type": "GenericExternalEvent",
        "external_event": {"data": text},
    }


def _notified(event: e.Notified, known: Known) -> tuple[str, dict[str, Any]]:
    require_finite(event.data)
    return _external(event.kind, event.data.items())


def _job_message(event: e.JobMessage, known: Known) -> tuple[str, dict[str, Any]]:
    raise ValueError(f"job {event.job_id}: Batsim 5 has no messages from jobs")


def _answer(event: e.EnergyAnswer, known: Known) -> tuple[str, dict[str, Any]]:
    raise ValueError("Batsim 5 answers no queries of the energy consumed")


_WRITE: dict[type, Callable[[Any, Known], tuple[str, dict[str, Any]]]] = {
    e.SimulationBegins: _begins,
    e.JobSubmitted: _submitted,
    e.JobCompleted: _completed,
    e.JobsKilled: _killed,
    e.ResourceStateChanged: _state_changed,
    e.RequestedCall: _called,
    e.JobMessage: _job_message,
    e.EnergyAnswer: _answer,
    e.MachinesAvailable: lambda event, _: _external("machine_available", [("resources", str(event.hosts))]),
    e.MachinesUnavailable: lambda event, _: _external("machine_unavailable", [("resources", str(event.hosts))]),
    e.NoMoreStaticJobs: lambda *_: ("AllStaticJobsHaveBeenSubmittedEvent", {}),
    e.NoMoreExternalEvents: lambda *_: ("AllStaticExternalEventsHaveBeenInjectedEvent", {}),
    e.Notified: _notified,
    e.SimulationEnds: lambda *_: ("SimulationEndsEvent", {}),
}
