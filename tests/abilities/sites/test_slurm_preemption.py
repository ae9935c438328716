"""Slurm's preemption: who gives way to whom by hand, and that nothing is lost on random machines."""

from collections import defaultdict
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from batdispatch.core.errors import InputError
from batdispatch.core.jobs.job import JobState
from batdispatch.core.line.dispatcher import create
from batdispatch.core.machine.machine import Host, Machine
from batdispatch.core.machine.site import Partition, Qos, QueuesProperty, Window
from simulating import Result, Row, Task, simulate
from strategies import SLURM_LOOPS

AT_ONCE = {"tick": "0", "batch_delay": "0", "resolution": "0", "end_window": "0", "requeue_delay": "0"}
LOW = Partition(name="low", hosts=["n[0-3]"], default=True)
HIGH = Partition(name="high", hosts=["n[1-3]"], tier=5)


def machine(
    *partitions: Partition, qos: tuple[Qos, ...] = (), cores: int = 0, windows: tuple[Window, ...] = ()
) -> Machine:
    told = QueuesProperty(partitions=list(partitions), qos=list(qos), reservations=list(windows))
    properties = {"queues": msgspec.json.encode(told).decode(), "licences": "matlab=1"}
    properties |= {"capacity": f"core={cores}"} if cores else {}
    return Machine([Host(id=number, name=f"n{number}", properties=properties) for number in range(4)])


def task(name: str, submission: float, units: int, runtime: float, cores: bool = False, **extra: Any) -> Task:
    return Task(name, submission, units, runtime, runtime + 20, {"core": 1} if cores else None, extra=extra)


def run(site: Machine, *tasks: Task, **options: str) -> Result:
    return simulate(site, tasks, "slurm-backfill", options={**AT_ONCE, "preempt": "partition", **options})


def times(result: Result) -> dict[str, tuple[float, float]]:
    return {name: (row.start / 1e6, row.end / 1e6) for name, row in result.rows.items()}


def test_a_job_of_a_higher_tier_takes_the_nodes_of_others() -> None:
    tasks = task("a", 0, 2, 100), task("b", 0, 2, 100), task("c", 10, 2, 50, partition="high")
    found = times(run(machine(LOW, HIGH), *tasks))
    # a has n0, of which c has no use. b begins anew once there is room for it.
    assert found == {"a": (0, 100), "b": (0, 10), "c": (10, 60), "b~1": (60, 160)}
    cancelled = times(run(machine(LOW, HIGH), *tasks, preempt_mode="cancel"))
    assert cancelled == {"a": (0, 100), "b": (0, 10), "c": (10, 60)}
    for nobody in ({"preempt": "none"}, {"preempt_mode": "off"}):
        assert times(run(machine(LOW, HIGH), *tasks, **nobody)) == {"a": (0, 100), "b": (0, 100), "c": (100, 150)}


def test_a_partition_says_what_becomes_of_its_jobs() -> None:
    tasks = task("a", 0, 2, 100), task("b", 0, 2, 100), task("c", 10, 2, 50, partition="high")
    safe = msgspec.structs.replace(LOW, preempt_mode="off")
    assert times(run(machine(safe, HIGH), *tasks))["c"] == (100, 150)
    gone = msgspec.structs.replace(LOW, preempt_mode="cancel")
    assert "b~1" not in times(run(machine(gone, HIGH), *tasks))


def test_a_qos_preempts_those_that_it_names() -> None:
    low, high = Qos(name="low", default=True, priority=1), Qos(name="high", priority=9, preempts=["low"])
    site = machine(LOW, qos=(low, high, Qos(name="other")))
    tasks = task("a", 0, 2, 100), task("b", 0, 2, 100, qos="other"), task("c", 10, 4, 50, qos="high")
    assert times(run(site, *tasks, preempt="qos"))["c"] == (100, 150)
    one = task("d", 10, 2, 50, qos="high")
    assert times(run(site, *tasks[:2], one, preempt="qos")) == {
        "a": (0, 10),
        "b": (0, 100),
        "d": (10, 60),
        "a~1": (60, 160),
    }


def test_who_may_preempt_goes_before_whom_it_may_preempt() -> None:
    """However high the tier of a job is: else it would take what running ones give up for another one, again and again.

    Slurm's sort_job_queue2 compares whether one job may preempt the other before it compares their tiers.
    """
    low, high = Qos(name="low", default=True), Qos(name="high", priority=9, preempts=["low"])
    site = machine(msgspec.structs.replace(LOW, hosts=["n[1-3]"]), HIGH, qos=(low, high, Qos(name="other")))
    tasks = [
        task("a", 0, 3, 100, partition="high"),
        task("b", 1, 3, 100, partition="high"),
        task("c", 10, 3, 50, partition="low", qos="high"),
        task("d", 11, 3, 10, partition="low", qos="other"),
    ]
    found = times(run(site, *tasks, preempt="qos"))
    assert found == {"a": (0, 10), "c": (10, 60), "a~1": (60, 160), "b": (160, 260), "d": (260, 270)}


