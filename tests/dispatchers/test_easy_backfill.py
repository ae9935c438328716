"""EASY-SJBF: who runs ahead of the head, and in what order."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batdispatch.core.errors import InputError
from batdispatch.core.jobs.job import Stay
from batdispatch.core.line.ledger import Ledger
from batdispatch.core.machine.machine import Machine
from batdispatch.dispatchers.backfilling.easy import Easy
from batdispatch.examples import fair_share
from simulating import Task, audit, simulate

TASKS = [
    Task("two", 0, 2, 100, 100),
    Task("one", 0, 1, 20, 20),
    Task("head", 1, 3, 10, 10),
    Task("long", 2, 1, 50, 50),
    Task("short", 3, 1, 10, 10),
]


@pytest.mark.parametrize("capacity", [None, "core=1"])
@pytest.mark.parametrize("reservation", ["count", "hosts"])
def test_the_shortest_runs_ahead_first_and_the_head_is_served_in_turn(capacity: str | None, reservation: str) -> None:
    machine = Machine.flat(3, capacity)
    tasks = TASKS if capacity is None else [task._replace(demand={"core": 1}) for task in TASKS]
    options = {"reservation": reservation}
    assert simulate(machine, tasks, "easy", options=options).starts() == {
        "two": 0.0, "one": 0.0, "long": 20.0, "short": 70.0, "head": 100.0,
    }  # fmt: skip
    result = simulate(machine, tasks, "easy", options={"backfill": "sjf", **options})
    audit(machine, tasks, result)
    assert result.starts() == {"two": 0.0, "one": 0.0, "short": 20.0, "long": 30.0, "head": 100.0}


def test_those_that_come_together_run_ahead_in_that_order_too() -> None:
    tasks = [TASKS[0], TASKS[2], TASKS[3], TASKS[4]._replace(submission=2.0)]
    starts = simulate(Machine.flat(3), tasks, "easy", options={"backfill": "sjf"}).starts()
    assert starts == {"two": 0.0, "short": 2.0, "long": 12.0, "head": 100.0}


def test_an_ordering_that_is_not_there_is_refused() -> None:
    with pytest.raises(InputError, match=r"no ordering is called 'sjbf'.*sjf"):
        simulate(Machine.flat(3), TASKS, "easy", options={"backfill": "sjbf"})


def test_the_ordering_of_those_behind_hears_of_ends() -> None:
    """Ann has used the machine, Ben has not: his job runs ahead although hers came first."""
    fair = f"{Path(fair_share.__file__)}:FairShare"
    users = ["eve", "ann", "eve", "ann", "ben"]
    tasks = [task._replace(user=user) for task, user in zip(TASKS, users, strict=True)]
    starts = simulate(Machine.flat(3), tasks, "easy", options={"backfill": fair}).starts()
    assert starts == {"two": 0.0, "one": 0.0, "short": 20.0, "long": 30.0, "head": 100.0}


tasks_of_all_kinds = st.lists(
    st.builds(
        lambda submission, units, runtime, more: (submission, units, runtime, runtime + more),
        st.integers(0, 60), st.integers(1, 4), st.integers(1, 40), st.integers(0, 40),
    ),
    min_size=1,
    max_size=25,
)  # fmt: skip


@given(tasks_of_all_kinds, st.sampled_from(["fcfs", "sjf", "wfp3"]))
def test_the_order_that_the_queue_has_anyway_changes_nothing(rows: list[tuple[int, ...]], ordering: str) -> None:
    tasks = [Task(f"{index:02}", *map(float, row[:1]), row[1], *map(float, row[2:])) for index, row in enumerate(rows)]
    machine = Machine.flat(4)
    usual = simulate(machine, tasks, "easy", options={"ordering": ordering})
    named = simulate(machine, tasks, "easy", options={"ordering": ordering, "backfill": ordering})
    assert named.rows == usual.rows


@pytest.mark.parametrize("capacity", [None, "core=1"])
def test_all_jobs_that_end_at_the_shadow_time_leave_room_beside_the_head(capacity: str | None) -> None:
    demand = None if capacity is None else {"core": 1}
    asked = [("a", 0, 2, 10), ("b", 0, 2, 10), ("head", 1, 3, 10), ("long", 2, 1, 100)]
    tasks = [Task(name, come, units, time, time, demand) for name, come, units, time in asked]
    starts = simulate(Machine.flat(5, capacity), tasks, "easy").starts()
    assert starts == {"a": 0.0, "b": 0.0, "long": 2.0, "head": 10.0}, "one of `a` and `b` is enough for the head"


class Counting(Easy):
    """Counts what it remembers of those that hold hosts at the shadow time, and the ends that it looks at."""

    remembered = looked_at = 0

    def decide(self, ledger: Ledger) -> None:
        super().decide(ledger)
        self.remembered = max(self.remembered, len(self._held))

    def _with(self, free: Any, stay: Stay) -> Any:
        self.looked_at += 1
        return super()._with(free, stay)


@pytest.mark.parametrize("capacity", [None, "core=1"])
def test_what_a_decision_costs_does_not_grow_with_the_jobs_that_ran_ahead_before(capacity: str | None) -> None:
    demand = None if capacity is None else {"core": 1}

    def cost(count: int) -> tuple[int, int]:
        # One job after the other outlives the shadow time beside what the head leaves spare.
        holder, head = Task("0", 0, 2, 1e6, 1e6, demand), Task("1", 0, 3, 1.0, 1.0, demand)
        ahead = [Task(f"b{number}", 10.0 * number + 1, 1, 10.0, 2e6, demand) for number in range(count)]
        dispatcher = Counting()
        result = simulate(Machine.flat(4, capacity), [holder, head, *ahead], dispatcher)
        assert len(result.starts()) == count + 2
        return dispatcher.remembered, dispatcher.looked_at

    (few, looked), (many, looked_twice) = cost(50), cost(100)
    assert few == many == 0
    assert looked_twice <= 2 * looked
