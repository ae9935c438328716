"""Reservations: hosts that only some jobs may use for some time, by hand for several, and at random for all."""

import json
import math
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from batdispatch.abilities.solvers.constraint.best_list import BestList
from batdispatch.abilities.solvers.constraint.instance import Instance
from batdispatch.abilities.solvers.constraint.lists import Planner
from batdispatch.core.errors import InputError
from batdispatch.core.jobs.job import JobState
from batdispatch.core.line import dispatcher as dispatchers
from batdispatch.core.line import registry
from batdispatch.core.line.ledger import Ledger
from batdispatch.core.machine.machine import Host, Machine
from batdispatch.core.machine.openings import Openings
from batdispatch.parts.ordering.easy_beside import EasyBeside
from simulating import Result, Task, reasons, simulate, start_all
from strategies import make_job

QUEUES = ["fcfs", "filler", "easy", "easy[reservation=hosts]", "conservative", "best-list", "slurm-backfill[tick=0]"]
every = pytest.mark.parametrize("dispatcher", QUEUES)


def machine(*windows: dict[str, Any], hosts: int = 4, **told: Any) -> Machine:
    text = json.dumps({"reservations": list(windows), **told})
    return Machine([Host(id=i, name=f"n{i}", properties={"queues": text} if not i else {}) for i in range(hosts)])


def window(start: float, end: float, *hosts: str, name: str = "r", **more: Any) -> dict[str, Any]:
    return {"name": name, "start": start, "end": end, **({"hosts": list(hosts)} if hosts else {}), **more}


def ran(result: Result) -> dict[str, tuple[float, str]]:
    ledger = result.ledger
    ledger.check()
    return {row.id: (row.start / 1e6, row.hosts) for row in result.rows.values() if row.state is not JobState.REJECTED}


@every
def test_before_maintenance_only_what_ends_in_time_starts(dispatcher: str) -> None:
    tasks = [Task("long", 0.0, 4, 5.0, 50.0), Task("short", 0.0, 4, 5.0, 20.0), Task("never", 0.0, 1, 5.0)]
    found = ran(simulate(machine(window(30.0, 100.0)), tasks, dispatcher))
    assert found["short"] == (0.0, "0-3")
    assert found["long"][0] >= 100.0
    assert found["never"][0] >= 100.0, "who states no walltime might run into it"
    assert min(found["long"][0], found["never"][0]) == 100.0, "somebody is called when it is over"


def test_a_job_that_is_shown_again_comes_once_to_the_easy_beside_guarded() -> None:
    tasks = [Task("first", 0.0, 2, 70.0, 80.0), Task("second", 1.0, 2, 5.0, 50.0)]
    site = machine(window(30.0, 60.0, "n0", "n1"))
    with patch.object(EasyBeside, "submit", autospec=True, side_effect=EasyBeside.submit) as submit:
        assert ran(simulate(site, tasks, "easy[ordering=guarded]"))["second"] == (60.0, "0-1")
    assert [call.args[1].name for call in submit.call_args_list] == ["w0!first", "w0!second"]


def test_slurms_backfill_plans_behind_a_reservation_that_keeps_a_job_back_now() -> None:
    tasks = [Task("runs", 0.0, 1, 20.0, 20.0), *(Task(name, 0.5, 4, 5.0, 50.0) for name in ("big", "same"))]
    tasks.append(Task("lower", 1.0, 2, 150.0, 200.0))
    site = machine(window(30.0, 100.0, "n0", "n1"))
    # The main loop looks at the first two of the queue alone: else it starts a job of lower priority, as Slurm's does.
    found = ran(simulate(site, tasks, "slurm-backfill[tick=0,queue_depth=1]"))
    assert (found["big"], found["lower"][0]) == ((100.0, "0-3"), 110.0)


@every
def test_after_a_reservation_that_ends_between_two_microseconds_the_next_one_calls(dispatcher: str) -> None:
    site = machine(window(2.0, 6.0000003, name="a"), window(10.0, 20.0, name="b"))
    assert ran(simulate(site, [Task("long", 0.0, 4, 5.0, 50.0)], dispatcher)) == {"long": (20.0, "0-3")}


@every
def test_a_job_that_ends_when_the_reservation_starts_is_in_time(dispatcher: str) -> None:
    tasks = [Task("a", 0.0, 4, 10.0, 10.0), Task("b", 0.0, 4, 10.0, 20.0)]
    assert ran(simulate(machine(window(30.0, 100.0)), tasks, dispatcher)) == {"a": (0.0, "0-3"), "b": (10.0, "0-3")}


