"""`batdispatch.core.line.messages.Reply` -> what Batsim 4 reads."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import msgspec

from batdispatch.batsim.numbers import require_finite
from batdispatch.batsim.v4.jobs import write_job
from batdispatch.core.errors import ImpossibleDecision
from batdispatch.core.hosts.allocation import IoJob
from batdispatch.core.line import decisions as d
from batdispatch.core.line.messages import Reply

_encode = msgspec.json.Encoder().encode


def encode_reply(reply: Reply) -> bytes:
    """Write a reply with exactly the keys that Batsim accepts.

    Raises:
        ImpossibleDecision: a decision cannot be said to Batsim 4: times out of order or not finite, more than one of
            mapping, storage mapping and I/O job, double quotes in metadata, values that are no JSON.
    """
    last = 0.0
    now = reply.now
    events = []
    for decision in reply.decisions:
        kind, data = _WRITE[type(decision)](decision)
        time = decision.time
        if not last <= time <= now:
            raise ImpossibleDecision(f"{kind} {_subject(data)}at {time} s: times must ascend from {last} to {now} s")
        last = time
        events.append({"timestamp": time, "type": kind, "data": data})
    if not math.isfinite(now):
        raise ImpossibleDecision(f"a reply at {now} s")
    try:
        return _encode({"now": now, "events": events})
    except (ValueError, TypeError, RecursionError) as problem:
        raise ImpossibleDecision(f"at {now:.6f} s: a decision cannot be written as JSON: {problem}") from None


def _subject(data: dict[str, Any]) -> str:
    return f"of {data['job_id']} " if "job_id" in data else ""


def execute_fields(decision: d.Execute) -> dict[str, Any]:
    """Return the data of an EXECUTE_JOB.

    Raises:
        ImpossibleDecision: it would need more than one of the optional fields.
    """
    if decision.overrides:
        raise ImpossibleDecision(f"job {decision.job_id}: Batsim 4 cannot run parts of a job on other hosts")
    data: dict[str, Any] = {"job_id": decision.job_id, "alloc": str(decision.allocation)}
    executors = decision.executors()
    if executors is not None:
        data["mapping"] = {str(executor): str(index) for executor, index in executors.items()}
    if decision.storage is not None:
        data["storage_mapping"] = dict(decision.storage)
    if decision.io_job is not None:
        data["additional_io_job"] = _io_job(decision.io_job)
    if len(data) > 3:
        raise ImpossibleDecision(
            f"job {decision.job_id}: Batsim accepts only one of mapping (which units that share a host need), storage "
            f"mapping and I/O job, not {', '.join(list(data)[2:])} together"
        )
    return data


def _io_job(io_job: IoJob) -> dict[str, Any]:
    data: dict[str, Any] = {"alloc": str(io_job.allocation), "profile_name": io_job.profile_name}
    if io_job.profile is not None:
        data["profile"] = _finite(io_job.profile, f"I/O profile {io_job.profile_name}")
    return data


def _finite(value: dict[str, Any], what: str) -> dict[str, Any]:
    try:
        require_finite(value)
    except (ValueError, RecursionError) as problem:
        raise ImpossibleDecision(f"{what}: {problem}") from None
    return value


def _call(decision: d.CallMeLater) -> tuple[str, dict[str, Any]]:
    if not decision.time < decision.at < math.inf:
        raise ImpossibleDecision(f"a call at {decision.at} s was asked for at {decision.time} s")
    return "CALL_ME_LATER", {"timestamp": decision.at}


def _register_profile(decision: d.RegisterProfile) -> tuple[str, dict[str, Any]]:
    name = f"{decision.workload}!{decision.name}"
    return "REGISTER_PROFILE", {
        "workload_name": decision.workload,
        "profile_name": decision.name,
        "profile": _finite(decision.profile, f"profile {name}"),
    }


def _register_job(decision: d.RegisterJob) -> tuple[str, dict[str, Any]]:
    job = decision.job
    return "REGISTER_JOB", {"job_id": job.id, "job": _finite(write_job(job), f"job {job.id}")}


def _set_state(decision: d.SetResourceState) -> tuple[str, dict[str, Any]]:
    return "SET_RESOURCE_STATE", {"resources": str(decision.hosts), "state": decision.state}


def _metadata(decision: d.SetMetadata) -> tuple[str, dict[str, Any]]:
    if '"' in decision.metadata:
        raise ImpossibleDecision(f"job {decision.job_id}: metadata must not contain double quotes")
    return "SET_JOB_METADATA", {"job_id": decision.job_id, "metadata": decision.metadata}


def _stop(decision: d.StopSimulation) -> tuple[str, dict[str, Any]]:
    raise ImpossibleDecision(f"at {decision.time:.6f} s: Batsim 4 cannot end a simulation early")


_WRITE: dict[type, Callable[[Any], tuple[str, dict[str, Any]]]] = {
    d.Execute: lambda decision: ("EXECUTE_JOB", execute_fields(decision)),
    d.Reject: lambda decision: ("REJECT_JOB", {"job_id": decision.job_id}),
    d.Kill: lambda decision: ("KILL_JOB", {"job_ids": decision.job_ids}),
    d.CallMeLater: _call,
    d.RegisterProfile: _register_profile,
    d.RegisterJob: _register_job,
    d.SetResourceState: _set_state,
    d.QueryEnergy: lambda _: ("QUERY", {"requests": {"consumed_energy": {}}}),
    d.SetMetadata: _metadata,
    d.SendMessage: lambda decision: ("TO_JOB_MSG", {"job_id": decision.job_id, "msg": decision.message}),
    d.ChangeState: lambda decision: ("CHANGE_JOB_STATE", {"job_id": decision.job_id, "job_state": decision.state}),
    d.FinishRegistration: lambda _: ("NOTIFY", {"type": "registration_finished"}),
    d.ContinueRegistration: lambda _: ("NOTIFY", {"type": "continue_registration"}),
    d.StopSimulation: _stop,
}
