"""Shapes and time: waits that run out, shadow times, and plans, by hand and against slower twins."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from batdispatch.core.events import RequestedCall
from batdispatch.core.machine import Host, Machine
from batdispatch.core.topology import Grid
from batdispatch.dispatchers.backfilling.easy import Easy, EasyOptions
from batdispatch.engines.records import EngineOptions
from simulating import Task, audit, simulate
from strategies import workloads

DISPATCHERS = ["fcfs", "filler", "easy", "conservative", "slurm-backfill", "pcp20", "pcp19", "hcp19", "best-list"]


def line(count: int) -> Machine:
    return Machine(Machine.flat(count).hosts, Grid(range(count), [count], wrap=False))


def exact(name: str, submission: float, units: int, runtime: float) -> Task:
    return Task(name, submission, units, runtime, runtime)


def on(host: int, runtime: float) -> Task:
    """A job that takes one host from the beginning on."""
    return Task(f"a{host}", 0, 1, runtime, runtime, extra={"node_list": [f"n{host}"]})


#: Hosts 0, 2 and 4 of a line of 6 are taken until 100. Two hosts side by side are not to be had before.
SCATTERED = [on(host, 3 if host % 2 else 100) for host in range(6)]


@pytest.mark.parametrize("name", DISPATCHERS)
def test_a_job_waits_for_its_shape_and_no_longer_than_its_fallback(name: str) -> None:
    tasks = [*SCATTERED, exact("pair", 1, 2, 10)]
    options = {"placement": "connected"}
    waits = simulate(line(6), tasks, name, options=options)
    assert waits.starts()["pair"] == 100
    assert waits.session.ledger is not None
    assert not waits.session.ledger.given_up
    prefers = simulate(line(6), tasks, name, options={"placement": "connected[fallback=30]"})
    audit(line(6), tasks, prefers)
    # Nothing happens at 31 but the call that the dispatcher asked for.
    assert prefers.starts()["pair"] == 31
    assert prefers.rows["pair"].hosts == "1 3"
    assert prefers.session.ledger is not None
    assert prefers.session.ledger.given_up == {"connected": 1}
    assert prefers.session.report["placement_given_up"] == {"connected": 1}


@pytest.mark.parametrize("name", ["fcfs", "easy", "conservative", "pcp20"])
def test_each_shape_has_a_fallback_of_its_own(name: str) -> None:
    # Near the I/O node at router 0 stands host 1 of the line alone; a pair is connected only at the other end.
    hosts = [Host(id=i, name=f"n{i}", storage=i == 0) for i in range(7)]
    machine = Machine(hosts, Grid(range(7), [7], wrap=False))
    tasks = [
        *(on(host, 5 if host in (1, 5, 6) else 100) for host in range(1, 7)),
        Task("pair", 1, 2, 10, 10, extra={"io_node": "n0"}),
    ]
    result = simulate(machine, tasks, name, options={"placement": "connected[fallback=20]+local[fallback=60]"})
    assert (result.starts()["pair"], result.rows["pair"].hosts) == (21, "1 5")
    result = simulate(machine, tasks, name, options={"placement": "connected[fallback=60]+local[fallback=20]"})
    assert (result.starts()["pair"], result.rows["pair"].hosts) == (21, "5-6")


@pytest.mark.parametrize("name", ["fcfs", "easy", "conservative", "slurm-backfill", "pcp20"])
def test_a_job_that_starts_at_once_asks_for_no_calls_of_its_own(name: str) -> None:
    tasks = [exact(str(number), number, 1, 0.5) for number in range(20)]
    result = simulate(line(3), tasks, name, options={"placement": "connected[fallback=5]"})
    calls = [event for message, _ in result.exchanges for event in message.events if isinstance(event, RequestedCall)]
    assert len(calls) <= 5


def test_conservative_plans_the_moment_at_which_a_wait_runs_out() -> None:
    # The pair is to start at 31 on hosts 1 and 3, so a job of 40 s cannot take host 1 before.
    tasks = [*SCATTERED, exact("pair", 1, 2, 10), exact("long", 4, 1, 40), exact("short", 4, 1, 20)]
    result = simulate(line(6), tasks, "conservative", options={"placement": "connected[fallback=30]"})
    assert result.starts()["pair"] == 31
    assert result.starts()["short"] == 4


def test_easys_shadow_time_is_when_those_that_then_run_leave_the_shape() -> None:
    # A ring of 8 with a job at routers 0 and 2 (links 0-1-2), one at 5 and 7, until 50 and 20. A convex set of 4 needs
    # the second to have ended. Counted in hosts there is room at once; a job that would keep 5 beyond 20 must wait.
    machine = Machine(Machine.flat(8).hosts, Grid(range(8), [8], wrap=False))
    tasks = [
        exact("a", 0, 1, 50),
        exact("b", 0, 3, 10),
        exact("c", 0, 1, 20),
        exact("d", 0, 3, 10),
        exact("wide", 1, 5, 5),
        exact("late", 11, 3, 30),
        exact("soon", 11, 3, 5),
    ]
    result = simulate(machine, tasks, "easy", options={"placement": "contiguous"})
    # a on 0, b on 1-3, c on 4, d on 5-7: five in a row are free when c has ended.
    assert result.starts()["wide"] == 20
    assert result.starts()["soon"] == 11
    assert result.starts()["late"] == 25


class Slow(Easy):
    """EASY that tries the placement after each end in turn."""

    def _first_place(self, ledger: Any, head: Any, ends: Any, count: int) -> Any:
        for number in range(count, len(ends) + 1):
            if number < len(ends) and ends[number][0] == ends[number - 1][0]:
                continue
            end, free = ends[number - 1][0], ledger.free
            for _, stay in ends[:number]:
                free = self._with(free, stay)
            if self._head_fits(free, head, end, self._holding(ends[number:])):
                return number, end, free
        return len(ends), float("inf"), free


@pytest.mark.parametrize("placed", ["contiguous", "connected", "convex[rule=routers]", "convex[fallback=5]"])
@given(data=st.data())
@settings(max_examples=40, deadline=None)
def test_halving_finds_the_shadow_time_that_trying_each_end_finds(placed: str, data: st.DataObject) -> None:
    machine = Machine(Machine.flat(8).hosts, Grid(range(8), [4, 2]))
    tasks = data.draw(workloads(machine, most=14, walltimes=True))
    reservation = data.draw(st.sampled_from(["count", "hosts"]))
    fast = simulate(machine, tasks, Easy(EasyOptions(placement=placed, reservation=reservation)))
    slow = simulate(machine, tasks, Slow(EasyOptions(placement=placed, reservation=reservation)))
    assert fast.rows == slow.rows


def _never_share_links(machine: Machine, result: Any, tasks: list[Task]) -> None:
    """Check that no two convex jobs that ran at once, of those that gave nothing up, used one link."""
    topology = machine.topology
    assert topology is not None
    rows = [row for row in result.rows.values() if row.units]
    for index, one in enumerate(rows):
        for other in rows[:index]:
            if one.start < other.end and other.start < one.end:
                shared = topology.links_within(list(one.units)) & topology.links_within(list(other.units))
                assert not shared.any(), (one, other)


@pytest.mark.parametrize("name", DISPATCHERS)
@given(data=st.data())
@settings(max_examples=15, deadline=None)
def test_convex_jobs_never_share_a_link_under_any_dispatcher(name: str, data: st.DataObject) -> None:
    machine = Machine(Machine.flat(12).hosts, Grid([host // 2 for host in range(12)], [3, 2]))
    tasks = data.draw(workloads(machine, most=12))
    engine = EngineOptions(split_simultaneous=data.draw(st.booleans()))
    options = {"placement": "convex"}
    if name in ("pcp20", "pcp19"):
        options["work"] = "0.02"
    result = simulate(machine, tasks, name, options=options, engine=engine)
    audit(machine, tasks, result)
    _never_share_links(machine, result, tasks)
