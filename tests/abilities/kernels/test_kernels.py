"""Kernels make the files that the dispatchers in Python make, byte for byte."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, target
from hypothesis import strategies as st

from batdispatch.core.line.dispatcher import create
from batdispatch.core.machine.machine import Host, Machine
from batdispatch.engines.simulation import Refusal
from compiling import GROWING, SLURM, STATIC, compiled, in_python, needs_kernels, workload_of
from simulating import Task
from strategies import exclusive_machines

pytestmark = needs_kernels
#: The kernels, with their own options.
KERNELS: list[tuple[str, dict[str, Any]]] = [
    ("fcfs", {}),
    ("filler", {}),
    ("easy", {}),
    ("easy", {"reservation": "hosts"}),
    ("conservative", {}),
    *(("easy", {"ordering": ordering}) for ordering in GROWING),
    ("easy", {"ordering": "unicef", "reservation": "hosts"}),
    ("fcfs", {"ordering": "unicef"}),
    ("filler", {"ordering": "wfp3"}),
    ("easy", {"ordering": "guarded[floor=0]"}),
    ("easy", {"ordering": "guarded[floor=1,slack=0,share=1]"}),
    ("easy", {"ordering": "guarded[floor=1,slack=0,share=0.5,memory=5]"}),
    ("easy", {"ordering": "guarded[ordering=sjf,floor=0,slack=0.2,memory=0]"}),
    ("easy", {"ordering": "guarded[floor=0,slack=0.5,share=2]", "backfill": "aged-area[head_start=2,power=0.5]"}),
    ("easy", {"prediction": "last-two", "ordering": "aged-area[head_start=2,width=0.5]"}),
    ("easy", {"ordering": "guarded[ordering=smallest-area,floor=3,share=0.4]"}),
    ("easy", {"ordering": "guarded[ordering=wfp3,floor=1]", "reservation": "hosts"}),
    ("easy", {"ordering": "guarded[floor=2]", "backfill": "sjf"}),
    ("easy", {"backfill": "sjf"}),
    ("easy", {"backfill": "unicef", "reservation": "hosts"}),
    ("easy", {"prediction": "last-two"}),
    ("easy", {"prediction": "last-two", "correction": "steps", "ordering": "sjf"}),
    ("easy", {"prediction": "last-two", "correction": "doubling", "reservation": "hosts"}),
    ("easy", {"prediction": "last-two-as-published-code", "ordering": "unicef"}),
    ("easy", {"prediction": "online-regression", "correction": "steps", "backfill": "sjf"}),
    ("easy", {"prediction": "oracle", "ordering": "wfp3", "backfill": "unicef"}),
    ("slurm-backfill", {}),
    ("slurm-backfill", {"tick": 0, "interval": 0, "resolution": 0, "end_window": 0}),
    ("slurm-backfill", {"interval": 2, "batch_delay": 1, "resolution": 1, "end_window": 1, "depth": 3}),
    ("slurm-backfill", {"interval": 1, "ordering": "unicef", "placement": "first-fit", "resolution": 2}),
    ("slurm-backfill", {"interval": 1, "prediction": "last-two", "correction": "steps", "resolution": 1}),
]


@st.composite
def contended(draw: st.DrawFn, hosts: int) -> list[Task]:
    """Jobs that come faster than they leave, at whole seconds: ends, submissions and shadow times fall together."""
    count = draw(st.integers(5, 20))
    last = draw(st.sampled_from([0, 4, 12]))
    size = st.one_of(st.integers(1, max(hosts // 2, 1)), st.integers(1, hosts), st.just(hosts))
    tasks = []
    for index in range(count):
        runtime = draw(st.integers(1, 8))
        # As long as asked for, shorter, or killed at the walltime.
        walltime = max(runtime + draw(st.sampled_from([0, 0, 0, 1, 2, 5, -1])), 1)
        tasks.append(Task(f"j{index}", draw(st.integers(0, last)), draw(size), runtime, walltime))
    return tasks


@st.composite
def odd(draw: st.DrawFn, hosts: int) -> list[Task]:
    """Contended jobs, and what else there is: no walltime, no time, failures, impossible sizes, broken seconds."""
    tasks = draw(contended(hosts))
    broken = st.sampled_from([0.0, 0.1, 0.7, 0.005, 1e-6, 1 / 128, 0.3000005])
    for index in draw(st.lists(st.integers(0, len(tasks) - 1), max_size=8)):
        task = tasks[index]
        changed = draw(
            st.sampled_from(
                [
                    task._replace(walltime=math.inf),
                    task._replace(runtime=2e-7),
                    task._replace(walltime=4e-7),
                    task._replace(extra={"ret": 1}),
                    task._replace(units=hosts + 1),
                    task._replace(submission=task.submission + draw(broken)),
                    task._replace(runtime=task.runtime + draw(broken)),
                    task._replace(walltime=task.walltime + draw(broken)),
                    task._replace(id=f'é"{index}'),
                ]
            )
        )
        tasks[index] = changed
    return tasks


def same(machine: Machine, tasks: list[Task], dispatcher: str, options: dict[str, Any]) -> None:
    workload = workload_of(tasks)
    expected = in_python(machine, workload, dispatcher, options)
    try:
        found = compiled(machine, workload, dispatcher, options)
    except Refusal:
        # Places that are too short by less than the tolerance: only where seconds are broken.
        assert any(
            value % 1 for task in tasks for value in (task.submission, task.runtime, task.walltime) if value < math.inf
        )
        return
    assert found.jobs == expected.jobs
    assert found.states == expected.states
    assert found == expected


@pytest.mark.parametrize(("dispatcher", "options"), KERNELS, ids=str)
@settings(max_examples=12)
@given(data=st.data())
def test_contended_queues_of_whole_seconds(dispatcher: str, options: dict[str, Any], data: st.DataObject) -> None:
    hosts = data.draw(st.integers(2, 8))
    same(Machine.flat(hosts), data.draw(contended(hosts)), dispatcher, options)


@given(data=st.data())
@settings(max_examples=100)
def test_slurm_backfill_with_any_options(data: st.DataObject) -> None:
    machine = data.draw(st.one_of(exclusive_machines(), st.integers(2, 12).map(Machine.flat)))
    options = {name: data.draw(st.sampled_from(values)) for name, values in SLURM.items()}
    if options["prediction"] != "requested" and create("slurm-backfill", options).ordering.dynamic:
        options["prediction"] = "requested"
    tasks = data.draw(st.one_of(contended(machine.size), odd(machine.size)))
    # So that ends lie in several windows.
    pace = data.draw(st.sampled_from([1, 1, 7, 60]))
    tasks = [
        task._replace(
            submission=task.submission * pace,
            runtime=task.runtime * pace,
            walltime=task.walltime * pace,
        )
        for task in tasks
    ]
    same(machine, tasks, "slurm-backfill", options)


def waiting_behind_many_ends(rng: np.random.Generator, hosts: int) -> list[Task]:
    """Return jobs that fill the machine and end far apart, wide ones that wait for several ends, and small ones.

    A small job starts if it ends before a wide one is to start, which depends on the window that has its last end.
    """
    step = int(rng.choice([1, 5, 10]))

    def seconds(least: int, most: int) -> int:
        return step * int(rng.integers(least, most) // step + 1)

    tasks = [Task(f"r{host}", 0, 1, seconds(20, 200), seconds(200, 400)) for host in range(hosts)]
    for index in range(8):
        walltime = seconds(20, 300)
        tasks.append(Task(f"w{index}", 1 + 15 * index, int(rng.integers(1, hosts)), walltime, walltime))
    for index in range(24):
        walltime = seconds(5, 250)
        tasks.append(Task(f"s{index}", seconds(2, 150), 1, walltime, walltime))
    return tasks


@pytest.mark.parametrize("width", [0, 4, 10, 30])
@pytest.mark.parametrize("linear", [0, 7])
def test_slurm_backfill_looks_at_the_same_windows_of_ends(width: int, linear: int) -> None:
    for seed in range(20):
        rng = np.random.default_rng([width, linear, seed])
        hosts = int(rng.integers(3, 9))
        options = {
            "tick": 1,
            "interval": 1,
            "resolution": 1,
            "end_window": width,
            "window_linear": linear,
            "clock": int(rng.integers(0, 31)),
            "version": "20.11" if seed % 2 else "22.05",
        }
        same(Machine.flat(hosts), waiting_behind_many_ends(rng, hosts), "slurm-backfill", options)


@pytest.mark.parametrize(("dispatcher", "options"), KERNELS, ids=str)
@settings(max_examples=12)
@given(data=st.data())
def test_odd_jobs_in_any_order(dispatcher: str, options: dict[str, Any], data: st.DataObject) -> None:
    machine = data.draw(exclusive_machines())
    more: dict[str, Any] = {"ordering": data.draw(st.sampled_from(STATIC))}
    if dispatcher != "conservative" and "guarded" not in str(options) and data.draw(st.booleans()):
        more["default_walltime"] = data.draw(st.sampled_from([1, 3, 8, 0.5]))
    if dispatcher in ("easy", "conservative", "slurm-backfill"):
        more["rjms_delay"] = data.draw(st.sampled_from([0, 0, 1, 5, 0.3]))
    same(machine, data.draw(odd(machine.size)), dispatcher, more | options)


@pytest.mark.parametrize(("dispatcher", "options"), KERNELS, ids=str)
def test_a_workload_without_jobs(dispatcher: str, options: dict[str, Any]) -> None:
    same(Machine.flat(3), [], dispatcher, options)


@pytest.mark.parametrize(("dispatcher", "options"), KERNELS, ids=str)
def test_hosts_between_storage_hosts(dispatcher: str, options: dict[str, Any]) -> None:
    machine = Machine([Host(id=i, name=f"h{i}", storage=i in (0, 3, 7)) for i in range(9)])
    tasks = [Task(f"j{i}", i // 3, 1 + i % 6, 1 + i % 5, 2 + i % 5) for i in range(40)]
    same(machine, tasks, dispatcher, options)


@pytest.mark.parametrize(("dispatcher", "options"), KERNELS, ids=str)
def test_more_runs_of_hosts_than_there_is_room_for(
    dispatcher: str, options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    from batdispatch.abilities.kernels import simulate

    monkeypatch.setattr(simulate, "room_for", lambda jobs, runs: 1)
    tasks = [Task(f"j{i}", i // 4, 1 + (i * 5) % 7, 1 + i % 9, 3 + i % 9) for i in range(120)]
    same(Machine.flat(16), tasks, dispatcher, options)


@pytest.mark.parametrize(("dispatcher", "options"), KERNELS, ids=str)
def test_a_kernel_that_pauses_goes_on_as_if_it_had_not(
    dispatcher: str, options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    from batdispatch.abilities.kernels import simulate

    monkeypatch.setattr(simulate, "SLICE", 1)
    tasks = [Task(f"j{i}", i // 4, 1 + (i * 5) % 7, 1 + i % 9, 3 + i % 9) for i in range(60)]
    same(Machine.flat(12), tasks, dispatcher, options)


@given(data=st.data())
def test_a_plan_whose_blocks_of_hosts_are_joined_again_and_again(data: st.DataObject) -> None:
    from batdispatch.abilities.kernels import simulate

    joins = []
    join = simulate.plan.join_blocks
    hosts = data.draw(st.integers(130, 300))
    tasks = [
        task._replace(units=1 + (task.units * 37 + index * 11) % hosts)
        for index, task in enumerate(data.draw(contended(hosts)) + data.draw(contended(hosts)))
    ]
    tasks = [task._replace(id=f"j{index}") for index, task in enumerate(tasks)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(simulate, "PLAN_STEPS", 2)
        patch.setattr(simulate.plan, "SPACIOUS", 1.0)
        patch.setattr(simulate.plan, "FEW_HOSTS", 1)
        patch.setattr(simulate.plan, "join_blocks", lambda *given: joins.append(given) or join(*given))
        same(Machine.flat(hosts), tasks, "conservative", {})
    target(float(len(joins)), label="joins")


def overload(seed: int, hosts: int) -> list[Task]:
    """Return jobs of many widths and lengths; they come in half the time that the machine needs for them."""
    rng = np.random.default_rng(seed)
    count, longest, pace = 120, float(rng.choice([8, 60, 1000])), float(rng.choice([1, 1, 10, 0.25]))
    units = np.exp2(rng.uniform(0, np.log2(hosts * rng.choice([0.3, 0.6, 1])), count)).astype(int)
    runtime = np.ceil(np.exp(rng.uniform(0, np.log(longest), count)))
    walltime = runtime * rng.choice([1, 1, 1.5, 2, 5], count)
    come = np.floor(np.cumsum(rng.exponential((units * runtime).sum() / (2 * hosts * count), count)))
    jobs = zip(come.tolist(), units.tolist(), runtime.tolist(), np.ceil(walltime).tolist(), strict=True)
    return [
        Task(f"j{index}", at * pace, max(wide, 1), lasts * pace, limit * pace)
        for index, (at, wide, lasts, limit) in enumerate(jobs)
    ]


@pytest.mark.parametrize("blocks", [False, True])
@settings(max_examples=10)
@given(seed=st.integers(0, 2**32 - 1), hosts=st.sampled_from([5, 16, 65, 200]), ordering=st.sampled_from(STATIC))
def test_long_queues_of_an_overloaded_machine(blocks: bool, seed: int, hosts: int, ordering: str) -> None:
    """Most decisions of conservative move reservations, and most jobs have several hopes to move."""
    from batdispatch.abilities.kernels import simulate

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(simulate, "PLAN_STEPS", 2)
        if blocks:
            patch.setattr(simulate.plan, "FEW_HOSTS", 1)
        same(Machine.flat(hosts), overload(seed, hosts), "conservative", {"ordering": ordering})


@pytest.mark.parametrize("units", range(1, 12))
def test_a_job_as_wide_and_long_as_a_gap_before_a_wide_one_moves_there(units: int) -> None:
    # Twenty hosts become free one by one; one of them does early. So u hosts stay free from 10 (u - 1) s to 200 s.
    running = [Task(f"r{i}", 0, 1, 5 if i == 11 else 10 * i, 10 * i) for i in range(1, 21)]
    wide, last = Task("wide", 1, 20, 10, 10), Task("last", 2, units, 7, 210 - 10 * units)
    same(Machine.flat(20), [*running, wide, last], "conservative", {})


def test_a_gap_that_is_shorter_than_a_job_by_less_than_the_tolerance_is_not_overlooked() -> None:
    # At 10 s the gap before the wide job is 7 ms too short for the last one: Python moves that, the kernel stops.
    tasks = [Task("a", 0, 1, 10, 50), Task("b", 0, 1, 100.995, 100.995), Task("wide", 1, 2, 5, 5)]
    workload = workload_of([*tasks, Task("last", 2, 1, 91.002, 91.002)])
    with pytest.raises(Refusal, match="too short"):
        compiled(Machine.flat(2), workload, "conservative", {})


def test_a_plan_on_a_wide_machine_joins_its_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    from batdispatch.abilities.kernels import simulate

    joins = []
    join = simulate.plan.join_blocks
    monkeypatch.setattr(simulate, "PLAN_STEPS", 2)
    monkeypatch.setattr(simulate.plan, "FEW_HOSTS", 1)
    monkeypatch.setattr(simulate.plan, "join_blocks", lambda *given: joins.append(given) or join(*given))
    tasks = [Task(f"j{i}", i // 3, 1 + (i * 97) % 400, 2 + i % 7, 3 + i % 9) for i in range(150)]
    same(Machine.flat(700), tasks, "conservative", {})
    assert len(joins) >= 3
