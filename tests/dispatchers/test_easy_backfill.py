"""EASY-SJBF: who runs ahead of the head, and in what order."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from batdispatch.core.dispatcher import create
from batdispatch.core.errors import InputError
from batdispatch.core.machine import Machine
from batdispatch.engines.compiled import applies
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


def test_it_is_not_compiled() -> None:
    machine = Machine.flat(3)
    assert applies.why_never(create("easy", {"backfill": "sjf"}), machine) == "backfill sjf has no kernel"


tasks_of_all_kinds = st.lists(
    st.builds(
        lambda submission, units, runtime, more: (submission, units, runtime, runtime + more),
        st.integers(0, 60), st.integers(1, 4), st.integers(1, 40), st.integers(0, 40),
    ),
    min_size=1,
    max_size=25,
)  # fmt: skip


@settings(max_examples=40)
@given(tasks_of_all_kinds, st.sampled_from(["fcfs", "sjf", "wfp3"]))
def test_the_order_that_the_queue_has_anyway_changes_nothing(rows: list[tuple[int, ...]], ordering: str) -> None:
    tasks = [Task(f"{index:02}", *map(float, row[:1]), row[1], *map(float, row[2:])) for index, row in enumerate(rows)]
    machine = Machine.flat(4)
    usual = simulate(machine, tasks, "easy", options={"ordering": ordering})
    named = simulate(machine, tasks, "easy", options={"ordering": ordering, "backfill": ordering})
    assert named.rows == usual.rows
