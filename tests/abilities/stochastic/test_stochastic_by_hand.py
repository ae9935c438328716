"""Stochastic dispatchers: the paper's rule with its numbers, worked schedules, closed forms of utilisation."""

import math
from typing import Any

import numpy as np
import pytest

from batdispatch.abilities.stochastic.attempts import MARGIN
from batdispatch.abilities.stochastic.requests.atoptimal import atoptimal
from batdispatch.abilities.stochastic.requests.vocabulary import parse_law
from batdispatch.abilities.stochastic.speculation import gain
from batdispatch.core.errors import InputError
from batdispatch.core.jobs.job import JobState
from batdispatch.core.machine.machine import Machine
from simulating import Result, Task, simulate
from stochastic import reserved

LAW = parse_law("tnorm:0,20,8,2")
HOUR = 3600.0


@pytest.mark.parametrize(
    ("units", "length", "floor", "expected"),
    [
        (4, 9, 0, 0.357610),
        (4, 12, 0, 0.428349),
        (4, 12, 10.8, 0.450961),
        (6, 12, 10.8, 0.676441),
        (4, 14, 10.8, 0.545935),
        (4, 10, 10.8, 0.0),
    ],
)
def test_gain_of_a_gap(units: int, length: float, floor: float, expected: float) -> None:
    assert gain(LAW, units / 6, floor, length) == pytest.approx(expected, abs=5e-7)


def test_gain_of_a_gap_that_is_too_narrow() -> None:
    assert gain(LAW, 7 / 6, 0, 12) == 0


# ------------------------------------------------------------------ worked schedules


def job(name: str, units: int, runtime: float, law: str, submission: float = 0.0, **more: Any) -> Task:
    return Task(name, submission, units, runtime, extra={"runtime_law": law, **more})


def spans(result: Result) -> dict[str, tuple[float, float]]:
    return {row.id: (round(row.start / 1e6, 2), round(row.end / 1e6, 2)) for row in result.rows.values()}


@pytest.mark.parametrize(("batch", "first"), [("1", "0"), ("2", "1")])
def test_a_batch_is_of_the_jobs_that_came_first_and_planned_by_area(batch: str, first: str) -> None:
    """Job 0 came first, and job 1 takes longer: alone in its batch job 0 runs first, and in one batch job 1 does."""
    tasks = [job("0", 1, 4, "empirical:4"), job("1", 1, 9, "empirical:9")]
    told = spans(simulate(Machine.flat(1), tasks, "stochastic-batch", options={"batch": batch}))
    assert min(told, key=told.__getitem__) == first


@pytest.mark.parametrize("name", ["stochastic-batch", "stochastic-easy", "stochastic-conservative"])
def test_a_job_is_tried_again_until_it_succeeds(name: str) -> None:
    result = simulate(Machine.flat(1), [job("0", 1, 12.5, "empirical:4,4,4,4,4,9,20")], name)
    told = spans(result)
    assert told == {"0": (0, 4), "0~2": (4, 13), "0~3": (13, 25.5)}
    assert [row.state for row in result.rows.values()] == [
        JobState.COMPLETED_KILLED,
        JobState.COMPLETED_WALLTIME_REACHED,
        JobState.COMPLETED_SUCCESSFULLY,
    ]


def test_a_law_that_a_job_exceeds_many_times_over_is_warned_about() -> None:
    """Twice the bound may be bad luck; ten times is a law of something else."""
    tasks = [job("0", 1, 19, "empirical:4,9"), job("1", 1, 90, "empirical:4,9"), job("2", 1, 17, "empirical:4,9")]
    told = simulate(Machine.flat(3), tasks, "stochastic-easy").session.report
    (warning,) = told["warnings"]
    assert warning.startswith("2 jobs ran for more than 2 times the upper bound of the law stated, job w0!1 for 10 ")
    assert "warnings" not in simulate(Machine.flat(3), tasks[2:], "stochastic-easy").session.report


