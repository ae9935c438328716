"""What was tried for look-ahead and lives in expe/look_ahead: that it is what its row in the table says."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from batdispatch.core.machine.machine import Machine
from simulating import Task, simulate

HOSTS = 4
TRIED = Path(__file__).parents[2] / "expe" / "look_ahead"
AMONG = f"{TRIED / 'variants.py'}:AmongOrders"
FIXED = f"{TRIED / 'variants.py'}:FixedRoom"
BESIDE = f"{TRIED / 'beside.py'}:BesideEasy"


@st.composite
def streams(draw: st.DrawFn) -> list[Task]:
    """Jobs of one to four hosts that run for as long as they asked for, or for less."""
    tasks = []
    for number in range(draw(st.integers(20, 40))):
        runtime = float(draw(st.integers(1, 40)))
        walltime = runtime * draw(st.sampled_from([1, 1, 3])) + number / 64
        units = draw(st.sampled_from([1, 1, 2, 3, HOSTS]))
        tasks.append(Task(f"{number:02}", float(draw(st.integers(0, 200))), units, runtime, walltime))
    return sorted(tasks, key=lambda task: task.submission)


@settings(max_examples=25)
@given(streams())
def test_beside_walltimes_that_are_kept_runs_easy(tasks: list[Task]) -> None:
    exact = [task._replace(walltime=task.runtime) for task in tasks]
    beside = simulate(Machine.flat(HOSTS), exact, f"easy[ordering={BESIDE}]").session.dispatcher.ordering._beside
    # The schedule beside stands still once the last real job has ended.
    beside.advance(1e9)
    found = {name.rpartition("!")[2]: start for name, start in beside.started.items()}
    assert found == pytest.approx(simulate(Machine.flat(HOSTS), exact, "easy").starts())


def test_beside_a_job_ends_as_early_as_it_did_or_when_that_becomes_known() -> None:
    # Smallest area first, on one host: the small one goes before the large one that came first.
    tasks = [Task("a", 0.0, 1, 10.0, 50.0), Task("large", 1.0, 1, 20.0, 90.0), Task("small", 2.0, 1, 5.0, 6.0)]
    real = simulate(Machine.flat(1), tasks, f"easy[ordering={BESIDE}[multiple=9]]")
    assert real.starts() == {"a": 0.0, "small": 10.0, "large": 15.0}
    beside = real.session.dispatcher.ordering._beside
    # Beside, `large` runs from 10 on; it is heard at 35 that it took 20 s.
    assert [beside.started[f"w0!{name}"] for name in ("a", "large", "small")] == [0.0, 10.0, 35.0]
    assert beside.longest(35.0) == 33.0
    # That `small` takes 5 s, and not the 6 s that it asked for, was known before it began here.
    assert beside._ends == {"w0!small": 40.0}


def wide_among_short() -> list[Task]:
    """A job of the whole machine in a stream of short ones that never leaves it idle."""
    short = [Task(f"s{number:03}", 5.0 * number, 1, 9.0, 9.0) for number in range(100)]
    return sorted([*short, Task("wide", 12.0, 2, 30.0, 30.0)], key=lambda task: task.submission)


@pytest.mark.parametrize("late", ["multiple=1", "multiple=1000,own=true"])
def test_a_job_does_not_wait_much_longer_than_under_easy(late: str) -> None:
    def start(dispatcher: str) -> float:
        return simulate(Machine.flat(2), wide_among_short(), dispatcher).starts()["wide"]

    easy = start("easy")
    assert start("easy[ordering=smallest-area]") > 500.0
    # Once late, it waits for the two that run.
    assert easy < start(f"easy[ordering={BESIDE}[{late}]]") <= easy + 40.0


@pytest.mark.parametrize(("multiple", "first"), [(0.5, "large"), (2.0, "small")])
def test_late_jobs_go_by_arrival(multiple: float, first: str) -> None:
    # Both have waited for about as long as any job has beside; the ordering would have the small one go first.
    tasks = [
        Task("a", 0.0, 1, 100.0, 100.0),
        Task("large", 1.0, 1, 50.0, 50.0),
        Task("small", 2.0, 1, 40.0, 40.0),
    ]
    assert simulate(Machine.flat(1), tasks, f"easy[ordering={BESIDE}[multiple={multiple}]]").starts()[first] == 100.0


@settings(max_examples=10)
@given(streams())
def test_choosing_among_one_order_without_room_is_that_order(tasks: list[Task]) -> None:
    options = "room=0,samples=2,arrivals=10"
    found = simulate(Machine.flat(HOSTS), tasks, f"{AMONG}[{options},orders=[smallest-area]]").starts()
    assert found == simulate(Machine.flat(HOSTS), tasks, "easy[ordering=late-first]").starts()


@settings(max_examples=10)
@given(streams())
def test_a_fixed_room_of_nothing_is_easy(tasks: list[Task]) -> None:
    found = simulate(Machine.flat(HOSTS), tasks, f"{FIXED}[room=0]").starts()
    assert found == simulate(Machine.flat(HOSTS), tasks, "easy[ordering=late-first]").starts()


def short_behind_long() -> list[Task]:
    """One host, long jobs that wait in front, and short ones behind them; in order of arrival these wait for hours."""
    first = [Task(f"a{number:02}", 10.0 * number, 1, 10.0, 10.0) for number in range(25)]
    long = [Task(f"l{number}", 250.0 + number, 1, 3600.0, 3600.0) for number in range(3)]
    short = [Task(f"s{number}", 260.0 + number, 1, 10.0, 10.0) for number in range(5)]
    return [*first, *long, *short]


def test_the_order_that_costs_least_is_taken() -> None:
    options = "ordering=late-first[ordering=fcfs],room=0,samples=4,arrivals=5"
    session = simulate(Machine.flat(1), short_behind_long(), f"{AMONG}[{options},orders=[ljf,sjf]]")
    starts = session.starts()
    # The first long one has begun when the short ones come; these then go before the two others.
    assert max(starts[f"s{number}"] for number in range(5)) < min(starts["l1"], starts["l2"])
    taken = session.session.dispatcher.report()["orders_chosen"]
    assert taken["sjf"] > 0
    assert taken["ljf"] == 0


def test_late_jobs_go_first_in_every_order() -> None:
    options = "ordering=late-first[ordering=fcfs,after=100],room=0,samples=4,arrivals=5,orders=[sjf]"
    starts = simulate(Machine.flat(1), short_behind_long(), f"{AMONG}[{options}]").starts()
    assert starts["l1"] < starts["l2"] < starts["s0"]
