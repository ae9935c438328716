"""Shapes and time: waits that run out, shadow times, and plans, by hand and against slower twins."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from batdispatch.abilities.topology.networks import Grid
from batdispatch.core.line.decisions import Execute
from batdispatch.core.line.events import JobCompleted, RequestedCall
from batdispatch.core.machine.machine import Host, Machine
from batdispatch.dispatchers.backfilling.easy import Easy, EasyOptions
from batdispatch.engines.records import EngineOptions
from simulating import Task, audit, exact, simulate
from strategies import workloads

DISPATCHERS = ["fcfs", "filler", "easy", "conservative", "slurm-backfill", "pcp20", "pcp19", "hcp19", "best-list"]


def line(count: int) -> Machine:
    return Machine(Machine.flat(count).hosts, Grid(range(count), [count], wrap=False))


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
    assert not waits.ledger.given_up
    prefers = simulate(line(6), tasks, name, options={"placement": "connected[fallback=30]"})
    audit(line(6), tasks, prefers)
    # Nothing happens at 31 but the call that the dispatcher asked for.
    assert prefers.starts()["pair"] == 31
    assert prefers.rows["pair"].hosts == "1 3"
    assert prefers.ledger.given_up == {"connected": 1}
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


@pytest.mark.parametrize("name", ["fcfs", "easy", "conservative", "slurm-backfill[tick=0]", "pcp20"])
def test_a_job_that_starts_at_once_asks_for_no_calls_of_its_own(name: str) -> None:
    tasks = [exact(str(number), number, 1, 0.5) for number in range(20)]
    result = simulate(line(3), tasks, name, options={"placement": "connected[fallback=5]"})
    calls = [event for message, _ in result.exchanges for event in message.events if isinstance(event, RequestedCall)]
    assert len(calls) <= 5


def test_conservative_plans_the_moment_at_which_a_wait_runs_out() -> None:
    # The pair is planned for 31 on hosts 1 and 3. The first long job takes host 5; the second one waits for the pair.
    tasks = [*SCATTERED, exact("pair", 1, 2, 10), exact("first", 4, 1, 40), exact("second", 4.5, 1, 40)]
    result = simulate(line(6), tasks, "conservative", options={"placement": "connected[fallback=30]"})
    assert result.starts()["pair"] == 31
    assert result.starts()["first"] == 4
    assert result.starts()["second"] == 41


#: On a line of six, a job on both ends takes all links until 50.
ENDS = Task("ends", 0, 2, 50, 50, extra={"node_list": ["n0", "n5"]})


def test_who_has_ended_by_the_shadow_time_keeps_no_links_from_the_head() -> None:
    # The head fits at 50. One single host may be taken beyond that, two may not.
    tasks = [ENDS, exact("head", 1, 5, 5), exact("late1", 2, 1, 100), exact("late2", 3, 1, 100)]
    result = simulate(line(6), tasks, "easy", options={"placement": "convex"})
    assert result.starts() == {"ends": 0, "head": 50, "late1": 2, "late2": 55}


def test_who_runs_on_at_an_end_keeps_its_links_from_the_head() -> None:
    # At 20 there are four free hosts, but their links are taken until 50: who ends by then delays nobody.
    tasks = [ENDS, on(1, 20), exact("head", 1, 4, 5), exact("mid", 2, 1, 25)]
    result = simulate(line(6), tasks, "easy", options={"placement": "convex"})
    assert (result.starts()["mid"], result.starts()["head"]) == (2, 50)


@pytest.mark.parametrize("name", ["conservative", "slurm-backfill[tick=0,interval=0]"])
def test_a_planned_start_waits_for_who_is_a_moment_late_with_its_links(name: str) -> None:
    # Both end at 50, told one after the other. Hosts 2 and 3 are free all the time, their link is not.
    pair = Task("pair", 1, 2, 5, 5, extra={"node_list": ["n2", "n3"]})
    engine = EngineOptions(split_simultaneous=True)
    result = simulate(line(6), [on(1, 50), ENDS, pair], name, options={"placement": "convex"}, engine=engine)
    told = []
    for message, reply in result.exchanges:
        told += [
            f"ended {event.job_id.partition('!')[2]}" for event in message.events if isinstance(event, JobCompleted)
        ]
        told += [
            f"started {decision.job_id.partition('!')[2]}"
            for decision in reply.decisions
            if isinstance(decision, Execute)
        ]
    assert told.index("ended ends") < told.index("started pair")
    assert result.starts()["pair"] == 50


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
@settings(max_examples=20)
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
@settings(max_examples=8)
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