def test_parents_are_recorded() -> None:
    result = simulate(Machine.flat(1), [job("0", 1, 12.5, "empirical:4,4,4,4,4,9,20")], "stochastic-easy")
    registered = [
        decision.job
        for _, reply in result.exchanges
        for decision in reply.decisions
        if type(decision).__name__ == "RegisterJob"
    ]
    assert [(again.id, again.profile) for again in registered] == [("w0!0~2", "d12.5"), ("w0!0~3", "d12.5")]
    assert [again.parent for again in registered] == ["w0!0", "w0!0~2"]
    assert [again.walltime for again in registered] == pytest.approx([9 + MARGIN, 20 + MARGIN])


def test_every_attempt_belongs_to_the_job_that_was_submitted() -> None:
    """By its parent, not by its id: a job may be called as an attempt of another one might be."""
    tasks = [job("0", 1, 12.5, "empirical:4,4,4,4,4,9,20"), job("x~2", 1, 1.0, "empirical:4", 30.0)]
    result = simulate(Machine.flat(1), tasks, "stochastic-easy")
    ledger = result.ledger
    assert {name: ledger.root(f"w0!{name}") for name in result.rows} == {
        "0": "w0!0",
        "0~2": "w0!0",
        "0~3": "w0!0",
        "x~2": "w0!x~2",
    }


@pytest.mark.parametrize("name", ["stochastic-batch", "stochastic-easy", "stochastic-conservative"])
def test_what_the_users_walltime_cut_short_is_known_not_to_suffice(name: str) -> None:
    """The limit is 20 s, the user's walltime 5 s: the limit has not failed, and is the next one again."""
    cut = job("0", 1, 12.0, "empirical:2,9,20")._replace(walltime=5.0)
    result = simulate(Machine.flat(1), [cut], name, options={"requests": "hpc"})
    assert spans(result) == {"0": (0, 5), "0~2": (5, 17)}
    report = result.session.dispatcher.report()
    assert (report["failed_attempts"], report["failed_speculations"]) == (0, 1)


@pytest.mark.parametrize(("long", "tried"), [(10.0, False), (14.0, True)])
def test_a_gap_shorter_than_the_users_walltime_was_is_not_speculated_on(long: float, tried: bool) -> None:
    """After 6 s without success a gap of 4 s is worth nothing to the job, and one of 8 s is."""
    tasks = [
        job("0", 1, 15.0, "empirical:2,3,7,20")._replace(walltime=6.0),
        Task("1", 0.0, 1, long, long),
        Task("wide", 1.0, 2, 3.0, 3.0),
    ]
    chosen = {"requests": "hpc", "speculate": "true", "ordering": "largest-first"}
    told = spans(simulate(Machine.flat(2), tasks, "stochastic-easy", options=chosen))
    assert told["0"] == (0, 6)
    assert told["wide"] == (long, long + 3)
    assert told["0~2"] == ((6, 14) if tried else (13, 28))


def test_a_run_time_that_equals_the_request_is_enough() -> None:
    result = simulate(Machine.flat(1), [job("0", 1, 4.0, "empirical:4,4,9")], "stochastic-easy")
    assert result.rows["0"].state is JobState.COMPLETED_SUCCESSFULLY


def test_a_rigid_plan_keeps_the_idle_tail_and_a_repacked_one_does_not() -> None:
    tasks = [job(str(n), 2, 3.0, "empirical:3,10,10") for n in range(2)]
    rigid = simulate(Machine.flat(2), tasks, "stochastic-batch", options={"requests": "hpc"})
    packed = simulate(Machine.flat(2), tasks, "stochastic-batch", options={"requests": "hpc", "plan": "repack"})
    assert spans(rigid) == {"0": (0, 3), "1": (10, 13)}
    assert spans(packed) == {"0": (0, 3), "1": (3, 6)}


