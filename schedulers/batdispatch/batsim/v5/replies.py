"""What a decision component answers to Batsim 5, in its JSON form <-> `batdispatch.core.line.messages.Reply`.

Batsim reads replies with a schema, so no fields beyond it may be there.
"""

from __future__ import annotations

import math
from typing import Any, Literal

import msgspec

from batdispatch.batsim.executors import fold_mapping
from batdispatch.batsim.hosts import HostSets
from batdispatch.batsim.numbers import require_finite
from batdispatch.batsim.shapes import Count, Fields, Name
from batdispatch.batsim.table import Column, Row, Table, plain
from batdispatch.batsim.v5.host_states import read_on_off, write_on_off, write_pstate
from batdispatch.batsim.v5.jobs import read_job, write_job
from batdispatch.batsim.v5.messages import DIALECT
from batdispatch.batsim.v5.profiles import full_id, read_profile, split_id, write_profile
from batdispatch.batsim.v5.shapes import HelloData, JobData, ProfileData
from batdispatch.batsim.v5.state import ExchangeState
from batdispatch.core.errors import FieldError
from batdispatch.core.hosts.allocation import Allocation
from batdispatch.core.line import decisions as d
from batdispatch.core.line.messages import Reply

#: Executors go round the hosts, or fill the cores of one host after the other: alike on hosts of one core.
STRATEGY = "PredefinedExecutorPlacementStrategyWrapper"
CUSTOM = "CustomExecutorToHostMapping"
#: Seconds by which a call may be rounded down to a millisecond, Batsim 5's unit: the noise of floating point.
_NOISE = 1e-7


def decode_reply(data: bytes, state: ExchangeState) -> Reply:
    """Read a frame from a decision component.

    Raises:
        InputError: the frame is not what Batsim 5 accepts, or asks for probes or periodic calls, which no engine here
            has.
    """
    frame = _TABLE.decode(data.rstrip(b"\0"))
    return Reply(frame.now, _TABLE.read(frame, _Reading(state)))


def encode_reply(reply: Reply, state: ExchangeState) -> bytes:
    """Write a reply; it ends with a NUL byte, as Batsim expects it.

    Raises:
        ImpossibleDecision: a decision cannot be said to Batsim 5, which lacks some of what Batsim 4 has; times are
            out of order; values are no JSON.
    """
    return _TABLE.encode_reply(reply, state, state.reached)


def decode_greeting(data: bytes, source: str) -> HelloData | None:
    """Return the only event of a frame if that is a greeting, else None.

    Raises:
        InputError: the frame is malformed.
    """
    events = _TABLE.decode(data, source=source, kinds=("EDCHelloEvent",)).events
    return events[0].payload if len(events) == 1 and isinstance(events[0].payload, HelloData) else None


class _Reading:
    """What the events of one frame are read with."""

    def __init__(self, state: ExchangeState) -> None:
        self.state = state
        self.hosts = HostSets()


class PlacementData(msgspec.Struct, forbid_unknown_fields=True):
    """Executors on hosts: a strategy with a name, or for each executor the index of its host in the allocation."""

    strategy: Literal["SpreadOverHostsFirst", "FillOneHostCoresFirst"] = "SpreadOverHostsFirst"
    mapping: list[Count] | None = None


