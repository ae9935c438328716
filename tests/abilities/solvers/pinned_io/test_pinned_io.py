"""The dispatcher pinned-io: where and when jobs run, in order, early, late and out of turn."""

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from batdispatch.abilities.solvers.pinned_io.course import Course, Turn
from batdispatch.abilities.solvers.pinned_io.job_ranges import dedicate
from batdispatch.abilities.solvers.pinned_io.line import Line, RangeFinder
from batdispatch.abilities.topology.networks import Grid
from batdispatch.core.capacity.granularity import space_of
from batdispatch.core.errors import InputError
from batdispatch.core.hosts.allocation import Allocation
from batdispatch.core.jobs.job import JobState
from batdispatch.core.line.events import MachinesAvailable, MachinesUnavailable
from batdispatch.core.machine.machine import Host, Machine
from pinned import LIMITS, machine_of
from simulating import Result, Task, audit, simulate
from stochastic import check
from strategies import make_job


def pinned(name: str, units: int, runtime: float, io: str | list[str], at: float = 0.0, walltime: float = 0.0) -> Task:
    """A task at an I/O node, which asks for exactly the time it takes unless a walltime is given."""
    return Task(name, at, units, runtime, walltime or runtime, extra={"io_node": io})


def run(machine: Machine, tasks: list[Task], **options: Any) -> Result:
    result = simulate(machine, tasks, "pinned-io", options={key: str(value) for key, value in options.items()})
    audit(machine, tasks, result)
    return result


def hosts(result: Result) -> dict[str, list[int]]:
    return {name: sorted(row.units) for name, row in result.rows.items() if row.state is not JobState.REJECTED}


def notes(result: Result) -> list[dict[str, Any]]:
    return [json.loads(line) for line in result.session.dispatcher.notes()]


# Where jobs run.


def test_jobs_run_beside_their_io_nodes_for_the_least_makespan() -> None:
    # a b | c d: on each side of the I/O node n2 there is room for one job of two nodes.
    tasks = [pinned("A", 2, 10, "n2"), pinned("B", 2, 10, "n2"), pinned("C", 4, 5, "n2")]
    result = run(machine_of("CCICC"), tasks)
    found = hosts(result)
    assert sorted([found["A"], found["B"]]) == [[0, 1], [3, 4]]
    # An I/O node does not break a range of compute nodes.
    assert found["C"] == [0, 1, 3, 4]
    starts = result.starts()
    assert starts["A"] == starts["B"]
    assert max(starts[task.id] + task.runtime for task in tasks) == 15.0
    (note,) = notes(result)
    assert note["lp_bound"] == note["largest_load"] == note["cost"] == note["bound"] == pytest.approx(15.0)
    assert note["status"] == "OPTIMAL"


def test_a_job_of_two_io_nodes_is_next_to_both() -> None:
    machine = machine_of("CCICCICC")
    result = run(machine, [pinned("A", 3, 5, ["n2", "n5"])])
    (found,) = hosts(result).values()
    assert found in ([1, 3, 4], [3, 4, 6])


@pytest.mark.parametrize(
    ("order", "units", "io", "reason"),
    [
        ("CCICCICC", 1, ["n2", "n5"], "there are no neighbouring nodes for it, some of which are next to each of the"),
        ("CCIIICC", 1, "n3", "there are no neighbouring nodes for it, one of which is next to I/O node n3"),
    ],
)
def test_a_job_that_can_be_nowhere_is_rejected_with_a_reason(order: str, units: int, io: Any, reason: str) -> None:
    result = run(machine_of(order), [pinned("A", units, 5, io)])
    assert result.rows["A"].state is JobState.REJECTED
    assert reason in result.session.ledger.rejections[0][1]


def test_between_two_io_nodes_each_has_one_neighbour() -> None:
    line = Line(machine_of("CCIIC"))
    assert line.beside == {"n2": (1,), "n3": (2,)}
    assert line.hosts.tolist() == [0, 1, 4]


def test_jobs_that_are_pinned_nowhere_go_where_there_is_least_load() -> None:
    tasks = [pinned("A", 1, 20, "n1"), Task("B", 0.0, 1, 5.0, 5.0), Task("C", 0.0, 1, 5.0, 5.0)]
    result = run(machine_of("CICC"), tasks)
    assert result.starts() == {"A": 0.0, "B": 0.0, "C": 0.0}


