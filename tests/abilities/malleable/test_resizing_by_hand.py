"""The resizing layer on small machines, by hand: what a resize costs, who starts when, and what happens if nodes go."""

import math
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batdispatch.abilities.malleable.flexible import Flexible
from batdispatch.abilities.malleable.redistribution import Costs, transfer_seconds
from batdispatch.core.errors import InputError
from batdispatch.core.hosts.allocation import Allocation
from batdispatch.core.jobs.job import JobState
from batdispatch.core.line import decisions as d
from batdispatch.core.line import events as e
from batdispatch.core.line.messages import Message, Reply
from batdispatch.core.line.session import Session
from batdispatch.core.line.ticks import TICK
from batdispatch.core.machine.machine import Machine
from batdispatch.engines.mail import Delay
from batdispatch.engines.records import EngineOptions
from malleable import FREE, checked
from simulating import Result, Task, simulate
from strategies import make_job

NOTHING: dict[str, Any] = {"acknowledge": "true", **FREE}


def malleable(name: str, units: int, runtime: float, submission: float = 0.0, **sizes: Any) -> Task:
    told = {"least": 1, "most": 8, "kind": "malleable", "steps": 10, **sizes}
    return Task(name, submission, units, runtime, extra={"sizes": told})


def run(hosts: int, tasks: list[Task], dispatcher: str = "easy", **options: Any) -> Result:
    given = {"dispatcher": dispatcher, **FREE, **{name: str(value) for name, value in options.items()}}
    return simulate(Machine.flat(hosts), tasks, checked(given))


def rows(result: Result) -> dict[str, tuple[float, float, str]]:
    return {row.id: (row.start / 1e6, row.end / 1e6, row.hosts) for row in result.rows.values()}


# ---------------------------------------------------------------------- what a resize costs


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        # 1 -> 2: the one sends half of 1 GB at 1 GB/s. 2 -> 4: two send a quarter each. And back.
        (1, 2, 0.5),
        (2, 1, 0.5),
        (2, 4, 0.25),
        (4, 2, 0.25),
        # The larger the step, the longer: 1 -> 4, one sends three quarters.
        (1, 4, 0.75),
        (32, 64, 1 / 64),
    ],
)
def test_redistribution(before: int, after: int, expected: float) -> None:
    assert transfer_seconds(1e9, before, after, 1e9) == pytest.approx(expected)


def test_costs_are_added_up_and_nodes_leave_when_the_redistribution_is_over() -> None:
    """Three checks of 0.1 s, a shrink of 2 s, and 1 GB from 4 nodes to 2 at 1 GB/s: 2.55 s."""
    tasks = [malleable("a", 4, 100.0, data=1e9), Task("b", 25.0, 2, 30.0)]
    options = {"check_cost": 0.1, "shrink_cost": 2, "bandwidth": 1e9, "policy": "dmr[idle_expand=false]"}
    found = rows(run(4, tasks, **options))
    assert found["a"] == (0.0, 30.0, "0-3")
    assert found["b"] == (32.55, 62.55, "2-3")
    # A step takes 20 s on 2 nodes: its points are at 52.55 and 72.55 s, and two nodes are free again at the latter.
    assert found["a~2"][:2] == (30.0, 72.55)
    # Half of its work is left, 50 s on 4 nodes; this resize costs two checks and the redistribution.
    assert found["a~3"] == (72.55, 72.55 + 0.2 + 0.25 + 50.0, "0-3")


@pytest.mark.parametrize(
    ("before", "after", "scheduling", "moving"),
    [
        # 0.2 s, 0.01 s for each of the nodes, and two checks of 0.1 s; 1 GB at 1 GB/s.
        (1, 2, 0.2 + 2 * 0.01 + 0.2, 0.5),
        (32, 64, 0.2 + 64 * 0.01 + 0.2, 1 / 64),
        # 0.3 s; and 0.05 s for each of the processes that wait for one another.
        (2, 1, 0.3 + 2 * 0.01 + 0.2, 0.5 + 2 * 0.05),
        (64, 32, 0.3 + 64 * 0.01 + 0.2, 1 / 64 + 64 * 0.05),
    ],
)
def test_stages_of_figure_3(before: int, after: int, scheduling: float, moving: float) -> None:
    costs = Costs(check=0.1, expand=0.2, shrink=0.3, unit=0.01, acknowledge=0.05, bandwidth=1e9)
    stages = costs.of(before, after, 1e9, owed=0.2)
    assert stages == (pytest.approx(scheduling), pytest.approx(moving))
    assert stages.whole == pytest.approx(scheduling + moving)


