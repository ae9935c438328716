"""`batdispatch.core.line.messages.Reply` -> what Batsim 5 reads, in its JSON form."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import msgspec

from batdispatch.batsim.numbers import require_finite
from batdispatch.batsim.v5.jobs import write_job
from batdispatch.batsim.v5.known import Known
from batdispatch.batsim.v5.profiles import full_id, write_profile
from batdispatch.batsim.v5.reply_schema import CUSTOM, PREDEFINED
from batdispatch.core.errors import ImpossibleDecision
from batdispatch.core.hosts.allocation import Allocation
from batdispatch.core.line import decisions as d
from batdispatch.core.line.messages import Reply

#: Seconds by which a call may be rounded down to a millisecond, Batsim 5's unit: the noise of floating point.
_NOISE = 1e-7

_encode = msgspec.json.Encoder().encode


def encode_reply(reply: Reply, known: Known) -> bytes:
    """Write a reply; it ends with a NUL byte, as Batsim expects it.

    Raises:
        ImpossibleDecision: a decision cannot be said to Batsim 5, which lacks some of what Batsim 4 has; times are
            out of order; values are no JSON.
    """
    last = 0.0
    now = max(reply.now, known.reached)
    events = []
    try:
        for decision in reply.decisions:
            kind, data = _WRITE[type(decision)](decision, known)
            time = max(decision.time, known.reached)
            if not last <= time <= now:
                raise ValueError(f"{kind} at {time} s: times must ascend from {last} to {now} s")
            last = time
            events.append({"timestamp": time, "event_type": kind, "event": data})
        if not math.isfinite(now):
            raise ValueError("a reply at no time")
        return _encode({"now": now, "events": events}) + b"\0"
    except (ValueError, TypeError, RecursionError) as problem:
        raise ImpossibleDecision(f"at {now:.6f} s: {problem}") from None


def _execute(decision: d.Execute, known: Known) -> tuple[str, dict[str, Any]]:
    if decision.io_job is not None:
        raise ValueError(f"job {decision.job_id}: Batsim 5 has no I/O jobs beside a job (Batsim 4's additional_io_job)")
    executors = decision.executors()
    mapping = None if executors is None else [executors[number] for number in sorted(executors)]
    data: dict[str, Any] = {"job_id": decision.job_id, "allocation": _placed(decision.allocation, mapping)}
    if decision.overrides:
        workload = decision.job_id.partition("!")[0]
        data["profile_allocation_override"] = [
            {"profile_id": full_id(name, workload), **_placed(where, _indices(where))}
            for name, where in sorted(decision.overrides.items())
        ]
    if decision.storage:
        data["storage_placement"] = [
            {"storage_name": label, "host_id": host} for label, host in sorted(decision.storage.items())
        ]
    return "ExecuteJobEvent", data


def _indices(allocation: Allocation) -> list[int] | None:
    if allocation.counts is None:
        return None
    return [index for index, count in enumerate(allocation.counts) for _ in range(count)]


def _placed(allocation: Allocation, mapping: list[int] | None) -> dict[str, Any]:
    return {
        "host_allocation": str(allocation),
        "executor_placement_type": PREDEFINED if mapping is None else CUSTOM,
        "executor_placement": {"strategy": "SpreadOverHostsFirst"} if mapping is None else {"mapping": mapping},
    }


def _call(decision: d.CallMeLater, known: Known) -> tuple[str, dict[str, Any]]:
    if not decision.time < decision.at < math.inf:
        raise ValueError(f"a call at {decision.at} s was asked for at {decision.time} s")
    # Batsim 5 counts calls in whole seconds or milliseconds; never earlier than asked for.
    milliseconds = math.ceil((decision.at - _NOISE) * 1000)
    when: dict[str, Any] = {"time": milliseconds, "time_unit": "Millisecond"}
    if milliseconds % 1000 == 0:
        when = {"time": milliseconds // 1000}
    return "CallMeLaterEvent", {
        "call_me_later_id": decision.call_id or known.call_id(),
        "when_type": "OneShot",
        "when": when,
    }


def _register_profile(decision: d.RegisterProfile, known: Known) -> tuple[str, dict[str, Any]]:
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
    known.add(decision.workload, decision.name, profile)
    written = write_profile(
        decision.workload, decision.name, {key: value for key, value in profile.items() if key != "ret"}
    )
    return "RegisterProfileEvent", {"profile": written}


def _register_job(decision: d.RegisterJob, known: Known) -> tuple[str, dict[str, Any]]:
    job = write_job(decision.job)
    if job["walltime"] is None:
        del job["walltime"]
    return "RegisterJobEvent", {"job_id": decision.job.id, "job": job}


def _set_state(decision: d.SetResourceState, known: Known) -> tuple[str, dict[str, Any]]:
    hosts = str(decision.hosts)
    if decision.state in ("on", "off"):
        return "TurnOnOffHostsEvent", {"host_ids": hosts, "state": int(decision.state == "off")}
    return "ChangeHostsPStateEvent", {"host_ids": hosts, "pstate": int(decision.state)}


def _lacking(what: str) -> Callable[[Any, Known], tuple[str, dict[str, Any]]]:
    def refuse(decision: Any, known: Known) -> tuple[str, dict[str, Any]]:
        about = f"job {decision.job_id}: " if hasattr(decision, "job_id") else ""
        raise ValueError(f"{about}{what}: Batsim 5 has nothing of the kind (Batsim 4 does)")

    return refuse


_WRITE: dict[type, Callable[[Any, Known], tuple[str, dict[str, Any]]]] = {
    d.Execute: _execute,
    d.Reject: lambda decision, _: ("RejectJobEvent", {"job_id": decision.job_id}),
    d.Kill: lambda decision, _: ("KillJobsEvent", {"job_ids": decision.job_ids}),
    d.CallMeLater: _call,
    d.RegisterProfile: _register_profile,
    d.RegisterJob: _register_job,
    d.SetResourceState: _set_state,
    d.FinishRegistration: lambda *_: ("FinishRegistrationEvent", {}),
    d.StopSimulation: lambda *_: ("ForceSimulationStopEvent", {}),
    d.QueryEnergy: _lacking("asking for the energy consumed (QUERY)"),
    d.SetMetadata: _lacking("writing into a job's row (SET_JOB_METADATA)"),
    d.SendMessage: _lacking("telling a job something (TO_JOB_MSG)"),
    d.ChangeState: _lacking("overwriting a job's state (CHANGE_JOB_STATE)"),
    d.ContinueRegistration: _lacking("registering jobs again after the end of registration (continue_registration)"),
}
