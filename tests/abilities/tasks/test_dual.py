"""The dual approximation with affinity: the hand-worked batch, every rule, and its guarantee."""

import itertools
import json
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from batdispatch.abilities.tasks import dual
from batdispatch.abilities.tasks.dual import TOO_LONG, TOO_MUCH, Batch, Pair, attempt, search

ORACLE: dict[str, Any] = json.loads((Path(__file__).parents[2] / "oracles" / "topology" / "dada_hand.json").read_text())


def oracle_batch() -> tuple[Batch, list[str]]:
    names = [f"c{i}" for i in range(ORACLE["cpus"])] + [f"g{i}" for i in range(ORACLE["gpus"])]
    gpu = [name[0] == "g" for name in names]
    times = [[Fraction(task["gpu"] if is_gpu else task["cpu"]) for is_gpu in gpu] for task in ORACLE["tasks"]]
    pairs = [
        Pair(bytes_, index, names.index(name))
        for index, task in enumerate(ORACLE["tasks"])
        for name, bytes_ in task["aff"].items()
        if bytes_ > 0
    ]
    return Batch(times, gpu, pairs), names


@pytest.mark.parametrize("row", ORACLE["rows"], ids=lambda row: f"alpha={row['alpha']}-lambda={row['lam']}")
def test_the_hand_worked_batch(row: dict[str, Any]) -> None:
    batch, names = oracle_batch()
    found = attempt(batch, Fraction(row["lam"]), Fraction(row["alpha"]))
    assert (found.rejected or "accepted") == row["outcome"]
    if row["placement"] is not None:
        assert {str(task): names[resource] for task, resource in enumerate(found.placement)} == row["placement"]
        assert dict(zip(names, found.loads, strict=True)) == {
            name: Fraction(load) for name, load in row["loads"].items()
        }


@pytest.mark.parametrize("alpha", [Fraction(0), Fraction(1, 2), Fraction(1)])
def test_of_all_accepted_guesses_of_the_bisection_the_shortest_schedule_is_kept(alpha: Fraction) -> None:
    """The hand-worked batch and random ones, against a bisection written down here."""
    longer = 0
    for batch, _ in [(oracle_batch()[0], 5), *batches(60)]:
        low, high = max(map(min, batch.times)), sum(map(max, batch.times))
        lengths = [max(attempt(batch, high, alpha).loads)]
        while high - low > high / 100:
            middle = (low + high) / 2
            found = attempt(batch, middle, alpha)
            low, high = (middle, high) if found.rejected else (low, middle)
            lengths += [] if found.rejected else [max(found.loads)]
        assert max(search(batch, alpha, 0.01).loads) == min(lengths)
        longer += lengths[-1] > min(lengths)
    assert longer


def batches(count: int) -> list[tuple[Batch, int]]:
    """Random batches with the least makespan, found by trying every placement."""
    rng = np.random.default_rng(13)
    found = []
    for _ in range(count):
        cpus, gpus, tasks = int(rng.integers(1, 3)), int(rng.integers(1, 3)), int(rng.integers(1, 7))
        gpu = [False] * cpus + [True] * gpus
        times = []
        for _ in range(tasks):
            on_cpu, on_gpu = int(rng.integers(1, 12)), int(rng.integers(1, 12))
            times.append([Fraction(on_gpu if is_gpu else on_cpu) for is_gpu in gpu])
        pairs = [
            Pair(int(rng.integers(1, 4)), task, resource)
            for task in range(tasks)
            for resource in range(cpus + gpus)
            if rng.random() < 0.4
        ]
        least = min(
            max(
                sum(times[task][resource] for task, resource in enumerate(chosen) if resource == each)
                for each in range(cpus + gpus)
            )
            for chosen in itertools.product(range(cpus + gpus), repeat=tasks)
        )
        found.append((Batch(times, gpu, pairs), int(least)))
    return found


def test_every_guess_from_the_optimum_on_is_accepted() -> None:
    """So a rejected guess is a lower bound of the makespan, and the schedule kept has its guarantee."""
    rejected = 0
    for batch, optimum in batches(150):
        for alpha in (Fraction(0), Fraction(1, 4), Fraction(1, 2), Fraction(1)):
            for guess in range(1, 6 * optimum):
                found = attempt(batch, Fraction(guess, 2), alpha)
                assert not found.rejected or guess < 2 * optimum
                rejected += bool(found.rejected)
            best = search(batch, alpha, 1e-3)
            assert max(best.loads) <= (2 + alpha) * optimum * (1 + Fraction(1, 900))
    assert rejected > 1000


@settings(max_examples=100)
@given(data=st.data())
def test_every_task_is_placed_where_it_can_run_and_loads_add_up(data: st.DataObject) -> None:
    """Also with times that differ within a class, work that resources have before, and resources that cannot run it."""
    gpu = data.draw(st.lists(st.booleans(), min_size=1, max_size=4))
    time = st.one_of(st.integers(1, 9).map(Fraction), st.just(float("inf")))
    times = data.draw(
        st.lists(
            st.lists(time, min_size=len(gpu), max_size=len(gpu)).filter(lambda row: min(row) < float("inf")),
            min_size=1,
            max_size=8,
        )
    )
    loads = data.draw(st.lists(st.integers(0, 9).map(Fraction), min_size=len(gpu), max_size=len(gpu)))
    pairs = [
        Pair(data.draw(st.integers(1, 3)), task, data.draw(st.integers(0, len(gpu) - 1))) for task in range(len(times))
    ]
    alpha = data.draw(st.sampled_from([Fraction(0), Fraction(1, 2), Fraction(1)]))
    found = search(Batch(times, gpu, pairs, loads), alpha, 0.01)
    assert not found.rejected
    expected = list(loads)
    for task, resource in enumerate(found.placement):
        assert times[task][resource] < float("inf")
        expected[resource] += times[task][resource]
    assert found.loads == expected