def test_a_resize_of_more_nodes_takes_longer() -> None:
    """A shrink of 2 s from 4 nodes: 0.25 s for each of them to schedule, 0.5 s to wait for one another."""
    tasks = [malleable("a", 4, 100.0), Task("b", 25.0, 2, 30.0)]
    options = {"shrink_cost": 2, "unit_cost": 0.25, "acknowledge_cost": 0.5, "policy": "dmr[idle_expand=false]"}
    result = run(4, tasks, **options)
    assert rows(result)["b"] == (35.0, 65.0, "2-3")
    told = result.session.report["resizing"]
    assert (told["shrink"]["mean"], told["scheduling"]["shrink"]) == (5.0, 3.0)
    # Back on 4 nodes: 4 are scheduled, and nobody waits for others to leave.
    assert (told["expand"]["mean"], told["scheduling"]["expand"]) == (1.0, 1.0)


def test_a_job_keeps_hosts_of_its_own() -> None:
    """The two lowest hosts are free again when a shrinks; it has the four highest."""
    tasks = [Task("x", 0.0, 2, 8.0), malleable("a", 4, 100.0, 1.0, preferred=2), Task("b", 5.0, 6, 10.0)]
    found = rows(run(6, tasks, "fcfs"))
    assert found["a"] == (1.0, 11.0, "2-5")
    assert found["a~2"][2] == "2-3"


def test_without_acknowledgement_nodes_leave_at_once() -> None:
    tasks = [malleable("a", 4, 100.0, preferred=2), Task("b", 25.0, 2, 300.0)]
    found = rows(run(4, tasks, shrink_cost=2, acknowledge="false"))
    assert found["b"][0] == 30.0
    assert found["a~2"] == (30.0, 30.0 + 2.0 + 140.0, "0-1")


def test_the_waiting_job_that_triggered_a_shrink_goes_before_all_others() -> None:
    """The first of the queue cannot start by any shrink; the second does, although the third would fit as well."""
    tasks = [
        malleable("a", 8, 100.0, least=4),
        Task("large", 1.0, 8, 10.0),
        Task("second", 2.0, 4, 10.0),
        Task("third", 3.0, 4, 10.0),
    ]
    found = rows(run(8, tasks, "fcfs", shrink_cost=1))
    assert found["a"] == (0.0, 10.0, "0-7")
    assert found["second"] == (11.0, 21.0, "4-7")
    # Under fcfs none of them would overtake the large one.
    assert found["large"][0] > 100.0
    assert found["third"][0] == found["large"][1]


def test_a_job_is_shrunk_for_the_first_by_the_ordering_of_the_dispatcher_inside() -> None:
    """Both need half of the machine. The second one is shorter, and goes first under sjf."""
    waiting = [Task("long", 1.0, 4, 30.0, 90.0), Task("short", 2.0, 4, 20.0, 50.0)]
    tasks = [malleable("a", 8, 100.0, least=4), *waiting]
    assert rows(run(8, tasks))["long"][0] == 10.0
    assert rows(run(8, tasks, "easy[ordering=sjf]"))["short"][0] == 10.0


def test_who_was_promised_nodes_starts_before_those_that_fit_by_then() -> None:
    """When a shrinks, no shrink lets `first` start. While its nodes leave x ends, and with those `first` would fit."""
    waiting = [Task("first", 1.0, 6, 10.0), Task("second", 2.0, 4, 10.0)]
    tasks = [malleable("a", 8, 100.0, least=4), Task("x", 0.0, 2, 10.5), *waiting]
    found = rows(run(10, tasks, "filler", shrink_cost=1))
    assert found["second"] == (11.0, 21.0, "4-7")
    assert found["first"][0] > 11.0


