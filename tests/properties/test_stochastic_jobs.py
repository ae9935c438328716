"""What holds for every dispatcher of stochastic jobs, read from the output files: no job is lost, attempts in order."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from batdispatch.core import events as e
from batdispatch.core.allocation import Allocation
from batdispatch.core.job import JobState
from batdispatch.core.machine import Machine
from batdispatch.dispatchers.stochastic.attempts import MARGIN, MARK
from batdispatch.engines.records import EngineOptions
from batdispatch.parts.requests.laws import parse_law
from simulating import Result, Row, Task, audit, micro, simulate
from strategies import machines, workloads

NAMES = ["stochastic-batch", "stochastic-easy", "stochastic-conservative"]
LAWS = ["tnorm:0,20,8,4", "texp:0.5,12,3", "beta:2,2,1,9", "empirical:1,2,3,5,8", "tlognorm:0.5,9,1,1"]
KILLED = (JobState.COMPLETED_KILLED, JobState.COMPLETED_WALLTIME_REACHED)

quick = settings(
    max_examples=25,
    deadline=None,
    phases=[Phase.reuse, Phase.generate],
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


@st.composite
def stochastic_workloads(draw: st.DrawFn, machine: Machine) -> list[Task]:
    """Jobs of which most state a law; their run times need not follow it."""
    tasks = []
    for task in draw(workloads(machine, most=10)):
        extra: dict[str, Any] = {}
        if draw(st.integers(0, 3)):
            extra["runtime_law"] = draw(st.sampled_from(LAWS))
            if draw(st.booleans()):
                extra["history"] = draw(st.lists(st.integers(1, 9), max_size=4))
        tasks.append(task._replace(extra=extra))
    return tasks


@st.composite
def options(draw: st.DrawFn, name: str) -> dict[str, Any]:
    given: dict[str, Any] = {
        "requests": draw(st.sampled_from(["hpc", "toptimal", "atoptimal", "neuroscience", "factor"])),
        "grid": "12",
        "ordering": draw(st.sampled_from(["fcfs", "sjf", "largest-area", "wfp3"])),
    }
    if draw(st.booleans()):
        given["rate"] = draw(st.sampled_from(["0", "0.3", "1"]))
    if draw(st.integers(0, 3)) == 0:
        given["placement"] = "contiguous"
    if name == "stochastic-batch":
        given["plan"] = draw(st.sampled_from(["rigid", "repack"]))
        given["speculate"] = draw(st.sampled_from(["true", "false"]))
        given["batch"] = draw(st.sampled_from(["1", "3", "100"]))
    return given


def attempts_of(result: Result) -> dict[str, list[Row]]:
    """The rows of each submitted job, in order of attempts."""
    found: dict[str, list[tuple[int, Row]]] = {}
    for row in result.rows.values():
        root, _, number = row.id.partition(MARK)
        found.setdefault(root, []).append((int(number or 1), row))
    return {root: [row for _, row in sorted(rows)] for root, rows in found.items()}


def check(machine: Machine, tasks: list[Task], result: Result) -> None:
    by_id = {task.id: task for task in tasks}
    attempts = attempts_of(result)
    assert sorted(attempts) == sorted(by_id), "a job was lost"
    seen = []
    for root, rows in attempts.items():
        task = by_id[root]
        if rows[0].state is JobState.REJECTED:
            assert len(rows) == 1
            seen.append(task)
            continue
        for before, after in pairwise(rows):
            assert before.end <= after.start, "two attempts at once"
        for row in rows:
            killed = row.state in KILLED
            lasted = (row.end - row.start) / 1e6
            seen.append(
                task._replace(id=row.id, runtime=lasted, walltime=lasted if killed else task.runtime + 1, extra={})
            )
            assert killed or row.end - row.start == micro(task.runtime)
            assert not killed or lasted <= task.runtime + 1e-6
        if "runtime_law" in task.extra:
            assert [row.state for row in rows[:-1]] == [row.state for row in rows[:-1] if row.state in KILLED]
            assert rows[-1].state is JobState.COMPLETED_SUCCESSFULLY
        else:
            assert len(rows) == 1
    # Killed or at its walltime: the audit of the baselines knows only one.
    same = {row.id: row._replace(state=KILLED[1]) if row.state is KILLED[0] else row for row in result.rows.values()}
    audit(machine, seen, result._replace(rows=same))


@pytest.mark.parametrize("name", NAMES)
@quick
@given(data=st.data())
def test_every_job_succeeds_at_last(name: str, data: st.DataObject) -> None:
    machine = data.draw(machines(), label="machine")
    tasks = data.draw(stochastic_workloads(machine), label="tasks")
    chosen = data.draw(options(name), label="options")
    kind = data.draw(st.sampled_from(["plain", "plain", "split", "silent", "slow", "absent"]), label="kind")
    arguments: dict[str, Any] = {
        "plain": {},
        "split": {"engine": EngineOptions(dynamic_jobs=True, split_simultaneous=True)},
        "silent": {"engine": EngineOptions(dynamic_jobs=True, acknowledge_dynamic_jobs=False)},
        "slow": {"decision_time": data.draw(st.sampled_from([1e-6, 0.3]))},
        "absent": {
            "events": [
                e.MachinesUnavailable(3.0, Allocation(1)),
                e.MachinesAvailable(11.0, Allocation(1)),
            ]
        },
    }[kind]
    result = simulate(machine, tasks, name, options=chosen, **arguments)
    check(machine, tasks, result)
    assert simulate(machine, tasks, name, options=chosen, **arguments).files == result.files


@quick
@given(data=st.data())
def test_attempts_end_at_their_requests(data: st.DataObject) -> None:
    """Without speculation, the failed attempts of a job last its sequence of requests."""
    machine = data.draw(machines(), label="machine")
    tasks = [task._replace(walltime=float("inf")) for task in data.draw(stochastic_workloads(machine), label="tasks")]
    requests = data.draw(st.sampled_from(["hpc", "factor"]))
    name = data.draw(st.sampled_from(NAMES))
    result = simulate(machine, tasks, name, options={"requests": requests})
    for root, rows in attempts_of(result).items():
        task = next(task for task in tasks if task.id == root)
        if "runtime_law" not in task.extra or rows[0].state is JobState.REJECTED:
            continue
        law = parse_law(task.extra["runtime_law"])
        first = law.upper if requests == "hpc" else law.mean
        expected = []
        while first * 1.5 ** len(expected) < task.runtime - MARGIN:
            expected.append(micro(first * 1.5 ** len(expected) + MARGIN))
        lasted = [row.end - row.start for row in rows[:-1]]
        assert lasted == pytest.approx(expected, abs=2), (first, task.runtime)
