"""What a scheduler answers to Batsim 4 -> `batdispatch.core.line.messages.Reply`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import chain, repeat
from operator import eq
from typing import Any

import msgspec

from batdispatch.batsim.bounds import check_bounds
from batdispatch.batsim.frames import read_events
from batdispatch.batsim.hosts import HostSets
from batdispatch.batsim.problems import DECODE_ERRORS, frame_error
from batdispatch.batsim.v4 import reply_schema as s
from batdispatch.batsim.v4.jobs import read_job
from batdispatch.core.errors import FieldError
from batdispatch.core.hosts.allocation import Allocation, IoJob
from batdispatch.core.line import decisions as d
from batdispatch.core.line.messages import Reply

SOURCE = "reply of the scheduler"
#: Texts of numbers that are kept for comparing with.
_KEPT = 1 << 20
_numbers: list[str] = []

_decode = msgspec.json.Decoder(s.SchedulerFrame).decode


def decode_reply(data: bytes) -> Reply:
    """Read a frame from a scheduler; events must be in order of time and not later than ``now``.

    Raises:
        InputError: Batsim 4 would refuse the frame; says which event, its type, the field, found and expected.
    """
    check_bounds(data, source=SOURCE)
    try:
        frame = _decode(data)
    except DECODE_ERRORS as problem:
        raise frame_error(problem, data, SOURCE, KINDS) from None
    hosts = HostSets()
    decisions = read_events(
        frame.events, frame.now, lambda event: _READ[type(event)](event, hosts), SOURCE, "the reply"
    )
    return Reply(frame.now, decisions)


def _execute(event: s.ExecuteJob, hosts: HostSets) -> d.Decision:
    data = event.data
    io_data = data.additional_io_job
    optional = {"mapping": data.mapping, "storage_mapping": data.storage_mapping, "additional_io_job": io_data}
    given = [name for name, value in optional.items() if value is not None]
    if len(given) > 1:
        raise FieldError("data", " and ".join(given), "at most one of " + ", ".join(optional))
    allocation = _hosts(data.alloc, "data.alloc", hosts)
    mapping = None
    if data.mapping is not None:
        counts = _counts_as_written(data.mapping, allocation.size)
        if counts is None:
            mapping = _mapping(data.mapping, allocation.size)
            counts = unit_counts(mapping, allocation.size)
        if counts is not None:
            allocation, mapping = Allocation(allocation.mask, counts), None
    io_job = None
    if io_data is not None:
        where = _hosts(io_data.alloc, "data.additional_io_job.alloc", hosts)
        io_job = IoJob(where, io_data.profile_name, io_data.profile)
    return d.Execute(event.timestamp, data.job_id, allocation, mapping, data.storage_mapping, io_job)


def _hosts(text: str, field: str, hosts: HostSets) -> Allocation:
    allocation = hosts.read(text, field)
    if not allocation.mask:
        raise FieldError(field, text, "at least one host")
    return allocation


def _mapping(given: dict[str, str | int], size: int) -> dict[int, int]:
    mapping: dict[int, int] = {}
    for executor, index in given.items():
        if not _is_index(executor) or not _is_index(index) or int(index) >= size:
            raise FieldError(
                "data.mapping", f"{executor[:20]}: {str(index)[:20]}", f"executor: index in alloc, from 0 to {size - 1}"
            )
        mapping[int(executor)] = int(index)
    if sorted(mapping) != list(range(len(mapping))) or len(mapping) != len(given):
        raise FieldError("data.mapping", sorted(mapping)[:8], "the executors 0, 1, 2, ... without holes")
    return mapping


def _is_index(value: str | int) -> bool:
    return value >= 0 if isinstance(value, int) else value.isascii() and value.isdigit() and len(value) < 10


def _counts_as_written(given: dict[str, str | int], size: int) -> tuple[int, ...] | None:
    """Return `unit_counts` of a mapping that is written as our encoder does, else None.

    A job of thousands of cores has a mapping of thousands of entries; this looks at them without a loop of Python's.
    """
    counts = Counter(given.values())
    if len(given) <= size or list(counts) != _texts(size) or list(given) != _texts(len(given)):
        return None
    in_order = chain.from_iterable(map(repeat, counts, counts.values()))
    return tuple(counts.values()) if all(map(eq, in_order, given.values())) else None


def _texts(count: int) -> list[str]:
    """Return the texts of the numbers below `count`."""
    if count > _KEPT:
        return list(map(str, range(count)))
    _numbers.extend(map(str, range(len(_numbers), count)))
    return _numbers[:count]


def unit_counts(mapping: dict[int, int], size: int) -> tuple[int, ...] | None:
    """Return how many executors sit on each host, if they fill the hosts one after the other and some share one.

    Such a mapping says no more than an Allocation with counts, which is what dispatchers for nodes with several
    resources decide; any other is kept as a mapping.
    """
    indices = [mapping[executor] for executor in range(len(mapping))]
    if len(indices) <= size or indices != sorted(indices):
        return None
    counts = [0] * size
    for index in indices:
        counts[index] += 1
    return tuple(counts) if all(counts) else None


def _reject(event: s.RejectJob, hosts: HostSets) -> d.Decision:
    return d.Reject(event.timestamp, event.data.job_id)


def _kill(event: s.KillJob, hosts: HostSets) -> d.Decision:
    return d.Kill(event.timestamp, event.data.job_ids)


def _call(event: s.CallMeLater, hosts: HostSets) -> d.Decision:
    return d.CallMeLater(event.timestamp, event.data.timestamp)


def _register_profile(event: s.RegisterProfile, hosts: HostSets) -> d.Decision:
    return d.RegisterProfile(event.timestamp, event.data.workload_name, event.data.profile_name, event.data.profile)


def _register_job(event: s.RegisterJob, hosts: HostSets) -> d.Decision:
    data = event.data
    workload, mark, name = data.job_id.partition("!")
    if not (workload and mark and name):
        raise FieldError("data.job_id", data.job_id, "workload!name")
    return d.RegisterJob(event.timestamp, read_job(data.job, data.job_id, short_id=True))


def _set_state(event: s.SetResourceState, hosts: HostSets) -> d.Decision:
    state = event.data.state
    if not (state.isascii() and state.isdigit() and len(state) < 10):
        raise FieldError("data.state", state, "the number of a power state, as a text")
    return d.SetResourceState(event.timestamp, _hosts(event.data.resources, "data.resources", hosts), state)


def _query(event: s.Query, hosts: HostSets) -> d.Decision:
    return d.QueryEnergy(event.timestamp)


def _metadata(event: s.SetJobMetadata, hosts: HostSets) -> d.Decision:
    return d.SetMetadata(event.timestamp, event.data.job_id, event.data.metadata)


def _to_job(event: s.ToJobMsg, hosts: HostSets) -> d.Decision:
    return d.SendMessage(event.timestamp, event.data.job_id, event.data.msg)


def _change_state(event: s.ChangeJobState, hosts: HostSets) -> d.Decision:
    return d.ChangeState(event.timestamp, event.data.job_id, str(event.data.job_state))


def _registration(event: s.Registration, hosts: HostSets) -> d.Decision:
    if event.data.type == "registration_finished":
        return d.FinishRegistration(event.timestamp)
    if event.data.type == "continue_registration":
        return d.ContinueRegistration(event.timestamp)
    raise FieldError("data.type", event.data.type, "registration_finished or continue_registration")


_READ: dict[type, Callable[[Any, HostSets], d.Decision]] = {
    s.ExecuteJob: _execute,
    s.RejectJob: _reject,
    s.KillJob: _kill,
    s.CallMeLater: _call,
    s.RegisterProfile: _register_profile,
    s.RegisterJob: _register_job,
    s.SetResourceState: _set_state,
    s.Query: _query,
    s.SetJobMetadata: _metadata,
    s.ToJobMsg: _to_job,
    s.ChangeJobState: _change_state,
    s.Registration: _registration,
}
#: The event types of this direction.
KINDS = tuple(str(kind.__struct_config__.tag) for kind in _READ)  # type: ignore[attr-defined]
