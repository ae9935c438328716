"""What a decision component answers to Batsim 5, in its JSON form <-> `batdispatch.core.line.messages.Reply`.

Batsim reads replies with a schema, so no fields beyond it may be there.
"""

from __future__ import annotations

import math
from typing import Any, Literal

import msgspec

from batdispatch.batsim.executors import fold_mapping
from batdispatch.batsim.hosts import read_hosts
from batdispatch.batsim.numbers import require_finite
from batdispatch.batsim.shapes import Count, Fields, Name
from batdispatch.batsim.table import Column, Row, Table, plain
from batdispatch.batsim.v5.host_states import write_on_off, write_pstate
from batdispatch.batsim.v5.jobs import read_job, write_job
from batdispatch.batsim.v5.messages import DIALECT
from batdispatch.batsim.v5.profiles import full_id, read_profile, split_id, write_profile
from batdispatch.batsim.v5.shapes import HelloData, JobData, ProfileData
from batdispatch.batsim.v5.state import ExchangeState
from batdispatch.core.errors import FieldError
from batdispatch.core.hosts.allocation import Allocation
from batdispatch.core.line import decisions as d
from batdispatch.core.line.events import Aggregate
from batdispatch.core.line.messages import Reply

#: Executors go round the hosts, or fill the cores of one host after the other: alike on hosts of one core.
STRATEGY = "PredefinedExecutorPlacementStrategyWrapper"
SPREAD, FILL_CORES = "SpreadOverHostsFirst", "FillOneHostCoresFirst"
CUSTOM = "CustomExecutorToHostMapping"
#: Seconds by which a call may be rounded down to a millisecond, Batsim 5's unit: the noise of floating point.
_NOISE = 1e-7


def decode_reply(data: bytes, state: ExchangeState) -> Reply:
    """Read a frame from a decision component.

    Raises:
        InputError: the frame is not what Batsim 5 accepts.
    """
    frame = _TABLE.decode(data.rstrip(b"\0"))
    return Reply(frame.now, _TABLE.read(frame, state))


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


def _read_execute(time: float, data: ExecuteData, state: ExchangeState) -> d.Decision:
    allocation, mapping = _read_placed(data.allocation, "event.allocation")
    overrides: dict[str, Allocation] = {}
    workload = data.job_id.partition("!")[0]
    for index, each in enumerate(data.profile_allocation_override):
        field = f"event.profile_allocation_override[{index}]"
        part, free = _read_placed(each, field)
        if free is not None:
            raise FieldError(f"{field}.executor_placement", free, "executors along ascending hosts")
        head, name = split_id(each.profile_id, f"{field}.profile_id")
        overrides[name if head == workload else each.profile_id] = part
    storage = {each.storage_name: each.host_id for each in data.storage_placement}
    where = data.allocation
    fill = where.executor_placement_type == STRATEGY and where.executor_placement.strategy == FILL_CORES
    return d.Execute(time, data.job_id, allocation, mapping, storage or None, overrides=overrides or None, fill=fill)


def _read_placed(data: AllocationData, field: str) -> tuple[Allocation, dict[int, int] | None]:
    allocation = read_hosts(data.host_allocation, f"{field}.host_allocation")
    if not allocation.bounds:
        raise FieldError(f"{field}.host_allocation", data.host_allocation, "at least one host")
    if data.executor_placement_type != CUSTOM:
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
    placed = _write_placed(decision.allocation, mapping, fill=decision.fill)
    data: dict[str, Any] = {"job_id": decision.job_id, "allocation": placed}
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


def _write_placed(allocation: Allocation, mapping: list[int] | None, *, fill: bool = False) -> dict[str, Any]:
    return {
        "host_allocation": str(allocation),
        "executor_placement_type": STRATEGY if mapping is None else CUSTOM,
        "executor_placement": {"strategy": FILL_CORES if fill else SPREAD} if mapping is None else {"mapping": mapping},
    }


class ModeData(msgspec.Struct):
    """How often something comes."""

    nb_periods: Count = 0


