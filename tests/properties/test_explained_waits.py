"""What holds for the explanation of any job's wait, under any dispatcher: checked against the output files."""

import math
import tempfile
from itertools import pairwise
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from batdispatch.core.capacity.granularity import space_of
from batdispatch.core.hosts.allocation import Allocation
from batdispatch.core.hosts.hostset import mask_of
from batdispatch.core.jobs.job import JobState
from batdispatch.core.line import events as e
from batdispatch.core.machine.machine import Machine
from batdispatch.explain import wait_causes
from batdispatch.explain.records import Explanation, Phase
from batdispatch.explain.run_parts import placement_of, predictions_of
from batdispatch.explain.wait_causes import explain
from batdispatch.explain.witness import witness_of
from batdispatch.results.runs import Result as RunResult
from recording import record
from simulating import Result, Task, micro, simulate
from strategies import exclusive_machines, machines, make_job, workloads

DISPATCHERS = ["fcfs", "filler", "easy", "conservative", "hcp19", "pcp20"]


def explained(result: Result, tasks: list[Task]) -> dict[str, Explanation]:
    with tempfile.TemporaryDirectory() as folder:
        path = record(result, Path(folder) / "decisions.jsonl")
        found = explain(path, [task.id for task in tasks], holders=2)
    return dict(zip([task.id for task in tasks], found, strict=True))


def free_at(machine: Machine, tasks: list[Task], result: Result, moment: int) -> np.ndarray:
    """What the output files leave free at a time in microseconds, int64 [host, resource]."""
    free = machine.capacity.copy()
    demands = {task.id: task.request().per_unit for task in tasks}
    for row in result.rows.values():
        if row.state is not JobState.REJECTED and row.start <= moment < row.end:
            demand = None if machine.exclusive else demands[row.id]
            for host, count in row.units.items():
                each = [count * dict(demand or ()).get(name, 0) for name in machine.resources]
                free[host] -= machine.capacity[host] if demand is None else np.array(each)
    return free


def check_cover(phases: list[Phase], start: float, end: float) -> None:
    edges = [start, *(phase.end for phase in phases)]
    assert [phase.start for phase in phases] == edges[:-1], "a gap or an overlap"
    assert edges[-1] == end
    assert all(phase.end > phase.start for phase in phases)
    for one, next_one in pairwise(phases):
        assert (one.kind, one.short, one.by, one.line) != (next_one.kind, next_one.short, next_one.by, next_one.line)


def check_amounts(explanation: Explanation, holders: int = 2) -> None:
    """Free, held and away make up the machine, in the mean over each phase."""
    for phase in explanation.phases:
        assert len(phase.holders) <= holders
        for name, total in explanation.capacity.items():
            held = sum(holder.amounts.get(name, 0) * holder.seconds for holder in phase.holders) / phase.seconds
            parts = (phase.free[name].mean, held, phase.others_held[name], phase.away[name])
            assert sum(parts) == pytest.approx(total, abs=1e-4)
            assert all(part > -1e-4 for part in parts)
            assert phase.free[name].least - 1e-4 <= phase.free[name].mean <= phase.free[name].most + 1e-4


def check_kinds(machine: Machine, tasks: list[Task], result: Result, task: Task, explanation: Explanation) -> None:
    """At every moment of a phase the output files say the same of the job's chances as its kind does."""
    space, job = space_of(machine), make_job(units=task.units, demand=task.demand)
    events = {row.start for row in result.rows.values()} | {row.end for row in result.rows.values()}
    for phase in explanation.phases:
        begin, end = micro(phase.start), micro(phase.end)
        for moment in {begin, *(time for time in events if begin <= time < end)}:
            free = free_at(machine, tasks, result, moment)
            nodes = mask_of(np.flatnonzero(free[:, 0]).tolist()) if machine.exclusive else free
            room = min(int(space.room(nodes, job).sum()), task.units)
            assert (room == task.units) == (phase.kind == "room")
            assert phase.room[0] <= room <= phase.room[1]
            for axis, name in enumerate(machine.resources):
                assert phase.free[name].least <= free[:, axis].sum() <= phase.free[name].most
                asked = explanation.asked.get(name)
                if phase.kind == "scattered":
                    assert asked is None or free[:, axis].sum() >= asked
                elif phase.kind == "short" and name in phase.short:
                    assert asked is not None
                    assert free[:, axis].sum() < asked


@given(data=st.data(), name=st.sampled_from(DISPATCHERS))
def test_phases_cover_the_wait_and_agree_with_the_output_files(data: st.DataObject, name: str) -> None:
    machine = data.draw(machines())
    tasks = data.draw(workloads(machine))
    result = simulate(machine, tasks, name)
    found = explained(result, tasks)
    ranks = {task.id: rank for rank, task in enumerate(sorted(tasks, key=lambda task: (task.submission, task.id)))}
    for task in tasks:
        explanation, row = found[task.id], result.rows[task.id]
        check_amounts(explanation)
        assert micro(explanation.submission) == micro(task.submission)
        check_cover(explanation.phases, explanation.submission, explanation.until)
        if row.state is JobState.REJECTED:
            assert explanation.outcome == "rejected"
            assert explanation.reason
            continue
        assert explanation.outcome == "started"
        assert (micro(explanation.until), micro(explanation.end or math.nan)) == (row.start, row.end)
        check_kinds(machine, tasks, result, task, explanation)
        later = {
            other.id
            for other in tasks
            if ranks[other.id] > ranks[task.id]
            and result.rows[other.id].state is not JobState.REJECTED
            and result.rows[other.id].start < row.start
        }
        assert {overtaker.job.partition("!")[2] for overtaker in explanation.overtakers} == later