class AllocationData(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """Hosts and how executors are placed on them."""

    host_allocation: str
    executor_placement_type: Literal["PredefinedExecutorPlacementStrategyWrapper", "CustomExecutorToHostMapping"]
    executor_placement: PlacementData = msgspec.field(default_factory=PlacementData)


class OverrideData(AllocationData, forbid_unknown_fields=True, kw_only=True):
    """Other hosts for one profile of a job."""

    profile_id: Name


class StorageData(msgspec.Struct, forbid_unknown_fields=True):
    """The host behind a storage label."""

    storage_name: Name
    host_id: Count = 0


class ExecuteData(msgspec.Struct, forbid_unknown_fields=True):
    """Data of ExecuteJobEvent."""

    job_id: Name
    allocation: AllocationData
    profile_allocation_override: list[OverrideData] = []
    storage_placement: list[StorageData] = []


def _read_execute(time: float, data: ExecuteData, reading: _Reading) -> d.Decision:
    hosts = reading.hosts
    allocation, mapping = _read_placed(data.allocation, "event.allocation", hosts)
    overrides: dict[str, Allocation] = {}
    workload = data.job_id.partition("!")[0]
    for index, each in enumerate(data.profile_allocation_override):
        field = f"event.profile_allocation_override[{index}]"
        where, free = _read_placed(each, field, hosts)
        if free is not None:
            raise FieldError(f"{field}.executor_placement", free, "executors along ascending hosts")
        head, name = split_id(each.profile_id, f"{field}.profile_id")
        overrides[name if head == workload else each.profile_id] = where
    storage = {each.storage_name: each.host_id for each in data.storage_placement}
    return d.Execute(time, data.job_id, allocation, mapping, storage or None, overrides=overrides or None)


def _read_placed(data: AllocationData, field: str, hosts: HostSets) -> tuple[Allocation, dict[int, int] | None]:
    allocation = hosts.read(data.host_allocation, f"{field}.host_allocation")
    if not allocation.mask:
        raise FieldError(f"{field}.host_allocation", data.host_allocation, "at least one host")
    if data.executor_placement_type != CUSTOM:
        # Both strategies put one executor after the other on hosts of one core.
        return allocation, None
    indices = data.executor_placement.mapping
    if not indices:
        raise FieldError(f"{field}.executor_placement.mapping", indices, "the index of each executor's host")
    wrong = [index for index in indices if index >= allocation.size]
    if wrong:
        raise FieldError(f"{field}.executor_placement.mapping", wrong[0], f"from 0 to {allocation.size - 1}")
    return fold_mapping(allocation, dict(enumerate(indices)))


def _write_execute(decision: d.Execute, state: ExchangeState) -> dict[str, Any]:
    if decision.io_job is not None:
        raise ValueError(f"job {decision.job_id}: Batsim 5 has no I/O jobs beside a job (Batsim 4's additional_io_job)")
    executors = decision.executors()
    mapping = None if executors is None else [executors[number] for number in sorted(executors)]
    data: dict[str, Any] = {"job_id": decision.job_id, "allocation": _write_placed(decision.allocation, mapping)}
    if decision.overrides:
        workload = decision.job_id.partition("!")[0]
        data["profile_allocation_override"] = [
            {"profile_id": full_id(name, workload), **_write_placed(where, _indices(where))}
            for name, where in sorted(decision.overrides.items())
        ]
    if decision.storage:
        data["storage_placement"] = [
            {"storage_name": label, "host_id": host} for label, host in sorted(decision.storage.items())
        ]
    return data


def _indices(allocation: Allocation) -> list[int] | None:
    if allocation.counts is None:
        return None
    return [index for index, count in enumerate(allocation.counts) for _ in range(count)]


def _write_placed(allocation: Allocation, mapping: list[int] | None) -> dict[str, Any]:
    return {
        "host_allocation": str(allocation),
        "executor_placement_type": STRATEGY if mapping is None else CUSTOM,
        "executor_placement": {"strategy": "SpreadOverHostsFirst"} if mapping is None else {"mapping": mapping},
    }


class WhenData(msgspec.Struct):
    """A moment in whole units, or (refused) a period."""

    time: int = 0
    time_unit: Literal["Second", "Millisecond"] = "Second"


class CallData(msgspec.Struct, forbid_unknown_fields=True):
    """Data of CallMeLaterEvent."""

    call_me_later_id: str
    when_type: Literal["OneShot", "Periodic"]
    when: WhenData


def _read_call(time: float, data: CallData, reading: _Reading) -> d.Decision:
    if data.when_type != "OneShot":
        raise FieldError("event.when_type", data.when_type, "OneShot: periodic calls are not supported")
    at = data.when.time / 1000 if data.when.time_unit == "Millisecond" else float(data.when.time)
    return d.CallMeLater(time, at, data.call_me_later_id)


def _write_call(decision: d.CallMeLater, state: ExchangeState) -> dict[str, Any]:
    if not decision.time < decision.at < math.inf:
        raise ValueError(f"a call at {decision.at} s was asked for at {decision.time} s")
    # Batsim 5 counts calls in whole seconds or milliseconds; never earlier than asked for.
    milliseconds = math.ceil((decision.at - _NOISE) * 1000)
    when: dict[str, Any] = {"time": milliseconds, "time_unit": "Millisecond"}
    if milliseconds % 1000 == 0:
        when = {"time": milliseconds // 1000}
    return {
        "call_me_later_id": decision.call_id or state.call_id(),
        "when_type": "OneShot",
        "when": when,
    }


class StopCallData(msgspec.Struct, forbid_unknown_fields=True):
    """Data of StopCallMeLaterEvent."""

    call_me_later_id: str


def _refuse_stop_call(time: float, data: StopCallData, reading: _Reading) -> d.Decision:
    raise FieldError("event.call_me_later_id", data.call_me_later_id, "a periodic call, and those are not supported")


class RegisterProfileData(msgspec.Struct, forbid_unknown_fields=True):
    """Data of RegisterProfileEvent."""

    profile: ProfileData


def _read_register_profile(time: float, data: RegisterProfileData, reading: _Reading) -> d.Decision:
    workload, name, profile = read_profile(data.profile, "event.profile")
    reading.state.add(workload, name, profile)
    return d.RegisterProfile(time, workload, name, profile)


def _write_register_profile(decision: d.RegisterProfile, state: ExchangeState) -> dict[str, Any]:
    profile = decision.profile
    require_finite(profile)
    if "!" in decision.name:
        raise ValueError(
            f"profile {decision.name!r}: Batsim 5 takes what stands before a '!' for a workload, expected a name "
            "without one"
        )
    if profile.get("ret", 0) != 0:
        raise ValueError(
            f"profile {decision.workload}!{decision.name}: Batsim 5 has no return codes in profiles that are registered"
        )
    state.add(decision.workload, decision.name, profile)
    written = write_profile(
        decision.workload, decision.name, {key: value for key, value in profile.items() if key != "ret"}
    )
    return {"profile": written}


class RegisterJobData(msgspec.Struct, forbid_unknown_fields=True):
    """Data of RegisterJobEvent."""

    job_id: Name
    job: JobData


def _read_register_job(time: float, data: RegisterJobData, reading: _Reading) -> d.Decision:
    workload, mark, _ = data.job.profile_id.partition("!")
    workloads = reading.state.workloads
    # Whatever stands in a name, Batsim splits it at the first mark.
    if mark and workloads and workload not in workloads:
        raise FieldError("event.job.profile_id", data.job.profile_id, "workload!name of a workload that there is")
    return d.RegisterJob(time, read_job(data.job, data.job_id, time))


def _write_register_job(decision: d.RegisterJob, state: ExchangeState) -> dict[str, Any]:
    job = write_job(decision.job)
    if job["walltime"] is None:
        del job["walltime"]
    return {"job_id": decision.job.id, "job": job}


class PStateData(msgspec.Struct, forbid_unknown_fields=True):
    """Data of ChangeHostsPStateEvent."""

    host_ids: str
    pstate: Count = 0


def _read_pstate(time: float, data: PStateData, reading: _Reading) -> d.Decision:
    return d.SetResourceState(time, reading.hosts.read(data.host_ids, "event.host_ids"), str(data.pstate))


class OnOffData(msgspec.Struct, forbid_unknown_fields=True):
    """Data of TurnOnOffHostsEvent: state 0 is on, 1 is off."""

    host_ids: str
    state: Literal[0, 1] = 0


def _read_on_off(time: float, data: OnOffData, reading: _Reading) -> d.Decision:
    return d.SetResourceState(time, reading.hosts.read(data.host_ids, "event.host_ids"), read_on_off(data.state))


def _refuse_probe(time: float, data: Fields, reading: _Reading) -> d.Decision:
    raise FieldError("event_type", "a probe", "no such event: probes are not supported")


def _refuse_greeting(time: float, data: HelloData, reading: _Reading) -> d.Decision:
    raise FieldError("event_type", "a greeting", "it only in the handshake")


_PROBE_VERBS = ("Create", "Stop", "Trigger", "Reset")
_NONE_OF_IT = "Batsim 5 has nothing of the kind (Batsim 4 does)"
_TABLE = Table(
    DIALECT,
    [
        Row("ExecuteJobEvent", ExecuteData, _read_execute, {d.Execute: _write_execute}),
        plain("RejectJobEvent", d.Reject, Column("job_id", Name), strict=True),
        plain("KillJobsEvent", d.Kill, Column("job_ids", list[Name]), strict=True),
        Row("CallMeLaterEvent", CallData, _read_call, {d.CallMeLater: _write_call}),
        Row("StopCallMeLaterEvent", StopCallData, _refuse_stop_call),
        Row(
            "RegisterProfileEvent",
            RegisterProfileData,
            _read_register_profile,
            {d.RegisterProfile: _write_register_profile},
        ),
        Row("RegisterJobEvent", RegisterJobData, _read_register_job, {d.RegisterJob: _write_register_job}),
        plain("FinishRegistrationEvent", d.FinishRegistration, optional=True),
        plain("ForceSimulationStopEvent", d.StopSimulation, optional=True),
        Row("ChangeHostsPStateEvent", PStateData, _read_pstate, {d.SetResourceState: write_pstate}),
        Row("TurnOnOffHostsEvent", OnOffData, _read_on_off, {d.SetResourceState: write_on_off}),
        *(Row(f"{verb}ProbeEvent", Fields, _refuse_probe, optional=True) for verb in _PROBE_VERBS),
        Row("EDCHelloEvent", HelloData, _refuse_greeting),
    ],
    source="reply of the scheduler",
    whole="the reply",
    lacking={
        d.QueryEnergy: f"asking for the energy consumed (QUERY): {_NONE_OF_IT}",
        d.SetMetadata: f"writing into a job's row (SET_JOB_METADATA): {_NONE_OF_IT}",
        d.SendMessage: f"telling a job something (TO_JOB_MSG): {_NONE_OF_IT}",
        d.ChangeState: f"overwriting a job's state (CHANGE_JOB_STATE): {_NONE_OF_IT}",
        d.ContinueRegistration: "registering jobs again after the end of registration (continue_registration): "
        f"{_NONE_OF_IT}",
    },
)
