"""What somebody may change in the folder of a run: a table of kinds, each a function that edits one thing.

A kind takes a folder and a source of chance, edits, and says what it changed; it says nothing where the folder has no
such thing. Whoever tampers recomputes the digests, see `sealing`.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

Draw = np.random.Generator
Kind = Callable[[Path, Draw], str]
#: Kind of tampering -> what does it.
TAMPERINGS: dict[str, Kind] = {}
#: Kinds that nothing in a folder contradicts -> why they mislead nobody.
HARMLESS = {
    "jobs.csv: blank line": "no value changes",
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


for _column in [
    "job_id",
    "workload_name",
    "profile",
    "submission_time",
    "requested_number_of_resources",
    "requested_time",
    "success",
    "final_state",
    "starting_time",
    "execution_time",
    "finish_time",
    "waiting_time",
    "turnaround_time",
    "stretch",
    "allocated_resources",
    "consumed_energy",
    "metadata",
]:
    cell("jobs.csv", _column)
for _column in [
    "batsim_version",
    "consumed_joules",
    "makespan",
    "max_slowdown",
    "max_turnaround_time",
    "max_waiting_time",
    "mean_slowdown",
    "mean_turnaround_time",
    "mean_waiting_time",
    "nb_computing_machines",
    "nb_grouped_switches",
    "nb_jobs",
    "nb_jobs_finished",
    "nb_jobs_killed",
    "nb_jobs_rejected",
    "nb_jobs_success",
    "nb_machine_switches",
    "scheduling_time",
    "simulation_time",
    "success_rate",
    "time_computing",
    "time_idle",
    "time_sleeping",
    "time_switching_off",
    "time_switching_on",
]:
    cell("schedule.csv", _column)
for _file, _columns in {
    "machine_states.csv": "time nb_sleeping nb_switching_on nb_idle nb_computing",
    "units.csv": "job_id allocated_resources units",
    "lineage.csv": "parent",
    "decision_times.csv": "time seconds",
    "network.csv": "compactness locality_factor links shared_links shared_time",
}.items():
    for _column in _columns.split():
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


@kind("jobs.csv: column removed")
def column_removed(folder: Path, draw: Draw) -> str:
    table = read_table(folder / "jobs.csv")
    write_table(folder / "jobs.csv", [row[:-1] for row in table])
    return "jobs.csv: the column metadata is gone"


@kind("jobs.csv: blank line")
def blank_line(folder: Path, draw: Draw) -> str:
    path = folder / "jobs.csv"
    path.write_text(path.read_text() + "\n")
    return "jobs.csv: a blank line at the end"


@kind("decision_times.csv: negative")
def negative_seconds(folder: Path, draw: Draw) -> str:
    return _seconds(folder, "-0.000100000")


@kind("decision_times.csv: nan")
def seconds_nan(folder: Path, draw: Draw) -> str:
    return _seconds(folder, "nan")


def _seconds(folder: Path, text: str) -> str:
    path = folder / "decision_times.csv"
    if not path.is_file():
        return ""
    table = read_table(path)
    table[1][1] = text
    write_table(path, table)
    return f"decision_times.csv: a decision took {text} s"


def removed(file: str) -> None:
    """Register that a file is gone."""

    @kind(f"{file}: gone")
    def change(folder: Path, draw: Draw) -> str:
        path = folder / file
        if not path.is_file():
            return ""
        path.unlink()
        return f"{file} is gone"


for _file in (
    "schedule.csv",
    "machine_states.csv",
    "units.csv",
    "lineage.csv",
    "decisions.jsonl",
    "decision_times.csv",
):
    removed(_file)


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


def said(path: str) -> None:
    """Register that a value of result.json, or one within it, is another one, and that it is missing."""

    def place(folder: Path) -> tuple[dict[str, Any], dict[str, Any], str]:
        result = json.loads((folder / "result.json").read_text())
        *outer, last = path.split(".")
        inner = result
        for name in outer:
            inner = inner.get(name) or {}
        return result, inner, last

    @kind(f"result.json: {path}")
    def change(folder: Path, draw: Draw) -> str:
        result, inner, last = place(folder)
        if last == "*":
            last = one_of(draw, sorted(inner.keys() - {"timeout"})) if inner else ""
        if last not in inner:
            return ""
        before, inner[last] = inner[last], changed(inner[last])
        (folder / "result.json").write_text(json.dumps(result))
        return f"result.json: {path.removesuffix('*')}{last} from {before!r} to {inner[last]!r}"


for _path in [
    "batdispatch",
    "python",
    "dispatcher",
    "label",
    "options.*",
    "seed",
    "decision_time",
    "engine.name",
    "recorded",
    "clock",
    "command",
    "platform.hosts",
    "platform.sha256",
    "platform.resources",
    "workload.jobs",
    "workload.sha256",
    "decisions.count",
    "decisions.seconds_total",
    "decisions.seconds_mean",
    "decisions.seconds_p50",
    "decisions.seconds_max",
    "fallbacks",
    "dynamic_jobs",
    "metrics.*",
    "metrics.mean_waiting_time",
    "metrics.mean_bounded_slowdown",
    "metrics.utilisation",
    "metrics.makespan",
    "metrics.user_fairness",
    "metrics.fragmentation",
    "metrics.mean_compactness",
    "metrics.free_fragmentation",
    "attempts.*",
    "report.*",
    "performance.messages",
    "performance.load_seconds",
    "performance.simulation_seconds",
    "performance.cpu_seconds",
    "performance.peak_memory_mib",
    "made_from.settings.*",
    "made_from.settings.seed",
    "made_from.settings.timeout",
    "made_from.settings.dispatcher",
    "made_from.sha256.platform",
    "made_from.sha256.workload",
    "made_from.batdispatch",
    "made_from.python",
    "made_from.code",
    "made_from.packages",
    "made_from.simgrid",
    "rejected",
]:
    said(_path)


def missing(name: str) -> None:
    """Register that a value of result.json is missing."""

    @kind(f"result.json: removed {name}")
    def change(folder: Path, draw: Draw) -> str:
        result = json.loads((folder / "result.json").read_text())
        *outer, last = name.split(".")
        inner = result
        for each in outer:
            inner = inner[each]
        if last == "*":
            last = one_of(draw, sorted(inner))
        del inner[last]
        (folder / "result.json").write_text(json.dumps(result))
        return f"result.json: {name.removesuffix('*')}{last} is gone"


for _path in ("metrics.*", "made_from", "decision_clock", "made_from.sha256.platform"):
    missing(_path)


@kind("result.json: another reason")
def another_reason(folder: Path, draw: Draw) -> str:
    result = json.loads((folder / "result.json").read_text())
    if not result["rejected"]:
        return ""
    one_of(draw, result["rejected"])["reason"] = "asks for too much"
    (folder / "result.json").write_text(json.dumps(result))
    return "result.json: a job asked for too much"


@kind("result.json: praise")
def praise(folder: Path, draw: Draw) -> str:
    result = json.loads((folder / "result.json").read_text())
    (folder / "result.json").write_text(json.dumps({**result, "verified": True}))
    return "result.json: verified"


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


for _kind in [
    "EXECUTE_JOB",
    "REJECT_JOB",
    "KILL_JOB",
    "REGISTER_JOB",
    "JOB_SUBMITTED",
    "JOB_COMPLETED",
    "REQUESTED_CALL",
    "NOTIFY",
    "SIMULATION_ENDS",
]:
    drop(_kind)
on_events("alloc", "EXECUTE_JOB", lambda event, draw: event["data"].update(alloc=event["data"]["alloc"] + " 7"))
on_events("event late", "EXECUTE_JOB JOB_COMPLETED", lambda event, draw: event.update(timestamp=event["timestamp"] + 2))
on_events(
    "end in another state", "JOB_COMPLETED", lambda event, draw: event["data"].update(job_state="COMPLETED_KILLED")
)
on_events("return code", "JOB_COMPLETED", lambda event, draw: event["data"].update(return_code=9))
on_events("job of another size", "JOB_SUBMITTED", lambda event, draw: event["data"]["job"].update(res=99))
on_events("job of another user", "JOB_SUBMITTED", lambda event, draw: event["data"]["job"].update(user="mallory"))
on_events("another machine", "SIMULATION_BEGINS", lambda event, draw: event["data"]["compute_resources"].pop())


@kind("decisions.jsonl: cut off")
def cut_off(folder: Path, draw: Draw) -> str:
    path = folder / "decisions.jsonl"
    if not path.is_file():
        return ""
    lines = path.read_text().splitlines()
    path.write_text("\n".join([*lines[: len(lines) // 2], ""]))
    return "decisions.jsonl: half of it is gone"


@kind("decisions.jsonl: spaces")
def spaces(folder: Path, draw: Draw) -> str:
    path = folder / "decisions.jsonl"
    if not path.is_file():
        return ""
    path.write_text(path.read_text().replace('{"dir":', '{  "dir":'))
    return "decisions.jsonl: spaces"


def emptied(file: str) -> None:
    """Register that a file is there, and nothing in it."""

    @kind(f"{file}: emptied")
    def change(folder: Path, draw: Draw) -> str:
        path = folder / file
        if not path.is_file():
            return ""
        path.write_text("")
        return f"{file} is empty"


for _file in ("jobs.csv", "schedule.csv", "machine_states.csv", "units.csv", "lineage.csv", "decision_times.csv"):
    emptied(_file)
emptied("decisions.jsonl")