def test_a_job_that_names_nodes_that_are_not_neighbours_holds_the_range_between_them() -> None:
    tasks = [
        Task("A", 0.0, 2, 9.0, 9.0, extra={"node_list": ["n0", "n2"]}),
        Task("B", 1.0, 1, 5.0, 5.0, extra={"node_list": ["n1"]}),
    ]
    result = run(Machine.flat(3), tasks, fill="false")
    assert hosts(result)["A"] == [0, 2]
    # The node between them is nobody's: B does not wait.
    assert result.starts() == {"A": 0.0, "B": 1.0}


def test_on_nodes_that_jobs_could_share_each_has_its_nodes_for_itself() -> None:
    hosts_ = [Host(id=i, name=f"n{i}", properties={"capacity": "core=4"}) for i in range(3)]
    machine = Machine([*hosts_, Host(id=3, name="n3", storage=True)])
    tasks = [
        Task("A", 0.0, 6, 9.0, 9.0, {"core": 1}, extra={"io_node": "n3"}),
        Task("B", 0.0, 1, 9.0, 9.0, {"core": 1}, extra={"io_node": "n3"}),
    ]
    result = run(machine, tasks)
    assert hosts(result) == {"A": [1, 2], "B": [2]}
    assert sorted(result.starts().values()) == [0.0, 9.0]


def torus(dims: tuple[int, ...], io: set[int]) -> Machine:
    count = int(np.prod(dims))
    return Machine(
        [Host(id=i, name=f"n{i}", storage=i in io) for i in range(count)], Grid(np.arange(count), dims, wrap=True)
    )


def test_the_line_follows_a_curve() -> None:
    machine = torus((3, 3), {4})
    assert Line(machine, "snake").hosts.tolist() == [0, 1, 2, 5, 3, 6, 7, 8]
    result = run(machine, [pinned("A", 2, 5, "n4")], line="snake")
    # The neighbours of n4 on the snake are 5 and 3; by ids they would be 3 and 5, with others beside them.
    assert hosts(result)["A"] in ([2, 5], [3, 5], [3, 6])
    assert run(machine, [pinned("A", 8, 5, "n4")], line="hilbert").starts() == {"A": 0.0}


def test_the_line_is_the_same_however_hosts_are_numbered() -> None:
    # Batsim 4 numbers I/O nodes after all others, and n10 before n2.
    names = ["n0", "n1", "n10", "n11", "n2", "n3"]
    numbered = [Host(id=i, name=name) for i, name in enumerate(names)]
    machine = Machine([*numbered, Host(id=6, name="n9", storage=True)])
    line = Line(machine)
    assert [machine.hosts[host].name for host in line.hosts] == ["n0", "n1", "n2", "n3", "n10", "n11"]
    assert line.beside == {"n9": (3, 4)}
    assert Line(machine, "ids").beside == {"n9": (5,)}


def test_an_io_node_outside_the_network_is_at_the_end_of_a_curve() -> None:
    hosts_ = [Host(id=i, name=f"n{i}", storage=i == 0) for i in range(5)]
    line = Line(Machine(hosts_, Grid(np.array([-1, 0, 1, 2, 3]), (4,), wrap=False)))
    assert line.hosts.tolist() == [1, 2, 3, 4]
    assert line.beside == {"n0": (3,)}


def test_a_curve_needs_a_grid() -> None:
    with pytest.raises(InputError, match="dispatcher pinned-io: option line: order snake leads through the routers"):
        run(Machine.flat(3), [Task("A", 0.0, 1, 1.0, 1.0)], line="snake")


# When jobs run.


def test_early_ends_let_the_next_job_start_at_once() -> None:
    tasks = [pinned("A", 2, 3, "n2", walltime=100), pinned("B", 2, 5, "n2", walltime=50)]
    result = run(machine_of("CCI"), tasks, fill="false")
    assert sorted(result.starts().values()) in ([0.0, 3.0], [0.0, 5.0])