@pytest.mark.parametrize("preempt", ["none", "qos", "partition"])
def test_who_has_a_reservation_goes_before_higher_tiers_but_not_before_who_may_preempt(preempt: str) -> None:
    """Slurm's sort_job_queue2 asks who may preempt whom, then for reservations, then for tiers."""
    site = machine(LOW, HIGH, windows=(Window(name="w", start=0, end=1000, hosts=["n0"], accounts=["course"]),))
    tasks = [
        task("a", 0, 1, 100, licences={"matlab": 1}),
        task("high", 1, 1, 10, partition="high", licences={"matlab": 1}),
        task("first", 2, 1, 10, licences={"matlab": 1}),
        task("within", 3, 1, 10, reservation="w", account="course", licences={"matlab": 1}),
    ]
    found = times(run(site, *tasks, preempt=preempt, preempt_mode="off"))
    order = sorted(found, key=lambda name: found[name])
    within = ["high", "within"] if preempt == "partition" else ["within", "high"]
    assert order == ["a", *within, "first"]


def test_a_job_that_waits_for_a_reservation_holds_up_its_reservation_alone() -> None:
    """Slurm's main loop: no more jobs of this reservation, but others of the partition may start."""
    site = machine(LOW, windows=(Window(name="w", start=0, end=1000, hosts=["n[0-1]"], accounts=["course"]),))
    tasks = [
        task("a", 0, 1, 100, reservation="w", account="course"),
        task("wide", 1, 2, 10, reservation="w", account="course"),
        task("small", 2, 1, 10, reservation="w", account="course"),
        task("other", 3, 1, 10),
        task("large", 4, 2, 10),
        task("late", 5, 1, 5),
    ]
    found = times(run(site, *tasks, preempt="none", interval="1000", phase="900"))
    assert found["wide"] == (100, 110)
    assert found["small"] == (110, 120)
    assert found["other"] == (3, 13)
    # A job without one holds up its partition, but no job within the reservation.
    assert found["large"] == (13, 23)
    assert found["late"] == (23, 28)


def test_small_jobs_are_preempted_rather_and_as_few_as_do() -> None:
    """c asks for 2 nodes of 1 to 3: the jobs of one node come first, but then the one of two nodes suffices."""
    site = machine(LOW, msgspec.structs.replace(HIGH, hosts=["n[0-3]"]))
    jobs = [task("a", 0, 1, 100), task("b", 0, 1, 100), task("two", 0, 2, 100)]
    found = times(run(site, *jobs, task("c", 10, 1, 50, partition="high"), preempt_mode="cancel"))
    assert (found["a"], found["b"], found["two"]) == ((0, 10), (0, 100), (0, 100))
    found = times(run(site, *jobs, task("c", 10, 3, 50, partition="high"), preempt_mode="cancel"))
    assert sorted(end for _, end in (found["a"], found["b"], found["two"])) == [10, 10, 100]


def test_a_preempted_job_keeps_its_place_but_waits_for_a_while() -> None:
    site = machine(LOW, HIGH)
    tasks = [
        task("a", 0, 1, 300),
        task("b", 0, 3, 300),
        task("c", 10, 3, 5, partition="high"),
        task("later", 12, 3, 40),
    ]
    found = times(run(site, *tasks, requeue_delay="30"))
    assert found["c"] == (10, 15)
    assert found["later"] == (15, 55)
    assert found["b~1"] == (55, 355)
    # Without the delay it goes before one that came after it.
    assert times(run(site, *tasks))["b~1"] == (15, 315)


def test_a_job_that_waits_for_one_that_is_ending_holds_up_its_partition() -> None:
    """As recorded: n0 of the preempted job is in use until it has ended, so big waits for it, and small behind big."""
    site = machine(LOW, msgspec.structs.replace(HIGH, hosts=["n[2-3]"]), cores=4)
    tasks = [
        task("a", 0, 8, 300, cores=True, node_list=["n0", "n2"]),
        task("high", 0, 4, 300, cores=True, partition="high", node_list=["n3"]),
        task("big", 1, 12, 100, cores=True),
        task("small", 2, 3, 100, cores=True),
        task("c", 10, 2, 50, cores=True, partition="high"),
    ]
    found = times(run(site, *tasks, preempt_mode="cancel", interval="1000", phase="900"))
    assert found["a"] == (0, 10)
    assert found["c"] == (10, 60)
    assert found["small"][0] > 10