class WhenData(msgspec.Struct):
    """A moment, or a period and how often it passes, in whole units."""

    time: int = 0
    time_unit: Literal["Second", "Millisecond"] = "Second"
    period: int = 0
    #: Batsim 5.0.0-rc2 refuses any other.
    offset: Literal[0] = 0
    mode_type: Literal["Infinite", "FinitePeriodNumber"] = "Infinite"
    mode: ModeData = msgspec.field(default_factory=ModeData)

    def seconds(self, amount: int) -> float:
        """Return an amount of the unit in seconds."""
        return amount / 1000 if self.time_unit == "Millisecond" else float(amount)

    @property
    def times(self) -> int | None:
        """How often; None: until it is stopped."""
        return self.mode.nb_periods if self.mode_type == "FinitePeriodNumber" else None


class CallData(msgspec.Struct, forbid_unknown_fields=True):
    """Data of CallMeLaterEvent."""

    call_me_later_id: str
    when_type: Literal["OneShot", "Periodic"]
    when: WhenData


def _read_call(time: float, data: CallData, state: ExchangeState) -> d.Decision:
    when = data.when
    if data.when_type == "Periodic":
        _check_period(when, "event.when")
        return d.CallEvery(time, data.call_me_later_id, when.seconds(when.period), when.times)
    return d.CallMeLater(time, when.seconds(when.time), data.call_me_later_id)


def _check_period(when: WhenData, field: str) -> None:
    if when.period < 1:
        raise FieldError(f"{field}.period", when.period, "at least 1")
    if when.times == 0:
        raise FieldError(f"{field}.mode.nb_periods", 0, "at least 1")


def _write_period(period: float, times: int | None) -> dict[str, Any]:
    milliseconds = round(period * 1000)
    if milliseconds < 1 or abs(milliseconds - period * 1000) > 1e-6:
        raise ValueError(f"a period of {period} s: Batsim 5 counts periods in whole milliseconds")
    whole = milliseconds % 1000 == 0
    return {
        "period": milliseconds // 1000 if whole else milliseconds,
        "time_unit": "Second" if whole else "Millisecond",
        "mode_type": "Infinite" if times is None else "FinitePeriodNumber",
        "mode": {} if times is None else {"nb_periods": times},
    }


def _write_calls(decision: d.CallEvery, state: ExchangeState) -> dict[str, Any]:
    when = _write_period(decision.period, decision.times)
    return {"call_me_later_id": decision.call_id, "when_type": "Periodic", "when": when}


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


class RegisterProfileData(msgspec.Struct, forbid_unknown_fields=True):
    """Data of RegisterProfileEvent."""

    profile: ProfileData


def _read_register_profile(time: float, data: RegisterProfileData, state: ExchangeState) -> d.Decision:
    workload, name, profile = read_profile(data.profile, "event.profile")
    state.add(workload, name, profile)
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


def _read_register_job(time: float, data: RegisterJobData, state: ExchangeState) -> d.Decision:
    workload, mark, _ = data.job.profile_id.partition("!")
    workloads = state.workloads
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


def _read_pstate(time: float, data: PStateData, state: ExchangeState) -> d.Decision:
    return d.SetResourceState(time, read_hosts(data.host_ids, "event.host_ids"), str(data.pstate), False)


class OnOffData(msgspec.Struct, forbid_unknown_fields=True):
    """Data of TurnOnOffHostsEvent: the power state to sleep in, or the one to compute in."""

    host_ids: str
    state: Count = 0


def _read_on_off(time: float, data: OnOffData, state: ExchangeState) -> d.Decision:
    return d.SetResourceState(time, read_hosts(data.host_ids, "event.host_ids"), str(data.state), True)


class ProbedHosts(msgspec.Struct):
    """Those that a probe is about."""

    host_ids: str


class AccumulationData(msgspec.Struct):
    """How values are summed up over time. Batsim 5.0.0-rc2 knows no other way."""

    reset_mode_type: Literal["NoReset"]
    cumulative_function: Literal["Sum"] = "Sum"


class TriggerData(msgspec.Struct):
    """When a probe tells."""

    temporal_trigger_type: Literal["Periodic"]
    temporal_trigger: WhenData


