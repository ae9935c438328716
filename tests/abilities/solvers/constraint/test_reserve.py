"""Room kept for short jobs that have not come yet."""

import math

import numpy as np
import pytest

from batdispatch.abilities.solvers.constraint.reserve import LONGER, MEMORY, Reserve
from batdispatch.core.machine.machine import Machine
from simulating import Task, simulate

CAPACITY = np.array([100])


def allowed(reserve: Reserve, durations: list[float], needs: list[int], free: int) -> list[bool]:
    return reserve.allowed(np.array(durations), np.array(needs)[:, None], np.array([free]), CAPACITY).tolist()


def seen(share: float, *jobs: tuple[float, int]) -> Reserve:
    reserve = Reserve(share)
    for duration, need in jobs:
        reserve.came(duration, np.array([need]))
    return reserve


def test_a_long_job_leaves_room_for_the_widest_of_far_shorter_ones() -> None:
    reserve = seen(0.5, (10.0, 20), (10.0, 30), (99.0, 45))
    assert allowed(reserve, [10.0 * LONGER], [40], 70) == [True]
    assert allowed(reserve, [10.0 * LONGER], [41], 70) == [False]
    assert allowed(reserve, [99.0 * LONGER], [26], 70) == [False]
    assert reserve.held == 2


def test_jobs_that_are_not_far_longer_need_no_room_beside_them() -> None:
    assert allowed(seen(0.5, (10.0, 50)), [10.0 * LONGER - 1], [90], 90) == [True]


def test_no_more_is_kept_than_the_share() -> None:
    assert allowed(seen(0.25, (1.0, 80)), [1000.0, 1000.0], [65, 66], 90) == [True, False]


def test_shorter_jobs_go_first_and_count_as_started() -> None:
    assert allowed(seen(0.2, (1.0, 20)), [3000.0, 2000.0], [40, 40], 90) == [False, True]


@pytest.mark.parametrize("need", [1, 60, 100])
def test_a_job_alone_always_starts(need: int) -> None:
    assert allowed(seen(1.0, (1.0, 100)), [math.inf], [need], 100) == [True]


def test_what_a_job_does_not_use_need_not_be_free() -> None:
    reserve = Reserve(0.5)
    reserve.came(1.0, np.array([5, 1]))
    found = reserve.allowed(np.array([100.0]), np.array([[5, 0]]), np.array([10, 0]), np.array([10, 2]))
    assert found.tolist() == [True]


def test_old_jobs_are_forgotten() -> None:
    assert allowed(seen(0.4, (1.0, 30), *[(50.0, 1)] * (MEMORY - 1)), [100.0], [55], 80) == [False]
    assert allowed(seen(0.4, (1.0, 30), *[(50.0, 1)] * MEMORY), [100.0], [55], 80) == [True]


def test_a_job_too_wide_for_the_share_is_not_held_back() -> None:
    assert allowed(seen(0.25, (1.0, 20)), [1000.0], [75], 80) == [False]
    assert allowed(seen(0.25, (1.0, 20)), [1000.0], [76], 80) == [True]


@pytest.mark.parametrize("name", ["best-list", "best-list[capacity=pooled]", "hcp19[work=0.01]"])
def test_a_short_wide_job_finds_room_although_long_ones_came_first(name: str) -> None:
    """Three of four nodes are wanted for a long time; jobs that need two come again and again for a second."""
    short = [Task(f"s{n}", 10.0 * n, 2, 1.0, 1.0, {"core": 2}) for n in range(10)]
    long = [Task(f"l{n}", 5.0, 1, 500.0, 500.0, {"core": 2}) for n in range(3)]
    machine = Machine.flat(4, "core=2")
    tasks = sorted([*short, *long], key=lambda task: task.submission)
    without = simulate(machine, tasks, name).starts()
    kept = simulate(machine, tasks, name, options={"reserve": "0.5"})
    starts = kept.starts()
    assert all(starts[task.id] == task.submission for task in short)
    assert without["s1"] >= 505.0
    assert kept.session.dispatcher.report()["held_for_reserve"] > 0
