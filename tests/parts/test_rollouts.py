"""Rollouts: the kernel beside the real dispatcher, guesses and futures by hand."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from batdispatch.core.jobs.job import Job
from batdispatch.core.jobs.request import Request
from batdispatch.core.machine.machine import Machine
from batdispatch.parts.rollouts.kernel import Futures, delay_cost_in_python, delay_costs
from batdispatch.parts.rollouts.past import FADE, STRANGER, UNKNOWN, Arrival, Past
from batdispatch.parts.rollouts.rollouts import (
    Moment,
    Policy,
    Rollouts,
    Room,
    Waiter,
    _outlasting,
    enough,
    places_in_order,
)
from simulating import Task, simulate

HOSTS = 4


def cost_of(tasks: list[Task], limits: list[float] | None = None, waiting: int = 0, now: float = 0.0) -> float:
    """The kernel's cost of tasks on an idle machine of four hosts, smallest area first."""
    areas = [(task.units * task.walltime, index) for index, task in enumerate(tasks)]
    places = np.empty(len(tasks), dtype=np.int64)
    places[[index for _, index in sorted(areas)]] = np.arange(len(tasks))
    none = np.zeros(0)
    futures = Futures(
        now,
        np.array([HOSTS]),
        np.array([HOSTS]),
        np.zeros((0, 1), dtype=np.int64),
        none[None],
        none,
        np.array([[[task.units] for task in tasks]]),
        np.array([[task.walltime for task in tasks]]),
        np.array([[task.runtime for task in tasks]]),
        np.array([[task.submission for task in tasks]]),
        np.array([[np.ones(len(tasks)) if limits is None else limits]]),
        places[None, None],
        waiting,
    )
    cost = float(delay_costs(futures)[0, 0])
    assert cost == delay_cost_in_python(futures.one(0, 0))
    return cost


@st.composite
def streams(draw: st.DrawFn) -> list[Task]:
    """Jobs in order of submission, then of their ids."""
    count = draw(st.integers(1, 14))
    submissions = sorted(float(draw(st.integers(0, 40))) for _ in range(count))
    tasks = []
    for number, submission in enumerate(submissions):
        runtime = float(draw(st.integers(1, 30)))
        walltime = runtime * draw(st.sampled_from([1, 2, 5])) + number / 64
        tasks.append(Task(f"{number:02}", submission, draw(st.integers(1, HOSTS)), runtime, walltime))
    return tasks


@given(streams())
def test_a_rollout_without_room_costs_what_easy_costs(tasks: list[Task]) -> None:
    starts = simulate(Machine.flat(HOSTS), tasks, "easy[ordering=smallest-area]").starts()
    expected = sum((starts[task.id] - task.submission) / max(task.runtime, 10.0) for task in tasks)
    assert cost_of(tasks) == pytest.approx(expected)


@given(st.integers(0, 2**32 - 1))
def test_futures_together_cost_what_each_costs_alone(seed: int) -> None:
    rng = np.random.default_rng(seed)
    policies, samples, jobs, running, resources = (int(rng.integers(1, 5)) for _ in range(5))
    waiting = int(rng.integers(0, jobs + 1))
    total = rng.integers(8, 20, resources)
    run_needs = rng.integers(0, 3, (running, resources))
    lasts = rng.integers(1, 40, (samples, jobs)).astype(float)
    futures = Futures(
        100.0,
        total,
        total - run_needs.sum(axis=0),
        run_needs,
        100.0 + rng.integers(1, 40, (samples, running)),
        100.0 + rng.permutation(40)[:running],
        rng.integers(1, 8, (samples, jobs, resources)),
        lasts + rng.integers(0, 9, (samples, jobs)) + np.arange(jobs) / 64,
        lasts,
        100.0 + np.cumsum(rng.integers(0, 9, (samples, jobs)), axis=1),
        rng.uniform(0.3, 1.3, (policies, samples, jobs)),
        rng.permuted(np.tile(np.arange(jobs), (policies, samples, 1)), axis=2),
        waiting,
    )
    each = [
        [delay_cost_in_python(futures.one(policy, sample)) for sample in range(samples)] for policy in range(policies)
    ]
    assert delay_costs(futures).tolist() == each


