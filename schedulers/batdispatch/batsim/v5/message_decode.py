"""What Batsim 5 sends -> `batdispatch.core.line.messages.Message`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from batdispatch.batsim.bounds import check_bounds
from batdispatch.batsim.frames import read_events
from batdispatch.batsim.hosts import HostSets
from batdispatch.batsim.numbers import on_microsecond
from batdispatch.batsim.problems import DECODE_ERRORS, frame_error
from batdispatch.batsim.shapes import Fields
from batdispatch.batsim.v5 import message_schema as s
from batdispatch.batsim.v5.extra import read_extra
from batdispatch.batsim.v5.jobs import read_job
from batdispatch.batsim.v5.known import Known
from batdispatch.batsim.v5.profiles import read_profile, split_id
from batdispatch.batsim.v5.progress import read_progress
from batdispatch.batsim.v5.shapes import ProfileData
from batdispatch.core.errors import FieldError, InputError, SimulationError
from batdispatch.core.line import events as e
from batdispatch.core.line.messages import Message
from batdispatch.core.machine.machine import Host, Machine

SOURCE = "message from Batsim"
#: Type inside the data of a generic external event -> what it says. The convention is that of Batsim 5's manual.
AVAILABILITY: dict[str, type[e.MachinesUnavailable] | type[e.MachinesAvailable]] = {
    "machine_unavailable": e.MachinesUnavailable,
    "machine_available": e.MachinesAvailable,
}

#: Batsim 5.0.0-rc2 stamps these with the time of the last event before them, be it hours ago.
_STAMPED_EARLY = (e.MachinesUnavailable, e.MachinesAvailable, e.Notified, e.ResourceStateChanged)

_decode = msgspec.json.Decoder(s.BatsimFrame).decode


def decode_message(data: bytes, known: Known) -> Message:
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
    check_bounds(data, source=SOURCE)
    try:
        frame = _decode(data)
    except DECODE_ERRORS as problem:
        raise frame_error(problem, data, SOURCE, KINDS, tag="event_type") from None
    reader = _Reader(known)
    now = on_microsecond(frame.now)
    for event in frame.events:
        event.timestamp = on_microsecond(event.timestamp)
    events = read_events(frame.events, now, lambda event: _READ[type(event)](reader, event), SOURCE, "the message")
    known.reached = frame.now
    return Message(now, _stamped(events, now))


def _stamped(events: list[e.Event], now: float) -> list[e.Event]:
    """Give events that carry the time of an earlier one the time of the next that tells its own, or the frame's."""
    for index in reversed(range(len(events))):
        event = events[index]
        if isinstance(event, _STAMPED_EARLY):
            events[index] = msgspec.structs.replace(event, time=now)
        else:
            now = event.time
    return events