class CreateProbeData(msgspec.Struct, kw_only=True):
    """Data of CreateProbeEvent, as far as Batsim 5.0.0-rc2 goes on with it: it aborts on other values."""

    probe_id: Name
    metrics: Literal["Power"]
    resources_type: Literal["HostResources"]
    resources: ProbedHosts
    data_accumulation_strategy_type: Literal["ProbeDataAccumulation"]
    data_accumulation_strategy: AccumulationData
    measurement_triggering_policy_type: Literal["TemporalTriggerWrapper"]
    measurement_triggering_policy: TriggerData
    resources_aggregation_function_type: Literal["NoResourcesAggregation", "Sum", "ArithmeticMean"] = (
        "NoResourcesAggregation"
    )
    temporal_aggregation_function_type: Literal["NoTemporalAggregation"] = "NoTemporalAggregation"
    emission_filtering_policy_type: Literal["NoFiltering"] = "NoFiltering"


#: How a probe aggregates -> what Batsim 5 calls it.
_AGGREGATIONS: dict[Aggregate, str] = {"": "NoResourcesAggregation", "sum": "Sum", "mean": "ArithmeticMean"}
_AGGREGATES = {theirs: ours for ours, theirs in _AGGREGATIONS.items()}


def _read_create_probe(time: float, data: CreateProbeData, state: ExchangeState) -> d.Decision:
    when = data.measurement_triggering_policy.temporal_trigger
    _check_period(when, "event.measurement_triggering_policy.temporal_trigger")
    hosts = read_hosts(data.resources.host_ids, "event.resources.host_ids")
    aggregate = _AGGREGATES[data.resources_aggregation_function_type]
    return d.CreateProbe(time, data.probe_id, hosts, when.seconds(when.period), when.times, aggregate)


def _write_create_probe(decision: d.CreateProbe, state: ExchangeState) -> dict[str, Any]:
    state.probes[decision.probe_id] = decision.aggregate
    parts: dict[str, tuple[str, dict[str, Any]]] = {
        "resources": ("HostResources", {"host_ids": str(decision.hosts)}),
        "data_accumulation_strategy": (
            "ProbeDataAccumulation",
            {
                "reset_mode_type": "NoReset",
                "reset_mode": {},
                "cumulative_function": "Sum",
                "temporal_normalization": False,
            },
        ),
        "measurement_triggering_policy": (
            "TemporalTriggerWrapper",
            {
                "temporal_trigger_type": "Periodic",
                "temporal_trigger": _write_period(decision.period, decision.times),
            },
        ),
        "resources_aggregation_function": (_AGGREGATIONS[decision.aggregate], {}),
        "temporal_aggregation_function": ("NoTemporalAggregation", {}),
        "emission_filtering_policy": ("NoFiltering", {}),
    }
    written: dict[str, Any] = {"probe_id": decision.probe_id, "metrics": "Power"}
    for name, (kind, fields) in parts.items():
        written |= {f"{name}_type": kind, name: fields}
    return written


def _refuse_probe(time: float, data: Fields, state: ExchangeState) -> d.Decision:
    raise FieldError("event_type", "a probe that is told to tell or begin anew", "none: Batsim 5.0.0-rc2 aborts on it")


def _refuse_greeting(time: float, data: HelloData, state: ExchangeState) -> d.Decision:
    raise FieldError("event_type", "a greeting", "it only in the handshake")


#: What Batsim 5.0.0-rc2 does not know.
_PROBE_VERBS = ("Trigger", "Reset")
_NONE_OF_IT = "Batsim 5 has nothing of the kind (Batsim 4 does)"
_TABLE = Table(
    DIALECT,
    [
        Row("ExecuteJobEvent", ExecuteData, _read_execute, {d.Execute: _write_execute}),
        plain("RejectJobEvent", d.Reject, Column("job_id", Name), strict=True),
        plain("KillJobsEvent", d.Kill, Column("job_ids", list[Name]), strict=True),
        Row("CallMeLaterEvent", CallData, _read_call, {d.CallMeLater: _write_call, d.CallEvery: _write_calls}),
        plain("StopCallMeLaterEvent", d.StopCalls, Column("call_me_later_id", str, "call_id"), strict=True),
        Row("CreateProbeEvent", CreateProbeData, _read_create_probe, {d.CreateProbe: _write_create_probe}),
        plain("StopProbeEvent", d.StopProbe, Column("probe_id", Name), strict=True),
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
