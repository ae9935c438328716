"""The family's priority against a naive twin written from the publications: the slowdown of a job if it started now."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batdispatch.abilities.solvers.constraint.base import PlanningDispatcher
from batdispatch.core.jobs.fields import read_request
from batdispatch.core.jobs.job import Job
from batdispatch.core.line.dispatcher import create
from batdispatch.core.line.events import JobSubmitted, SimulationBegins
from batdispatch.core.line.ledger import Ledger
from batdispatch.core.machine.machine import Machine
from simulating import Task, simulate

NAMES = ["best-list", "hcp19", "pcp19", "pcp20"]
#: (submission, expected run time, units, cores of a unit; 0: a whole node, which the order counts as 1)
Row = tuple[float, float, int, int]


def order(name: str, now: float, rows: list[Row], window: int = 100) -> list[str]:
    """Return the jobs that a dispatcher decides about at a moment, in its order."""
    ledger = Ledger(SimulationBegins(time=0.0, machine=Machine.flat(4, "core=100")))
    dispatcher = create(name, {"window": str(window)})
    assert isinstance(dispatcher, PlanningDispatcher)
    dispatcher.begin(ledger)
    for number, (submission, expected, units, cores) in enumerate(rows):
        fields: dict[str, Any] = {"demand": {"core": cores}} if cores else {}
        job = Job(id=f"w!{number}", request=read_request(units, fields), submission=submission, walltime=expected)
        ledger.now = submission
        dispatcher.on_submit(ledger, ledger.apply_submitted(JobSubmitted(submission, job)))
    ledger.now = now
    return [job.id for job in dispatcher.candidates(ledger)]


def published(name: str, now: float, rows: list[Row]) -> list[str]:
    """(t - q + d) / d, largest first; ties: smaller d, but in HCP'19's code, then smaller d x total demand."""
    keyed = []
    for number, (q, d, units, cores) in enumerate(rows):
        keyed.append((-(now - q + d) / d, 0 if name == "hcp19" else d, d * units * (cores or 1), number))
    return [f"w!{number}" for *_, number in sorted(keyed)]


@pytest.mark.parametrize("name", NAMES)
@given(
    rows=st.lists(
        st.tuples(
            st.sampled_from([0.0, 10.0, 50.0, 90.0]),
            st.sampled_from([1.0, 5.0, 10.0, 40.0, 400.0]),
            st.integers(1, 4),
            st.integers(0, 4),
        ),
        min_size=1,
        max_size=8,
    ),
    window=st.integers(1, 8),
)
def test_the_window_holds_the_jobs_that_the_authors_put_first(name: str, rows: list[Row], window: int) -> None:
    rows = sorted(rows)
    assert order(name, 100.0, rows, window) == published(name, 100.0, rows)[:window]


@pytest.mark.parametrize("name", NAMES)
def test_waiting_counts(name: str) -> None:
    """A job of 100 s that waited 200 s (slowdown 3) goes before one of 10 s that waited 10 s (slowdown 2)."""
    assert order(name, 200.0, [(0.0, 100.0, 1, 1), (190.0, 10.0, 1, 1)]) == ["w!0", "w!1"]


@pytest.mark.parametrize("name", NAMES)
def test_a_job_that_waited_long_starts_before_a_shorter_one(name: str) -> None:
    """One node: when the first job ends, the longest-suffering one starts, although the others are shorter."""
    tasks = [
        Task("first", 0.0, 1, 1000.0, 1000.0, {"core": 4}),
        Task("patient", 1.0, 1, 100.0, 100.0, {"core": 4}),
        Task("short", 990.0, 1, 50.0, 50.0, {"core": 4}),
    ]
    starts = simulate(Machine.flat(1, "core=4"), tasks, name, options={"window": "1"}).starts()
    assert starts == {"first": 0.0, "patient": 1000.0, "short": 1100.0}


def test_a_job_of_half_a_second_counts_as_one_of_a_second() -> None:
    # At 10 s: (10 + 1) / 1 = 11 for both, so that the smaller one goes first; by .5 s, the larger one would have 21.
    assert order("best-list", 10.0, [(0.0, 0.5, 3, 1), (0.0, 1.0, 1, 1)]) == ["w!1", "w!0"]