def test_a_job_that_outlives_its_expected_end_delays_only_its_own_nodes() -> None:
    # Without a walltime, A is expected to take 5 s and takes 30.
    tasks = [
        Task("A", 0.0, 1, 30.0, float("inf"), extra={"node_list": ["n0"]}),
        Task("B", 0.0, 1, 5.0, 5.0, extra={"node_list": ["n0"]}),
        Task("C", 0.0, 1, 5.0, 5.0, extra={"node_list": ["n1"]}),
        Task("D", 0.0, 1, 5.0, 5.0, extra={"node_list": ["n1"]}),
    ]
    result = run(Machine.flat(2), tasks, default_walltime="5", ordering="fcfs")
    starts = result.starts()
    assert sorted([starts["C"], starts["D"]]) == [0.0, 5.0]
    assert sorted([starts["A"], starts["B"]]) in ([0.0, 5.0], [0.0, 30.0])


@pytest.mark.parametrize(("fill", "runtime", "start"), [("true", 8, 1.0), ("false", 8, 15.0), ("true", 9.5, 15.0)])
def test_a_job_may_fill_what_the_plan_leaves_free(fill: str, runtime: float, start: float) -> None:
    # A runs until 10 on one of the nodes that B takes from then until 15. D comes later, and fits on n3 before B.
    tasks = [
        pinned("A", 1, 10, "n1"),
        Task("B", 0.5, 3, 5.0, 5.0, extra={"node_list": ["n0", "n2", "n3"]}),
        Task("D", 1.0, 1, runtime, runtime, extra={"node_list": ["n3"]}),
    ]
    # n4 is free for ever, but not for D.
    result = run(machine_of("CICCC"), tasks, fill=fill)
    assert result.starts() == {"A": 0.0, "B": 10.0, "D": start}


def test_a_batch_is_planned_when_all_of_the_one_before_have_started() -> None:
    tasks = [pinned(str(n), 1, 10, "n1", at=float(n)) for n in range(6)]
    result = run(machine_of("CI"), tasks, fill="false", window="inf")
    # Job 0 runs when job 1 comes, which is then planned alone; the others come while it waits.
    assert [note["jobs"] for note in notes(result)] == [1, 1, 4]
    assert [note["batch"] for note in notes(result)] == [1, 1, 4]
    assert sorted(result.starts().values()) == [0.0, 10.0, 20.0, 30.0, 40.0, 50.0]


def test_windows_double_as_long_as_jobs_are_left() -> None:
    tasks = [pinned(str(n), 1, 10, "n1") for n in range(15)]
    result = run(machine_of("CI"), tasks, window="10")
    # Windows of 10, 20, 40 and 80 s hold 1, 2, 4 and 8 jobs; each begins when the last job of the one before starts,
    # whose nodes are then taken for 10 s more.
    assert [note["jobs"] for note in notes(result)] == [15, 14, 13, 10, 3]
    assert [note["batch"] for note in notes(result)] == [1, 1, 3, 7, 3]
    assert max(result.starts().values()) == 140.0


def test_a_window_that_is_too_short_for_any_job_doubles_at_once() -> None:
    tasks = [pinned("A", 1, 100, "n1"), pinned("B", 1, 300, "n1")]
    result = run(machine_of("CI"), tasks, window="1")
    assert [note["batch"] for note in notes(result)] == [1, 1]


def test_at_most_so_many_jobs_are_planned_together_in_order() -> None:
    tasks = [pinned(str(n), 1, 10 + n, "n1") for n in range(5)]
    result = run(machine_of("CI"), tasks, batch="2", window="inf", fill="false", ordering="ljf")
    assert [note["jobs"] for note in notes(result)] == [2, 2, 1]
    assert set(sorted(result.starts(), key=lambda name: result.starts()[name])[:2]) == {"3", "4"}


def test_jobs_wait_for_hosts_that_are_away_and_others_go_elsewhere() -> None:
    machine = machine_of("CICC")
    away = Allocation.of([0, 2])
    events = [MachinesUnavailable(1.0, away), MachinesAvailable(50.0, away)]
    tasks = [
        pinned("A", 1, 5, "n1", at=0.0),
        pinned("B", 1, 5, "n1", at=2.0),
        Task("C", 3.0, 1, 5.0, 5.0),
    ]
    result = simulate(machine, tasks, "pinned-io", events=events)
    assert result.starts() == {"A": 0.0, "B": 50.0, "C": 3.0}
    assert hosts(result)["C"] == [3]


