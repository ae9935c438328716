"""Kernels on nodes that jobs share, and on hosts of partitions, make the files of the dispatchers in Python."""

import math
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from batdispatch.abilities.kernels import applies
from batdispatch.core.line.dispatcher import create
from batdispatch.core.machine.machine import Host, Machine
from batdispatch.engines.simulation import Refusal
from compiling import GROWING, SLURM, STATIC, compiled, in_python, needs_kernels, workload_of
from random_nodes import random_machine, random_tasks
from simulating import Task

pytestmark = needs_kernels
EASY: dict[str, list[Any]] = {
    "ordering": [*STATIC, *GROWING],
    "reservation": ["count", "hosts"],
    "backfill": ["", "", "sjf", "unicef"],
    "prediction": ["requested", "requested", "last-two", "oracle"],
    "correction": ["walltime", "steps", "doubling"],
    "default_walltime": [math.inf, 7],
    "rjms_delay": [0, 0, 5],
}
GUARDED = {
    **{name: EASY[name] for name in ("reservation", "backfill", "rjms_delay")},
    "ordering": [
        *("guarded[floor=0]", "guarded[floor=1,slack=0,share=1]", "guarded[floor=0,slack=0.5,share=2]"),
        *(
            "guarded[floor=1,share=0.5,memory=4]",
            "guarded[ordering=smallest-area,floor=3,share=0.4]",
            "guarded[ordering=wfp3,floor=1]",
        ),
    ],
}
LICENSED: dict[str, list[Any]] = {
    **{"licenses": [True], "tick": [0, 1], "interval": [0, 1, 2], "resolution": [0, 1, 2], "end_window": [0, 1, 3]},
    **{"window": [6, 20, 86400], "reservations": [0, 2], "ordering": ["fcfs", "sjf", "ljf"], "depth": [None, 3]},
}
QUEUE: dict[str, list[Any]] = {"ordering": [*STATIC, *GROWING]}
CONSERVATIVE: dict[str, list[Any]] = {"ordering": STATIC, "rjms_delay": [0, 0, 0.01, 5]}
OPTIONS = {"fcfs": QUEUE, "filler": QUEUE, "easy": EASY, "conservative": CONSERVATIVE, "slurm-backfill": SLURM}


@pytest.mark.parametrize("dispatcher", OPTIONS)
@settings(max_examples=80)
@given(seed=st.integers(0, 2**32))
def test_random_jobs_on_random_nodes(dispatcher: str, seed: int) -> None:
    random = Random(seed)
    machine = random_machine(random)
    # Options are drawn one by one, so that most runs have some that are not the default.
    options = {name: random.choice(values) for name, values in OPTIONS[dispatcher].items() if random.random() < 0.4}
    if applies.why_never(create(dispatcher, options), machine) is None:
        compare(machine, random_tasks(random, machine), dispatcher, options)


@settings(max_examples=80)
@given(seed=st.integers(0, 2**32))
def test_random_jobs_on_random_nodes_in_a_guarded_order(seed: int) -> None:
    random = Random(seed)
    machine = random_machine(random, reserves=False)
    options = {name: random.choice(values) for name, values in GUARDED.items()}
    compare(machine, random_tasks(random, machine), "easy", options)


@settings(max_examples=80)
@given(seed=st.integers(0, 2**32))
def test_random_jobs_that_compete_for_licences(seed: int) -> None:
    random = Random(seed)
    machine = Machine(
        [Host(id=i, name=f"h{i}", properties={"capacity": "core=3", "licences": "m=3 n=1"}) for i in range(3)]
    )
    tasks = [
        Task(
            f"j{number}",
            random.randint(0, 12),
            random.randint(1, 6),
            runtime := random.randint(1, 9),
            runtime + random.choice([0, 1, 4, 9]),
            {"core": 1},
            extra={"licences": {random.choice("mmmn"): random.randint(1, 3)}} if random.random() < 0.6 else {},
        )
        for number in range(random.randint(4, 25))
    ]
    compare(machine, tasks, "slurm-backfill", {name: random.choice(values) for name, values in LICENSED.items()})


@settings(max_examples=40)
@given(seed=st.integers(0, 2**32), whole=st.booleans())
def test_long_queues_of_a_plan_with_little_room_at_first(seed: int, whole: bool) -> None:
    random = Random(seed)
    count, capacity = random.randint(2, 9), {} if whole else {"capacity": "core=4 memory=8"}
    hosts = [Host(id=i, name=f"h{i}", properties={**capacity, "licences": "m=9"}) for i in range(count)]
    kinds = [
        (
            random.randint(1, count),
            None if whole else {"core": random.randint(1, 4), "memory": random.choice([0, 1, 5])},
        )
        for _ in range(5)
    ]
    tasks = []
    for number in range(90):
        (units, demand), runtime = random.choice(kinds), random.choice([1, 2, 3, 5, 8, 13])
        apart = {"exclude_nodes": [f"h{random.randrange(count)}"]} if units < count and random.random() < 0.3 else {}
        walltime = runtime + random.choice([0, 0, 0, 1, 5, 20])
        tasks.append(Task(f"j{number}", random.randint(0, 20), units, runtime, walltime, demand, extra=apart))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("batdispatch.abilities.kernels.simulate.NODE_PLAN_STEPS", 2)
        compare(Machine(hosts), tasks, "conservative", {"ordering": random.choice(STATIC)})