def test_an_equal_share_counts_who_runs_and_who_waits() -> None:
    """One runs and three wait on eight hosts: two for each."""
    waiting = [Task(name, 1.0, 8, 10.0) for name in ("b", "c", "d")]
    found = rows(run(8, [malleable("a", 8, 100.0), *waiting], policy="equal-share"))
    assert found["a~2"][:1] + found["a~2"][2:] == (10.0, "0-1")


def test_an_expansion_that_costs_more_than_it_gains_does_not_pay() -> None:
    """At 10 s, four hosts instead of two would save 45 s."""
    tasks = [malleable("a", 2, 100.0, most=4)]
    assert rows(run(4, tasks, policy="speed-up", expand_cost=44))["a"][1] == 10.0
    assert list(rows(run(4, tasks, policy="speed-up", expand_cost=46))) == ["a"]


def test_the_dispatcher_inside_does_not_hear_of_the_kills_of_resizes() -> None:
    layer = checked({"dispatcher": "easy", **FREE})
    heard: list[e.JobsKilled] = []
    layer.inner.on_killed = lambda ledger, event: heard.append(event)  # type: ignore[method-assign]
    simulate(Machine.flat(4), [malleable("a", 2, 100.0, most=4)], layer)
    assert layer.actions.seconds["expand"]
    assert heard == []


def test_no_second_job_is_shrunk_for_one_that_was_promised_nodes() -> None:
    """At 10 s a gives way to c, which starts when the redistribution is over; b has a point at 10 s, and one at 12."""
    waiting = Task("c", 5.0, 2, 10.0)
    for begins in (0.0, 2.0):
        tasks = [malleable("a", 4, 100.0, least=2), malleable("b", 4, 100.0, begins, least=2)]
        found = rows(run(8, [*tasks, waiting], shrink_cost=5))
        assert found["c"][0] == 15.0
        assert found["a"][1] == 10.0
        # Whoever expands first when c has ended, b was not stopped before.
        assert found["b"][1] > 15.0


def test_what_is_free_beside_the_freed_nodes_is_kept_for_the_job_that_triggered_the_shrink() -> None:
    """b needs two free nodes and four of a's; c comes while the data is redistributed, and would fit the free ones."""
    tasks = [malleable("a", 8, 100.0, least=4), Task("b", 5.0, 6, 10.0), Task("c", 10.5, 2, 10.0)]
    found = rows(run(10, tasks, "filler", shrink_cost=1))
    assert found["b"] == (11.0, 21.0, "4-9")
    assert found["c"][0] == 21.0


def begun(**options: Any) -> tuple[Session, Callable[..., Reply]]:
    """Six hosts, on which `a` gives way to `b` at 10 s: up to the decision to kill it."""
    given = {name: str(value) for name, value in {**FREE, "shrink_cost": 2, **options}.items()}
    session = Session(checked({"dispatcher": "filler", **given}))

    def tell(now: float, *events: e.Event) -> Reply:
        return session.handle(Message(now, list(events)))

    config = {"dynamic-jobs-enabled": True, "dynamic-jobs-acknowledged": True}
    profiles = {"w0": {"": {"type": "delay", "delay": 100.0}}}
    tell(0.0, e.SimulationBegins(0.0, Machine.flat(6), config, {}, profiles))
    tell(0.0, e.JobSubmitted(0.0, make_job("w0!a", 4, sizes=malleable("a", 4, 1.0).extra["sizes"])))
    tell(1.0, e.JobSubmitted(1.0, make_job("w0!b", 4)))
    assert [type(one) for one in tell(10.0, e.RequestedCall(10.0)).decisions] == [d.Kill]
    return session, tell


def killed(now: float) -> list[e.Event]:
    told = {"w0!a": {"profile_name": "", "progress": 0.1}}
    return [e.JobCompleted(now, "w0!a", JobState.COMPLETED_KILLED), e.JobsKilled(now, ["w0!a"], told)]


def test_while_a_job_is_being_stopped_nothing_starts_on_what_was_promised() -> None:
    """b will have the two free hosts and two of a; c, which would fit the free ones, comes before the kill is told."""
    session, tell = begun()
    c = tell(10.000001, e.JobSubmitted(10.000001, make_job("w0!c", 2)))
    assert c.decisions == []
    assert session.ledger is not None
    assert session.ledger.free == 0