def test_a_job_that_is_pinned_nowhere_goes_around_a_host_that_is_away() -> None:
    events = [MachinesUnavailable(1.0, Allocation.of([1]))]
    result = simulate(Machine.flat(3), [Task("A", 2.0, 2, 5.0, 5.0)], "pinned-io", events=events)
    assert result.starts() == {"A": 2.0}
    assert hosts(result) == {"A": [0, 2]}


def test_a_plan_is_made_anew_when_hosts_go_away() -> None:
    events = [MachinesUnavailable(3.0, Allocation.of([1])), MachinesAvailable(100.0, Allocation.of([1]))]
    tasks = [Task("A", 0.0, 1, 10.0, 10.0), Task("B", 1.0, 2, 5.0, 5.0), Task("C", 2.0, 1, 5.0, 5.0)]
    result = simulate(Machine.flat(2), tasks, "pinned-io", options={"fill": "false"}, events=events)
    # B was planned, and C was to come after it. One host is gone, and C takes the other.
    assert result.starts() == {"A": 0.0, "B": 100.0, "C": 10.0}


def test_without_walltimes_jobs_are_planned_and_run() -> None:
    tasks = [Task(str(n), 0.0, 1 + n % 2, 5.0 + n, float("inf"), extra={"io_node": "n2"}) for n in range(8)]
    result = run(machine_of("CCICC"), tasks)
    assert len(result.starts()) == 8
    assert notes(result)[0]["lp_bound"] > 0