def test_a_place_that_is_too_short_by_less_than_the_tolerance_is_left_to_python() -> None:
    # At 10 s the gap before the wide job is 7 ms too short for the last one.
    tasks = [Task("a", 0, 1, 10, 50), Task("b", 0, 1, 100.995, 100.995), Task("wide", 1, 2, 5, 5)]
    tasks = [task._replace(demand={"core": 4}) for task in (*tasks, Task("last", 2, 1, 91.002, 91.002))]
    with pytest.raises(Refusal, match="too short"):
        compiled(Machine.flat(2, "core=4"), workload_of(tasks), "conservative", {})


def test_units_that_need_nothing_and_start_later_than_planned_are_left_to_python() -> None:
    # The third job gets a node on which the second was to start at 9 s, when nothing happens.
    whole, nodes = {"whole_nodes": True, "exclude_nodes": ["n2"]}, {"nodes": [3, 3]}
    first, third = (Task(f"w{i}", 2 * i, 4, 8 + i, 9, {"core": 1}, extra=whole) for i in range(2))
    tasks = [first, Task("none", 1, 3, 9, 9, {"core": 0}, extra=nodes), third]
    with pytest.raises(Refusal, match="later than planned"):
        compiled(Machine.flat(3, "core=4"), workload_of(tasks), "conservative", {})


def compare(machine: Machine, tasks: list[Task], dispatcher: str, options: dict[str, Any]) -> None:
    workload = workload_of(tasks)
    expected = in_python(machine, workload, dispatcher, options)
    try:
        found = compiled(machine, workload, dispatcher, options)
    except Refusal:
        # In a plan of all jobs only: units that need nothing may be late, else seconds are broken.
        assert dispatcher == "conservative"
        times = [time for task in tasks for time in (task.submission, task.runtime, task.walltime) if time < math.inf]
        assert any(time % 1 for time in times) or not all(task.demand and any(task.demand.values()) for task in tasks)
        return
    assert found.jobs == expected.jobs
    assert found.units == expected.units
    assert found == expected


def test_a_job_on_more_nodes_than_there_is_room_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("batdispatch.abilities.kernels.simulate.room_for", lambda *_: 1)
    random = Random(3)
    machine = Machine.flat(9, "core=4")
    tasks = [Task(f"j{i}", i // 4, random.randint(1, 30), random.randint(1, 9), 9, {"core": 1}) for i in range(40)]
    workload = workload_of(tasks)
    for dispatcher in OPTIONS:
        assert compiled(machine, workload, dispatcher, {}) == in_python(machine, workload, dispatcher, {})


def test_a_resource_of_which_there_is_more_than_a_word_of_32_bits_holds() -> None:
    machine = Machine([Host(id=i, name=f"n{i}", properties={"capacity": f"byte={2**40 - i}"}) for i in range(3)])
    needs = [(1, 1), (2, 2**39), (1, 1), (3, 2**39 - 1), (1, 2**40 - 2)]
    tasks = [Task(f"j{i}", 0, units, 3 + i, 9, {"byte": need}) for i, (units, need) in enumerate(needs)]
    workload = workload_of(tasks)
    for dispatcher in OPTIONS:
        assert compiled(machine, workload, dispatcher, {}) == in_python(machine, workload, dispatcher, {})


@pytest.mark.parametrize("dispatcher", OPTIONS)
def test_jobs_none_of_which_ever_runs(dispatcher: str) -> None:
    machine = Machine.flat(2, "core=4")
    workload = workload_of([Task("a", 0, 9, 1, 9, {"core": 1}), Task("b", 0, 1, 1, 9, {"core": 5})])
    expected = in_python(machine, workload, dispatcher, {})
    assert len(expected.rejections) == 2
    assert compiled(machine, workload, dispatcher, {}) == expected


@pytest.mark.parametrize(
    ("cores", "most"), [((6, 1, 5, 1, 2, 2, 2, 2, 2, 1, 7, 3), 3), ((8, 1, 2, 1, 2, 2, 2, 2, 2, 1, 1, 1), 2)]
)
def test_a_job_that_may_not_have_as_many_nodes_as_consecutive_takes_first(cores: tuple[int, ...], most: int) -> None:
    hosts = [Host(id=i, name=f"h{i}", properties={"capacity": f"core={count}"}) for i, count in enumerate(cores)]
    apart = {"nodes": [1, most], "exclude_nodes": ["h1", "h3", "h9"]}
    workload = workload_of([Task("a", 0, 10, 5, 9, {"core": 1}, extra=apart)])
    in_order = in_python(Machine(hosts), workload, "slurm-backfill", {})
    assert in_order.units
    assert compiled(Machine(hosts), workload, "slurm-backfill", {}) == in_order
