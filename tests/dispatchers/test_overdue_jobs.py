"""A running job that outlives its prediction: nobody waits for it to end at any moment, and somebody looks again."""

import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from batdispatch.core.jobs.job import Job
from batdispatch.core.line.decisions import CallMeLater
from batdispatch.core.line.dispatcher import create
from batdispatch.core.line.ledger import Ledger
from batdispatch.core.machine.machine import Machine
from simulating import Task, audit, simulate
from strategies import machines, workloads

AT_ONCE = "slurm-backfill[interval=0,tick=0,resolution=0,end_window=0]"
#: Those that plan by expected ends, and call no solver here.
PLANNING = [
    "easy",
    "easy[reservation=hosts]",
    "conservative",
    "stochastic-batch",
    "stochastic-batch[plan=rigid]",
    "slurm-backfill",
    AT_ONCE,
    "best-list",
    "best-list[capacity=pooled]",
    "best-list[ahead=10,window=3]",
    "pcp20[wake=true,correction=walltime,work=0.001,window=2]",
    "hcp19[wake=true,correction=walltime,work=0.001]",
]
#: What the second look at a plan takes: the tolerance for late ends, in whole milliseconds, and one more.
LATER = 0.011


def starts(machine: Machine, tasks: list[Task], name: str, **options: Any) -> dict[str, float]:
    result = simulate(machine, tasks, name, options={"prediction": "last-two", **options})
    audit(machine, tasks, result)
    return {name: round(start, 6) for name, start in result.starts().items() if name not in ("P", "J")}


#: Ann's first job takes 4 s. So her second one, J, is expected to end at 14 s, but runs until 510 s.
ANN = [Task("P", 0.0, 1, 4.0, 1000.0, user="ann"), Task("J", 10.0, 1, 500.0, 1000.0, user="ann")]
#: H wants both hosts when J ends; B would fit on the other one, and not end before that.
QUEUE = [Task("H", 12.0, 2, 5.0, 5.0), Task("B", 13.0, 1, 80.0, 80.0)]


@pytest.mark.parametrize("name", ["easy", "easy[reservation=hosts]", "conservative"])
def test_backfilling_lets_who_fits_run_once_the_job_in_front_is_overdue(name: str) -> None:
    machine = Machine.flat(2)
    assert starts(machine, [*ANN, *QUEUE], name) == {"B": 14 + LATER, "H": 510}
    # A minute after 14 s, then 5 minutes after it, and so on: B ends before 314 s, but not before 74 s.
    assert starts(machine, [*ANN, *QUEUE], name, correction="steps") == {"B": 74 + LATER, "H": 510}
    # 4 s are expected of J, then 8, 16, 32, 64, 128 and 256, so that B ends before it from 138 s on.
    assert starts(machine, [*ANN, *QUEUE], name, correction="doubling") == {"B": 138 + LATER, "H": 510}


@pytest.mark.parametrize("name", ["easy", "conservative"])
def test_a_default_walltime_may_be_outlived_as_a_prediction_may(name: str) -> None:
    """J has no walltime and is expected to run for 4 s, then for 8, 16, 32, 64, 128 and 256 s."""
    tasks = [Task("J", 10.0, 1, 500.0), *QUEUE]
    result = simulate(Machine.flat(2), tasks, name, options={"default_walltime": "4"})
    assert {name: round(start, 6) for name, start in result.starts().items()} == {"J": 10, "B": 138 + LATER, "H": 510}


def test_slurm_backfill_looks_again_at_its_next_pass() -> None:
    exact = {"tick": "0", "resolution": "0", "end_window": "0"}
    assert starts(Machine.flat(2), [*ANN, *QUEUE], "slurm-backfill", **exact) == {"B": 34, "H": 510}
    assert starts(Machine.flat(2), [*ANN, *QUEUE], "slurm-backfill", interval="0", **exact) == {
        "B": 14 + LATER,
        "H": 510,
    }


@pytest.mark.parametrize("plan", ["rigid", "repack"])
def test_a_batch_that_a_late_job_outlives_makes_room_for_who_fits(plan: str) -> None:
    """The window of the batch ends at 14 s, as J does; when J is late, it is extended to J's walltime."""
    # A rigid plan keeps H where it was planned then.
    expected = {"B": 14 + LATER, "H": 510.0 if plan == "repack" else 1010.0}
    assert starts(Machine.flat(2), [*ANN, *QUEUE], "stochastic-batch", plan=plan) == expected
    cores = Machine.flat(1, "core=2")
    asked = [task._replace(units=1, demand={"core": task.units}) for task in [*ANN, *QUEUE]]
    assert starts(cores, asked, "stochastic-batch", plan=plan) == expected