@pytest.mark.parametrize("mode", ["cancel", "requeue"])
def test_a_preempted_job_runs_on_for_its_time_of_grace(mode: str) -> None:
    gentle = msgspec.structs.replace(LOW, grace_time=30.0)
    tasks = [
        task("a", 0, 2, 100),
        task("b", 0, 2, 100),
        task("c", 10, 2, 50, partition="high"),
        task("d", 11, 1, 20),
    ]
    found = times(run(machine(gentle, HIGH), *tasks, preempt_mode=mode))
    # Nobody else ends for c while b has its time. Queued again, b goes before d.
    assert (found["a"], found["b"], found["c"]) == ((0, 100), (0, 40), (40, 90))
    assert found["d"] == ((100, 120) if mode == "requeue" else (90, 110))
    assert found.get("b~1") == ((90, 190) if mode == "requeue" else None)
    # Who ends by itself before that is not queued again.
    short = [task("a", 0, 2, 100), task("b", 0, 2, 25), *tasks[2:3]]
    assert times(run(machine(gentle, HIGH), *short, preempt_mode=mode)) == {"a": (0, 100), "b": (0, 25), "c": (25, 75)}


def test_the_grace_of_a_quality_of_service_counts_where_that_preempts() -> None:
    low, high = Qos(name="low", default=True, grace_time=20.0), Qos(name="high", preempts=["low"])
    site = machine(msgspec.structs.replace(LOW, grace_time=500.0), qos=(low, high))
    tasks = task("a", 0, 4, 100), task("c", 10, 4, 50, qos="high")
    assert times(run(site, *tasks, preempt="qos"))["c"] == (30, 80)


@pytest.mark.parametrize("layer", ["attempts", "resizing", "powered"])
def test_layers_refuse_a_dispatcher_that_preempts(layer: str) -> None:
    with pytest.raises(InputError, match="without a layer"):
        create(layer, {"dispatcher": "slurm-backfill[preempt=qos]"})


# ---------------------------------------------------------------------- on random machines

JOBS = st.lists(
    st.tuples(st.integers(0, 200), st.integers(1, 4), st.integers(1, 90), st.integers(0, 60), st.sampled_from("abc")),
    min_size=1,
    max_size=14,
)
OPTIONS = st.fixed_dictionaries(
    {
        **SLURM_LOOPS,
        "preempt_mode": st.sampled_from(["cancel", "requeue"]),
        "requeue_delay": st.sampled_from(["0", "7", "121"]),
    }
)


@given(
    jobs=JOBS,
    options=OPTIONS,
    cores=st.sampled_from([0, 3]),
    modes=st.sampled_from(["", "off", "cancel"]),
    grace=st.sampled_from([0.0, 0.0, 1.0, 45.0]),
)
def test_no_job_is_lost_and_only_lower_tiers_give_way(
    jobs: list[tuple[int, int, int, int, str]], options: dict[str, str], cores: int, modes: str, grace: float
) -> None:
    site = machine(
        Partition(name="a", hosts=["n[0-3]"], preempt_mode=modes, grace_time=grace),  # type: ignore[arg-type]
        Partition(name="b", hosts=["n[0-3]"], tier=2, grace_time=grace / 3),
        Partition(name="c", hosts=["n[0-3]"], tier=3),
        cores=cores,
    )
    demand = {"core": 1} if cores else None
    tasks = [
        Task(f"j{number}", float(came), units, float(length), float(length + slack), demand, extra={"partition": name})
        for number, (came, units, length, slack, name) in enumerate(jobs)
    ]
    result = simulate(site, tasks, "slurm-backfill", options={"preempt": "partition", **options})
    segments: dict[str, list[Row]] = defaultdict(list)
    for name, row in sorted(result.rows.items(), key=lambda one: one[1].start):
        segments[name.partition("~")[0]].append(row)
    assert set(segments) == {one.id for one in tasks}
    for one in tasks:
        *before, last = segments[one.id]
        tier = one.extra["partition"]
        assert all(row.state is JobState.COMPLETED_KILLED for row in before)
        killed = last.state is JobState.COMPLETED_KILLED
        mode = modes if tier == "a" and modes else options["preempt_mode"]
        assert not before or mode == "requeue"
        assert not killed or mode == "cancel"
        if before or killed:
            assert tier != "c"
            assert mode != "off"
        if not killed:
            assert last.end - last.start == pytest.approx(1e6 * one.lasts)