@every
def test_hosts_close_while_a_job_waits(dispatcher: str) -> None:
    # At 0 both could end on n0-n1 in time; at 15, when n0-n3 are free, `b` can no more.
    tasks = [Task("a", 0.0, 4, 15.0, 15.0), Task("b", 1.0, 2, 10.0, 20.0), Task("c", 2.0, 2, 5.0, 10.0)]
    found = ran(simulate(machine(window(30.0, 60.0, "n[0-1]")), tasks, dispatcher))
    assert found == {"a": (0.0, "0-3"), "b": (15.0, "2-3"), "c": (15.0, "0-1")}


@every
def test_who_is_let_in_uses_the_hosts_as_if_nothing_was_there(dispatcher: str) -> None:
    tasks = [
        Task("ada", 0.0, 2, 50.0, 50.0, user="ada"),
        Task("bob", 1.0, 4, 10.0, 10.0, user="bob"),
        Task("lab", 2.0, 1, 10.0, 10.0, user="eve", extra={"account": "lab"}),
    ]
    site = machine(window(5.0, 40.0, "n[0-2]", users=["ada"], accounts=["lab"]))
    found = ran(simulate(site, tasks, dispatcher))
    assert found["ada"] == (0.0, "0-1")
    assert found["lab"][0] < 40.0 if dispatcher != "fcfs" else True
    assert found["bob"][0] >= 50.0


@every
def test_a_job_that_names_a_reservation_runs_within_it(dispatcher: str) -> None:
    tasks = [
        Task("in", 0.0, 2, 10.0, 15.0, extra={"reservation": "r"}),
        Task("next", 1.0, 2, 5.0, 6.0, extra={"reservation": "r"}),
        Task("late", 32.0, 1, 5.0, 9.0, extra={"reservation": "r"}),
        Task("other", 2.0, 2, 1.0, 100.0),
    ]
    result = simulate(machine(window(20.0, 40.0, "n[2-3]")), tasks, dispatcher)
    # The first of the two takes 10 s; best-list begins with the other one, which takes 5.
    first, second = (("next", 20.0), ("in", 25.0)) if dispatcher == "best-list" else (("in", 20.0), ("next", 30.0))
    expected = {name: (start, "2-3") for name, start in (first, second)}
    assert ran(result) == {**expected, "other": (2.0, "0-1")}
    assert reasons(result) == {"late": "its reservation ends too soon for it"}


REFUSED: list[tuple[Task, str]] = [
    (Task("j", 0.0, 1, 1.0, 9.0, extra={"reservation": "s"}), "asks for reservation s, the site has r"),
    (
        Task("j", 0.0, 1, 1.0, 9.0, user="eve", extra={"reservation": "r"}),
        "asks for reservation r, which lets in others",
    ),
    (Task("j", 0.0, 1, 1.0, 99.0, user="ada", extra={"reservation": "r"}), "asks for 99 s, reservation r lasts 20 s"),
    (Task("j", 0.0, 1, 1.0, user="ada", extra={"reservation": "r"}), "asks for no walltime, reservation r lasts 20 s"),
    (
        Task("j", 0.0, 3, 1.0, 9.0, user="ada", extra={"reservation": "r"}),
        "asks for 3 hosts, the part of the machine that is open to it has room for 2",
    ),
    (Task("j", 0.0, 5, 1.0, 9.0, user="eve"), "asks for 5 hosts, the whole machine has room for 4"),
]


@pytest.mark.parametrize(("task", "said"), REFUSED, ids=[said for _, said in REFUSED])
def test_who_can_never_run_hears_why(task: Task, said: str) -> None:
    site = machine(window(20.0, 40.0, "n[2-3]", users=["ada"]))
    assert reasons(simulate(site, [task], "fcfs")) == {"j": said}


def test_the_field_means_nothing_where_nothing_is_reserved() -> None:
    task = Task("j", 0.0, 1, 1.0, extra={"reservation": "r"})
    assert ran(simulate(Machine.flat(2), [task], "fcfs")) == {"j": (0.0, "0")}


def test_a_placement_that_needs_a_form_waits_for_it() -> None:
    tasks = [Task("j", 0.0, 3, 1.0, 50.0)]
    found = ran(simulate(machine(window(10.0, 40.0, "n1"), hosts=5), tasks, "fcfs[placement=contiguous]"))
    assert found["j"] == (0.0, "2-4")
    # Without n2 no three neighbours are left; it is not rejected for that.
    found = ran(simulate(machine(window(10.0, 40.0, "n2"), hosts=5), tasks, "fcfs[placement=contiguous]"))
    assert found["j"] == (40.0, "0-2")