def test_where_every_end_is_sure_no_call_is_asked_for() -> None:
    for name in ("easy", "conservative", AT_ONCE, "best-list", "stochastic-batch"):
        result = simulate(Machine.flat(2), [*ANN, *QUEUE], name)
        planned = name == "stochastic-batch"
        calls = [one for _, reply in result.exchanges for one in reply.decisions if isinstance(one, CallMeLater)]
        assert len(calls) <= planned, "but one at a planned start"
    result = simulate(Machine.flat(1, "core=4"), LISTS, "best-list")
    assert not [one for _, reply in result.exchanges for one in reply.decisions if isinstance(one, CallMeLater)]


#: On one node of 4 cores, J holds one. The best plan starts A now, B when J ends, and C after both.
LISTS = [
    Task("P", 0.0, 1, 4.0, 1000.0, {"core": 1}, user="ann"),
    Task("J", 10.0, 1, 500.0, 1000.0, {"core": 1}, user="ann"),
    Task("A", 12.0, 1, 100.0, 100.0, {"core": 2}),
    Task("B", 12.0, 1, 100.0, 100.0, {"core": 2}),
    Task("C", 12.0, 1, 1000.0, 1000.0, {"core": 1}),
]


@pytest.mark.parametrize("capacity", ["nodes", "pooled"])
def test_best_list_plans_anew_when_what_it_waited_for_is_overdue(capacity: str) -> None:
    machine = Machine.flat(1, "core=4")
    assert starts(machine, LISTS, "best-list", capacity=capacity) == {"A": 12, "B": 112, "C": 14 + LATER}
    # Where it decides at events only, it finds out when A ends.
    assert starts(machine, LISTS, "best-list", capacity=capacity, wake="false") == {"A": 12, "B": 112, "C": 112}
    # Without a prediction, J is expected to end at 1010 s, and C is not kept waiting for it.
    asked = {"capacity": capacity, "prediction": "requested"}
    assert starts(machine, LISTS, "best-list", **asked) == {"A": 12, "B": 112, "C": 12}


def test_best_list_expects_no_job_to_end_at_any_moment_that_is_overdue_already() -> None:
    """As above, but J is overdue when the others come, so that C need not wait at all."""
    late = [task._replace(submission=20.0) if task.submission == 12.0 else task for task in LISTS]
    assert starts(Machine.flat(1, "core=4"), late, "best-list") == {"A": 20, "B": 120, "C": 20}
    published = starts(Machine.flat(1, "core=4"), late, "best-list", correction="second", wake="false")
    assert published == {"A": 20, "B": 120, "C": 120}


def test_the_published_dispatchers_do_as_published() -> None:
    for name in ("hcp19", "pcp19", "pcp20"):
        options = create(name).options
        assert (options.correction, options.wake) == ("second", False)


def test_more_jobs_than_a_window_holds_start_together_where_there_is_room() -> None:
    tasks = [Task(str(n), 1.0, 1, 50.0, 50.0) for n in range(5)]
    found = simulate(Machine.flat(8), tasks, "best-list", options={"window": "2"}).starts()
    assert sorted(round(start, 6) for start in found.values()) == [1.0, 1.0, 1.001, 1.001, 1.002]
    found = simulate(Machine.flat(8), tasks, "best-list", options={"window": "2", "wake": "false"}).starts()
    assert sorted(found.values()) == [1.0, 1.0, 51.0, 51.0, 101.0]


@pytest.mark.parametrize("name", PLANNING)
@settings(max_examples=15)
@given(data=st.data())
def test_who_waits_though_it_fits_waits_for_an_end_that_is_sure_or_looked_after(name: str, data: st.DataObject) -> None:
    """After each decision: if a job waits that fits, and a running job may outlive what is expected, a call is due."""
    machine = data.draw(machines())
    tasks = data.draw(workloads(machine))
    options = {"prediction": data.draw(st.sampled_from(["last-two", "data-driven"]))}
    if "correction" not in name:
        options["correction"] = data.draw(st.sampled_from(["walltime", "steps", "doubling"]))
    dispatcher = create(name, options)
    inner = dispatcher.innermost()
    calls: list[float] = []
    decide = inner.decide

    def expected(ledger: Ledger, job: Job, start: float) -> float:
        return float(inner.predictions.of(job)) + start  # type: ignore[attr-defined]

    def checked(ledger: Ledger) -> None:
        ask = ledger.wake_at
        ledger.wake_at = lambda time: (calls.append(time), ask(time))[1]  # type: ignore[method-assign,func-returns-value]
        decide(ledger)
        ledger.wake_at = ask  # type: ignore[method-assign]
        fits = [job for job in ledger.queue.values() if ledger.fits(job)]
        unsure = [
            stay
            for stay in ledger.running.values()
            if ledger.now <= expected(ledger, stay.job, stay.start) < stay.start + stay.job.walltime
        ]
        if fits and unsure and not any(math.isinf(stay.job.walltime) for stay in ledger.running.values()):
            assert any(call > ledger.now for call in calls), (ledger.now, fits, unsure)

    inner.decide = checked  # type: ignore[method-assign]
    result = simulate(machine, tasks, dispatcher)
    audit(machine, tasks, result)