def test_without_acknowledgement_what_is_free_beside_the_freed_nodes_is_held_as_well() -> None:
    session, tell = begun(acknowledge="false")
    assert tell(10.000001, e.JobSubmitted(10.000001, make_job("w0!c", 2))).decisions == []
    assert session.ledger is not None
    assert session.ledger.free == 0


def test_if_a_job_ends_while_it_is_stopped_who_was_promised_its_nodes_goes_first() -> None:
    """The kill for `second` is under way when the job ends: under fcfs, the first in line would take all hosts."""
    session = Session(checked({"dispatcher": "fcfs", **FREE}))

    def tell(now: float, *events: e.Event) -> Reply:
        return session.handle(Message(now, list(events)))

    config = {"dynamic-jobs-enabled": True, "dynamic-jobs-acknowledged": True}
    profiles = {"w0": {"": {"type": "delay", "delay": 100.0}}}
    tell(0.0, e.SimulationBegins(0.0, Machine.flat(8), config, {}, profiles))
    tell(0.0, e.JobSubmitted(0.0, make_job("w0!a", 8, sizes=malleable("a", 8, 1.0, least=4).extra["sizes"])))
    tell(1.0, e.JobSubmitted(1.0, make_job("w0!first", 8)))
    tell(2.0, e.JobSubmitted(2.0, make_job("w0!second", 4)))
    assert [type(one) for one in tell(10.0, e.RequestedCall(10.0)).decisions] == [d.Kill]
    ended = e.JobCompleted(10.00001, "w0!a", JobState.COMPLETED_SUCCESSFULLY)
    reply = tell(10.00001, ended, e.JobsKilled(10.00001, ["w0!a"], {}))
    assert [one.job_id for one in reply.decisions if isinstance(one, d.Execute)] == ["w0!second"]


def test_until_the_rest_is_acknowledged_all_its_nodes_are_held() -> None:
    session, tell = begun()
    reply = tell(10.00001, *killed(10.00001))
    assert [type(one) for one in reply.decisions] == [d.RegisterProfile, d.RegisterJob]
    assert session.ledger is not None
    assert session.ledger.free == 0, "what it keeps, what it frees, and what is free beside that for b"
    registered = reply.decisions[1]
    assert isinstance(registered, d.RegisterJob)
    after = tell(10.00002, e.JobSubmitted(10.00002, registered.job))
    assert [str(one.allocation) for one in after.decisions if isinstance(one, d.Execute)] == ["0-1"]
    assert session.ledger.free == 0
    last = tell(12.001, e.RequestedCall(12.001))
    assert [(one.job_id, str(one.allocation)) for one in last.decisions if isinstance(one, d.Execute)] == [
        ("w0!b", "2-5")
    ]


def test_hosts_that_were_to_leave_are_free_when_the_job_is_killed_before() -> None:
    session, tell = begun()
    reply = tell(10.00001, *killed(10.00001))
    registered = next(one.job for one in reply.decisions if isinstance(one, d.RegisterJob))
    tell(10.00002, e.JobSubmitted(10.00002, registered))
    ledger = session.ledger
    assert ledger is not None
    # Somebody else kills it while its data is redistributed.
    ledger.kill([ledger.running[registered.id].job])
    tell(10.5, e.JobCompleted(10.5, registered.id, JobState.COMPLETED_KILLED), e.JobsKilled(10.5, [registered.id]))
    assert not ledger.holds
    assert list(ledger.running) == ["w0!b"]


# ---------------------------------------------------------------------- when a check is answered


def test_checks_within_the_period_are_ignored() -> None:
    """Points are at 10, 20, ...; the first counts, then those at least 25 s later: 40, 70."""
    tasks = [malleable("a", 4, 100.0, period=25), Task("b", 12.0, 2, 3.0)]
    found = rows(run(4, tasks))
    assert found["a"] == (0.0, 40.0, "0-3")
    assert found["b"][0] == 40.0


def test_a_point_that_is_told_before_its_step_is_quite_over_counts_for_that_step() -> None:
    """A step ends at 10.0000004 s, and calls are told in milliseconds: the point at 10 s is that of the first step."""
    asks = [{"step": 1, "most": 2}]
    found = rows(run(4, [malleable("a", 4, 100.000004, kind="evolving", asks=asks)]))
    assert found["a"] == (0.0, 10.0, "0-3")


