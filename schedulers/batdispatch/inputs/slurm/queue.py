"""A queue of Slurm's as it stands: what ``squeue --json``, ``squeue -o`` or ``scontrol show job`` printed.

References:
    Slurm documentation, squeue(1), scontrol(1), https://slurm.schedmd.com/.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from batdispatch.core.errors import InputError
from batdispatch.inputs.files import read_all
from batdispatch.inputs.workloads.moments import Clock
from batdispatch.inputs.workloads.slurm_texts import read_limit

HOW = "squeue --all --json, squeue --all -o '%i|%u|%P|%T|%D|%C|%l|%V|%S|%r', or scontrol show job"
#: States in which a job holds its nodes.
_RUNS = frozenset({"RUNNING", "COMPLETING", "CONFIGURING", "RESIZING", "SIGNALING", "STAGE_OUT", "STOPPED"})
#: Reasons with which a job waits for room. Slurm has some hundred others: limits, holds, wrong requests, nodes that are
#: away. With these, no estimate of free nodes says when a job starts, if it ever does.
_ROOM = frozenset({"", "None", "null", "N/A", "Priority", "Resources"})
#: Most tasks of an array that wait, and most jobs in all.
_MOST = 100_000
_PAIR = re.compile(r"(?:^|\s)([A-Za-z/:]+)=(\S*)", re.ASCII)
_TASKS = re.compile(r"(\d{1,9})(?:-(\d{1,9})(?::(\d{1,9}))?)?", re.ASCII)
_COUNT = re.compile(r"(\d{1,12})(?:-\d{1,12})?", re.ASCII)
#: A field -> what `squeue -o` calls it, and what `scontrol` does.
_TABLE = {
    **{"id": "JOBID", "user": "USER", "partition": "PARTITION", "state": "STATE", "nodes": "NODES", "cores": "CPUS"},
    **{"limit": "TIME_LIMIT", "submission": "SUBMIT_TIME", "start": "START_TIME", "reason": "REASON"},
}
_SCONTROL = {
    **{"id": "JobId", "user": "UserId", "partition": "Partition", "state": "JobState", "nodes": "NumNodes"},
    **{"cores": "NumCPUs", "limit": "TimeLimit", "submission": "SubmitTime", "start": "StartTime", "reason": "Reason"},
}
_NEEDED = ("id", "state", "nodes", "cores", "limit", "submission", "start")


class QueueJob(msgspec.Struct, frozen=True, kw_only=True):
    """A job that waits or runs. Times are seconds since 1970, or of a clock without a zone that counts alike."""

    id: str
    user: str
    partition: str
    nodes: int
    cores: int
    submission: float
    #: NaN: it waits.
    start: float
    #: Seconds; infinite without one.
    walltime: float


class SlurmQueue(msgspec.Struct, kw_only=True):
    """Jobs, and when they were looked at."""

    jobs: list[QueueJob]
    #: Seconds since 1970; None: the file does not say.
    taken: float | None = None
    #: Whether its times are seconds since 1970 whatever the zone.
    zoned: bool = False
    #: What was left out, in words -> how many jobs.
    left_out: dict[str, int] = {}


def read_queue(path: Path, clock: Clock) -> SlurmQueue:
    """Read a queue.

    Args:
        path: what one of the three commands printed.
        clock: reads dates without a zone.

    Raises:
        InputError: it is none of these, or a field that is needed is missing or wrong.
    """
    data, _ = read_all(path)
    text = data.decode("utf-8", errors="replace").lstrip("\ufeff").strip()
    queue = SlurmQueue(jobs=[])
    if text.startswith("{"):
        _take_all(_of_json(text, str(path), queue), queue, str(path))
    elif text.startswith("JobId="):
        _take_all(_of_scontrol(text, clock), queue, str(path))
    elif _is_table(text.partition("\n")[0]):
        _take_all(_of_table(text, clock, str(path)), queue, str(path))
    else:
        raise InputError(f"begins with {text[:40]!r}, expected what this printed: {HOW}", source=str(path))
    return queue


#: (where it stands, its fields as texts or numbers, reads a field that is a date).
_Record = tuple[str, Mapping[str, Any], Callable[[Any], float]]


def _take_all(records: Iterator[_Record], queue: SlurmQueue, source: str) -> None:
    for place, fields, read_date in records:
        try:
            _take(fields, read_date, queue)
        except (KeyError, ValueError, TypeError) as problem:
            found = f"no field {problem.args[0]!r}" if isinstance(problem, KeyError) else f"{problem}"[:80]
            raise InputError(f"{found}; expected what this printed: {HOW}", source=source, place=place) from None
        if len(queue.jobs) > _MOST:
            raise InputError(f"more than {_MOST:,} jobs", source=source, place=place)


def _take(fields: Mapping[str, Any], read_date: Callable[[Any], float], queue: SlurmQueue) -> None:
    for name in _NEEDED:
        if fields.get(name) is None:
            raise KeyError(name)
    state, reason = str(fields["state"]), str(fields.get("reason") or "")
    runs = state in _RUNS
    # `squeue -o %R` puts it in parentheses; names of nodes stand behind a comma.
    reason = reason.strip("() ").partition(",")[0]
    if not runs and (state != "PENDING" or reason not in _ROOM):
        why = f"waiting for something else than room ({reason[:60]})" if state == "PENDING" else f"in state {state}"
        queue.left_out[why] = queue.left_out.get(why, 0) + 1
        return
    start = read_date(fields["start"]) if runs else math.nan
    job = QueueJob(
        id="",
        user=str(fields.get("user") or ""),
        partition=str(fields.get("partition") or ""),
        nodes=max(_count(fields["nodes"]), 1),
        cores=max(_count(fields["cores"]), 1),
        submission=read_date(fields["submission"]),
        start=start,
        walltime=_limit(fields["limit"]),
    )
    queue.jobs += [msgspec.structs.replace(job, id=one) for one in _tasks(str(fields["id"]))]


def _count(value: object) -> int:
    match = _COUNT.fullmatch(str(value))
    if match is None:
        raise ValueError(f"{str(value)[:30]!r} is no number of nodes or CPUs")
    return int(match[1])


def _limit(value: object) -> float:
    if isinstance(value, int | float):
        return 60.0 * value
    limit = read_limit(str(value), minutes=True)
    return math.inf if limit is None else limit


def _tasks(name: str) -> list[str]:
    """Return the ids of an array's tasks that wait (``12_[1-5,9%2]``), or the one id."""
    array, bracket, rest = name.partition("_[")
    if not bracket:
        return [name]
    found: list[str] = []
    for part in rest.rstrip("]").partition("%")[0].split(","):
        match = _TASKS.fullmatch(part)
        if match is None:
            raise ValueError(f"{name[:60]!r} is no job's id")
        first, last, step = int(match[1]), int(match[2] or match[1]), int(match[3] or 1)
        if not step or len(found) + (last - first) // step >= _MOST:
            raise ValueError(f"{name[:60]!r} is no array of at most {_MOST:,} tasks")
        found += [f"{array}_{number}" for number in range(first, last + 1, step)]
    return found