def test_decisions_that_take_time_start_jobs_that_still_end_in_time() -> None:
    tasks = [Task("a", 0.0, 4, 9.0, 9.0), Task("b", 0.0, 4, 9.0, 9.0)]
    result = simulate(machine(window(20.0, 30.0)), tasks, "fcfs", decision_time=1.0)
    # Each decision takes a second. `b` would have to start at 11, and what is decided at 11 starts at 12.
    assert ran(result) == {"a": (2.0, "0-3"), "b": (31.0, "0-3")}
    with pytest.raises(InputError, match="decisions that take measured time could break them"):
        simulate(machine(window(20.0, 30.0)), tasks, "fcfs", decision_time=None)


def test_who_cannot_do_with_reservations_says_so() -> None:
    with pytest.raises(InputError, match=r"the machine has reservations, and attempts cannot do with waiting jobs"):
        simulate(machine(window(20.0, 30.0)), [Task("a", 0.0, 1, 1.0)], "attempts[dispatcher=fcfs,requests=factor]")


WRONG: list[tuple[dict[str, Any], str]] = [
    (window(5.0, 5.0), "lasts from 5 to 5 s, expected a start before its end"),
    (window(1.0, 5.0, "n9"), "reservation 'r' has host 'n9', which is not there"),
    (window(1.0, 5.0, "n1", nodes=1), "names hosts and a number of nodes"),
    (window(1.0, 5.0, nodes=9), "has 9 nodes, expected 1 to 4"),
    (window(1.0, 5.0, partitions=["x"]), "lets in partition 'x', which is not there"),
]


@pytest.mark.parametrize(("told", "said"), WRONG, ids=[said for _, said in WRONG])
def test_a_wrong_reservation_is_refused(told: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError) as refusal:
        machine(told)
    assert said in str(refusal.value)
    with pytest.raises(InputError, match="is there twice"):
        machine(window(1.0, 2.0), window(3.0, 4.0))


def test_a_number_of_nodes_are_the_first_ones() -> None:
    site = machine(window(1.0, 5.0, nodes=2)).site
    assert site is not None
    assert site.reserved == {"r": 0b11}
    assert site.closures(make_job(walltime=math.inf))[0].begin == -math.inf


# ---------------------------------------------------------------------- plans


def test_a_plan_keeps_a_place_behind_a_reservation() -> None:
    # From 5 on, `whole` can only start at 30. What would run on n2-n3 until 42 may not go ahead of it.
    tasks = [
        Task("first", 0.0, 4, 10.0, 10.0),
        Task("whole", 1.0, 4, 15.0, 15.0),
        Task("two", 12.0, 2, 30.0, 30.0),
        Task("fits", 12.0, 2, 10.0, 10.0),
    ]
    found = ran(simulate(machine(window(20.0, 30.0, "n[0-1]")), tasks, "conservative"))
    assert found == {"first": (0.0, "0-3"), "whole": (30.0, "0-3"), "two": (45.0, "0-1"), "fits": (12.0, "2-3")}


def test_a_plan_sees_that_hosts_open_later() -> None:
    # `a` keeps n2-n3 until 100, so `b` waits for n0-n1, and `c` may use them before the reservation.
    tasks = [
        Task("a", 0.0, 2, 100.0, 100.0),
        Task("b", 1.0, 2, 50.0, 50.0),
        Task("c", 2.0, 2, 8.0, 8.0),
        Task("d", 3.0, 1, 60.0, 60.0),
    ]
    found = ran(simulate(machine(window(20.0, 40.0, "n[0-1]")), tasks, "conservative"))
    assert found == {"a": (0.0, "2-3"), "b": (40.0, "0-1"), "c": (2.0, "0-1"), "d": (90.0, "0")}


def test_best_list_plans_with_the_hosts_that_are_open_then() -> None:
    openings = []

    class Looks(BestList):
        def decide(self, ledger: Ledger) -> None:
            if ledger.now == 5.0:
                jobs = [job for job in ledger.queue.values() if job.id.endswith("whole")]
                instance = Instance(ledger, jobs, lambda job: job.walltime)
                planner = Planner(instance, self.placement)
                plan = planner.serial(np.arange(1))
                assert plan is not None
                openings.append((int(plan.starts[0]), planner.forward(np.arange(1)).places[0] is None))
            super().decide(ledger)

    tasks = [Task("first", 0.0, 4, 10.0, 10.0), Task("whole", 1.0, 4, 15.0, 15.0), Task("one", 5.0, 1, 1.0, 1.0)]
    simulate(machine(window(26.0, 30.0, "n[0-1]")), tasks, Looks())
    simulate(machine(window(24.0, 30.0, "n[0-1]")), tasks, Looks())
    # From 5 on: when `first` has ended, which is just in time; or else when the reservation has. A list that is gone
    # through forwards looks at ends of jobs alone, and then finds no place.
    assert openings == [(5, False), (25, True)]


