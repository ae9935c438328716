"""What holds for every dispatcher of stochastic jobs, read from the output files: no job is lost, attempts in order."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batdispatch.abilities.stochastic.attempts import MARGIN
from batdispatch.abilities.stochastic.requests.vocabulary import parse_law
from batdispatch.core.hosts.allocation import Allocation
from batdispatch.core.jobs.job import JobState
from batdispatch.core.line import events as e
from batdispatch.engines.records import EngineOptions
from simulating import simulate
from stochastic import NAMES, attempts_of, check, quick, reserved, stochastic_workloads, with_options
from strategies import machines


@st.composite
def options(draw: st.DrawFn, name: str) -> dict[str, Any]:
    given: dict[str, Any] = {
        "requests": with_options(
            draw(st.sampled_from(["hpc", "toptimal", "atoptimal", "neuroscience", "factor", "list[2,5,9]"])), grid=12
        ),
        "ordering": draw(st.sampled_from(["fcfs", "sjf", "largest-area", "wfp3"])),
    }
    if draw(st.booleans()):
        given["rate"] = draw(st.sampled_from(["0", "0.3", "1"]))
    if draw(st.integers(0, 3)) == 0:
        given["placement"] = "contiguous"
    given["speculate"] = draw(st.sampled_from(["true", "false"]))
    if name == "stochastic-batch":
        given["plan"] = draw(st.sampled_from(["rigid", "repack"]))
        given["batch"] = draw(st.sampled_from(["1", "3", "100"]))
    return given


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
    check(machine, tasks, result, again=chosen["requests"].startswith("list"))
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
            expected.append(reserved(first * 1.5 ** len(expected)))
        lasted = [row.end - row.start for row in rows[:-1]]
        assert lasted == pytest.approx(expected, abs=2), (first, task.runtime)
