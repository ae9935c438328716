"""What is said of a schedule that differs, and what a figure is of, by hand."""

import pytest

from batdispatch.abilities.verify.differ.figures import figures_of
from batdispatch.abilities.verify.differ.hold import hold
from batdispatch.abilities.verify.differ.job_files import Schedule
from batdispatch.abilities.verify.differ.textbook import RigidJob, microseconds
from batdispatch.abilities.verify.differ.words import differences


def job(name: str, came: float, asked: float, takes: float) -> RigidJob:
    return RigidJob(name, microseconds(came), 1, microseconds(asked), microseconds(takes))


def test_the_first_difference_is_that_of_the_job_that_should_have_started_first() -> None:
    """One processor; jobs of 10 s come at 0, 1 and 5 s, and should start at 0, 10 and 20 s.

    The file has the last one first. Two start at 14 and 50 s, 4 and 30 s late. They wait 13 and 45 s instead of 9 and
    15 s.
    """
    jobs = [job("9", 5.0, 10.0, 10.0), job("2", 0.0, 10.0, 10.0), job("3", 1.0, 10.0, 10.0)]
    starts: list[int | None] = [microseconds(50.0), 0, microseconds(14.0)]
    lines = differences(Schedule(jobs, starts, {1: ""}, []), hold(jobs, starts, "fcfs", 1))
    assert [line.replace("\N{NO-BREAK SPACE}", " ") for line in lines] == [
        "2 of 3 jobs start otherwise. The first one is job 3: at 14 s, expected at 10 s.",
        "Starts are off by up to 30 s, 17 s on average.",
        "The mean wait is 19.3 s, expected 8 s.",
    ]


def test_a_job_that_is_killed_took_what_it_asked_for() -> None:
    # It waits for 10 s and runs for 20 of its 100 s: (10 + 20) / 20.
    jobs = [job("1", 0.0, 10.0, 10.0), job("2", 0.0, 20.0, 100.0)]
    first = next(figures_of(jobs, "fcfs", [1], threshold=1.0, quantile=1.0))
    assert (first.slowdown, first.wait) == (pytest.approx(1.5), 5.0)