def test_openings_are_looked_up_by_when_a_start_is_decided() -> None:
    site = machine(window(20.0, 30.0, "n[0-1]")).site
    assert site is not None
    openings = Openings(site)
    openings.lead = 2.0
    job = make_job("j", walltime=5.0)
    openings.enter(job, 0.0)
    for time, allowed, change in ((12.0, None, 13.0), (14.0, 0b1100, 28.0), (28.0, None, math.inf)):
        shown, until = openings.opened(job, time)
        assert (shown.request.allowed, until) == (allowed, pytest.approx(change))
    openings.leave("j")
    assert openings.opened(job, 14.0) == (job, math.inf)


def textbook(windows: list[dict[str, Any]], tasks: list[Task]) -> dict[str, tuple[float, str]]:
    """Conservative backfilling on particular hosts, job by job: each has the first place that is free and open."""
    busy: dict[int, list[tuple[float, float]]] = {host: [] for host in range(4)}
    found = {}
    for task in sorted(tasks, key=lambda task: (task.submission, task.id)):
        moments = {task.submission, *(one["end"] for one in windows), *(one["start"] for one in windows)}
        moments |= {end for spans in busy.values() for _, end in spans}
        for start in sorted(moment for moment in moments if moment >= task.submission):
            end = start + task.walltime
            hosts = [host for host in busy if all(end <= a or b <= start for a, b in busy[host])]
            for one in windows:
                named = {int(name[1:]) for name in one["hosts"]}
                if task.extra.get("reservation") == one["name"]:
                    inside = one["start"] <= start and end <= one["end"]
                    hosts = [host for host in hosts if inside and host in named]
                elif start < one["end"] and one["start"] < end and task.user not in one.get("users", []):
                    hosts = [host for host in hosts if host not in named]
            if len(hosts) >= task.units:
                chosen = hosts[: task.units]
                for host in chosen:
                    busy[host].append((start, end))
                found[task.id] = (start, ",".join(map(str, chosen)))
                break
    return found


@st.composite
def exact(draw: st.DrawFn) -> tuple[list[dict[str, Any]], list[Task]]:
    """Reservations, and jobs that run for as long as they ask for."""
    windows, tasks = draw(sites())
    return windows, [task._replace(walltime=task.runtime, extra=_reserved(task.extra)) for task in tasks]


def _reserved(extra: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in extra.items() if key == "reservation"}


@settings(max_examples=100)
@given(case=exact())
def test_conservative_is_the_textbooks_around_reservations(case: tuple[list[dict[str, Any]], list[Task]]) -> None:
    windows, tasks = case
    result = simulate(machine(*windows), tasks, "conservative")
    # Who can never run leaves no trace in a plan, if that is known when he comes.
    assume(all(name not in textbook(windows, tasks) for name in reasons(result)))
    found = {name: (start, ",".join(map(str, result.rows[name].units))) for name, (start, _) in ran(result).items()}
    told = textbook(windows, tasks)
    assert {name: hosts for name, (_, hosts) in found.items()} == {name: hosts for name, (_, hosts) in told.items()}
    for name, (start, _) in found.items():
        assert start == pytest.approx(told[name][0], abs=1e-3)


# ---------------------------------------------------------------------- all dispatchers, at random

NAMES = [name for name in registry.names(dispatchers.GROUP) if dispatchers.find(name).heeds_reservations]