class _Reader:
    """Reads the events of one frame."""

    def __init__(self, known: Known) -> None:
        self.known = known
        self.hosts = HostSets()

    def profiles(self, listed: list[ProfileData], field: str) -> dict[str, dict[str, Fields]]:
        """Return profiles by workload and name, and remember them."""
        found: dict[str, dict[str, Fields]] = {}
        for index, data in enumerate(listed):
            workload, name, profile = read_profile(data, f"{field}[{index}]")
            found.setdefault(workload, {})[name] = profile
            self.known.add(workload, name, profile)
        return found

    def begins(self, event: s.SimulationBegins) -> e.Event:
        data = event.event
        for field, count, listed in (
            ("computation_host_number", data.computation_host_number, data.computation_hosts),
            ("storage_host_number", data.storage_host_number, data.storage_hosts),
        ):
            if count != len(listed):
                raise FieldError(f"event.{field}", count, f"{len(listed)}, the number of hosts listed")
        if data.host_number != data.computation_host_number + data.storage_host_number:
            raise FieldError("event.host_number", data.host_number, "the sum of computation and storage hosts")
        try:
            machine = Machine(
                [_host(host, False) for host in data.computation_hosts]
                + [_host(host, True) for host in data.storage_hosts]
            )
        except InputError as problem:
            raise FieldError("event.computation_hosts", f"{data.host_number} hosts", f"a machine: {problem}") from None
        features = self.known.features
        config = {
            "batsim_version": data.batsim_version,
            "batsim_commit": data.batsim_commit,
            "batsim_arguments": data.batsim_arguments,
            "batsim_execution_context_json": data.batsim_execution_context_json,
            "dynamic-jobs-enabled": features.dynamic_registration,
            "dynamic-jobs-acknowledged": features.acknowledge_dynamic_jobs,
            "profile-reuse-enabled": features.profile_reuse,
            "profiles-forwarded-on-submission": features.forward_profiles_on_job_submission,
        }
        workloads = {workload.name: workload.filename for workload in data.workloads}
        self.known.workloads.update(workloads)
        profiles: dict[str, dict[str, Fields]] = {name: {} for name in workloads}
        profiles |= self.profiles(data.profiles, "event.profiles")
        return e.SimulationBegins(event.timestamp, machine, config, workloads, profiles)

    def submitted(self, event: s.JobSubmitted) -> e.Event:
        data = event.event
        job = read_job(data.job, data.job_id, on_microsecond(data.submission_time))
        profile = None
        if data.profile is not None:
            workload, name, profile = read_profile(data.profile, "event.profile")
            self.known.add(workload, name, profile)
        return e.JobSubmitted(event.timestamp, job, profile)

    def completed(self, event: s.JobCompleted) -> e.Event:
        data = event.event
        if not data.state.is_final:
            raise FieldError("event.state", str(data.state), "an end state")
        if not -(2**31) <= data.return_code < 2**32:
            raise FieldError("event.return_code", data.return_code, "32 bits")
        code = data.return_code - 2**32 if data.return_code >= 2**31 else data.return_code
        return e.JobCompleted(event.timestamp, data.job_id, data.state, code)

    def killed(self, event: s.JobsKilled) -> e.Event:
        data = event.event
        profiles = self.profiles(data.profiles, "event.profiles")
        progress: dict[str, Fields] = {}
        for index, each in enumerate(data.progresses):
            if each.job_id not in data.job_ids:
                raise FieldError(f"event.progresses[{index}].job_id", each.job_id, "one of event.job_ids")
            workload, _ = split_id(each.job_id, f"event.progresses[{index}].job_id")
            field = f"event.progresses[{index}].wrapper"
            progress[each.job_id] = read_progress(each.wrapper, workload, self.known.lengths, field)
        return e.JobsKilled(event.timestamp, data.job_ids, progress, profiles)

    def external(self, event: s.ExternalEvent) -> e.Event:
        data = event.event
        text = data.external_event.get("data", "")
        if not isinstance(text, str):
            raise FieldError("event.external_event.data", text, "a text")
        fields = read_extra(text, "event.external_event.data")
        kind = fields.pop("type", None)
        if kind in AVAILABILITY:
            resources = fields.get("resources")
            if not isinstance(resources, str):
                raise FieldError("event.external_event.data", text, "a text 'resources' with intervals of host ids")
            return AVAILABILITY[kind](event.timestamp, self.hosts.read(resources, "event.external_event.data"))
        if data.id:
            fields["external_event_id"] = data.id
        return e.Notified(event.timestamp, kind if isinstance(kind, str) else "generic", fields)

    def pstate(self, event: s.HostsPStateChanged) -> e.Event:
        hosts = self.hosts.read(event.event.host_ids, "event.host_ids")
        return e.ResourceStateChanged(event.timestamp, hosts, str(event.event.pstate))

    def on_off(self, event: s.HostsTurnedOnOff) -> e.Event:
        hosts = self.hosts.read(event.event.host_ids, "event.host_ids")
        return e.ResourceStateChanged(event.timestamp, hosts, "off" if event.event.state else "on")

    def called(self, event: s.RequestedCall) -> e.Event:
        return e.RequestedCall(event.timestamp, event.event.call_me_later_id)

    def probe(self, event: s.ProbeData) -> e.Event:
        raise FieldError("event_type", "data of a probe", "no such event: nothing here creates probes")

    def hello(self, event: s.BatsimHello) -> e.Event:
        raise FieldError("event_type", "a greeting", "it only at the beginning of an exchange")

    def error(self, event: s.SimulationError) -> e.Event:
        raise SimulationError(f"at {event.timestamp:.6f} s: Batsim reports an error: {event.event.error[:1000]}")

    def static_jobs(self, event: s.AllStaticJobs) -> e.Event:
        return e.NoMoreStaticJobs(event.timestamp)

    def external_events(self, event: s.AllExternalEvents) -> e.Event:
        return e.NoMoreExternalEvents(event.timestamp)

    def ends(self, event: s.SimulationEnds) -> e.Event:
        return e.SimulationEnds(event.timestamp)


def _host(host: s.HostData, storage: bool) -> Host:
    properties = {each.key: each.value for each in (*host.zone_properties, *host.properties)}
    speeds = host.computation_speed
    speed = speeds[host.pstate] if host.pstate < len(speeds) else 0.0
    return Host(id=host.id, name=host.name, properties=properties, storage=storage, speed=speed)


_READ: dict[type, Callable[[_Reader, Any], e.Event]] = {
    s.SimulationBegins: _Reader.begins,
    s.JobSubmitted: _Reader.submitted,
    s.JobCompleted: _Reader.completed,
    s.JobsKilled: _Reader.killed,
    s.RequestedCall: _Reader.called,
    s.AllStaticJobs: _Reader.static_jobs,
    s.AllExternalEvents: _Reader.external_events,
    s.ExternalEvent: _Reader.external,
    s.HostsPStateChanged: _Reader.pstate,
    s.HostsTurnedOnOff: _Reader.on_off,
    s.ProbeData: _Reader.probe,
    s.BatsimHello: _Reader.hello,
    s.SimulationError: _Reader.error,
    s.SimulationEnds: _Reader.ends,
}
#: The event types of this direction.
KINDS = tuple(str(kind.__struct_config__.tag) for kind in _READ)  # type: ignore[attr-defined]
