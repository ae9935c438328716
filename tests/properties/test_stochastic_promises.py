"""What a rigid plan and speculation promise, and that any sequence works with any dispatcher and ordering."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from batdispatch.core import registry
from batdispatch.core.dispatcher import find
from batdispatch.core.job import Job, JobState
from batdispatch.core.ledger import Ledger
from batdispatch.core.machine import Machine
from batdispatch.core.options import parse_options
from batdispatch.dispatchers.stochastic.attempts import MARGIN
from batdispatch.dispatchers.stochastic.batch import StochasticBatch
from batdispatch.parts.ordering import GROUP as ORDERINGS
from batdispatch.parts.requests import GROUP as SEQUENCES
from batdispatch.parts.requests import Settings, find_requests, request
from batdispatch.parts.requests.vocabulary import parse_law
from simulating import Result, Task, simulate
from stochastic import KILLED, LAWS, NAMES, attempts_of, check, quick, reserved, stochastic_workloads
from strategies import machines


class Watched(StochasticBatch):
    """Notes each start that is planned, and whether it was kept."""

    def begin(self, cluster: Ledger) -> None:
        super().begin(cluster)
        self.promised: dict[str, float] = {}
        self.kept = 0

    def decide(self, cluster: Ledger) -> None:
        super().decide(cluster)
        planned = {key: place[0] for key, place in self._plan.planned.items()}
        running = {self._root(job): job for job in cluster.running.values()}
        for key, start in self.promised.items():
            if key in planned:
                assert planned[key] == start, f"{key} was planned for {start}, then for {planned[key]}"
                assert start >= cluster.now or key in running, f"{key} was not started at {start}"
            elif key in running:
                assert running[key].start == pytest.approx(start, abs=1e-6)
                self.kept += 1
            else:
                # A speculation that succeeded gave it back.
                assert self.options.speculate
        self.promised = planned


@quick
@given(data=st.data())
def test_a_rigid_plan_keeps_each_start(data: st.DataObject) -> None:
    """Neither earlier nor later, whatever fills or speculates in the gaps."""
    machine = data.draw(machines(), label="machine")
    tasks = [
        task if "runtime_law" in task.extra else task._replace(walltime=min(task.walltime, task.runtime + 3))
        for task in data.draw(stochastic_workloads(machine), label="tasks")
    ]
    chosen = {
        "speculate": data.draw(st.sampled_from(["true", "false"])),
        "requests": data.draw(st.sampled_from(["hpc", "toptimal", "neuroscience", "factor"])),
        "ordering": data.draw(st.sampled_from(["largest-area", "fcfs", "sjf", "wfp3"])),
        "placement": data.draw(st.sampled_from(["first-fit", "best-fit", "contiguous"])),
        "batch": data.draw(st.sampled_from(["1", "2", "100"])),
        "grid": "12",
    }
    watched = Watched(parse_options(StochasticBatch.options_type, chosen, "test"))
    check(machine, tasks, simulate(machine, tasks, watched))


def test_the_watch_sees_promises() -> None:
    machine = Machine.flat(4)
    rng = np.random.default_rng(5)
    watched = Watched(parse_options(StochasticBatch.options_type, {"requests": "hpc"}, "test"))
    simulate(machine, mixture(rng, 20), watched)
    assert watched.kept >= 5


def speculative(name: str) -> type[Any]:
    """Return a dispatcher that compares a job before and after a failed speculation."""

    class Compared(find(name)):  # type: ignore[misc]
        failed = 0

        def begin(self, cluster: Ledger) -> None:
            super().begin(cluster)
            self.before: dict[str, tuple[Any, ...]] = {}

        def on_end(self, cluster: Ledger, job: Job) -> None:
            run = self.runs.get(job.id)
            cut = run is not None and run.limit < self.request_of(run)
            if run is not None:
                self.before[run.job.id] = (run.sequence, run.index, job.submission, job.rank, job.units, job.request)
                limit = run.limit
            super().on_end(cluster, job)
            if cut and job.state in KILLED and run is not None:
                self.failed += 1
                assert run.floor >= min(limit - MARGIN, job.walltime) - 1e-9, "nothing was learnt"
            elif run is not None:
                del self.before[run.job.id]

        def on_submit(self, cluster: Ledger, job: Job) -> None:
            super().on_submit(cluster, job)
            run = self.runs.get(job.id)
            known = None if run is None else self.before.pop(run.job.id, None)
            if run is not None and known is not None:
                assert (run.sequence, run.index, job.submission, job.rank, job.units, job.request) == known
                assert run.limit == math.inf

    return Compared


@pytest.mark.parametrize("name", NAMES)
@quick
@given(data=st.data())
def test_a_failed_speculation_costs_nothing(name: str, data: st.DataObject) -> None:
    """The job is where it was, and goes through the same requests as if it had never been tried."""
    machine = data.draw(machines(), label="machine")
    tasks = [
        task._replace(walltime=math.inf) if "runtime_law" in task.extra else task
        for task in data.draw(stochastic_workloads(machine), label="tasks")
    ]
    requests = data.draw(st.sampled_from(["hpc", "toptimal", "factor"]))
    made = speculative(name)
    options = {"requests": requests, "speculate": "true", "grid": "9"}
    result = simulate(machine, tasks, made(parse_options(made.options_type, options, "test")))
    check(machine, tasks, result)
    requests_are_those_of_the_strategy(tasks, result, requests)


def requests_are_those_of_the_strategy(tasks: list[Task], result: Result, requests: str) -> None:
    strategy = find_requests(requests)(Settings(grid=9))
    attempts = attempts_of(result)
    for task in tasks:
        rows = attempts[task.id]
        if "runtime_law" not in task.extra or rows[0].state is JobState.REJECTED:
            continue
        sequence = strategy.sequence(parse_law(task.extra["runtime_law"]))
        index = 0
        for row in rows[:-1]:
            asked = reserved(request(sequence, index, 1.5))
            lasted = row.end - row.start
            assert lasted <= asked + 2
            # Stopped earlier: a speculation, after which the same request is the next one.
            index += lasted >= asked - 2


@pytest.mark.parametrize("name", NAMES)
def test_speculations_do_fail(name: str) -> None:
    made = speculative(name)
    total = 0
    for seed in range(6):
        options = {"requests": "hpc", "speculate": "true"}
        dispatcher = made(parse_options(made.options_type, options, "test"))
        simulate(Machine.flat(4), mixture(np.random.default_rng(seed), 30), dispatcher)
        total += dispatcher.failed
    assert total > 0


# ------------------------------------------------------------------ any sequence, dispatcher and ordering


def mixture(rng: np.random.Generator, count: int) -> list[Task]:
    """Jobs of every kind of law, and small ones, on up to 4 hosts."""
    tasks = []
    for n in range(count):
        law = None if n % 4 == 3 else parse_law(LAWS[n % len(LAWS)])
        runtime = round(float(rng.uniform(0.5, 3) if law is None else law.draw(rng, 1)[0]), 2)
        tasks.append(
            Task(
                str(n),
                round(float(rng.uniform(0, 20)), 1),
                int(rng.integers(1, 5)),
                runtime,
                math.inf if law is not None else runtime + 1,
                user=f"u{n % 3}",
                extra={} if law is None else {"runtime_law": law.text},
            )
        )
    return tasks


@pytest.mark.parametrize("requests", registry.names(SEQUENCES))
@pytest.mark.parametrize("name", NAMES)
def test_any_sequence_with_any_dispatcher_and_ordering(name: str, requests: str) -> None:
    machine = Machine.flat(4)
    tasks = mixture(np.random.default_rng(1), 24)
    seen = set()
    for ordering in registry.names(ORDERINGS):
        for speculate in ("false", "true"):
            options = {"requests": requests, "ordering": ordering, "speculate": speculate, "grid": "20"}
            result = simulate(machine, tasks, name, options=options)
            check(machine, tasks, result)
            seen.add(result.files["jobs.csv"])
            for rows in attempts_of(result).values():
                assert all(before.end <= after.start for before, after in pairwise(rows))
    assert len(seen) > 5, "the options change nothing"
