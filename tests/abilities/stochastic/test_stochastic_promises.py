"""What a rigid plan and speculation promise, and that any sequence works with any dispatcher and ordering."""

import math
from collections.abc import Iterable
from itertools import cycle, pairwise, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from batdispatch.abilities.stochastic.attempts import MARGIN
from batdispatch.abilities.stochastic.batch import BatchPlanner, StochasticBatch
from batdispatch.abilities.stochastic.requests import make_sequence
from batdispatch.abilities.stochastic.requests.vocabulary import parse_law
from batdispatch.core.jobs.job import Job, JobState, Stay
from batdispatch.core.line import registry
from batdispatch.core.line.dispatcher import find
from batdispatch.core.line.ledger import Ledger
from batdispatch.core.line.options import parse_options
from batdispatch.core.machine.machine import Host, Machine
from batdispatch.parts.ordering import GROUP as ORDERINGS
from simulating import Result, Task, simulate
from stochastic import (
    KILLED,
    LAWS,
    NAMES,
    SEQUENCES,
    attempts_of,
    check,
    quick,
    reserved,
    stochastic_workloads,
    with_options,
)
from strategies import machines


class Watched(StochasticBatch):
    """Notes each start that is planned, and whether it was kept."""

    def begin(self, ledger: Ledger) -> None:
        super().begin(ledger)
        self.promised: dict[str, float] = {}
        self.kept = 0

    def decide(self, ledger: Ledger) -> None:
        super().decide(ledger)
        assert isinstance(self.inner, BatchPlanner)
        planned = {key: kept.start for key, kept in self.inner.plan.planned.items()}
        running = {self.first(stay.job): stay for stay in ledger.running.values()}
        for key, start in self.promised.items():
            if key in planned:
                assert planned[key] == start, f"{key} was planned for {start}, then for {planned[key]}"
                assert start >= ledger.now or key in running, f"{key} was not started at {start}"
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
        "requests": with_options(data.draw(st.sampled_from(["hpc", "toptimal", "neuroscience", "factor"])), grid=12),
        "ordering": data.draw(st.sampled_from(["largest-area", "fcfs", "sjf", "wfp3"])),
        "placement": data.draw(st.sampled_from(["first-fit", "best-fit", "contiguous"])),
        "batch": data.draw(st.sampled_from(["1", "2", "100"])),
    }
    watched = Watched(parse_options(StochasticBatch.options_type, chosen, "test"))
    check(machine, tasks, simulate(machine, tasks, watched))


@pytest.mark.parametrize("beyond", [0.001, 0.005, 0.009])
def test_a_job_that_is_a_moment_too_long_for_a_gap_moves_no_promised_start(beyond: float) -> None:
    """The second job is planned for 20.001 s, and the first one leaves a gap before it that is hardly too short.

    What looks at the plan after that, such as a job that comes, makes cut reservations whole.
    """
    law = {"runtime_law": "tnorm:0,20,8,4"}
    long = [Task(name, 0, 1, seconds, math.inf, extra=law) for name, seconds in (("a", 3.0), ("b", 6.0))]
    filler = Task("filler", 1, 1, 17.001 + beyond, 17.001 + beyond)
    later = Task("later", 9, 1, 2.0, 2.0)
    watched = Watched(parse_options(StochasticBatch.options_type, {"requests": "hpc"}, "test"))
    assert simulate(Machine.flat(1), [*long, filler, later], watched).starts()["b"] == 20.001