def test_small_jobs_fill_the_idle_tail() -> None:
    tasks = [job(str(n), 2, 3.0, "empirical:3,10,10") for n in range(2)]
    tasks.append(Task("small", 1.0, 1, 2.0, 5.0))
    rigid = simulate(Machine.flat(2), tasks, "stochastic-batch", options={"requests": "hpc"})
    assert spans(rigid) == {"0": (0, 3), "small": (3, 5), "1": (10, 13)}


def test_a_failed_speculation_keeps_its_place_and_request() -> None:
    """A job of both hosts begins at 10; a narrow one that asks for 12 is tried before."""
    tasks = [
        job("a", 1, 8.0, "empirical:10"),
        job("b", 2, 8.0, "empirical:10"),
        job("c", 1, 11.0, "empirical:2,9,12"),
    ]
    chosen = {"requests": "hpc", "speculate": "true", "ordering": "fcfs"}
    result = simulate(Machine.flat(2), tasks, "stochastic-batch", options=chosen)
    assert spans(result) == {"a": (0, 8), "c": (0, 10), "b": (10, 18), "c~2": (20, 31)}
    assert result.session.dispatcher.report()["failed_speculations"] == 1
    assert result.session.dispatcher.report()["failed_attempts"] == 0


def test_a_speculation_that_succeeds_gives_its_reservation_back() -> None:
    tasks = [
        job("a", 1, 8.0, "empirical:10"),
        job("b", 2, 8.0, "empirical:10"),
        job("c", 1, 9.0, "empirical:2,9,12"),
        Task("d", 0.0, 1, 11.0, 12.0),
    ]
    chosen = {"requests": "hpc", "speculate": "true", "ordering": "fcfs"}
    told = spans(simulate(Machine.flat(2), tasks, "stochastic-batch", options=chosen))
    assert told["c"] == (0, 9)
    assert told["b"] == (10, 18)
    assert told["d"][0] == 20


def test_a_job_that_may_not_be_tried_does_not_keep_its_like_from_it() -> None:
    """When `a` ends early, 8 s are free; `c` begins before they end, `d`, which is alike, does not."""
    tasks = [
        job("a", 1, 2.0, "empirical:2,10"),
        job("b", 1, 6.0, "empirical:6"),
        job("c", 1, 11.0, "empirical:2,9,12"),
        job("d", 1, 11.0, "empirical:2,9,12"),
    ]
    chosen = {"requests": "hpc", "speculate": "true", "ordering": "fcfs"}
    told = spans(simulate(Machine.flat(2), tasks, "stochastic-batch", options=chosen))
    assert told == {"a": (0, 2), "b": (0, 6), "c": (6, 17), "d": (2, 10), "d~2": (10, 21)}


def test_history_of_a_job_and_of_those_that_ended() -> None:
    law = "empirical:2,3,4,9"
    tasks = [job("0", 1, 3.0, law), job("1", 1, 2.5, law, 10.0), job("2", 1, 4.0, law, 20.0, history=[1, 2])]
    told = spans(simulate(Machine.flat(1), tasks, "stochastic-easy", options={"requests": "neuroscience"}))
    assert told == {"0": (0, 3), "1": (10, 12.5), "2": (20, 22), "2~2": (22, 25), "2~3": (25, 29)}


def test_the_rate_is_measured_from_the_small_jobs() -> None:
    law = parse_law("tnorm:0,20,8,2").scaled(10).text
    small = [Task(f"s{n}", float(n), 1, 0.5, 1.0) for n in range(100)]
    with_small = simulate(
        Machine.flat(2), [*small, job("z", 2, 5.0, law, 100.0)], "stochastic-easy", options={"requests": "atoptimal"}
    )
    dispatcher = with_small.session.dispatcher
    assert list(dispatcher._known) == [(law, 0.25)]