@given(
    start=st.integers(0, 10**13),
    total=st.integers(1, 10**10),
    steps=st.integers(2, 10_000),
    elapsed=st.floats(0, 1),
    early=st.sampled_from([0.0, TICK / 2]),
    profile=st.sampled_from(["delay", "parallel_homogeneous_total"]),
)
def test_after_a_point_comes_a_later_one(
    start: int, total: int, steps: int, elapsed: float, early: float, profile: str
) -> None:
    """Wherever rounding puts a point, and if it is looked at half a tick before: or the layer would check for ever."""
    job = make_job("w0!a", 4, sizes=malleable("a", 4, 1.0, steps=steps, period=1e-9).extra["sizes"])
    sizes = job.request.sizes
    assert sizes is not None
    told = {"type": "delay", "delay": total / 1e6} if profile == "delay" else {"type": profile, "cpu": 1e9, "com": 0}
    flexible, begin = Flexible(job, sizes, {"": told}), start / 1e6
    now = begin + elapsed * total / 1e6
    for _ in range(4):
        point = flexible.next_point(begin, now, 4)
        assert point > now + TICK / 2
        if point == math.inf:
            break
        now = point - early


def test_a_period_is_counted_from_the_point_not_from_when_it_was_told() -> None:
    """Calls come a tenth of a second late. The second point is a period after the first one, when b has come."""
    tasks = [malleable("a", 4, 100.0, period=9.95), Task("b", 12.0, 2, 30.0)]
    late = simulate(Machine.flat(4), tasks, checked({**FREE}), delays=lambda host: Delay(0.1, 1e-9))
    assert 20.0 < rows(late)["a"][1] < 21.0


def test_async_does_at_one_point_what_was_decided_at_the_one_before() -> None:
    tasks = [malleable("a", 4, 100.0), Task("b", 12.0, 2, 300.0)]
    found = rows(run(4, tasks, mode="async"))
    assert found["a"] == (0.0, 30.0, "0-3")
    assert found["b"][0] == 30.0


def test_async_the_nodes_of_an_expansion_may_go() -> None:
    """a is to expand at 20 s; b takes the nodes at 15 s. a waits until b has ended, and takes them before c does."""
    tasks = [malleable("a", 2, 100.0, most=4), Task("b", 15.0, 2, 12.0), Task("c", 21.0, 2, 5.0)]
    found = rows(run(4, tasks, mode="async", timeout=40))
    assert found["a"] == (0.0, 20.0, "0-1")
    assert found["a~2"] == (20.0, 27.0, "0-1"), "it waits on its nodes, without working"
    assert found["a~3"][0] == 27.0
    assert found["a~3"][2] == "0-3"
    # Its points are 5 s apart now: at 32 s it is to give the nodes to c, at 37 s it does.
    assert found["c"][0] == 37.0


def test_async_after_a_dropped_expansion_a_job_is_looked_at_again() -> None:
    """Dropped at 27 s. b ends at 45 s, so that a is to expand at its point at 47 s, and does so at 57 s."""
    tasks = [malleable("a", 2, 100.0, most=4), Task("b", 15.0, 2, 30.0)]
    found = rows(run(4, tasks, mode="async", timeout=7))
    assert found["a~2"] == (20.0, 57.0, "0-1")
    assert found["a~3"] == (57.0, 57.0 + 25.0, "0-3")


def test_async_what_checks_took_before_a_job_waited_is_charged_when_it_gets_its_nodes() -> None:
    """A check of 0.5 s at 10 s; a waits from 20 s to 27 s, and has 80 of 100 s left, on twice the hosts."""
    tasks = [malleable("a", 2, 100.0, most=4, steps=10), Task("b", 15.0, 2, 12.0)]
    result = run(4, tasks, mode="async", check_cost=0.5, timeout=40)
    assert rows(result)["a~3"] == (27.0, 27.0 + 0.5 + 40.0, "0-3")
    # The account counts the time that it waited.
    assert result.session.report["resizing"]["expand"] == {"count": 1, "least": 7.5, "mean": 7.5, "most": 7.5}


