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

from batdispatch.abilities.sites.doors.sacct_lines import delimiter_of, names_of
from batdispatch.abilities.sites.doors.slurm.records import CLUSTER, DATE
from batdispatch.abilities.sites.doors.slurm_json import INFINITE, plain
from batdispatch.abilities.sites.doors.slurm_texts import read_limit
from batdispatch.core.errors import InputError
from batdispatch.inputs.files import read_text
from batdispatch.inputs.workloads.moments import Clock

HOW = "squeue --all --json, squeue --all -o '%i|%u|%P|%T|%D|%C|%l|%V|%S|%r', or scontrol show job"
#: States in which a job holds its nodes.
_RUNS = frozenset({"RUNNING", "COMPLETING", "CONFIGURING", "RESIZING", "SIGNALING", "STAGE_OUT", "STOPPED"})
#: Reasons with which a job waits for room. Slurm has some hundred others: limits, holds, wrong requests, nodes that are
#: away. With these, no estimate of free nodes says when a job starts, if it ever does.
_ROOM = frozenset({"", "None", "null", "N/A", "Priority", "Resources"})
#: Those that say nothing.
_SILENT = frozenset({"None", "null", "N/A"})
#: Most tasks of an array that wait, and most jobs in all.
_MOST = 100_000
_PAIR = re.compile(r"(?:^|\s)([A-Za-z/:]+)=(\S*)", re.ASCII)
#: A job's name, which goes on until its line ends, or until the next field where all stands in one line.
_NAME = re.compile(r"\sJobName=.*?(?=\sUserId=\S+\(\d+\) GroupId=|$)")
#: Texts that people write, and that stand behind everything that is read here.
_AFTER_FIELDS = re.compile(r"(?:^|\s)(?:Command|SubmitLine|WorkDir|Std\w+|\w*Comment|Extra|Container)=")
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
#: Columns of a table whose texts may hold anything, and what others look like.
_FREE = frozenset({"NAME", "COMMAND", "WORK_DIR", "COMMENT", "REASON", "NODELIST_REASON", "FEATURES"})
_FORMS = {
    **{"JOBID": re.compile(r"\d[\d_\[\],%+:\-]*"), "STATE": re.compile(r"[A-Z_]+")},
    **dict.fromkeys(("NODES", "CPUS"), _COUNT),
}
#: Most lines above a table, and how many jobs may be bad: so many, or this share.
_PREAMBLE, _BAD, _BAD_SHARE = 8, 10, 0.005
#: What stands instead of a job's fields, if these cannot be told apart.
_WRONG = "wrong"
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
    #: Why it waits, as Slurm says; empty: it says nothing.
    reason: str = ""


class SlurmQueue(msgspec.Struct, kw_only=True):
    """Jobs, and when they were looked at."""

    jobs: list[QueueJob]
    #: Seconds since 1970; None: the file does not say.
    taken: float | None = None
    #: Whether its times are seconds since 1970 whatever the zone.
    zoned: bool = False
    #: What was left out, in words -> how many jobs.
    left_out: dict[str, int] = {}


def read_queue(path: Path, clock: Clock, cluster: str = "") -> SlurmQueue:
    """Read a queue.

    Args:
        path: what one of the three commands printed.
        clock: reads dates without a zone.
        cluster: whose jobs are wanted, if there are jobs of several.

    Raises:
        InputError: it is none of these, or of several clusters of which none is chosen, or a field that is needed is
            missing or wrong in more than a few jobs.
    """
    text = read_text(path).strip()
    queue = SlurmQueue(jobs=[])
    if text.startswith("{"):
        _take_all(_of_json(text, str(path), queue, cluster), queue, str(path))
    elif text.startswith("JobId="):
        _take_all(_of_scontrol(text, clock), queue, str(path))
    elif any(map(_is_table, text.splitlines()[:_PREAMBLE])):
        _take_all(_of_table(text, clock, str(path), cluster), queue, str(path))
    else:
        raise InputError(f"begins with {text[:40]!r}, expected what this printed: {HOW}", source=str(path))
    return queue


#: (where it stands, its fields as texts or numbers, reads a field that is a date).
_Record = tuple[str, Mapping[str, Any], Callable[[Any], float]]


def _take_all(records: Iterator[_Record], queue: SlurmQueue, source: str) -> None:
    """Take all records but a few that cannot be read, which are counted among those that are left out."""
    wrong: list[InputError] = []
    count = 0
    for place, fields, read_date in records:
        count += 1
        try:
            _take(fields, read_date, queue)
        except (KeyError, ValueError, TypeError) as problem:
            found = f"no field {problem.args[0]!r}" if isinstance(problem, KeyError) else f"{problem}"[:80]
            wrong.append(InputError(f"{found}; expected what this printed: {HOW}", source=source, place=place))
        if len(queue.jobs) > _MOST:
            raise InputError(f"more than {_MOST:,} jobs", source=source, place=place)
    if wrong and (len(wrong) == count or len(wrong) > max(_BAD, int(_BAD_SHARE * count))):
        raise wrong[0]
    for each in wrong:
        why = f"that cannot be read ({each.place}: {each.message.partition('; ')[0]})"
        queue.left_out[why] = queue.left_out.get(why, 0) + 1