@pytest.mark.parametrize("speculate", ["true", "false"])
def test_stochastic_jobs_run_in_attempts_under_a_plan(speculate: str) -> None:
    law = "tnorm:0,20,8,2"
    tasks = [
        Task(str(n), float(n // 4), 1 + n % 3, 1.0 + 7 * n % 19, 40.0, extra={"io_node": "n2", "runtime_law": law})
        for n in range(12)
    ]
    machine = machine_of("CCICCC")
    result = simulate(machine, tasks, "attempts", options={"dispatcher": "pinned-io", "speculate": speculate})
    check(machine, tasks, result)
    # Some needed more than one attempt.
    assert len(result.rows) > len(tasks)


# What holds for any jobs.


@st.composite
def pinned_tasks(draw: st.DrawFn) -> tuple[Machine, list[Task]]:
    """A line with I/O nodes, and jobs pinned to one, two or none of them, that may end early."""
    order = draw(st.text("CCCI", min_size=3, max_size=12).filter(lambda text: "C" in text and "I" in text))
    machine = machine_of(order)
    names = [disk.name for disk in machine.storage]
    tasks = []
    for number in range(draw(st.integers(1, 14))):
        pins = draw(st.lists(st.sampled_from(names), max_size=2, unique=True))
        runtime = draw(st.integers(1, 20))
        tasks.append(
            Task(
                f"{number}",
                float(draw(st.sampled_from([0, 0, 0, 3, 11]))),
                draw(st.integers(1, machine.size)),
                float(runtime),
                float(runtime + draw(st.sampled_from([0, 0, 5, 30]))),
                extra={"io_node": pins} if pins else {},
            )
        )
    return machine, tasks


@given(case=pinned_tasks(), fill=st.sampled_from(["true", "false"]), window=st.sampled_from(["inf", "8"]))
def test_each_job_has_neighbouring_nodes_beside_its_io_nodes(
    case: tuple[Machine, list[Task]], fill: str, window: str
) -> None:
    machine, tasks = case
    result = run(machine, tasks, fill=fill, window=window)
    compute = [host.id for host in machine.hosts if not host.storage]
    everyone = [host.name for host in machine.hosts]
    for task in tasks:
        pins = [everyone.index(name) for name in task.fields().get("io_node", [])]
        ranges = [compute[first : first + task.units] for first in range(len(compute) - task.units + 1)]
        allowed = [those for those in ranges if all({pin - 1, pin + 1} & set(those) for pin in pins)]
        row = result.rows[task.id]
        assert (row.state is JobState.REJECTED) == (not allowed)
        if allowed:
            assert sorted(row.units) in allowed


@given(case=pinned_tasks(), fill=st.sampled_from(["true", "false"]))
def test_every_plan_keeps_its_bounds_and_no_job_starts_later_than_planned(
    case: tuple[Machine, list[Task]], fill: str
) -> None:
    machine, tasks = case
    tasks = [task._replace(submission=0.0, extra={"io_node": [machine.storage[0].name]}) for task in tasks]
    result = run(machine, tasks, fill=fill, window="inf")
    told = notes(result)
    assert len(told) == bool(result.starts())
    for note in told:
        assert note["largest_load"] <= 2 * note["lp_bound"] * (1 + 1e-6)
        assert note["cost"] <= note["held"] + 3 * note["own_load"] * (1 + 1e-6)
        assert note["lp_bound"] <= note["bound"] * (1 + 1e-9) <= note["cost"] * (1 + 1e-6)
        ends = [row.end / 1e6 for row in result.rows.values() if row.state is not JobState.REJECTED]
        assert max(ends) <= note["cost"] * (1 + 1e-6)


def undercut_by_nobody(machine: Machine, tasks: list[Task]) -> float:
    """A time before which no schedule of these jobs ends: those that come from a moment on need the program's load."""
    asking = RangeFinder(Line(machine), space_of(machine))
    found = max(task.submission + task.runtime for task in tasks)
    for moment in {task.submission for task in tasks}:
        those = [task for task in tasks if task.submission >= moment]
        ranges = [asking.ranges(make_job(f"w0!{task.id}", task.units, io_node=task.extra["io_node"])) for task in those]
        lengths = np.array([task.runtime for task in those])
        program = dedicate(np.zeros(machine.size), [one for one in ranges if one is not None], lengths, LIMITS)
        found = max(found, moment + program.shares.bound)
    return found


@settings(max_examples=25)
@given(data=st.data())
def test_batches_of_all_that_wait_end_within_26_times_the_least_makespan(data: st.DataObject) -> None:
    order = data.draw(st.sampled_from(["CIC", "CCICC", "CICCIC", "CCCICCCICC"]))
    machine = machine_of(order)
    names = [disk.name for disk in machine.storage]
    tasks, time = [], 0.0
    for number in range(data.draw(st.integers(1, 16))):
        length = float(data.draw(st.integers(1, 20)))
        units = data.draw(st.integers(1, order.count("C")))
        tasks.append(pinned(f"{number:02}", units, length, [data.draw(st.sampled_from(names))], time))
        time += data.draw(st.integers(0, 9))
    rows = run(machine, tasks, window="inf", fill=data.draw(st.sampled_from(["true", "false"]))).rows
    ran = [task for task in tasks if rows[task.id].state is not JobState.REJECTED]
    if ran:
        end = max(rows[task.id].end for task in ran) / 1e6
        assert end <= 26 * undercut_by_nobody(machine, ran) * (1 + 1e-6)


# The order of a plan.


@given(data=st.data())
def test_a_course_gives_each_job_its_turn_in_the_order_of_the_plan(data: st.DataObject) -> None:
    nodes = data.draw(st.integers(1, 6))
    ends = st.tuples(st.integers(0, nodes), st.integers(0, nodes)).filter(lambda pair: pair[0] < pair[1])
    planned = data.draw(st.lists(ends, min_size=1, max_size=12))
    course = Course(nodes)
    left: list[Turn] = []
    for number, (start, stop) in enumerate(planned):
        left.append(Turn(make_job(f"w0!{number}"), float(number), start, stop))
        course.add(left[-1])
    while left:
        ready = [
            turn
            for place, turn in enumerate(left)
            if not any(other.start < turn.stop and turn.start < other.stop for other in left[:place])
        ]
        assert course.ready() == ready
        first = [
            min((turn.time for turn in left if turn.start <= node < turn.stop), default=np.inf) for node in range(nodes)
        ]
        assert course.next.tolist() == first
        gone = data.draw(st.sampled_from(left))
        left.remove(gone)
        course.remove(gone.job.id)
    assert not course.turns
    assert not course.ready()