def test_async_an_expansion_is_dropped_after_the_time_out() -> None:
    tasks = [malleable("a", 2, 100.0, most=4), Task("b", 15.0, 2, 300.0)]
    result = run(4, tasks, mode="async", timeout=7)
    found = rows(result)
    assert found["a~2"] == (20.0, 20.0 + 7.0 + 80.0, "0-1")
    assert result.session.report["resizing"]["dropped_expansions"] == 1
    assert result.session.report["resizing"]["expand"] == {"count": 0}


def test_a_plan_is_made_anew_when_a_job_gets_nodes_that_were_planned_for_another() -> None:
    """c is planned to start on hosts 2-7 at 20 s; a asks for two of them at 10 s, and has them until its end."""
    asks = [{"step": 1, "least": 4}]
    tasks = [
        malleable("a", 2, 100.0, kind="evolving", asks=asks)._replace(walltime=200.0),
        Task("x", 0.0, 4, 19.0, 20.0),
        Task("c", 1.0, 6, 5.0, 6.0),
    ]
    found = rows(run(8, tasks, "conservative"))
    assert found["a~2"] == (10.0, 55.0, "0-1 6-7")
    assert found["c"] == (55.0, 60.0, "0-5")


def test_an_evolving_job_gets_what_it_asks_for() -> None:
    asks = [{"step": 2, "most": 2}, {"step": 6, "least": 8}]
    found = rows(run(8, [malleable("a", 4, 100.0, kind="evolving", asks=asks)]))
    assert found["a"] == (0.0, 20.0, "0-3")
    # Four steps of ten on half the nodes take 80 s, the other four on 8 nodes 20.
    assert found["a~2"] == (20.0, 100.0, "0-1")
    assert found["a~3"] == (100.0, 120.0, "0-7")


# ---------------------------------------------------------------------- walltimes


def test_a_segment_has_the_rest_of_the_walltime() -> None:
    tasks = [malleable("a", 4, 100.0)._replace(walltime=500.0), Task("b", 5.0, 2, 300.0)]
    for charge, expected in ((True, 490.0), (False, 493.0)):
        result = run(4, tasks, shrink_cost=3, charge=charge)
        assert f"\na~2,w0,rest of w0.a~2,10.000000,2,{expected:.6f}," in result.files["jobs.csv"].decode()


def test_a_redistribution_is_charged_with_the_walltime_or_not() -> None:
    """a~2 redistributes from 10 to 13 s, and expands at 53 s, when b has ended."""
    tasks = [malleable("a", 4, 100.0)._replace(walltime=500.0), Task("b", 5.0, 2, 30.0)]
    for charge, expected in ((True, 447.0), (False, 450.0)):
        result = run(4, tasks, shrink_cost=3, charge=charge)
        assert f"\na~3,w0,rest of w0.a~3,53.000000,4,{expected:.6f}," in result.files["jobs.csv"].decode()


def test_a_job_is_not_shrunk_to_a_size_at_which_it_would_not_end_in_time() -> None:
    """For b, a must go to one node. At 60 s it would need 160 s there and has 140 left; at 70 s, 120 and 130."""
    tasks = [malleable("a", 4, 100.0)._replace(walltime=200.0), Task("b", 5.0, 3, 30.0)]
    found = rows(run(4, tasks))
    assert found["a"] == (0.0, 70.0, "0-3")
    assert found["b"][0] == 70.0
    scaled = rows(run(4, tasks, walltime="scaled"))
    assert scaled["a"] == (0.0, 10.0, "0-3")
    assert all(row.state is not JobState.COMPLETED_WALLTIME_REACHED for row in run(4, tasks).rows.values())


def test_what_a_shrink_costs_counts_when_it_is_seen_whether_a_job_would_end_in_time() -> None:
    """At 10 s, a would need 180 s on two nodes and has 185 s left: enough without the shrink's own time."""
    tasks = [malleable("a", 4, 100.0)._replace(walltime=195.0), Task("b", 5.0, 2, 30.0)]
    assert rows(run(4, tasks, shrink_cost=4))["a"][1] == 10.0
    assert rows(run(4, tasks, shrink_cost=6))["a"][1] > 10.0