def test_affinity_goes_before_load_as_far_as_alpha_allows() -> None:
    """Two tasks of 2 s with data on the first of two GPUs, 4 s guessed: alpha says how many of them stay there."""
    times = [[9, 2, 2], [9, 2, 2]]
    pairs = [Pair(5, 0, 1), Pair(5, 1, 1)]
    batch = Batch(times, [False, True, True], pairs)
    assert attempt(batch, 4, Fraction(1)).placement == [1, 1]
    assert attempt(batch, 4, Fraction(1, 2)).placement == [1, 2]
    assert attempt(batch, 4, Fraction(1, 4)).placement == [1, 2]


def test_a_task_longer_than_the_guess_goes_nowhere_by_affinity() -> None:
    """With alpha above 1 the load alone would allow it."""
    batch = Batch([[9, 3]], [False, True], [Pair(1, 0, 0)])
    assert attempt(batch, 4, 3).placement == [1]


def test_equal_affinities_go_by_task_then_by_resource() -> None:
    batch = Batch([[3, 3], [3, 3]], [True, True], [Pair(1, 1, 0), Pair(1, 0, 1), Pair(1, 0, 0)])
    assert attempt(batch, 3, 1).placement == [0, 1]


def test_work_given_by_affinity_does_not_count_as_given_to_gpus_in_the_second_step() -> None:
    """One GPU, guess 4: task 0 is there by affinity, and two further tasks of 3 s each still find room below 4."""
    batch = Batch([[4, 3], [4, 3], [4, 3]], [False, True], [Pair(1, 0, 1)])
    assert attempt(batch, 4, 1).placement == [1, 1, 1]


def test_the_last_task_may_overshoot_and_the_next_goes_to_a_cpu() -> None:
    batch = Batch([[4, 3], [4, 3], [4, 3]], [False, True])
    assert attempt(batch, 4, 0).placement == [1, 1, 0]


def test_a_guess_is_rejected_for_a_task_or_for_a_load() -> None:
    one_cpu = Batch([[4], [4], [4]], [False])
    assert attempt(one_cpu, 3, 0).rejected == TOO_LONG
    assert attempt(one_cpu, 5, 0).rejected == TOO_MUCH
    assert not attempt(one_cpu, 6, 0).rejected
    assert not attempt(one_cpu, 5, Fraction(1, 2)).rejected


def test_below_the_optimum_acceptance_is_not_monotone() -> None:
    """One CPU and one GPU, optimum 8: the guess 4 is accepted, 5 is not. A schedule of at most 8 for it is luck."""
    times = [[11, 3], [5, 2], [1, 4], [1, 6], [4, 5], [10, 3]]
    batch = Batch(times, [False, True])
    assert [bool(attempt(batch, guess, 0).rejected) for guess in range(1, 10)] == [1, 1, 1, 0, 1, 0, 0, 0, 0]


def test_tasks_go_to_gpus_by_the_ratio_of_their_times_and_not_by_the_difference() -> None:
    # 100 and 50 s, 10 and 1 s, 30 and 10 s: ratios 2, 10 and 3, differences 50, 9 and 20. The last one has no GPU time.
    times = [[100, 50], [10, 1], [30, 10], [5, math.inf]]
    assert Batch(times, [False, True]).by_gain == [1, 2, 0]


@pytest.mark.parametrize(("precision", "guesses"), [(0.5, [8]), (0.4, [8, 6]), (0.3, [8, 6, 5])])
def test_the_bisection_ends_when_its_bounds_are_close_relative_to_the_upper_one(
    precision: float, guesses: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two tasks of 4 s on a CPU, from 4 to 8: each guess is accepted, and bounds are 4, 2 and 1 apart."""
    seen = []

    def note(batch: Batch, guess: Any, alpha: Any) -> Any:
        seen.append(guess)
        return attempt(batch, guess, alpha)

    monkeypatch.setattr(dual, "attempt", note)
    search(Batch([[4], [4]], [False]), 0, precision)
    assert seen == guesses


def test_pairs_of_equal_affinity_stand_by_task_and_then_by_resource() -> None:
    pairs = [Pair(5, 1, 0), Pair(5, 0, 1), Pair(7, 1, 1), Pair(5, 0, 0)]
    assert Batch([[1, 1], [1, 1]], [False, False], pairs).pairs == [pairs[2], pairs[3], pairs[1], pairs[0]]


def test_a_gpu_is_busy_for_no_more_of_a_guess_than_all_of_it() -> None:
    """One GPU is busy for 100 s, of which 10 lie within the guess, so that 10 of 20 s are left for other tasks."""
    batch = Batch([[5, 4, 4], [5, 4, 4], [5, 4, 4], [5, 4, 4]], [False, True, True], (), [0, 100, 0])
    # 4, 8 and 12 s of them are given; then nothing is left, and the last task goes to the CPU.
    assert attempt(batch, 10, 0).placement == [2, 2, 2, 0]