@given(streams())
def test_jobs_that_wait_now_cost_from_now_on(tasks: list[Task]) -> None:
    together = [task._replace(submission=0.0) for task in tasks]
    assert cost_of(together, waiting=len(tasks), now=50.0) == pytest.approx(cost_of(together))


def test_a_job_that_leaves_no_room_waits_without_a_reservation() -> None:
    # Of four hosts the long job may leave at most three in use; two are taken until 20. The short one comes at 5.
    tasks = [Task("a", 0.0, 2, 20.0, 20.0), Task("long", 1.0, 2, 100.0, 100.0), Task("short", 5.0, 2, 10.0, 10.0)]
    assert cost_of(tasks) == pytest.approx(15.0 / 10.0)
    # With room the short one starts at once, and the long one, at 15, when it is the only one beside `a` ... at 20.
    assert cost_of(tasks, [1.0, 0.75, 1.0]) == pytest.approx(19.0 / 100.0)


def test_a_job_wider_than_its_limit_need_not_leave_room() -> None:
    tasks = [Task("wide", 0.0, 4, 20.0, 20.0), Task("next", 1.0, 3, 20.0, 20.0)]
    assert cost_of(tasks, [0.5, 1.0]) == pytest.approx(19.0 / 20.0)


def job(name: str = "1", units: int = 1, walltime: float = 100.0, user: str = "") -> Job:
    return Job(id=f"w0!{name}", request=Request(units=units), submission=0.0, walltime=walltime, user=user)


def test_a_guess_while_nothing_is_known_is_what_is_expected() -> None:
    rng = np.random.default_rng(1)
    assert Past(3).guess(job(), 60.0, rng).tolist() == [60.0] * 3
    assert Past(2).guess(job(walltime=math.inf), math.inf, rng).tolist() == [UNKNOWN] * 2


def test_a_guess_takes_the_share_of_the_expected_time_that_others_ran() -> None:
    past = Past(4)
    past.end(job(), 25.0, 100.0)
    assert past.guess(job(walltime=400.0), 400.0, np.random.default_rng(1)).tolist() == [100.0] * 4


def test_a_guess_takes_run_times_of_the_same_user_as_they_were() -> None:
    past = Past(2)
    past.end(job(user="a"), 25.0, 100.0)
    assert past.guess(job(user="a", walltime=400.0), 400.0, np.random.default_rng(1)).tolist() == [25.0] * 2


def test_guesses_keep_the_walltime_and_last_a_second() -> None:
    past = Past(2)
    past.end(job(user="a"), 90.0, 100.0)
    assert past.guess(job(user="a", walltime=30.0), 30.0, np.random.default_rng(1)).tolist() == [30.0] * 2
    past = Past(2)
    past.end(job(), 0.001, 100.0)
    assert past.guess(job(), 100.0, np.random.default_rng(1)).tolist() == [1.0] * 2


def test_guesses_are_drawn_by_user_units_age_and_likeness() -> None:
    past = Past(1)
    past.end(job(user="a", units=2), 10.0, 100.0)
    past.end(job(user="a"), 20.0, 100.0)
    past.end(job(user="b"), 40.0, 200.0)
    weights, runs = past._alike(job(user="a"), 100.0, 3)
    # The last one first: a stranger's, half as long; the same user's as many units; the same user's earlier one.
    assert runs.tolist() == [20.0, 20.0, 10.0]
    assert weights.tolist() == pytest.approx([STRANGER / 4, 2 * FADE, FADE**2])


def seen(came: float, guesses: list[float], expected: float = 100.0, walltime: float = 100.0) -> Arrival:
    known = np.array(guesses)
    return Arrival(job(str(came), walltime=walltime), came, expected, known, np.array([1]), (expected,))


