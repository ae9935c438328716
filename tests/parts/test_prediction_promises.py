"""What every prediction promises: nothing of the future, no matter in what order ends are told, the same every time."""

import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from batdispatch.core.hosts.allocation import Allocation
from batdispatch.core.jobs.job import Job, JobState, Stay
from batdispatch.core.jobs.request import Request
from batdispatch.core.line import events as e
from batdispatch.core.line import registry
from batdispatch.core.line.ledger import Ledger
from batdispatch.core.machine.machine import Machine
from batdispatch.parts.prediction import GROUP, Predictions
from simulating import Task, simulate

#: Those that learn, as they are and with other options than usual.
NAMES = [name for name in registry.names(GROUP) if name not in ("requested", "oracle")]

moments = st.integers(0, 40)
#: (submission, run time, walltime beyond it, units, user, program, queue).
histories = st.lists(
    st.tuples(
        moments,
        st.integers(1, 30),
        st.integers(0, 30),
        st.integers(1, 3),
        st.sampled_from(["", "ann", "ben"]),
        st.sampled_from(["", "sim_a", "sim_b"]),
        st.sampled_from(["q", "r"]),
    ),
    min_size=1,
    max_size=20,
)


def tasks_of(history: list[tuple[Any, ...]]) -> list[Task]:
    return [
        Task(f"{n:02}", float(at), units, float(lasts), float(lasts + more), None, user, {"name": name, "queue": queue})
        for n, (at, lasts, more, units, user, name, queue) in enumerate(history)
    ]


def predicted(name: str, tasks: list[Task]) -> dict[str, float]:
    """Return what was expected of each job when it was submitted, on a machine on which nobody waits."""
    found: dict[str, float] = {}
    with pytest.MonkeyPatch.context() as patch:
        asked = Predictions.of

        def of(self: Predictions, job: Job) -> float:
            return found.setdefault(job.id.partition("!")[2], asked(self, job))

        patch.setattr(Predictions, "of", of)
        simulate(Machine.flat(80), tasks, "easy", options={"prediction": name})
    return found


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=25)
@given(histories, moments)
def test_nothing_is_known_of_what_ends_later(name: str, history: list[tuple[Any, ...]], cut: int) -> None:
    """If the jobs that have not ended by some time ran for longer, what was expected until then would be the same."""
    tasks = tasks_of(history)
    changed = [task._replace(runtime=task.walltime) if task.submission + task.runtime > cut else task for task in tasks]
    before, after = predicted(name, tasks), predicted(name, changed)
    for task in tasks:
        assert not (task.submission <= cut and before[task.id] != after[task.id]), task


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=25)
@given(histories)
def test_at_least_a_second_at_most_the_walltime_and_the_same_again(name: str, history: list[tuple[Any, ...]]) -> None:
    tasks = tasks_of(history)
    found = predicted(name, tasks)
    assert len(found) == len(tasks)
    assert all(1.0 <= found[task.id] <= task.walltime for task in tasks)
    assert predicted(name, tasks) == found


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=25)
@given(histories, st.randoms(use_true_random=False))
def test_the_order_in_which_simultaneous_ends_are_told_does_not_matter(
    name: str, history: list[tuple[Any, ...]], random: Any
) -> None:
    def next_after(order: list[int]) -> list[float]:
        found = Predictions(name)
        found.begin(Ledger(e.SimulationBegins(0.0, Machine.flat(4))))
        jobs = [job(f"w0!{n}", row) for n, row in enumerate(history)]
        for one in jobs:
            found.of(one)
        for n in order:
            stay = Stay(job=jobs[n], start=60.0 - history[n][1], allocation=Allocation(1), rank=n)
            stay.state = JobState.COMPLETED_SUCCESSFULLY
            found.ended(stay, 60.0)
        return [found.of(job(f"w1!{n}", row)) for n, row in enumerate(history)]

    order = list(range(len(history)))
    expected = next_after(order)
    random.shuffle(order)
    assert next_after(order) == expected


def job(name: str, row: tuple[Any, ...]) -> Job:
    _, lasts, more, units, user, program, queue = row
    extra = {"name": program, "queue": queue}
    request = Request(units=units)
    return Job(id=name, request=request, walltime=float(lasts + more), user=user, extra=extra)


@pytest.mark.parametrize("name", NAMES)
def test_jobs_without_a_walltime_are_predicted_from_others(name: str) -> None:
    tasks = [Task(f"{n}", 100.0 * n, 1, 10.0, math.inf, None, "ann", {"name": "sim"}) for n in range(4)]
    found = predicted(name, tasks)
    assert found["0"] == math.inf
    if name != "last-two-as-published-code":
        assert all(1.0 <= found[task.id] < math.inf for task in tasks[1:])