def test_a_job_that_failed_goes_on_with_its_sequence_whatever_the_rate_is_by_then() -> None:
    law = parse_law("tnorm:0,20,8,2").scaled(10).text
    small = [Task(f"s{n}", 1.0 + n / 10, 1, 0.09, 0.2) for n in range(1000)]
    options = {"requests": "atoptimal"}
    result = simulate(Machine.flat(2), [job("z", 1, 140.0, law), *small], "stochastic-easy", options=options)
    dispatcher = result.session.dispatcher
    assert dispatcher.rate.at(100.0) > 0.4
    first = atoptimal(parse_law(law), 0.0)
    lasted = [row.end - row.start for name, row in result.rows.items() if name.startswith("z")]
    assert lasted[:-1] == [reserved(first[0]), reserved(first[1])]
    assert lasted[-1] == 140_000_000


@pytest.mark.parametrize(
    ("extra", "message"),
    [
        ({"runtime_law": 5}, "field 'runtime_law': found '5'"),
        ({"runtime_law": "tnorm:1"}, "job w0!0, field 'runtime_law': law 'tnorm:1'"),
        ({"runtime_law": "beta:2,2", "history": 3}, "field 'history': expected a list"),
        ({"runtime_law": "beta:2,2", "history": [0]}, "field 'history': found 0"),
    ],
)
def test_wrong_fields(extra: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as caught:
        simulate(Machine.flat(1), [Task("0", 0.0, 1, 1.0, extra=extra)], "stochastic-easy")
    assert message in str(caught.value)


# ------------------------------------------------------------------ closed forms


def batch(seed: int, widths: str, count: int = 100) -> list[Task]:
    """Scenario 1 of the paper: jobs of TN[0, 20 h](8, 2) at time 0 on 10 hosts."""
    rng = np.random.default_rng(seed)
    law = LAW.scaled(HOUR)
    sizes = np.full(count, 10) if widths == "all" else np.maximum(1, (10 * rng.beta(2, 2, count)).astype(int))
    runtimes = law.draw(rng, count)
    return [job(str(n), int(sizes[n]), round(float(runtimes[n]), 3), law.text) for n in range(count)]


def utilisation(tasks: list[Task], result: Result) -> float:
    """Useful work over the machine's time until the last end."""
    last = max(row.end for row in result.rows.values()) / 1e6
    return sum(task.units * task.runtime for task in tasks) / (10 * last)


@pytest.mark.parametrize(
    ("plan", "requests", "rate", "expected"),
    [
        ("rigid", "hpc", None, 0.4000),
        pytest.param("rigid", "toptimal", None, 0.6702, marks=pytest.mark.slow),
        ("rigid", "atoptimal", "0.5", 0.6079),
        pytest.param("repack", "hpc", None, 1.0, marks=pytest.mark.slow),
        ("repack", "toptimal", None, 0.8968),
        pytest.param("repack", "atoptimal", "0.5", 0.9906, marks=pytest.mark.slow),
    ],
)
def test_utilisation_of_machine_wide_jobs(plan: str, requests: str, rate: str | None, expected: float) -> None:
    """E[X] / E[S_J] with a rigid plan, E[X] / E[S_{J-1} + X] with re-packing."""
    chosen = {"plan": plan, "requests": requests, **({} if rate is None else {"rate": rate})}
    seen = []
    for seed in range(12):
        tasks = batch(seed, "all")
        seen.append(utilisation(tasks, simulate(Machine.flat(10), tasks, "stochastic-batch", options=chosen)))
    # A batch's last reservation ends early, which is worth less than one reservation in a hundred.
    half = 3 * float(np.std(seen, ddof=1)) / math.sqrt(len(seen)) + 0.01
    assert abs(float(np.mean(seen)) - expected) < half
    assert half < 0.07


@pytest.mark.parametrize("seed", range(3))
def test_who_wins_depends_on_the_plan(seed: int) -> None:
    tasks = batch(seed, "beta")
    seen = {
        (plan, requests): utilisation(
            tasks,
            simulate(Machine.flat(10), tasks, "stochastic-batch", options={"plan": plan, "requests": requests}),
        )
        for plan in ("rigid", "repack")
        for requests in ("hpc", "toptimal")
    }
    assert seen["rigid", "toptimal"] > seen["rigid", "hpc"] * 1.3
    assert seen["repack", "hpc"] > seen["repack", "toptimal"]
