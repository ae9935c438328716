"""Orderings: keys worked out by hand from the published formulas."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batdispatch.core.jobs.job import Job
from batdispatch.core.jobs.request import Request
from batdispatch.core.line import events as e
from batdispatch.core.line import registry
from batdispatch.core.line.dispatcher import create
from batdispatch.core.line.ledger import Ledger
from batdispatch.core.machine.machine import Machine
from batdispatch.dispatchers.backfilling.queue import QueueDispatcher
from batdispatch.parts.ordering import GROUP, make_ordering
from batdispatch.parts.ordering.window import why_behind

NAMES = registry.names(GROUP)


def parts(found: float | tuple[float, ...]) -> tuple[float, ...]:
    """The numbers of a key."""
    return found if isinstance(found, tuple) else (found,)


def key(
    name: str, *, units: int = 4, submission: float = 100.0, now: float = 400.0, estimate: float = 50.0
) -> float | tuple[float, ...]:
    ledger = Ledger(e.SimulationBegins(0.0, Machine.flat(1)))
    for number in range(8):
        # Seven jobs arrived before it.
        job = Job(id=f"w0!{number}", request=Request(units=units), submission=submission, walltime=estimate)
        ledger.apply_submitted(e.JobSubmitted(submission, job))
    ordering = make_ordering(name)
    ordering.begin(ledger)
    return ordering.key(job, now, estimate)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("fcfs", 0),  # All are equal: ties go by arrival.
        ("lcfs", -7),
        ("basic", -(4294901760 - 7)),
        ("multifactor", -1),  # Slurm's own weights are all 0: see test_multifactor.
        ("sjf", 50),
        ("ljf", -50),
        ("smallest-first", 4),
        ("largest-first", -4),
        ("smallest-area", 200),
        ("largest-area", -200),
        ("slowdown", -7),  # (300 + 50) / 50
        ("wfp3", -864),  # (300 / 50)^3 x 4
        ("unicef", -3),  # 300 / (log2 4 x 50)
        ("aged-area", 200 / 86_700**3),  # (300 + 86,400)^3
        ("f1", math.log10(50) * 4 + 870 * 2),
        ("f2", math.sqrt(50) * 4 + 25_600 * 2),
        ("f3", 50 * 4 + 6_860_000 * 2),
        ("f4", 50 * 2 + 530_000 * 2),
        ("late-first", (1, 200)),  # Not late after 300 s: the smallest area, which is the default.
        ("guarded", (0, 100)),  # EASY beside has let no job wait: late at once.
        ("pcp20-priority", (-7, 50, 200)),  # (300 + 50) / 50, then 50, then 50 x 4 x 1
    ],
)
def test_keys_by_hand(name: str, expected: float | tuple[float, ...]) -> None:
    assert key(name) == pytest.approx(expected, rel=1e-12)


def test_an_aged_area_knows_its_head_start_and_its_power() -> None:
    assert key("aged-area[head-start=100,power=2]") == pytest.approx(200 / 400**2)
    assert key("aged-area[head-start=100,power=2,width=0]") == pytest.approx(50 / 400**2)
    assert key("aged-area[power=0]") == key("smallest-area")
    assert key("aged-area", estimate=math.inf) == math.inf


@pytest.mark.parametrize("name", NAMES)
def test_a_run_time_that_is_rounded_to_0_is_a_tick(name: str) -> None:
    assert all(map(math.isfinite, parts(key(name, estimate=0.0))))
    if name in ("slowdown", "wfp3", "unicef"):
        assert key(name, estimate=0.0) == key(name, estimate=1e-6)


def test_every_registered_ordering_has_its_key_checked_here() -> None:
    marks = test_keys_by_hand.pytestmark  # type: ignore[attr-defined]
    checked = {case[0] for mark in marks for case in mark.args[1]}
    assert checked == set(NAMES)


def test_pcp20_priority_can_break_ties_by_size_alone() -> None:
    assert key("pcp20-priority[ties=smaller]") == pytest.approx((-7, 0, 200))


def test_unicef_treats_one_unit_as_two() -> None:
    assert key("unicef", units=1) == key("unicef", units=2) == -6


@pytest.mark.parametrize("name", ["f1", "f2", "f3", "f4"])
def test_learned_orderings_at_the_edge_of_their_logarithms(name: str) -> None:
    assert key(name, submission=0.0) == key(name, submission=1.0)
    assert key(name, submission=0.0, estimate=0.25) == key(name, submission=0.0, estimate=1.0)


@pytest.mark.parametrize("name", NAMES)
@given(
    units=st.integers(1, 10**6),
    submission=st.floats(0, 1e9),
    wait=st.floats(0, 1e9),
    estimate=st.floats(1e-6, 1e9),
)
def test_keys_are_finite_for_finite_estimates(
    name: str, units: int, submission: float, wait: float, estimate: float
) -> None:
    found = key(name, units=units, submission=submission, now=submission + wait, estimate=estimate)
    assert all(math.isfinite(part) for part in parts(found))


@pytest.mark.parametrize("name", NAMES)
@given(units=st.integers(1, 10**6), wait=st.floats(0, 1e9))
def test_jobs_without_a_walltime_can_still_be_compared(name: str, units: int, wait: float) -> None:
    value = key(name, units=units, now=100.0 + wait, estimate=math.inf)
    assert not any(math.isnan(part) for part in parts(value))


def served(name: str, jobs: list[Job], now: float = 50.0, **options: object) -> list[str]:
    """Submit jobs in the order given and return the ids in the order in which the queue is served."""
    ledger = Ledger(e.SimulationBegins(0.0, Machine.flat(64)))
    dispatcher = create("fcfs", {"ordering": name, **options})
    assert isinstance(dispatcher, QueueDispatcher)
    dispatcher.begin(ledger)
    for job in jobs:
        ledger.apply_submitted(e.JobSubmitted(job.submission, job))
        dispatcher.on_submit(ledger, job)
    ledger.now = now
    return [job.id for job in dispatcher.in_order(ledger)]


@pytest.mark.parametrize("name", [name for name in NAMES if name != "lcfs"])
def test_ties_go_by_arrival(name: str) -> None:
    jobs = [Job(id=f"w0!{n}", request=Request(units=2), submission=5.0, walltime=10.0) for n in (9, 3, 5, 1)]
    assert served(name, jobs) == ["w0!9", "w0!3", "w0!5", "w0!1"]


MIXED = [("a", 8, 0.0, 20.0), ("b", 1, 10.0, 100.0), ("c", 4, 20.0, 5.0), ("d", 2, 30.0, 40.0)]


@pytest.mark.parametrize(
    ("name", "order"),
    [
        ("fcfs", "abcd"),
        ("lcfs", "dcba"),
        ("sjf", "cadb"),
        ("ljf", "bdac"),
        ("smallest-first", "bdca"),
        ("largest-first", "acdb"),
        ("smallest-area", "cdba"),  # 20, 80, 100, 160
        ("largest-area", "abdc"),
        ("slowdown", "cadb"),  # 7, 3.5, 1.5, 1.4
        ("wfp3", "cadb"),  # 864, 125, 0.25, 0.064
        ("unicef", "cadb"),  # 3, 0.83, 0.5, 0.4
        ("f1", "abcd"),
        ("f2", "abcd"),
        ("f3", "abcd"),
        ("f4", "abcd"),
        ("late-first", "cdba"),  # As smallest-area: nobody is late.
        ("guarded[ordering=smallest-area]", "abcd"),  # EASY beside has let no job wait: all are late.
        ("guarded[ordering=ljf,floor=25]", "abcd"),
        ("late-first[ordering=ljf,after=25]", "abcd"),  # a, b and c have waited 50, 40 and 30 s.
    ],
)
def test_a_queue_in_each_order(name: str, order: str) -> None:
    jobs = [Job(id=f"w0!{n}", request=Request(units=units), submission=s, walltime=w) for n, units, s, w in MIXED]
    assert "".join(job_id[-1] for job_id in served(name, jobs)) == order


def test_orders_that_depend_on_waiting_change_while_jobs_wait() -> None:
    # At 18.5 s the slowdowns are 1.925 and 1.5; at 39 s they are 2.95 and 22.
    jobs = [
        Job(id="w0!long", request=Request(units=1), walltime=20.0),
        Job(id="w0!s", request=Request(units=1), submission=18.0, walltime=1.0),
    ]
    assert served("slowdown", jobs, now=18.5) == ["w0!long", "w0!s"]
    assert served("slowdown", jobs, now=39.0) == ["w0!s", "w0!long"]


def test_the_default_walltime_stands_in_for_missing_ones() -> None:
    jobs = [
        Job(id=f"w0!{name}", request=Request(units=1), walltime=w)
        for name, w in (("none", math.inf), ("long", 100.0), ("s", 5.0))
    ]
    assert served("sjf", jobs) == ["w0!s", "w0!long", "w0!none"]
    assert served("sjf", jobs, default_walltime="20") == ["w0!s", "w0!none", "w0!long"]


@pytest.mark.parametrize("now", [100.0, 400.0, 1e9])
def test_the_slowdown_of_a_job_that_may_run_for_ever_is_that_of_one_that_has_not_waited(now: float) -> None:
    assert key("slowdown", now=now, estimate=math.inf) == -1.0
    assert key("slowdown", now=100.0, estimate=50.0) == -1.0
    # 300 s waited, 50 s to run: 7 times as long.
    assert key("slowdown", now=400.0, estimate=50.0) == -7.0


def test_who_waits_behind_late_jobs_is_told_the_first_of_them_and_how_many_more_there_are() -> None:
    ledger = Ledger(e.SimulationBegins(0.0, Machine.flat(1)))
    jobs = [Job(id=f"w0!{came}", request=Request(units=1), submission=float(came), walltime=1.0) for came in range(5)]
    for job in jobs:
        ledger.apply_submitted(e.JobSubmitted(job.submission, job))
    ordering = make_ordering("late-first[after=10]")
    ordering.begin(ledger)
    told = []
    # After 10 s no job is late, then the first one is, and at 12.5 s the jobs that came at 0, 1 and 2 s.
    for ledger.now in (10.0, 10.5, 12.5):
        told.append(why_behind(ledger, ordering, jobs[4], lambda job: job.walltime))
    late = "waits behind the late job w0!0"
    assert told == [
        None,
        (late, "which has waited 10.5 s, more than the threshold of 10 s"),
        (late, "which has waited 12.5 s, more than the threshold of 10 s; 2 more are late"),
    ]
