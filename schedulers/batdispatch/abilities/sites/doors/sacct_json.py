"""Slurm's accounts as JSON: what ``sacct --json`` and slurmrestd (slurmdb's jobs, slurm's jobs) print.

Each job becomes a record with the columns of ``sacct``, so that it is read by the same rules.

References:
    Slurm documentation, sacct(1), rest_api, https://slurm.schedmd.com/rest_api.html.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from batdispatch.abilities.sites.doors.sacct_lines import Columns
from batdispatch.abilities.sites.doors.slurm_json import INFINITE, amounts, inner, number, plain, words
from batdispatch.core.errors import InputError
from batdispatch.inputs.files import MAX_BYTES, Source
from batdispatch.inputs.workloads.bad_records import BadRecords
from batdispatch.inputs.workloads.report import ImportReport

_COLUMNS = (
    "JobID|JobIDRaw|Cluster|User|Group|Account|Partition|QOS|JobName|Reservation|Submit|Eligible|Start|End|ElapsedRaw|"
    "TimelimitRaw|Suspended|State|NNodes|ReqCPUS|ReqTRES|AllocTRES|NodeList|Licenses|Restarts|SubmitLine"
)


class _Jobs(msgspec.Struct):
    jobs: list[msgspec.Raw]


def read_json(
    path: Path, report: ImportReport, bad: BadRecords, conclude: Callable[[Source], None]
) -> Iterator[tuple[Columns, list[str], int]]:
    """Yield the columns of sacct, the fields and the number of each job of a file.

    Raises:
        InputError: it is no JSON with a list of jobs.
    """
    with Source(path, limit=MAX_BYTES) as source:
        content = source.stream.read()
        conclude(source)
    try:
        raws = msgspec.json.decode(content.removeprefix(b"\xef\xbb\xbf"), type=_Jobs).jobs
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as problem:
        raise InputError(
            f"is no JSON with a list of jobs, expected what sacct --json prints: {problem}", source=str(path)
        ) from None
    del content
    columns = Columns(_COLUMNS, str(path), "")
    constrained = Columns(f"{_COLUMNS}|Constraints", str(path), "")
    for at, raw in enumerate(raws, 1):
        try:
            job = msgspec.json.decode(raw, type=dict[str, Any])
            fields = _of_database(job) if "time" in job else _of_controller(job)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError, KeyError, ValueError, TypeError) as problem:
            report.records += 1
            bad.add(InputError(f"cannot be read: {problem}"[:200], source=str(path), place=f"job {at}"))
            continue
        constraint = job.get("constraints", job.get("features"))
        if constraint and isinstance(constraint, str):
            yield constrained, [*fields, constraint], at
        else:
            yield columns, fields, at


def _of_database(job: Mapping[str, Any]) -> list[str]:
    """Return the fields of a job as slurmdbd has it."""
    time = job["time"]
    asked, given = (amounts(inner(job, "tres", kind)) for kind in ("requested", "allocated"))
    return [
        _id(job, inner(job, "array", "job_id"), inner(job, "array", "task_id"), inner(job, "array", "task")),
        str(number(job.get("job_id"))),
        str(job.get("cluster") or inner(job, "association", "cluster") or ""),
        str(job.get("user") or inner(job, "association", "user") or ""),
        str(job.get("group") or ""),
        str(job.get("account") or inner(job, "association", "account") or ""),
        str(job.get("partition") or ""),
        str(job.get("qos") or ""),
        str(job.get("name") or ""),
        str(inner(job, "reservation", "name") or ""),
        _moment(time.get("submission")),
        _moment(time.get("eligible")),
        _moment(time.get("start")),
        _moment(time.get("end")),
        str(number(time.get("elapsed"))),
        _limit(time.get("limit")),
        str(number(time.get("suspended"))),
        _state(inner(job, "state", "current")),
        _count(job.get("allocation_nodes")),
        _count(inner(job, "required", "CPUs")),
        asked,
        given,
        str(job.get("nodes") or ""),
        str(job.get("licenses") or ""),
        _count(job.get("restart_cnt")),
        str(job.get("submit_line") or ""),
    ]


def _of_controller(job: Mapping[str, Any]) -> list[str]:
    """Return the fields of a job as slurmctld has it, which forgets jobs some minutes after their end."""
    start, end = (number(job.get(name)) for name in ("start_time", "end_time"))
    state = _state(job.get("job_state"))
    waits = state == "PENDING" or not start
    return [
        _id(job, job.get("array_job_id"), job.get("array_task_id"), job.get("array_task_string")),
        str(number(job.get("job_id"))),
        str(job.get("cluster") or ""),
        str(job.get("user_name") or ""),
        str(job.get("group_name") or ""),
        str(job.get("account") or ""),
        str(job.get("partition") or ""),
        str(job.get("qos") or ""),
        str(job.get("name") or ""),
        str(job.get("resv_name") or ""),
        _moment(job.get("submit_time")),
        _moment(job.get("eligible_time")),
        "" if waits else str(start),
        "" if waits else _moment(job.get("end_time")),
        str(max(end - start, 0)) if start and end and not waits else "0",
        _limit(job.get("time_limit")),
        "0",
        state,
        _count(job.get("node_count")),
        _count(job.get("cpus")),
        str(job.get("tres_req_str") or ""),
        str(job.get("tres_alloc_str") or ""),
        str(job.get("nodes") or ""),
        str(job.get("licenses") or ""),
        _count(job.get("restart_cnt")),
        str(job.get("submit_line") or ""),
    ]


def _id(job: Mapping[str, Any], array: Any, task: Any, tasks: Any) -> str:
    """Return what sacct calls a job: 123, 123_4, 123_[5-9] or 123+1."""
    leader, offset = inner(job, "het", "job_id"), inner(job, "het", "job_offset")
    if leader is None:
        leader, offset = job.get("het_job_id"), job.get("het_job_offset")
    number_of_task = plain(task)
    if number(array) and isinstance(number_of_task, int) and number_of_task < 2**31:
        return f"{number(array)}_{number_of_task}"
    if number(array) and tasks and isinstance(tasks, str):
        return f"{number(array)}_[{tasks}]"
    if number(leader):
        return f"{number(leader)}+{number(offset)}"
    return str(number(job["job_id"]))


def _moment(value: Any) -> str:
    return str(number(value) or "")


def _limit(value: Any) -> str:
    told = plain(value)
    return told if told == INFINITE else str(number(told) or "")


def _count(value: Any) -> str:
    return str(number(value) or "")


def _state(value: Any) -> str:
    """Return the state that sacct would print: of several, such as COMPLETED and REQUEUED, the last flag is it."""
    found = words(value)
    return next((one for one in found if one in ("RUNNING", "PENDING")), found[0] if found else "")
