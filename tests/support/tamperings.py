"""What somebody may change in the folder of a run: a table of kinds, each a function that edits one thing.

A kind takes a folder and a source of chance, edits, and says what it changed; it says nothing where the folder has no
such thing. Whoever tampers recomputes the digests, see `sealing`.
"""

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from batdispatch.engines import job_rows, outputs

Draw = np.random.Generator
Kind = Callable[[Path, Draw], str]
#: Kind of tampering -> what does it.
TAMPERINGS: dict[str, Kind] = {}
#: Kinds that nothing in a folder contradicts -> why they mislead nobody.
HARMLESS = {
    "schedule.csv: scheduling_time": "a time of the wall clock, which repeats nowhere and enters no metric",
    "schedule.csv: simulation_time": "a time of the wall clock, which repeats nowhere and enters no metric",
    "result.json: performance.load_seconds": "a time of the wall clock",
    "result.json: performance.simulation_seconds": "a time of the wall clock",
    "result.json: performance.cpu_seconds": "a time of the wall clock",
    "result.json: performance.peak_memory_mib": "memory of the process that simulated",
    "result.json: made_from.code": "a digest of the package's source, which only another copy of it could tell",
    "result.json: made_from.packages": "versions of libraries that were installed elsewhere",
    "result.json: made_from.simgrid": "versions of libraries that were installed elsewhere",
    "result.json: made_from.settings.timeout": "how long a Batsim may be silent, which changes no run that ended",
    "decisions.jsonl: spaces": "no value changes",
}


def kind(name: str) -> Callable[[Kind], Kind]:
    """Put a function into the table."""

    def register(change: Kind) -> Kind:
        TAMPERINGS[name] = change
        return change

    return register


def one_of(draw: Draw, listed: list[Any]) -> Any:
    return listed[int(draw.integers(len(listed)))]


def other(value: str, draw: Draw) -> str:
    """Return another text of the same kind: a number that differs, a word with one more letter."""
    try:
        number = float(value)
    except ValueError:
        return {"COMPLETED_SUCCESSFULLY": "COMPLETED_FAILED", "": "x"}.get(value, value + "x")
    changed = number + float(draw.choice([1.0, 3.0, 10.0]))
    return f"{changed:.6f}" if "." in value else str(int(changed))


# ---------------------------------------------------------------------- tables


def read_table(path: Path) -> list[list[str]]:
    with path.open(newline="") as file:
        return list(csv.reader(file))


def write_table(path: Path, table: list[list[str]]) -> None:
    with path.open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(table)


def cell(file: str, column: str) -> None:
    """Register that a value in a column of a table is another one."""

    @kind(f"{file}: {column}")
    def change(folder: Path, draw: Draw) -> str:
        path = folder / file
        table = read_table(path) if path.is_file() else [[]]
        if column not in table[0]:
            return ""
        at = table[0].index(column)
        rows = [row for row in table[1:] if row[at] or column == "metadata"]
        if not rows:
            return ""
        row = one_of(draw, rows)
        before, row[at] = row[at], other(row[at], draw)
        write_table(path, table)
        return f"{file}: {column} of {row[0]} from {before!r} to {row[at]!r}"


#: Columns of schedule.csv.
SUMS = (
    "batsim_version,consumed_joules,makespan,max_slowdown,max_turnaround_time,max_waiting_time,mean_slowdown,"
    "mean_turnaround_time,mean_waiting_time,nb_computing_machines,nb_grouped_switches,nb_jobs,nb_jobs_finished,"
    "nb_jobs_killed,nb_jobs_rejected,nb_jobs_success,nb_machine_switches,scheduling_time,simulation_time,success_rate,"
    "time_computing,time_idle,time_sleeping,time_switching_off,time_switching_on"
)
for _file, _columns in {
    "jobs.csv": job_rows.HEADER,
    "schedule.csv": SUMS,
    "machine_states.csv": "time,nb_sleeping,nb_switching_on,nb_idle,nb_computing",
    "units.csv": outputs.UNITS_HEADER,
    "lineage.csv": "parent",
    "decision_times.csv": "time,seconds",
    "network.csv": "compactness,locality_factor,links,shared_links,shared_time",
}.items():
    for _column in _columns.strip().split(","):
        cell(_file, _column)


def rows_of(file: str) -> None:
    """Register that a row of a table is removed, doubled, or stands elsewhere."""

    def edit(name: str, change: Callable[[list[list[str]], int], None]) -> None:
        @kind(f"{file}: row {name}")
        def apply(folder: Path, draw: Draw) -> str:
            path = folder / file
            table = read_table(path) if path.is_file() else []
            if len(table) < 4:
                return ""
            at = int(draw.integers(1, len(table) - 1))
            change(table, at)
            write_table(path, table)
            return f"{file}: row {at} {name}"

    def swap(table: list[list[str]], at: int) -> None:
        table[at], table[at + 1] = table[at + 1], table[at]

    edit("removed", lambda table, at: table.pop(at) and None)
    edit("doubled", lambda table, at: table.insert(at, table[at]))
    edit("moved", swap)