def test_a_scaled_walltime_is_as_much_longer_as_the_job() -> None:
    tasks = [malleable("a", 4, 100.0)._replace(walltime=210.0), Task("b", 5.0, 3, 300.0)]
    result = run(4, tasks, walltime="scaled")
    assert "\na~2,w0,rest of w0.a~2,10.000000,1,800.000000," in result.files["jobs.csv"].decode()


# ---------------------------------------------------------------------- what goes wrong


@pytest.mark.parametrize("host", ["0", "2"])
def test_if_a_node_is_away_a_job_does_not_expand_to_it_or_with_it(host: str) -> None:
    away = [e.MachinesUnavailable(5.0, Allocation.parse(host)), e.MachinesAvailable(95.0, Allocation.parse(host))]
    found = simulate(Machine.flat(4), [malleable("a", 2, 100.0, most=4)], checked({**FREE}), events=away)
    assert rows(found) == {"a": (0.0, 100.0, "0-1")}


@pytest.mark.parametrize(
    ("profile", "found"),
    [
        ({"type": "parallel_homogeneous", "cpu": 1e9, "com": 0}, "is parallel_homogeneous"),
        ({"type": "composed", "seq": ["other"]}, "is composed of more than delays"),
        (None, "is unknown"),
    ],
)
def test_profiles_of_which_no_rest_can_be_registered(profile: dict[str, Any] | None, found: str) -> None:
    job = make_job("w0!a", 4, sizes=malleable("a", 4, 1.0).extra["sizes"])
    profiles = {"other": {"type": "send", "msg": "x"}, **({} if profile is None else {"": profile})}
    assert job.request.sizes is not None
    with pytest.raises(InputError, match=f"job w0!a: .*expected|job w0!a: .*{found}"):
        Flexible(job, job.request.sizes, profiles)


def test_a_job_timed_by_the_platform_must_have_a_period() -> None:
    job = make_job("w0!a", 4, sizes=malleable("a", 4, 1.0).extra["sizes"])
    assert job.request.sizes is not None
    with pytest.raises(InputError, match="field 'sizes': how long a step takes is not known"):
        Flexible(job, job.request.sizes, {"": {"type": "parallel_homogeneous_total", "cpu": 1e9, "com": 0}})


# ---------------------------------------------------------------------- sizes at the start


def moldable(name: str, units: int, runtime: float, submission: float = 0.0, **sizes: Any) -> Task:
    return malleable(name, units, runtime, submission, **{"kind": "moldable", "steps": 1, **sizes})


@pytest.mark.parametrize("inner", ["fcfs", "easy", "conservative", "slurm-backfill[tick=0]", "best-list"])
def test_a_moldable_job_starts_on_the_largest_size_that_fits(inner: str) -> None:
    """Of 8 hosts, 5 are free: b starts on 4 instead of 8, and takes twice as long."""
    tasks = [Task("a", 0.0, 3, 50.0, 60.0), moldable("b", 8, 10.0, 1.0), Task("c", 2.0, 1, 5.0, 6.0)]
    result = run(8, tasks, inner, moldable="fitting")
    found = rows(result)
    assert found["b~2"] == (1.0, 21.0, "3-6")
    assert found["c"][0] == 2.0
    assert result.rows["b"].state is JobState.REJECTED
    assert result.ledger.roll.ended["w0!b"] is JobState.COMPLETED_SUCCESSFULLY
    assert rows(run(8, tasks, inner))["b"] == (50.0, 60.0, "0-7")


def test_only_the_first_waiting_job_is_molded() -> None:
    tasks = [Task("a", 0.0, 3, 50.0, 60.0), Task("b", 1.0, 8, 5.0), moldable("c", 8, 10.0, 2.0)]
    assert rows(run(8, tasks, moldable="fitting"))["c"] == (55.0, 65.0, "0-7")


def test_a_moldable_job_does_not_start_where_it_would_not_end_in_time() -> None:
    tasks = [Task("a", 0.0, 3, 50.0, 60.0), moldable("b", 8, 10.0, 1.0)._replace(walltime=15.0)]
    assert rows(run(8, tasks, moldable="fitting"))["b"] == (50.0, 60.0, "0-7")
    assert rows(run(8, tasks, moldable="fitting", walltime="scaled"))["b~2"] == (1.0, 21.0, "3-6")


