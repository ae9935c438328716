"""`batdispatch.core.line.messages.Message` -> what Batsim 4 sends."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from batdispatch.batsim.numbers import printed, with_microseconds
from batdispatch.batsim.v4.jobs import write_job
from batdispatch.core.errors import SimulationError
from batdispatch.core.line import events as e
from batdispatch.core.line.messages import Message
from batdispatch.core.machine.machine import Host

_encode = msgspec.json.Encoder().encode
_FLAGS = ("allow_compute_sharing", "allow_storage_sharing")


def encode_message(message: Message) -> bytes:
    """Write a message as Batsim 4.2.1 prints it: floating-point numbers with microseconds.

    Raises:
        SimulationError: something in it cannot be written as JSON (a number that is not finite, a foreign object).
    """
    try:
        events = []
        for event in message.events:
            kind, data = _WRITE[type(event)](event)
            events.append({"timestamp": printed(event.time), "type": kind, "data": data})
        return _encode({"now": printed(message.now), "events": events})
    except (ValueError, TypeError, RecursionError) as problem:
        raise SimulationError(f"message at {message.now} s cannot be written: {problem}") from None


def _begins(event: e.SimulationBegins) -> tuple[str, dict[str, Any]]:
    storage = event.machine.storage
    compute = [host for host in event.machine.hosts if not host.storage]
    return "SIMULATION_BEGINS", {
        "nb_resources": len(compute) + len(storage),
        "nb_compute_resources": len(compute),
        "nb_storage_resources": len(storage),
        "allow_compute_sharing": bool(event.config.get("allow_compute_sharing", False)),
        "allow_storage_sharing": bool(event.config.get("allow_storage_sharing", True)),
        "config": with_microseconds({name: value for name, value in event.config.items() if name not in _FLAGS}),
        "compute_resources": [_resource(host) for host in compute],
        "storage_resources": [_resource(host) for host in storage],
        "workloads": event.workloads,
        "profiles": with_microseconds(event.profiles),
    }


def _resource(host: Host) -> dict[str, Any]:
    return {
        "id": host.id,
        "name": host.name,
        "state": "idle",
        "properties": dict(host.properties),
        "zone_properties": {},
    }


def _submitted(event: e.JobSubmitted) -> tuple[str, dict[str, Any]]:
    data: dict[str, Any] = {"job_id": event.job.id, "job": with_microseconds(write_job(event.job))}
    if event.profile is not None:
        data["profile"] = with_microseconds(event.profile)
    return "JOB_SUBMITTED", data


def _completed(event: e.JobCompleted) -> tuple[str, dict[str, Any]]:
    data: dict[str, Any] = {"job_id": event.job_id, "job_state": event.state, "return_code": event.return_code}
    if event.allocation is not None:
        data["alloc"] = str(event.allocation)
    return "JOB_COMPLETED", data


def _killed(event: e.JobsKilled) -> tuple[str, dict[str, Any]]:
    return "JOB_KILLED", {"job_ids": event.job_ids, "job_progress": with_microseconds(event.progress)}


def _state_changed(event: e.ResourceStateChanged) -> tuple[str, dict[str, Any]]:
    return "RESOURCE_STATE_CHANGED", {"resources": str(event.hosts), "state": event.state}


def _job_message(event: e.JobMessage) -> tuple[str, dict[str, Any]]:
    return "FROM_JOB_MSG", {"job_id": event.job_id, "msg": with_microseconds(event.message)}


def _answer(event: e.EnergyAnswer) -> tuple[str, dict[str, Any]]:
    return "ANSWER", {"consumed_energy": printed(event.consumed)}


def _available(event: e.MachinesAvailable) -> tuple[str, dict[str, Any]]:
    return "NOTIFY", {"type": "event_machine_available", "resources": str(event.hosts)}


def _unavailable(event: e.MachinesUnavailable) -> tuple[str, dict[str, Any]]:
    return "NOTIFY", {"type": "event_machine_unavailable", "resources": str(event.hosts)}


def _notified(event: e.Notified) -> tuple[str, dict[str, Any]]:
    return "NOTIFY", {**with_microseconds(event.data), "type": event.kind}


_WRITE: dict[type, Callable[[Any], tuple[str, dict[str, Any]]]] = {
    e.SimulationBegins: _begins,
    e.JobSubmitted: _submitted,
    e.JobCompleted: _completed,
    e.JobsKilled: _killed,
    e.ResourceStateChanged: _state_changed,
    e.RequestedCall: lambda _: ("REQUESTED_CALL", {}),
    e.JobMessage: _job_message,
    e.EnergyAnswer: _answer,
    e.MachinesAvailable: _available,
    e.MachinesUnavailable: _unavailable,
    e.NoMoreStaticJobs: lambda _: ("NOTIFY", {"type": "no_more_static_job_to_submit"}),
    e.NoMoreExternalEvents: lambda _: ("NOTIFY", {"type": "no_more_external_event_to_occur"}),
    e.Notified: _notified,
    e.SimulationEnds: lambda _: ("SIMULATION_ENDS", {}),
}