def _of_json(text: str, source: str, queue: SlurmQueue) -> Iterator[_Record]:
    try:
        whole = msgspec.json.decode(text)
    except msgspec.DecodeError as problem:
        raise InputError(f"is no whole JSON: {problem}", source=source) from None
    jobs = whole.get("jobs")
    if not isinstance(jobs, list) or not all(isinstance(job, dict) for job in jobs):
        raise InputError(f"has no list 'jobs', expected what this printed: {HOW}", source=source)
    queue.zoned = True
    if taken := _plain(whole.get("last_update")):
        queue.taken = float(taken)
    for number, job in enumerate(jobs):
        yield f"jobs[{number}]", _json_fields(job), float


def _json_fields(job: Mapping[str, Any]) -> dict[str, Any]:
    """Return a job's fields; newer Slurms say ``{"set": true, "number": 5}`` for a number, and lists of states."""
    state = job.get("job_state")
    array, tasks, task = (_plain(job.get(name)) for name in ("array_job_id", "array_task_string", "array_task_id"))
    name: Any = _plain(job.get("job_id"))
    if array and tasks:
        name = f"{array}_[{tasks}]"
    elif array and task is not None:
        name = f"{array}_{task}"
    limit = _plain(job.get("time_limit"))
    return {
        "id": name,
        "user": job.get("user_name"),
        "partition": job.get("partition"),
        "state": state[0] if isinstance(state, list) and state else state,
        "nodes": _plain(job.get("node_count")),
        "cores": _plain(job.get("cpus")),
        "limit": "UNLIMITED" if limit is None and "time_limit" in job else limit,
        "submission": _plain(job.get("submit_time")),
        "start": _plain(job.get("start_time")) or 0,
        "reason": job.get("state_reason"),
    }


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return None if value.get("infinite") or not value.get("set", True) else value.get("number")
    return value


def _is_table(header: str) -> bool:
    return "|" in header and "JOBID" in header.split("|")


def _of_table(text: str, clock: Clock, source: str) -> Iterator[_Record]:
    header, *lines = text.splitlines()
    names = header.split("|")
    for number, line in enumerate(lines, start=2):
        cells = line.split("|")
        if len(cells) != len(names):
            raise InputError(
                f"{len(cells)} fields, expected {len(names)} as in the first line",
                source=source,
                place=f"line {number}",
            )
        row = dict(zip(names, cells, strict=True))
        yield f"line {number}", {name: row.get(column) for name, column in _TABLE.items()}, clock.read


def _of_scontrol(text: str, clock: Clock) -> Iterator[_Record]:
    for number, block in enumerate(re.split(r"(?:^|\n)(?=JobId=)", text)):
        row = dict(_PAIR.findall(block))
        if not row:
            continue
        fields = {name: row.get(key) for name, key in _SCONTROL.items()}
        fields["user"] = (fields["user"] or "").partition("(")[0]
        if "ArrayTaskId" in row:
            tasks = row["ArrayTaskId"]
            fields["id"] = f"{row['ArrayJobId']}_{tasks}" if tasks.isdigit() else f"{row['ArrayJobId']}_[{tasks}]"
        yield f"job {number}", fields, clock.read