def test_a_molded_malleable_job_grows_later() -> None:
    tasks = [Task("a", 0.0, 3, 50.0, 60.0), malleable("b", 8, 100.0, 1.0)]
    found = rows(run(8, tasks, moldable="fitting"))
    assert found["b~2"] == (1.0, 61.0, "3-6")
    assert found["b~3"] == (61.0, 131.0, "0-7")


def test_who_depends_on_a_molded_job_starts_when_it_has_ended() -> None:
    tasks = [
        Task("a", 0.0, 3, 50.0, 60.0),
        moldable("b", 8, 10.0, 1.0),
        Task("c", 2.0, 1, 5.0, 6.0, extra={"dependencies": ["b"]}),
    ]
    assert rows(run(8, tasks, moldable="fitting"))["c"] == (21.0, 26.0, "3")


def test_how_far_a_sequence_is_by_what_is_told() -> None:
    """Two rounds of 3 and 5 s, stopped half way through the second part of the second round, told by a late clock."""
    job = make_job("w0!a", 4, sizes=malleable("a", 4, 1.0).extra["sizes"])
    delays = {name: {"type": "delay", "delay": seconds} for name, seconds in (("p", 3.0), ("q", 5.0))}
    sizes = job.request.sizes
    assert sizes is not None
    flexible = Flexible(job, sizes, {"": {"type": "composed", "repeat": 2, "seq": ["p", "q"]}, **delays})
    assert flexible.total == 16.0
    told = {"current_task_index": 3, "current_task": {"profile_name": "q", "progress": 0.5}}
    flexible.end_segment(13.6, 4, told, charge=True)
    assert flexible.done == pytest.approx(13.5 / 16, abs=1e-6)


def test_hosts_of_a_molded_job_are_not_given_to_a_job_that_expands_at_the_same_moment() -> None:
    """At 10 s the second job could start on one of its two hosts, and the first one could have that host as well."""
    molded = Task("b", 10.0, 2, 20.0, extra={"sizes": {"least": 1, "most": 2}})
    found = rows(run(2, [malleable("a", 1, 100.0), molded], moldable="fitting"))
    assert found["b~2"] == (10.0, 50.0, "1")


# ---------------------------------------------------------------------- more than the machine has


@pytest.mark.parametrize("acknowledged", [True, False])
@pytest.mark.parametrize("inner", ["easy", "conservative", "slurm-backfill"])
def test_a_job_that_asks_for_more_than_there_is_starts_on_what_fits(inner: str, acknowledged: bool) -> None:
    """On 8 hosts, a job of 32 runs on 8 if it waits for them, and on 4 where it is the first and 4 are free."""
    sizes = {"least": 2, "most": 64, "kind": "moldable", "scalability": "linear"}
    large = Task("large", 1.0, 32, 10.0, extra={"sizes": sizes})
    engine = EngineOptions(dynamic_jobs=True, acknowledge_dynamic_jobs=acknowledged)
    options = {"dispatcher": inner, "moldable": "fitting", **FREE}
    alone = simulate(Machine.flat(8), [large], checked(options), engine=engine)
    assert {row.id: row.state for row in alone.rows.values()}["large"] is JobState.REJECTED
    assert rows(alone)["large~2"][1:] == (41.0, "0-7")
    beside = simulate(Machine.flat(8), [Task("x", 0.0, 4, 100.0), large], checked(options), engine=engine)
    assert rows(beside)["large~3"] == (1.0, 81.0, "4-7")


def test_a_job_that_ends_in_time_on_no_size_that_there_is_is_rejected_for_what_it_asks() -> None:
    sizes = {"least": 2, "most": 64, "kind": "moldable", "scalability": "linear"}
    large = Task("large", 1.0, 32, 10.0, 39.0, extra={"sizes": sizes})
    result = run(8, [large], moldable="fitting")
    assert [(row.id, row.state) for row in result.rows.values()] == [("large", JobState.REJECTED)]
    asked = run(8, [large._replace(walltime=math.inf)])
    assert [(row.id, row.state) for row in asked.rows.values()] == [("large", JobState.REJECTED)]