def _take(fields: Mapping[str, Any], read_date: Callable[[Any], float], queue: SlurmQueue) -> None:
    if _WRONG in fields:
        raise ValueError(fields[_WRONG])
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
        reason="" if reason in _SILENT else reason,
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


def _of_json(text: str, source: str, queue: SlurmQueue, cluster: str) -> Iterator[_Record]:
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
    clusters = [str(job.get("cluster") or "") for job in jobs]
    wanted = _wanted(clusters, cluster, source)
    for number, job in enumerate(jobs):
        if wanted and clusters[number] and clusters[number] != wanted:
            continue
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
    told = plain(value)
    return None if told == INFINITE else told


def _wanted(clusters: list[str], cluster: str, source: str) -> str:
    """Return the cluster whose jobs are wanted; empty: all.

    Raises:
        InputError: there are several, and none of them is chosen.
    """
    told = dict.fromkeys(filter(None, clusters))
    if len(told) > 1 and cluster not in told:
        raise InputError(f"is of several clusters ({', '.join(told)}): choose one with --cluster NAME", source=source)
    return cluster if cluster in told else ""


def _columns_of(header: str) -> tuple[list[str], str | None]:
    """Return the names of a table's columns in capitals, and what stands between them; None: blanks."""
    # Its brackets are no delimiter.
    header = header.replace("NODELIST(REASON)", "NODELIST_REASON")
    delimiter = delimiter_of(header)
    names = names_of(header) if delimiter else header.split()
    return [name.upper() for name in names], delimiter or None


def _is_table(header: str) -> bool:
    names, _ = _columns_of(header)
    return len(names) > 1 and "JOBID" in names


def _of_table(text: str, clock: Clock, source: str, cluster: str) -> Iterator[_Record]:
    lines = text.splitlines()
    wanted = _wanted([match[1] for line in lines if (match := CLUSTER.fullmatch(line))], cluster, source)
    current, header = "", ""
    for number, line in enumerate(lines, start=1):
        if match := CLUSTER.fullmatch(line):
            current = match[1]
        elif _is_table(line):
            header = line
        elif header and line.strip() and not DATE.fullmatch(line) and current in (wanted or current, ""):
            names, delimiter = _columns_of(header)
            cells = _cells(line, names, delimiter)
            row = dict(zip(names, cells, strict=len(cells) == len(names)))
            fields: dict[str, Any] = {name: row.get(column) for name, column in _TABLE.items()}
            if len(cells) != len(names):
                fields = {_WRONG: f"{len(cells)} fields, expected {len(names)} as in the first line"}
            yield f"line {number}", fields, clock.read


def _cells(line: str, names: list[str], delimiter: str | None) -> list[str]:
    """Return the cells of a line; what is too much belongs to a text of the user's that holds the delimiter."""
    cells = [cell.strip() for cell in line.split(delimiter)]
    surplus = len(cells) - len(names)
    for at, name in enumerate(names):
        if surplus > 0 and name in _FREE:
            taken = [*cells[:at], (delimiter or " ").join(cells[at : at + surplus + 1]), *cells[at + surplus + 1 :]]
            if all(form.fullmatch(taken[names.index(column)]) for column, form in _FORMS.items() if column in names):
                return taken
    return cells


def _of_scontrol(text: str, clock: Clock) -> Iterator[_Record]:
    for number, block in enumerate(re.split(r"(?:^|\n)(?=JobId=)", text)):
        row: dict[str, str] = {}
        for line in block.splitlines():
            # People name their jobs, and what they run; these texts may look like fields.
            told = _AFTER_FIELDS.split(_NAME.sub(" ", line), maxsplit=1)[0]
            for key, value in _PAIR.findall(told):
                row.setdefault(key, value)
        if not row:
            continue
        fields = {name: row.get(key) for name, key in _SCONTROL.items()}
        fields["user"] = (fields["user"] or "").partition("(")[0]
        if "ArrayTaskId" in row and "ArrayJobId" in row:
            tasks = row["ArrayTaskId"]
            fields["id"] = f"{row['ArrayJobId']}_{tasks}" if tasks.isdigit() else f"{row['ArrayJobId']}_[{tasks}]"
        yield f"job {number}", fields, clock.read