@given(
    data=st.data(),
    name=st.sampled_from(DISPATCHERS),
    decision_time=st.sampled_from([0.0, 0.3, 2.5]),
)
def test_phases_cover_the_wait_when_deciding_takes_time_and_hosts_go_away(
    data: st.DataObject, name: str, decision_time: float
) -> None:
    machine = data.draw(machines())
    tasks = data.draw(workloads(machine, impossible=False))
    hosts = Allocation(data.draw(st.integers(1, 2 ** len(machine.hosts) - 1)))
    away = [e.MachinesUnavailable(data.draw(st.integers(0, 15)) + 0.25, hosts), e.MachinesAvailable(30.0, hosts)]
    result = simulate(machine, tasks, name, decision_time=decision_time, events=away)
    for task, explanation in zip(tasks, explained(result, tasks).values(), strict=True):
        row = result.rows[task.id]
        check_amounts(explanation)
        check_cover(explanation.phases, explanation.submission, explanation.until)
        assert (micro(explanation.submission), micro(explanation.until)) == (micro(task.submission), row.start)
        assert micro(explanation.seconds("deciding")) >= micro(decision_time)


def has_range(free: np.ndarray, count: int) -> bool:
    """Whether as many consecutive hosts are free."""
    return "1" * count in "".join("1" if amount else "0" for amount in free[:, 0])


@given(data=st.data(), name=st.sampled_from(["fcfs", "easy", "conservative"]))
def test_a_placement_is_blamed_where_and_only_where_it_finds_no_place(data: st.DataObject, name: str) -> None:
    machine = data.draw(exclusive_machines())
    tasks = data.draw(workloads(machine))
    result = simulate(machine, tasks, name, options={"placement": "contiguous"})
    with tempfile.TemporaryDirectory() as folder:
        path = record(result, Path(folder) / "decisions.jsonl")
        found = explain(path, [task.id for task in tasks], placement="contiguous")
    events = {row.start for row in result.rows.values()} | {row.end for row in result.rows.values()}
    for task, explanation in zip(tasks, found, strict=True):
        check_amounts(explanation, holders=5)
        check_cover(explanation.phases, explanation.submission, explanation.until)
        for phase in explanation.phases:
            begin, end = micro(phase.start), micro(phase.end)
            for moment in {begin, *(time for time in events if begin <= time < end)}:
                # A storage host breaks no range.
                disks = [host.id for host in machine.hosts if host.storage]
                free = np.delete(free_at(machine, tasks, result, moment), disks, axis=0)
                kind = "room" if has_range(free, task.units) else "placement" if free.sum() >= task.units else "short"
                assert phase.kind == kind


#: Options that make an explanation ask for more than jobs and hosts: what is expected, the placement, the order.
OPTIONS = [
    ("fcfs", {}),
    ("easy", {}),
    ("easy", {"ordering": "wfp3"}),
    ("easy", {"ordering": "multifactor"}),
    ("easy", {"ordering": "late-first[after=3]"}),
    ("easy", {"prediction": "last-two"}),
    ("conservative", {"placement": "contiguous"}),
    ("pcp20", {}),
]


@settings(max_examples=30)
@given(data=st.data(), asked=st.sampled_from(OPTIONS), decision_time=st.sampled_from([0.0, 0.3]))
def test_part_of_a_recording_says_what_the_whole_of_it_says(
    data: st.DataObject, asked: tuple[str, dict[str, str]], decision_time: float
) -> None:
    name, options = asked
    machine = data.draw(exclusive_machines() if "placement" in options else machines())
    tasks = data.draw(workloads(machine, most=20, impossible=decision_time == 0.0))
    hosts = Allocation(data.draw(st.integers(1, 2 ** len(machine.hosts) - 1)))
    away = [e.MachinesUnavailable(data.draw(st.integers(0, 15)) + 0.25, hosts), e.MachinesAvailable(30.0, hosts)]
    result = simulate(machine, tasks, name, options=options, decision_time=decision_time, events=away)
    wanted = data.draw(st.lists(st.sampled_from([task.id for task in tasks]), min_size=1, max_size=3, unique=True))

    def explanations(path: Path) -> list[Explanation]:
        run = RunResult(dispatcher=name, options=options)
        witness = witness_of(path.parent, run)
        predictions, placement = predictions_of(run), placement_of(run)
        return explain(path, wanted, placement=placement, witness=witness, predictions=predictions)

    with tempfile.TemporaryDirectory() as folder:
        path = record(result, Path(folder) / "decisions.jsonl")
        part = explanations(path)
        with patch.object(wait_causes, "excerpt_of", return_value=None):
            whole = explanations(path)
    assert part == whole