for _file in ("jobs.csv", "machine_states.csv", "decision_times.csv", "network.csv"):
    rows_of(_file)


def on_file(file: str, name: str, change: Callable[[Path], object]) -> None:
    """Register that a whole file is changed, where there is one."""

    @kind(f"{file}: {name}")
    def apply(folder: Path, draw: Draw) -> str:
        path = folder / file
        if not path.is_file():
            return ""
        change(path)
        return f"{file}: {name}"


def _first_decision_took(path: Path, text: str) -> None:
    table = read_table(path)
    table[1][1] = text
    write_table(path, table)


def _half(path: Path) -> None:
    lines = path.read_text().splitlines()
    path.write_text("\n".join([*lines[: len(lines) // 2], ""]))


on_file("jobs.csv", "column removed", lambda path: write_table(path, [row[:-1] for row in read_table(path)]))
on_file("jobs.csv", "blank line", lambda path: path.write_text(path.read_text() + "\n"))
on_file("decision_times.csv", "negative", lambda path: _first_decision_took(path, "-0.000100000"))
on_file("decision_times.csv", "nan", lambda path: _first_decision_took(path, "nan"))
on_file("decisions.jsonl", "cut off", _half)
on_file("decisions.jsonl", "spaces", lambda path: path.write_text(path.read_text().replace('{"dir":', '{  "dir":')))
_OPTIONAL = ("schedule.csv", "machine_states.csv", "units.csv", "lineage.csv", "decisions.jsonl", "decision_times.csv")
for _file in _OPTIONAL:
    on_file(_file, "gone", Path.unlink)
for _file in ("jobs.csv", *_OPTIONAL):
    on_file(_file, "emptied", lambda path: path.write_text(""))


# ---------------------------------------------------------------------- solver.jsonl


def plan(name: str, change: Callable[[dict[str, Any], Draw], None]) -> None:
    """Register that a line of solver.jsonl says something else."""

    @kind(f"solver.jsonl: {name}")
    def apply(folder: Path, draw: Draw) -> str:
        path = folder / "solver.jsonl"
        lines = [json.loads(line) for line in path.read_text().splitlines()] if path.is_file() else []
        some = [line for line in lines if isinstance(line.get("cost"), int | float) and line["cost"]]
        if not some:
            return ""
        change(one_of(draw, some), draw)
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
        return f"solver.jsonl: {name}"


plan("cost", lambda line, draw: line.update(cost=line["cost"] * 0.5))
plan("bound", lambda line, draw: line.update(bound=(line["bound"] or 1.0) * 0.5 - 1))
plan("gap", lambda line, draw: line.update(gap=0.25))
plan("status", lambda line, draw: line.update(status="OPTIMAL" if line["status"] != "OPTIMAL" else "FEASIBLE"))
plan("now", lambda line, draw: line.update(now=line["now"] + 0.123))
plan("variables", lambda line, draw: line.update(variables=line["variables"] + 7))
plan("negative time", lambda line, draw: line.update(solve_seconds=-1.0))


@kind("solver.jsonl: line missing")
def line_missing(folder: Path, draw: Draw) -> str:
    path = folder / "solver.jsonl"
    if not path.is_file():
        return ""
    lines = path.read_text().splitlines()
    lines.pop(int(draw.integers(len(lines))))
    path.write_text("\n".join([*lines, ""]))
    return "solver.jsonl: a line is gone"


# ---------------------------------------------------------------------- result.json


def changed(value: Any) -> Any:
    if isinstance(value, bool) or value is None:
        return not value
    if isinstance(value, int | float):
        return value + 1 if value else 0.5
    if isinstance(value, str):
        return value + "x"
    return {**value, "more": 1} if isinstance(value, dict) else [*value, 1]


def on_result(name: str, change: Callable[[dict[str, Any], Draw], str]) -> None:
    """Register a change of result.json; it returns what it changed, or nothing where there is no such thing."""

    @kind(f"result.json: {name}")
    def apply(folder: Path, draw: Draw) -> str:
        result = json.loads((folder / "result.json").read_text())
        what = change(result, draw)
        if what:
            (folder / "result.json").write_text(json.dumps(result))
        return f"result.json: {what}" if what else ""


def within(result: dict[str, Any], path: str, draw: Draw) -> tuple[dict[str, Any], str]:
    """Return what holds a value of result.json, and its name there; ``*`` stands for any but a time limit."""
    *outer, last = path.split(".")
    inner = result
    for name in outer:
        inner = inner.get(name) or {}
    return inner, one_of(draw, sorted(inner.keys() - {"timeout"})) if last == "*" and inner else last


def said(path: str) -> None:
    """Register that a value of result.json, or one within it, is another one."""

    def change(result: dict[str, Any], draw: Draw) -> str:
        inner, last = within(result, path, draw)
        if last not in inner:
            return ""
        before, inner[last] = inner[last], changed(inner[last])
        return f"{path.removesuffix('*')}{last} from {before!r} to {inner[last]!r}"

    on_result(path, change)


def missing(path: str) -> None:
    """Register that a value of result.json is missing."""

    def change(result: dict[str, Any], draw: Draw) -> str:
        inner, last = within(result, path, draw)
        del inner[last]
        return f"{path.removesuffix('*')}{last} is gone"

    on_result(f"removed {path}", change)


#: Where a value stands -> names of values; * is any of them.
_VALUES = {
    "": "batdispatch python dispatcher label seed decision_time recorded clock command fallbacks dynamic_jobs rejected",
    "options": "*",
    "engine": "name",
    "platform": "hosts sha256 resources",
    "workload": "jobs sha256",
    "decisions": "count seconds_total seconds_mean seconds_p50 seconds_max",
    "metrics": "* mean_waiting_time mean_bounded_slowdown utilisation makespan user_fairness fragmentation"
    " mean_compactness free_fragmentation",
    "attempts": "*",
    "report": "*",
    "performance": "messages load_seconds simulation_seconds cpu_seconds peak_memory_mib",
    "made_from.settings": "* seed timeout dispatcher",
    "made_from.sha256": "platform workload",
    "made_from": "batdispatch python code packages simgrid",
}
for _place, _names in _VALUES.items():
    for _name in _names.split():
        said(f"{_place}.{_name}".removeprefix("."))
for _path in ("metrics.*", "made_from", "decision_clock", "made_from.sha256.platform"):
    missing(_path)


def _another_reason(result: dict[str, Any], draw: Draw) -> str:
    if not result["rejected"]:
        return ""
    one_of(draw, result["rejected"])["reason"] = "asks for too much"
    return "a job asked for too much"


on_result("another reason", _another_reason)
on_result("praise", lambda result, draw: "verified" if result.update(verified=True) is None else "")


# ---------------------------------------------------------------------- decisions.jsonl


def frames(name: str, change: Callable[[list[dict[str, Any]], Draw], bool | None]) -> None:
    """Register a change of the recorded exchange; it returns whether there was something to change."""

    @kind(f"decisions.jsonl: {name}")
    def apply(folder: Path, draw: Draw) -> str:
        path = folder / "decisions.jsonl"
        if not path.is_file():
            return ""
        lines = [json.loads(line) for line in path.read_text().splitlines()]
        read = [json.loads(line["raw"]) for line in lines]
        if change(read, draw) is False:
            return ""
        texts = [
            json.dumps({"dir": line["dir"], "raw": json.dumps(one)}) for line, one in zip(lines, read, strict=False)
        ]
        path.write_text("\n".join([*texts, ""]))
        return f"decisions.jsonl: {name}"


def on_events(name: str, kinds: str, change: Callable[[dict[str, Any], Draw], Any]) -> None:
    def apply(read: list[dict[str, Any]], draw: Draw) -> bool:
        some = [event for frame in read for event in frame["events"] if event["type"] in kinds.split()]
        if some:
            change(one_of(draw, some), draw)
        return bool(some)

    frames(name, apply)


def drop(kind_of_event: str) -> None:
    def apply(read: list[dict[str, Any]], draw: Draw) -> bool:
        some = [(frame, event) for frame in read for event in frame["events"] if event["type"] == kind_of_event]
        if some:
            frame, event = one_of(draw, some)
            frame["events"].remove(event)
        return bool(some)

    frames(f"{kind_of_event} gone", apply)


for _decision in ("EXECUTE_JOB", "REJECT_JOB", "KILL_JOB", "REGISTER_JOB"):
    drop(_decision)
for _event in ("JOB_SUBMITTED", "JOB_COMPLETED", "REQUESTED_CALL", "NOTIFY", "SIMULATION_ENDS"):
    drop(_event)
on_events("alloc", "EXECUTE_JOB", lambda event, draw: event["data"].update(alloc=event["data"]["alloc"] + " 7"))
on_events("event late", "EXECUTE_JOB JOB_COMPLETED", lambda event, draw: event.update(timestamp=event["timestamp"] + 2))
on_events(
    "end in another state", "JOB_COMPLETED", lambda event, draw: event["data"].update(job_state="COMPLETED_KILLED")
)
on_events("return code", "JOB_COMPLETED", lambda event, draw: event["data"].update(return_code=9))
on_events("job of another size", "JOB_SUBMITTED", lambda event, draw: event["data"]["job"].update(res=99))
on_events("job of another user", "JOB_SUBMITTED", lambda event, draw: event["data"]["job"].update(user="mallory"))
on_events("another machine", "SIMULATION_BEGINS", lambda event, draw: event["data"]["compute_resources"].pop())
