"""What a decision component answers to Batsim 5 -> `batdispatch.core.line.messages.Reply`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from batdispatch.batsim.bounds import check_bounds
from batdispatch.batsim.frames import read_events
from batdispatch.batsim.hosts import HostSets
from batdispatch.batsim.problems import DECODE_ERRORS, frame_error
from batdispatch.batsim.v4.reply_decode import unit_counts
from batdispatch.batsim.v5 import reply_schema as s
from batdispatch.batsim.v5.jobs import read_job
from batdispatch.batsim.v5.known import Known
from batdispatch.batsim.v5.profiles import read_profile, split_id
from batdispatch.core.errors import FieldError
from batdispatch.core.hosts.allocation import Allocation
from batdispatch.core.line import decisions as d
from batdispatch.core.line.messages import Reply

SOURCE = "reply of the scheduler"

_decode = msgspec.json.Decoder(s.EdcFrame).decode


def decode_reply(data: bytes, known: Known) -> Reply:
    """Read a frame from a decision component.

    Raises:
        InputError: the frame is not what Batsim 5 accepts, or asks for probes or periodic calls, which no engine here
            has.
    """
    data = data.rstrip(b"\0")
    check_bounds(data, source=SOURCE)
    try:
        frame = _decode(data)
    except DECODE_ERRORS as problem:
        raise frame_error(problem, data, SOURCE, KINDS, tag="event_type") from None
    hosts = HostSets()
    decisions = read_events(
        frame.events, frame.now, lambda event: _READ[type(event)](event, hosts, known), SOURCE, "the reply"
    )
    return Reply(frame.now, decisions)


def _execute(event: s.ExecuteJob, hosts: HostSets, known: Known) -> d.Decision:
    data = event.event
    allocation, mapping = _placed(data.allocation, "event.allocation", hosts)
    overrides: dict[str, Allocation] = {}
    workload = data.job_id.partition("!")[0]
    for index, each in enumerate(data.profile_allocation_override):
        field = f"event.profile_allocation_override[{index}]"
        where, free = _placed(each, field, hosts)
        if free is not None:
            raise FieldError(f"{field}.executor_placement", free, "executors along ascending hosts")
        head, name = split_id(each.profile_id, f"{field}.profile_id")
        overrides[name if head == workload else each.profile_id] = where
    storage = {each.storage_name: each.host_id for each in data.storage_placement}
    return d.Execute(event.timestamp, data.job_id, allocation, mapping, storage or None, overrides=overrides or None)


def _placed(data: s.AllocationData, field: str, hosts: HostSets) -> tuple[Allocation, dict[int, int] | None]:
    allocation = hosts.read(data.host_allocation, f"{field}.host_allocation")
    if not allocation.mask:
        raise FieldError(f"{field}.host_allocation", data.host_allocation, "at least one host")
    if data.executor_placement_type != s.CUSTOM:
        # Both strategies put one executor after the other on hosts of one core.
        return allocation, None
    indices = data.executor_placement.mapping
    if not indices:
        raise FieldError(f"{field}.executor_placement.mapping", indices, "the index of each executor's host")
    wrong = [index for index in indices if index >= allocation.size]
    if wrong:
        raise FieldError(f"{field}.executor_placement.mapping", wrong[0], f"from 0 to {allocation.size - 1}")
    mapping = dict(enumerate(indices))
    counts = unit_counts(mapping, allocation.size)
    return (allocation, mapping) if counts is None else (Allocation(allocation.mask, counts), None)


def _call(event: s.CallMeLater, hosts: HostSets, known: Known) -> d.Decision:
    data = event.event
    if data.when_type != "OneShot":
        raise FieldError("event.when_type", data.when_type, "OneShot: periodic calls are not supported")
    at = data.when.time / 1000 if data.when.time_unit == "Millisecond" else float(data.when.time)
    return d.CallMeLater(event.timestamp, at, data.call_me_later_id)


def _stop_call(event: s.StopCallMeLater, hosts: HostSets, known: Known) -> d.Decision:
    raise FieldError(
        "event.call_me_later_id", event.event.call_me_later_id, "a periodic call, and those are not supported"
    )


def _register_profile(event: s.RegisterProfile, hosts: HostSets, known: Known) -> d.Decision:
    workload, name, profile = read_profile(event.event.profile, "event.profile")
    known.add(workload, name, profile)
    return d.RegisterProfile(event.timestamp, workload, name, profile)


def _register_job(event: s.RegisterJob, hosts: HostSets, known: Known) -> d.Decision:
    data = event.event
    workload, mark, _ = data.job.profile_id.partition("!")
    # Whatever stands in a name, Batsim splits it at the first mark.
    if mark and known.workloads and workload not in known.workloads:
        raise FieldError("event.job.profile_id", data.job.profile_id, "workload!name of a workload that there is")
    return d.RegisterJob(event.timestamp, read_job(data.job, data.job_id, event.timestamp))


def _pstate(event: s.ChangeHostsPState, hosts: HostSets, known: Known) -> d.Decision:
    where = hosts.read(event.event.host_ids, "event.host_ids")
    return d.SetResourceState(event.timestamp, where, str(event.event.pstate))


def _on_off(event: s.TurnOnOffHosts, hosts: HostSets, known: Known) -> d.Decision:
    where = hosts.read(event.event.host_ids, "event.host_ids")
    return d.SetResourceState(event.timestamp, where, "off" if event.event.state else "on")


def _probe(event: Any, hosts: HostSets, known: Known) -> d.Decision:
    raise FieldError("event_type", "a probe", "no such event: probes are not supported")


def _hello(event: s.Hello, hosts: HostSets, known: Known) -> d.Decision:
    raise FieldError("event_type", "a greeting", "it only in the handshake")


_READ: dict[type, Callable[[Any, HostSets, Known], d.Decision]] = {
    s.ExecuteJob: _execute,
    s.RejectJob: lambda event, *_: d.Reject(event.timestamp, event.event.job_id),
    s.KillJobs: lambda event, *_: d.Kill(event.timestamp, event.event.job_ids),
    s.CallMeLater: _call,
    s.StopCallMeLater: _stop_call,
    s.RegisterProfile: _register_profile,
    s.RegisterJob: _register_job,
    s.FinishRegistration: lambda event, *_: d.FinishRegistration(event.timestamp),
    s.ForceStop: lambda event, *_: d.StopSimulation(event.timestamp),
    s.ChangeHostsPState: _pstate,
    s.TurnOnOffHosts: _on_off,
    s.CreateProbe: _probe,
    s.StopProbe: _probe,
    s.TriggerProbe: _probe,
    s.ResetProbe: _probe,
    s.Hello: _hello,
}
#: The event types of this direction.
KINDS = tuple(str(kind.__struct_config__.tag) for kind in _READ)  # type: ignore[attr-defined]
