"""Any dispatcher under `attempts`, with any request sequence: what the layer promises, whoever decides inside."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from batdispatch.abilities.stochastic.attempts import Attempts
from batdispatch.abilities.stochastic.requests.user_list import UserList
from batdispatch.abilities.stochastic.speculation import until_first
from batdispatch.core.errors import InputError
from batdispatch.core.jobs.job import Job, JobState, Stay
from batdispatch.core.line import registry
from batdispatch.core.line.dispatcher import GROUP, Dispatcher, create
from batdispatch.core.line.ledger import Ledger
from batdispatch.core.line.options import parse_options
from batdispatch.core.machine.machine import Machine
from simulating import Result, Task, simulate
from stochastic import KILLED, SEQUENCES, attempts_of, check, quick, stochastic_workloads
from strategies import machines

STRANGER = "batdispatch.examples.smallest_first:SmallestFirst"
#: The layer itself and what is made of it cannot stand inside it.
LAYERED = {"attempts", "stochastic-batch", "stochastic-conservative", "stochastic-easy"}
#: Its dispatchers solve a model at each decision.
SOLVERS = {"aucsched", "hcp19", "pcp19", "pcp20"}
GREEDY = {"filler", STRANGER}
PLAIN = sorted({"fcfs", "filler", "easy", "conservative", "best-list"} & set(registry.names(GROUP)))


class Checked(Attempts):
    """Verifies the ledger after every message, and what the dispatcher inside was told."""

    def begin(self, ledger: Ledger) -> None:
        super().begin(ledger)
        self.ended: dict[str, int] = {}

    def on_submit(self, ledger: Ledger, job: Job) -> None:
        super().on_submit(ledger, job)
        if job.id in self.courses:
            assert ledger.queue[job.id].walltime == self.walltime_of(self.courses[job.id])

    def on_end(self, ledger: Ledger, stay: Stay) -> None:
        super().on_end(ledger, stay)
        if stay.state not in KILLED:
            root = ledger.root(stay.job.id)
            self.ended[root] = self.ended.get(root, 0) + 1

    def decide(self, ledger: Ledger) -> None:
        super().decide(ledger)
        ledger.check()


def run(machine: Machine, tasks: list[Task], options: dict[str, Any]) -> tuple[Checked, Result]:
    checked = Checked(parse_options(Checked.options_type, options, "test"))
    return checked, simulate(machine, tasks, checked)


def audit(machine: Machine, tasks: list[Task], checked: Checked, result: Result) -> None:
    check(machine, tasks, result, again=isinstance(checked.sequence, UserList))
    rejected = {row.id for row in result.rows.values() if row.state is JobState.REJECTED}
    law = [task.id for task in tasks if "runtime_law" in task.extra]
    assert {name: checked.ended.get(f"w0!{name}", 0) for name in law} == {
        name: int(name not in rejected) for name in law
    }
    # Work is conserved: what the successful attempts used is what the jobs bring.
    used = sum((rows[-1].end - rows[-1].start) * sum(rows[-1].units.values()) for rows in attempts_of(result).values())
    brought = sum(
        (rows[-1].end - rows[-1].start) / 1e6 * task.units
        for task in tasks
        if task.id not in rejected
        for rows in [attempts_of(result)[task.id]]
    )
    assert used == pytest.approx(brought * 1e6)
    assert not checked.courses, "the layer still waits for something"


@pytest.mark.parametrize("inner", [*PLAIN, STRANGER])
@quick
@given(data=st.data())
def test_any_dispatcher_runs_stochastic_jobs(inner: str, data: st.DataObject) -> None:
    machine = data.draw(machines(), label="machine")
    tasks = data.draw(stochastic_workloads(machine), label="tasks")
    options = {
        "dispatcher": inner,
        "requests": data.draw(
            st.sampled_from(["hpc", "toptimal[grid=9]", "atoptimal[grid=9]", "neuroscience", "factor", "list[2,5,9]"])
        ),
        "speculate": data.draw(st.sampled_from(["true", "false"])),
    }
    audit(machine, tasks, *run(machine, tasks, options))


def mixture(seed: int, count: int) -> list[Task]:
    """Stochastic jobs and small ones, on up to 4 hosts."""
    rng = np.random.default_rng(seed)
    tasks = []
    for n in range(count):
        small = n % 3 == 2
        runtime = round(float(rng.uniform(0.5, 9)), 2)
        extra = {} if small else {"runtime_law": ["empirical:1,2,3,5,9", "texp:0.5,12,3"][n % 2]}
        walltime = runtime + 1 if small else float("inf")
        arrives, units = round(float(rng.uniform(0, 20)), 1), int(rng.integers(1, 5))
        tasks.append(Task(str(n), arrives, units, runtime, walltime, extra=extra))
    return tasks


@pytest.mark.parametrize("requests", SEQUENCES)
@pytest.mark.parametrize("inner", [*PLAIN, STRANGER])
def test_any_dispatcher_with_any_sequence_speculates(inner: str, requests: str) -> None:
    options = {"dispatcher": inner, "requests": requests, "speculate": "true"}
    tried = 0
    for seed in range(2):
        tasks = mixture(seed, 25)
        checked, result = run(Machine.flat(4), tasks, options)
        audit(Machine.flat(4), tasks, checked, result)
        tried += checked.report()["speculations"]
    # Who starts whatever fits leaves nothing to speculate on; a plan by the best of several lists may.
    if inner != "best-list":
        assert bool(tried) == (inner not in GREEDY)


@pytest.mark.slow
@pytest.mark.parametrize("inner", sorted(set(registry.names(GROUP)) & SOLVERS))
def test_dispatchers_with_a_solver_run_stochastic_jobs(inner: str) -> None:
    tasks = mixture(0, 20)
    for speculate in ("false", "true"):
        options = {"dispatcher": inner, "requests": "toptimal[grid=20]", "speculate": speculate}
        audit(Machine.flat(4), tasks, *run(Machine.flat(4), tasks, options))


def test_options_reach_the_dispatcher_inside() -> None:
    made = create(
        "attempts[dispatcher=easy[ordering=sjf,placement=contiguous],requests=toptimal[grid=200,factor=2],speculate=true]"
    )
    assert isinstance(made, Attempts)
    assert (made.inner.options.ordering, made.inner.options.placement) == ("sjf", "contiguous")
    assert (made.sequence.options.grid, made.sequence.options.factor) == (200, 2.0)


@pytest.mark.parametrize("text", ["attempts[dispatcher=attempts]", "attempts[dispatcher=stochastic-easy]"])
def test_attempts_do_not_stand_inside_attempts(text: str) -> None:
    with pytest.raises(InputError, match="would run the same jobs twice"):
        create(text)


@pytest.mark.parametrize("inner", ["easy", "conservative"])
@pytest.mark.parametrize("speculate", ["true", "false"])
def test_the_named_dispatchers_are_the_layer_over_another(inner: str, speculate: str) -> None:
    tasks = mixture(7, 40)
    named = simulate(Machine.flat(4), tasks, f"stochastic-{inner}", options={"speculate": speculate})
    _, layered = run(Machine.flat(4), tasks, {"dispatcher": inner, "speculate": speculate})
    assert named.files == layered.files


@pytest.mark.parametrize("name", sorted(set(registry.names(GROUP)) - LAYERED - SOLVERS))
def test_without_stochastic_jobs_the_layer_changes_nothing(name: str) -> None:
    tasks = [task._replace(extra={}, walltime=task.runtime + 1) for task in mixture(3, 30)]
    alone = simulate(Machine.flat(4), tasks, name)
    _, layered = run(Machine.flat(4), tasks, {"dispatcher": name})
    assert layered.files["jobs.csv"] == alone.files["jobs.csv"]


class Refuses(Dispatcher):
    """Rejects whatever asks for more than two units, when it decides; starts the rest in order."""

    def decide(self, ledger: Ledger) -> None:
        for job in list(ledger.queue.values()):
            place = ledger.place(job)
            if job.units > 2:
                ledger.reject(job, "too large")
            elif place is not None:
                ledger.start(job, place)


class RefusesUnderAttempts(Checked):
    def make_inner(self, seed: int) -> Dispatcher:
        return Refuses(seed=seed)


def test_a_job_that_the_dispatcher_inside_rejects_is_over() -> None:
    checked = RefusesUnderAttempts()
    tasks = mixture(1, 30)
    result = simulate(Machine.flat(4), tasks, checked)
    assert {row.id for row in result.rows.values() if row.state is JobState.REJECTED} == {
        task.id for task in tasks if task.units > 2
    }
    assert not checked.courses


class Impatient(Dispatcher):
    """Kills what has run for three seconds, and starts in order."""

    def decide(self, ledger: Ledger) -> None:
        for job in list(ledger.queue.values()):
            place = ledger.place(job)
            if place is not None:
                ledger.start(job, place)
                ledger.wake_at(ledger.now + 3)
        ledger.kill([stay.job for stay in ledger.running.values() if ledger.now - stay.start > 2.9])


class ImpatientUnderAttempts(Checked):
    def make_inner(self, seed: int) -> Dispatcher:
        return Impatient(seed=seed)


def test_a_job_that_the_dispatcher_inside_kills_is_over() -> None:
    checked = ImpatientUnderAttempts(parse_options(Checked.options_type, {"requests": "hpc"}, "test"))
    result = simulate(Machine.flat(1), [Task("0", 0.0, 1, 5.0, extra={"runtime_law": "empirical:9"})], checked)
    assert [(row.id, row.end) for row in result.rows.values()] == [("0", 3_000_000)]


class Watch(Dispatcher):
    """Starts jobs as fcfs does, and keeps what `until_first` says."""

    def __init__(self) -> None:
        super().__init__()
        self.lengths: dict[float, list[float]] = {}

    def decide(self, ledger: Ledger) -> None:
        for job in list(ledger.queue.values()):
            place = ledger.place(job)
            if place is None:
                break
            ledger.start(job, place)
        self.lengths[ledger.now] = [gap.length for gap in until_first(ledger)]


def test_gap_of_a_dispatcher_that_tells_of_none() -> None:
    """The first job that waits can start when `a` reaches its walltime; without a walltime nobody knows."""
    watch = Watch()
    tasks = [Task("a", 0.0, 1, 4.0, 5.0), Task("b", 0.0, 1, 8.0, 9.0), Task("c", 1.0, 2, 1.0, 2.0)]
    simulate(Machine.flat(3), [*tasks, Task("d", 1.0, 3, 1.0, 2.0)], watch)
    assert watch.lengths[1.0] == [4.0]
    endless = Watch()
    simulate(Machine.flat(2), [Task("a", 0.0, 1, 4.0), Task("b", 1.0, 2, 1.0, 2.0)], endless)
    assert endless.lengths[1.0] == []