@st.composite
def sites(draw: st.DrawFn) -> tuple[list[dict[str, Any]], list[Task]]:
    """Up to two reservations of four hosts, and jobs of two users, some of which name one or wait for others."""
    windows = []
    for number in range(draw(st.integers(1, 2))):
        start = draw(st.integers(0, 20))
        hosts = draw(st.lists(st.sampled_from(["n0", "n1", "n2", "n3"]), min_size=1, unique=True))
        let_in = {"users": ["ada"]} if draw(st.booleans()) else {}
        windows.append(window(start, start + draw(st.integers(1, 15)), *hosts, name=f"r{number}", **let_in))
    tasks = []
    for number in range(draw(st.integers(1, 8))):
        runtime = float(draw(st.integers(1, 8)))
        extra: dict[str, Any] = {}
        if draw(st.integers(0, 3)) == 0:
            extra["reservation"] = f"r{draw(st.integers(0, len(windows) - 1))}"
        if number and draw(st.integers(0, 3)) == 0:
            extra["dependencies"] = [{"job": str(draw(st.integers(0, number - 1))), "kind": "afterany"}]
        if draw(st.integers(0, 3)) == 0:
            extra["array"] = {"id": "a", "index": number, "limit": 1}
        limit = runtime + draw(st.sampled_from([0.0, 3.0, -0.5]))
        user = draw(st.sampled_from(["ada", "bob"]))
        tasks.append(
            Task(
                str(number),
                float(draw(st.integers(0, 20))),
                draw(st.integers(1, 4)),
                runtime,
                limit,
                user=user,
                extra=extra,
            )
        )
    return windows, tasks


@pytest.mark.parametrize("dispatcher", NAMES)
@settings(max_examples=12, suppress_health_check=list(HealthCheck))
@given(case=sites())
def test_nobody_runs_where_a_reservation_keeps_others(
    dispatcher: str, case: tuple[list[dict[str, Any]], list[Task]]
) -> None:
    windows, tasks = case
    result = simulate(machine(*windows), tasks, dispatcher)
    found, by_id = ran(result), {task.id: task for task in tasks}
    assert len(found) + len(reasons(result)) == len(tasks), "a job was lost"
    for name, (start, _) in found.items():
        task, hosts = by_id[name], {f"n{host}" for host in result.rows[name].units}
        for one in windows:
            named = task.extra.get("reservation") == one["name"]
            overlaps = start < one["end"] - 1e-5 and start + task.walltime > one["start"] + 1e-5
            if named:
                assert hosts <= set(one["hosts"])
                assert one["start"] - 1e-5 <= start
                assert start + task.walltime <= one["end"] + 1e-5
            elif overlaps and task.user not in one.get("users", []):
                assert not hosts & set(one["hosts"]), f"job {name} is on hosts of {one['name']}"
    tasks_of_array = sorted(found[name][0] for name in found if "array" in by_id[name].extra)
    ends = sorted(result.rows[name].end / 1e6 for name in found if "array" in by_id[name].extra)
    assert all(end <= start for end, start in zip(ends[:-1], tasks_of_array[1:], strict=True))


def test_a_job_that_comes_too_late_for_its_reservation_hears_so_at_once_whatever_else_is_reserved() -> None:
    tasks = [
        Task("late", 24.0, 1, 9.0, 9.0, extra={"reservation": "r"}),
        Task("next", 0.0, 2, 1.0, 1.0, extra={"dependencies": [{"job": "late", "kind": "afterany"}]}),
    ]
    site = machine(window(10.0, 30.0, "n0"), window(40.0, 60.0, "n[2-3]", name="other"))
    result = simulate(site, tasks, "fcfs")
    assert reasons(result) == {"late": "its reservation ends too soon for it"}
    assert ran(result) == {"next": (24.0, "1-2")}


class QueueWatcher(dispatchers.Dispatcher):
    """Starts what fits, in the order of the ledger's queue, and notes that order."""

    def __init__(self, options: Any = None, seed: int = 0) -> None:
        super().__init__(options, seed)
        self.seen: list[tuple[float, list[str]]] = []

    def decide(self, ledger: Ledger) -> None:
        self.seen.append((ledger.now, [name.removeprefix("w0!") for name in ledger.queue]))
        start_all(ledger)


def test_a_job_that_is_shown_late_stands_where_it_came() -> None:
    # Until 50, n0 and n1 are closed: `big` has nowhere to go and is not shown. `runs` holds n2 and n3 until 60, so that
    # `also`, which came after `big`, waits too when hosts are opened to both at 50, and is looked at before `big` then:
    # of equal moments the first id comes first.
    tasks = [
        Task("runs", 0.0, 2, 60.0, 60.0),
        Task("big", 1.0, 4, 10.0, 20.0),
        Task("also", 2.0, 1, 10.0, 30.0),
    ]
    watcher = QueueWatcher()
    found = ran(simulate(machine(window(0.0, 50.0, "n[0-1]")), tasks, watcher))
    assert [names for now, names in watcher.seen if now == 2.0] == [["also"]]
    assert [names for now, names in watcher.seen if now == 50.0] == [["big", "also"]]
    assert found == {"runs": (0.0, "2-3"), "big": (60.0, "0-3"), "also": (50.0, "0")}