def test_a_running_job_has_the_first_guess_that_it_has_not_outlived() -> None:
    running = [seen(0.0, [5.0, 50.0, 20.0]), seen(0.0, [1.0, 2.0, 3.0]), seen(0.0, [1.0] * 3, walltime=math.inf)]
    found = _outlasting(running, np.array([10.0, 60.0, 8.0]), np.array([0.5, 0.0, 1.0]))
    assert found.tolist() == [[50.0, 50.0, 20.0], [80.0, 61.0, 100.0], [12.0, 9.0, 16.0]]


def test_places_keep_the_order_of_the_waiting_jobs_and_put_those_that_come_between_them() -> None:
    places = places_in_order([(1.0,), (5.0,), (9.0,)], [(0.0,), (5.0,), (7.0,), (6.0,), (99.0,)])
    assert np.argsort(places).tolist() == [3, 0, 1, 4, 6, 5, 2, 7]


def test_room_is_the_part_of_recent_jobs_that_are_far_shorter() -> None:
    past = Past(1)
    past.arrivals.extend(
        seen(float(n), [1.0], expected=expected) for n, expected in enumerate([10.0, 20.0, 30.0, 90.0])
    )
    assert Room(past, 3.0).parts(np.array([10.0, 30.0, 90.0, 300.0]), 4).tolist() == [0.0, 0.25, 0.75, 1.0]


def rollouts(samples: int = 4) -> tuple[Rollouts, Past]:
    past = Past(samples)
    for number in range(30):
        past.arrivals.append(seen(10.0 * number, [10.0] * samples, expected=10.0))
    past.end(job(), 10.0, 10.0)
    return Rollouts(past, Room(past, 3.0), samples, 20), past


def test_nothing_is_drawn_before_twenty_jobs_came_and_one_ended() -> None:
    _, past = rollouts()
    assert enough(past)
    past.ended = 0
    assert not enough(past)
    assert not enough(Past(4))


def test_room_pays_where_short_jobs_come_and_a_long_one_would_take_all() -> None:
    # Two hosts, one of them free; a job of an hour waits, and a job of ten seconds comes every ten.
    made, past = rollouts()
    long = seen(295.0, [3600.0] * 4, expected=3600.0, walltime=3600.0)
    past.arrivals.append(long)
    moment = Moment(300.0, np.array([1]), np.array([1]), [], [Waiter(long, (3600.0,), True)])
    alone = made.costs(moment, [Policy(0.0), Policy(0.9)], 31, np.random.default_rng(1))
    # Alone on a machine of one host it is too wide to leave room.
    assert (alone[0] == alone[1]).all()
    two = moment._replace(total=np.array([2]))
    without, room = made.costs(two, [Policy(0.0), Policy(0.5)], 31, np.random.default_rng(1)).sum(axis=1)
    assert room < without / 10


def test_the_same_chance_gives_the_same_costs() -> None:
    made, past = rollouts()
    moment = Moment(300.0, np.array([3]), np.array([1]), [], [Waiter(past.arrivals[0], (10.0,), True)])
    first, again = (made.costs(moment, [Policy(0.0), Policy(0.5)], 30, np.random.default_rng(3)) for _ in range(2))
    assert (first == again).all()


def test_a_policy_may_have_an_order_of_its_own() -> None:
    # On one host ten jobs of 10 s wait, and one of 3,600 s that the keys put first: it costs each short one an hour.
    made, past = rollouts()
    long = seen(295.0, [3600.0] * 4, expected=3600.0, walltime=3600.0)
    waiting = [Waiter(long, (0.0,), True), *(Waiter(past.arrivals[n], (1.0 + n,), True) for n in range(10))]
    moment = Moment(300.0, np.array([1]), np.array([1]), [], waiting)
    last = places_in_order([(1.0 + n,) for n in range(10)], [(10.0,)] * 30)
    shortest_first = np.concatenate(([last.max() + 1], last))
    policies = [Policy(0.0), Policy(0.0, shortest_first)]
    as_keys_say, other = made.costs(moment, policies, 30, np.random.default_rng(1))
    # Ten short ones save 3,600 / 10 each, and no more than that for each of the twenty that come.
    assert (as_keys_say - other >= 10 * 359.0).all()
    assert (made.costs(moment, policies[:1], 30, np.random.default_rng(1))[0] == as_keys_say).all()
