"""Ends that are told some microseconds late, as Batsim tells them, change no schedule by more than they are late."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from batdispatch.core.machine.machine import Machine
from batdispatch.core.plans.lateness import TOLERANCE
from batdispatch.results.frame import read_jobs
from batdispatch.runs import embedded
from batdispatch.runs.run import execute
from batdispatch.runs.spec import RunSpec
from batdispatch.testing import simulation
from late import LateEngine
from simulating import Task

RECORDINGS = Path(__file__).parent / "recordings"
#: Delays of up to 50 us add up along jobs that follow one another.
ADDED_UP = 0.005


def simulate(out: Path, workload: str, dispatcher: str) -> tuple[pd.DataFrame, dict[str, Any]]:
    spec = RunSpec(
        platform=str(RECORDINGS / "platforms" / "flat128.xml"),
        workload=str(RECORDINGS / "workloads" / f"{workload}.json"),
        dispatcher=dispatcher,
        master_host="n0",
        record=False,
    )
    execute(spec, out)
    return read_jobs(out / "jobs.csv").set_index("job_id"), json.loads((out / "result.json").read_text())


@pytest.mark.parametrize(
    ("workload", "dispatcher"),
    [
        ("burst", "conservative"),
        ("burst", "conservative[rjms_delay=5]"),
        ("crowded", "conservative"),
        ("burst", "easy"),
        ("burst", "easy[reservation=hosts]"),
        ("burst", "easy[prediction=data-driven]"),
        ("burst", "conservative[prediction=data-driven]"),
        ("burst", "best-list[window=20]"),
    ],
)
def test_same_schedule(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, workload: str, dispatcher: str) -> None:
    prompt, before = simulate(tmp_path / "prompt", workload, dispatcher)
    monkeypatch.setattr(embedded, "EmbeddedEngine", LateEngine)
    late, after = simulate(tmp_path / "late", workload, dispatcher)
    late = late.reindex(prompt.index)
    assert (late["finish_time"] != prompt["finish_time"]).any()
    assert (late["starting_time"] - prompt["starting_time"]).abs().max() < ADDED_UP
    assert (late["allocated_resources"] == prompt["allocated_resources"]).all()
    told = [result["report"]["prediction"]["share_underestimated"] for result in (before, after)]
    assert told[0] == told[1]
    assert told[0] == 0 or "data-driven" in dispatcher


def stochastic(count: int) -> list[Task]:
    """Jobs of which most state a law, and that never meet by chance."""
    rng = np.random.default_rng(11)
    tasks = []
    for number in range(count):
        runtime = round(float(rng.uniform(1, 20)), 4)
        # With one law for all, two attempts that start together would reach their limits together.
        extra = {"runtime_law": f"tnorm:0,20,{rng.uniform(6, 10):.4f},4"} if number % 4 else {}
        submission, units = round(float(rng.uniform(0, 100)), 4), int(rng.integers(1, 7))
        # Every other small job is killed at its walltime.
        walltime = runtime * (40 if number % 4 else 1.5 if number % 8 else 0.5)
        tasks.append(Task(str(number), submission, units, runtime, round(walltime, 4), extra=extra))
    return tasks


@pytest.mark.parametrize(
    "dispatcher",
    ["stochastic-easy", "stochastic-conservative", "stochastic-batch", "stochastic-batch[plan=repack]"],
)
@pytest.mark.parametrize("requests", ["toptimal", "factor"])
def test_same_schedule_of_stochastic_jobs(monkeypatch: pytest.MonkeyPatch, dispatcher: str, requests: str) -> None:
    machine, tasks = Machine.flat(12), stochastic(80)
    prompt = simulation.simulate(machine, tasks, dispatcher, options={"requests": requests})
    monkeypatch.setattr(simulation, "EmbeddedEngine", LateEngine)
    late = simulation.simulate(machine, tasks, dispatcher, options={"requests": requests})
    assert late.starts().keys() == prompt.starts().keys()
    assert max(abs(late.starts()[name] - start) for name, start in prompt.starts().items()) < ADDED_UP


def test_recorded_ends_are_late_but_not_beyond_the_tolerance() -> None:
    folder = RECORDINGS / "batsim4" / "walltime"
    ends = read_jobs(folder / "jobs.csv").set_index("job_id")["finish_time"]
    told = {
        event["data"]["job_id"].partition("!")[2]: frame["now"]
        for line in (folder / "exchange.jsonl").read_text().splitlines()
        for frame in [json.loads(json.loads(line)["raw"])]
        for event in frame["events"]
        if event["type"] == "JOB_COMPLETED"
    }
    assert told.keys() == set(ends.index.astype(str))
    late = [told[str(name)] - end for name, end in ends.items()]
    assert 0 < min(late) < max(late) < TOLERANCE
    assert max(late) > 1e-6
