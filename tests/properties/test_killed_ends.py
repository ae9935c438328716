"""Jobs that depend on jobs which are killed and go on: decided by how these end at last, however messages are split."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from batdispatch.core.jobs.job import JobState
from batdispatch.core.line.session import DecisionTime
from batdispatch.core.machine.machine import Machine
from batdispatch.engines.choices import Clock
from batdispatch.engines.mail import Delay
from batdispatch.engines.records import EngineOptions
from simulating import Result, Row, Task, simulate

KINDS = ("afterok", "afterany", "afternotok", "after")
#: What the clocks of the engine are made of.
CLOCKS: dict[Clock, dict[str, Any]] = {
    "together": {},
    "apart": {"engine": EngineOptions(dynamic_jobs=True, split_simultaneous=True)},
    "batsim": {"delays": lambda host: Delay(1e-4, 1e-9)},
}


def chained_tasks(rng: np.random.Generator) -> list[Task]:
    """Return malleable, stochastic and other jobs, of which most depend on earlier ones."""
    tasks = []
    for number in range(14):
        runtime, units = float(rng.integers(10, 80)), int(rng.integers(1, 9))
        walltime, extra = runtime * float(rng.uniform(0.8, 4.0)), dict[str, Any]()
        kind = rng.choice(["malleable", "stochastic", "other"])
        if kind == "malleable":
            walltime, extra["sizes"] = runtime * 20, {"least": 1, "most": 8, "kind": "malleable", "steps": 5}
        elif kind == "stochastic":
            walltime, extra["runtime_law"] = float(rng.choice([20.0, 60.0, 1000.0])), "tnorm:0,80,20,8"
        if number and rng.random() < 0.6:
            others = sorted({int(other) for other in rng.integers(0, number, 2)})
            extra["dependencies"] = [{"job": str(other), "kind": str(rng.choice(KINDS))} for other in others]
        tasks.append(Task(str(number), float(rng.integers(0, 60)), units, runtime, walltime, extra=extra))
    return tasks


def segments_that_ran(result: Result) -> dict[str, list[Row]]:
    """Return the rows of each logical job that ran."""
    ledger = result.ledger
    ledger.check()
    segments: dict[str, list[Row]] = {}
    for name, row in result.rows.items():
        segments.setdefault(ledger.root(f"w0!{name}").removeprefix("w0!"), [])
        if row.state is not JobState.REJECTED:
            segments[ledger.root(f"w0!{name}").removeprefix("w0!")].append(row)
    return segments


def wrong_decisions(tasks: list[Task], result: Result) -> Iterator[str]:
    """Yield each start and each rejection that how the jobs ended at last contradicts."""
    reasons = {name.removeprefix("w0!"): reason for name, reason in result.ledger.rejections}
    segments = segments_that_ran(result)
    good = {name for name, rows in segments.items() if any(row.state.value.endswith("SUCCESSFULLY") for row in rows)}
    for task in tasks:
        reason, rows = reasons.get(task.id, ""), segments[task.id]
        asked = {one["job"]: one["kind"] for one in task.extra.get("dependencies", ())}
        for name, kind in asked.items():
            if f"w0!{name}," in reason and (name in good) != (kind == "afternotok"):
                yield f"{task.id}: {reason}"
            if not rows or kind == "after":
                continue
            if (kind == "afterok" and name not in good) or (kind == "afternotok" and name in good):
                yield f"{task.id} started, {kind} {name}"
            if min(row.start for row in rows) < max((row.end for row in segments[name]), default=0):
                yield f"{task.id} started before the end of {name}"


@pytest.mark.parametrize("decision_time", [0.0, 0.5, None])
@pytest.mark.parametrize("clock", CLOCKS)
@pytest.mark.parametrize("dispatcher", ["dmr", "resizing", "attempts", "stochastic-conservative"])
def test_how_a_killed_job_goes_on_decides_about_those_that_depend_on_it(
    dispatcher: str, clock: Clock, decision_time: DecisionTime
) -> None:
    continued = 0
    for seed in range(4):
        tasks = chained_tasks(np.random.default_rng(seed))
        result = simulate(Machine.flat(8), tasks, dispatcher, decision_time=decision_time, **CLOCKS[clock])
        assert list(wrong_decisions(tasks, result)) == []
        continued += sum(len(rows) > 1 for rows in segments_that_ran(result).values())
    assert continued > 2


@pytest.mark.parametrize("decision_time", [0.0, 0.5])
@pytest.mark.parametrize("clock", CLOCKS)
def test_who_depends_on_a_resized_job_starts_when_its_last_segment_has_ended(
    clock: Clock, decision_time: float
) -> None:
    sizes = {"least": 1, "most": 8, "kind": "malleable", "steps": 10}
    tasks = [
        Task("a", 0.0, 4, 100.0, 1000.0, extra={"sizes": sizes}),
        Task("b", 25.0, 2, 30.0, 100.0),
        Task("c", 0.0, 1, 5.0, 10.0, extra={"dependencies": ["a"]}),
    ]
    # Without ticks, for which c would wait some seconds more.
    given: dict[str, Any] = {**CLOCKS[clock], "options": {"tick": 0}}
    result = simulate(Machine.flat(4), tasks, "dmr", decision_time=decision_time, **given)
    segments = segments_that_ran(result)
    assert len(segments["a"]) == 3
    [row] = segments["c"]
    assert 0 <= row.start - segments["a"][-1].end < 2_000_000
