"""late-first: who is late, and that with easy nobody starves."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from batdispatch.core.hosts.allocation import Allocation
from batdispatch.core.jobs.job import Job, Stay
from batdispatch.core.jobs.request import Request
from batdispatch.core.line import events as e
from batdispatch.core.line.ledger import Ledger
from batdispatch.core.machine.machine import Machine
from batdispatch.parts.ordering import make_ordering
from batdispatch.parts.ordering.late_first import MEMORY, LateFirst
from simulating import Task, simulate


def late_first(options: str) -> LateFirst:
    made = make_ordering(f"late-first[{options}]")
    assert isinstance(made, LateFirst)
    made.begin(Ledger(e.SimulationBegins(0.0, Machine.flat(4))))
    return made


def job(submission: float, units: int = 1, walltime: float = 10.0) -> Job:
    return Job(id=f"w0!{submission}", request=Request(units=units), submission=submission, walltime=walltime)


def has_ended(ordering: LateFirst, *waits: float) -> None:
    for wait in waits:
        stay = Stay(job=job(100.0), allocation=Allocation(1), start=100.0 + wait, rank=0)
        ordering.ended(stay, 1000.0)


def test_a_job_is_late_once_it_has_waited_longer_than_after() -> None:
    ordering = late_first("after=30,multiple=0")
    assert not ordering.is_late(job(100.0), 130.0)
    assert ordering.is_late(job(100.0), 130.001)


def test_a_job_is_late_once_it_has_waited_a_multiple_of_what_three_of_four_jobs_waited_at_most() -> None:
    ordering = late_first("after=30,multiple=3")
    has_ended(ordering, 40.0, 10.0, 25.0, 20.0)
    assert ordering.patience(job(0.0)) == 75.0
    assert not ordering.is_late(job(0.0), 75.0)
    assert ordering.is_late(job(0.0), 75.001)


def test_only_the_last_300_that_ended_count() -> None:
    ordering = late_first("after=0,multiple=2")
    has_ended(ordering, *[1e6] * 200, *[50.0] * MEMORY)
    assert ordering.patience(job(0.0)) == 100.0


@given(
    usual=st.lists(st.floats(0.0, 100.0), min_size=3, max_size=300),
    longest=st.floats(100.0, 1e9),
    other=st.floats(100.0, 1e9),
)
def test_how_long_the_jobs_that_starve_wait_does_not_move_the_threshold(
    usual: list[float], longest: float, other: float
) -> None:
    # A quarter of all jobs at most.
    starved = len(usual) // 3
    found = []
    for wait in (longest, other):
        ordering = late_first("after=0,multiple=10")
        has_ended(ordering, *[wait] * starved, *usual)
        found.append(ordering.patience(job(0.0)))
    assert found[0] == found[1] <= 1000.0


def test_late_jobs_go_by_arrival_and_before_all_others() -> None:
    ordering = late_first("ordering=sjf,after=30,multiple=0")
    large, small, fresh = job(0.0, walltime=500.0), job(5.0, walltime=1.0), job(90.0, walltime=0.5)
    order = sorted([fresh, small, large], key=lambda one: ordering.key(one, 100.0, one.walltime))
    assert order == [large, small, fresh]


def test_the_order_inside_hears_of_ends() -> None:
    ordering = late_first("ordering=multifactor[fairshare=1000],after=1000,multiple=0")
    user = Job(id="w0!1", request=Request(units=1), submission=0.0, walltime=10.0, user="a")
    before = ordering.key(user, 10.0, 10.0)
    ordering.ended(Stay(job=user, allocation=Allocation(1), start=0.0, rank=0), 10.0)
    other = Job(id="w0!2", request=Request(units=1), submission=0.0, walltime=10.0, user="b")
    ordering.ledger.queue[other.id] = other
    assert ordering.key(user, 10.0, 10.0) > before


AFTER, LONGEST = 50.0, 9.0
EASY = "easy[ordering=late-first[ordering=smallest-area,after=50,multiple=0]]"


def small(number: int, units: int, seconds: float) -> Task:
    return Task(f"s{number}", float(number), units, seconds, seconds)


@st.composite
def crowded(draw: st.DrawFn) -> list[Task]:
    """A job of the whole machine, in a stream of small ones that never leaves it idle."""
    submission, seconds = draw(st.sampled_from([0.5, 3.5, 10.5])), draw(st.floats(5.0, 40.0))
    stream = [small(n, draw(st.integers(1, 2)), draw(st.sampled_from([4.0, 7.0, LONGEST]))) for n in range(150)]
    return [Task("wide", submission, 4, seconds, seconds), *stream]


@settings(max_examples=20)
@given(crowded())
def test_with_easy_a_late_job_waits_only_for_what_runs_and_for_late_ones_before_it(tasks: list[Task]) -> None:
    # At the first event after 50 s of waiting, at most 9 s later, it is late. Jobs that came before it may be late too,
    # and each job that goes before it, or runs, runs for at most 9 s.
    wide = tasks[0]
    before = sum(task.submission < wide.submission for task in tasks)
    start = simulate(Machine.flat(4), tasks, EASY).starts()["wide"]
    assert start - wide.submission <= AFTER + LONGEST * (before + 2)


def test_without_it_the_wide_job_of_such_a_stream_starves() -> None:
    tasks = [Task("wide", 0.5, 4, 20.0, 20.0), *(small(n, 2, 7.0) for n in range(150))]
    found = {
        name: simulate(Machine.flat(4), tasks, name).starts()["wide"]
        for name in (EASY, "filler[ordering=smallest-area]", EASY.replace("after=50", "after=1000"))
    }
    assert found[EASY] < 80.0
    assert min(found[name] for name in found if name != EASY) > 150.0


def crowded_log(seed: int) -> list[Task]:
    """1,500 jobs of all sizes on 64 hosts, as logs have them: most are short, few take most of the machine."""
    random, count, hosts = np.random.default_rng(seed), 1500, 64
    units = np.where(random.random(count) < 0.3, 1, np.minimum(2 ** random.integers(0, 7, count), hosts))
    runtimes = np.exp(random.normal(5.5, 1.8, count)).clip(5, 40_000).round()
    gap = (units * runtimes).sum() / (0.9 * hosts * count)
    submissions = random.exponential(gap, count).cumsum().round()
    walltimes = (runtimes * np.exp(np.abs(random.normal(0, 1, count)))).round() + 1
    columns = (one.tolist() for one in (submissions, units, runtimes, walltimes))
    return [Task(f"j{number}", *row) for number, row in enumerate(zip(*columns, strict=True))]


def longest_wait(tasks: list[Task], dispatcher: str) -> float:
    starts = simulate(Machine.flat(64), tasks, dispatcher).starts()
    return max(starts[task.id] - task.submission for task in tasks)


def test_on_a_whole_log_no_job_waits_much_longer_than_the_longest_wait_under_easy() -> None:
    tasks = crowded_log(2)
    easy = longest_wait(tasks, "easy")
    # As a multiple of the mean wait, which the waits of the starved jobs raise, it would be twice as long.
    assert longest_wait(tasks, "easy[ordering=late-first[after=0,multiple=10]]") < 1.25 * easy
    assert longest_wait(tasks, "easy[ordering=smallest-area]") > 3 * easy


@pytest.mark.parametrize(
    ("waits", "usual"),
    [
        ([7.0], 7.0),
        ([1.0, 2.0, 3.0], 3.0),
        ([1.0, 2.0, 3.0, 4.0], 3.0),
        ([5.0, 1.0, 4.0, 2.0, 3.0], 4.0),
        ([1.0, 9.0], 9.0),
    ],
)
def test_the_usual_wait_is_the_shortest_that_three_of_four_jobs_do_not_exceed(waits: list[float], usual: float) -> None:
    ordering = late_first("after=0,multiple=2")
    has_ended(ordering, *waits)
    assert ordering.patience(job(100.0)) == 2 * usual
    shortest = min(wait for wait in waits if sum(other <= wait for other in waits) >= 0.75 * len(waits))
    assert usual == shortest