def test_a_draw_in_which_a_promised_start_once_moved() -> None:
    """Job 3 was planned for 30.001 s and then for 30.002 s: another one had got a place that was 1 ms too short."""
    capacities = ("core=4 mem=8", "core=4 mem=8", "core=2 mic=1 mem=16")
    machine = Machine([Host(id=n, name=f"n{n}", properties={"capacity": text}) for n, text in enumerate(capacities)])
    cores, node = {"core": 1}, {"core": 4, "mem": 8}
    normal, beta = {"runtime_law": "tnorm:0,20,8,4"}, {"runtime_law": "beta:2,2,1,9"}
    tasks = [
        Task("0", 19.5, 1, 1.0, 4.0, {"core": 1, "mem": 0, "mic": 1}, extra={**normal, "history": [1, 4, 7, 6]}),
        Task("1", 5.7, 5, 4.3, math.inf, cores, extra=normal),
        Task("2", 13.0, 7, 8.0, math.inf, cores, extra={"runtime_law": "empirical:1,2,3,5,8", "history": [4, 8, 4, 8]}),
        Task("3", 9.8, 2, 9.0, 15.4, node, extra=beta),
        Task("4", 2.0, 2, 2.1, 6.0, node, extra={**beta, "history": [6, 2, 8, 1]}),
        Task("5", 0.0, 17, 3.0, 6.0, {}),
        Task("6", 6.9, 3, 1.4, 5.4, {"mem": 5}, extra=normal),
        Task("7", 14.9, 1, 3.8, 3.8, node, extra={**normal, "history": [7]}),
        Task("8", 13.1, 7, 6.0, 15.0, cores, extra=beta),
    ]
    chosen = {"requests": with_options("hpc", grid=12), "placement": "first-fit"}
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

        def begin(self, ledger: Ledger) -> None:
            super().begin(ledger)
            self.before: dict[str, tuple[Any, ...]] = {}

        def on_end(self, ledger: Ledger, stay: Stay) -> None:
            job = stay.job
            course = self.courses.get(job.id)
            if course is None:
                super().on_end(ledger, stay)
                return
            cut = job.walltime < self.limit_of(course)
            reached = min(job.walltime - MARGIN, course.enforced)
            self.before[course.job.id] = (course.plan, course.index, *course.position, job.submission, job.request)
            super().on_end(ledger, stay)
            if cut and stay.state in KILLED:
                self.failed += 1
                assert course.floor >= reached - 1e-9, "nothing was learnt"
            else:
                del self.before[course.job.id]

        def on_submit(self, ledger: Ledger, job: Job) -> None:
            super().on_submit(ledger, job)
            course = self.courses.get(job.id)
            known = None if course is None else self.before.pop(course.job.id, None)
            if course is not None and known is not None:
                now = ledger.queue[job.id]
                rank = ledger.rank(now)
                assert (course.plan, course.index, *course.position, now.submission, now.request) == known
                assert course.position == (now.submission, rank)
                assert now.walltime == self.walltime_of(course)

    return Compared


@pytest.mark.parametrize("name", NAMES)
@quick
@given(data=st.data())
def test_a_failed_speculation_costs_nothing(name: str, data: st.DataObject) -> None:
    """The job is where it was, and goes through the same limits as if it had never been tried."""
    machine = data.draw(machines(), label="machine")
    tasks = [
        task._replace(walltime=math.inf) if "runtime_law" in task.extra else task
        for task in data.draw(stochastic_workloads(machine), label="tasks")
    ]
    requests = with_options(data.draw(st.sampled_from(["hpc", "toptimal", "factor"])), grid=9)
    made = speculative(name)
    options = {"requests": requests, "speculate": "true"}
    result = simulate(machine, tasks, made(parse_options(made.options_type, options, "test")))
    check(machine, tasks, result)
    limits_are_those_of_the_sequence(tasks, result, requests)


def limits_are_those_of_the_sequence(tasks: list[Task], result: Result, requests: str) -> None:
    sequence = make_sequence(requests)
    attempts = attempts_of(result)
    for task in tasks:
        rows = attempts[task.id]
        if "runtime_law" not in task.extra or rows[0].state is JobState.REJECTED:
            continue
        limits = sequence.limits(parse_law(task.extra["runtime_law"]))
        index = 0
        for row in rows[:-1]:
            asked = reserved(sequence.limit(limits, index))
            lasted = row.end - row.start
            assert lasted <= asked + 2
            # Stopped earlier: a speculation, after which the same limit is the next one.
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


ALL_ORDERINGS = registry.names(ORDERINGS)
SPECULATE = ("false", "true")


@pytest.mark.parametrize(("name", "requests"), list(zip(cycle(NAMES), SEQUENCES, strict=False)))
def test_any_sequence_with_any_ordering_under_one_dispatcher_in_turn(name: str, requests: str) -> None:
    # Each ordering speculates with every other sequence.
    check_sequence(
        name,
        requests,
        zip(ALL_ORDERINGS, cycle(SPECULATE[:: (-1) ** SEQUENCES.index(requests)]), strict=False),
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_any_sequence_with_any_ordering_under_every_dispatcher(name: str) -> None:
    for requests in SEQUENCES:
        check_sequence(name, requests, product(ALL_ORDERINGS, SPECULATE))


def check_sequence(name: str, requests: str, cases: Iterable[tuple[str, str]]) -> None:
    """Run a mixture of jobs with a sequence, each ordering, and with speculation or without; check the runs."""
    machine = Machine.flat(4)
    tasks = mixture(np.random.default_rng(1), 24)
    seen = set()
    for ordering, speculate in cases:
        told = with_options(requests, grid=20)
        options = {"requests": told, "ordering": ordering, "speculate": speculate}
        result = simulate(machine, tasks, name, options=options)
        check(machine, tasks, result, again=requests.startswith("list"))
        seen.add(result.files["jobs.csv"])
        for rows in attempts_of(result).values():
            assert all(before.end <= after.start for before, after in pairwise(rows))
    assert len(seen) > 5, "the options change nothing"
