"""What Batsim 4 sends -> `batdispatch.core.line.messages.Message`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from batdispatch.batsim.bounds import check_bounds
from batdispatch.batsim.frames import read_events
from batdispatch.batsim.hosts import HostSets
from batdispatch.batsim.problems import DECODE_ERRORS, frame_error
from batdispatch.batsim.v4 import message_schema as s
from batdispatch.batsim.v4.jobs import read_job
from batdispatch.core.errors import FieldError, InputError
from batdispatch.core.line import events as e
from batdispatch.core.line.messages import Message
from batdispatch.core.machine.machine import Host, Machine

SOURCE = "message from Batsim"
#: How deep a killed sequence's ``current_task`` may be nested.
MAX_TASK_DEPTH = 100

_decode = msgspec.json.Decoder(s.BatsimFrame).decode


def decode_message(data: bytes) -> Message:
    """Read a frame from Batsim; events must be in order of time and not later than ``now``.

    Raises:
        InputError: the frame is not what Batsim 4 sends; says which event, its type, the field, found and expected.
    """
    check_bounds(data, source=SOURCE)
    try:
        frame = _decode(data)
    except DECODE_ERRORS as problem:
        raise frame_error(problem, data, SOURCE, KINDS) from None
    hosts = HostSets()
    events = read_events(frame.events, frame.now, lambda event: _READ[type(event)](event, hosts), SOURCE, "the message")
    return Message(frame.now, events)


def _begins(event: s.SimulationBegins, hosts: HostSets) -> e.Event:
    data = event.data
    for field, count, listed in (
        ("nb_compute_resources", data.nb_compute_resources, data.compute_resources),
        ("nb_storage_resources", data.nb_storage_resources, data.storage_resources),
    ):
        if count != len(listed):
            raise FieldError(f"data.{field}", count, f"{len(listed)}, the number of hosts listed")
    if data.nb_resources != data.nb_compute_resources + data.nb_storage_resources:
        raise FieldError("data.nb_resources", data.nb_resources, "the sum of compute and storage resources")
    try:
        machine = Machine(
            [_host(resource, False) for resource in data.compute_resources]
            + [_host(resource, True) for resource in data.storage_resources]
        )
    except InputError as problem:
        raise FieldError("data.compute_resources", f"{data.nb_resources} hosts", f"a machine: {problem}") from None
    config = {
        **data.config,
        "allow_compute_sharing": data.allow_compute_sharing,
        "allow_storage_sharing": data.allow_storage_sharing,
    }
    return e.SimulationBegins(event.timestamp, machine, config, data.workloads, data.profiles)


def _host(resource: s.Resource, storage: bool) -> Host:
    properties = (
        {**resource.zone_properties, **resource.properties} if resource.zone_properties else resource.properties
    )
    return Host(id=resource.id, name=resource.name, properties=properties, storage=storage)


def _submitted(event: s.JobSubmitted, hosts: HostSets) -> e.Event:
    data = event.data
    return e.JobSubmitted(event.timestamp, read_job(data.job, data.job_id), data.profile)


def _completed(event: s.JobCompleted, hosts: HostSets) -> e.Event:
    data = event.data
    state = data.job_state
    if not state.is_final:
        raise FieldError("data.job_state", str(state), "an end state")
    allocation = None if data.alloc is None else hosts.read(data.alloc, "data.alloc")
    return e.JobCompleted(event.timestamp, data.job_id, state, data.return_code, allocation)


def _killed(event: s.JobKilled, hosts: HostSets) -> e.Event:
    data = event.data
    for job_id, progress in data.job_progress.items():
        if job_id not in data.job_ids:
            raise FieldError("data.job_progress", job_id, "only jobs of data.job_ids")
        _check_progress(f"data.job_progress.{job_id[:40]}", progress)
    return e.JobsKilled(event.timestamp, data.job_ids, data.job_progress)


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


def _state_changed(event: s.ResourceStateChanged, hosts: HostSets) -> e.Event:
    return e.ResourceStateChanged(event.timestamp, hosts.read(event.data.resources, "data.resources"), event.data.state)


def _requested_call(event: s.RequestedCall, hosts: HostSets) -> e.Event:
    return e.RequestedCall(event.timestamp)


def _job_message(event: s.FromJobMsg, hosts: HostSets) -> e.Event:
    return e.JobMessage(event.timestamp, event.data.job_id, event.data.msg)


def _answer(event: s.Answer, hosts: HostSets) -> e.Event:
    return e.EnergyAnswer(event.timestamp, event.data.consumed_energy)


def _notify(event: s.Notify, hosts: HostSets) -> e.Event:
    kind = event.data.get("type")
    if type(kind) is not str:
        raise FieldError("data.type", kind, "the kind of notification")
    if kind == "no_more_static_job_to_submit":
        return e.NoMoreStaticJobs(event.timestamp)
    if kind == "no_more_external_event_to_occur":
        return e.NoMoreExternalEvents(event.timestamp)
    if kind in ("event_machine_unavailable", "event_machine_available"):
        text = event.data.get("resources")
        if type(text) is not str:
            raise FieldError("data.resources", text, "intervals of host ids such as '0-3 5'")
        what = e.MachinesUnavailable if kind == "event_machine_unavailable" else e.MachinesAvailable
        return what(event.timestamp, hosts.read(text, "data.resources"))
    return e.Notified(event.timestamp, kind, event.data)


def _ends(event: s.SimulationEnds, hosts: HostSets) -> e.Event:
    return e.SimulationEnds(event.timestamp)


_READ: dict[type, Callable[[Any, HostSets], e.Event]] = {
    s.SimulationBegins: _begins,
    s.JobSubmitted: _submitted,
    s.JobCompleted: _completed,
    s.JobKilled: _killed,
    s.ResourceStateChanged: _state_changed,
    s.RequestedCall: _requested_call,
    s.FromJobMsg: _job_message,
    s.Answer: _answer,
    s.Notify: _notify,
    s.SimulationEnds: _ends,
}
#: The event types of this direction.
KINDS = tuple(str(kind.__struct_config__.tag) for kind in _READ)  # type: ignore[attr-defined]
