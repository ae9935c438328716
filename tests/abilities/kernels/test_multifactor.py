"""Kernels know Slurm's multifactor priority to the last digit: their files are those of the dispatchers in Python."""

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from batdispatch.abilities.kernels import applies
from batdispatch.core.line.dispatcher import create
from batdispatch.core.machine.machine import Host, Machine
from batdispatch.engines.simulation import Refusal
from batdispatch.inputs.workloads import write_workload
from batdispatch.inputs.workloads.columns import JobColumns
from batdispatch.inputs.workloads.workload_file import WorkloadFile
from compiling import SLURM, compiled, in_python, needs_kernels, workload_of
from random_nodes import random_machine, random_tasks
from simulating import Task

pytestmark = needs_kernels
#: Options with values that matter within some 40 s.
WEIGHTS: dict[str, list[Any]] = {
    **{"age": [40, 1000, 10**6], "size": [10, 1000], "fairshare": [50, 1000, 10**7], "partition": [500], "qos": [300]},
}
RULES: dict[str, list[Any]] = {
    **{"max_age": [3, 20, 604_800], "favor_small": ["true"], "relative": ["true"], "period": [0, 3, 0.7, 11]},
    **{"fair_tree": ["true"], "half_life": [0, 2, 9, 604_800]},
}
SIMPLE = {name: values for name, values in SLURM.items() if name not in ("ordering", "prediction", "correction")}


def multifactor(random: Random) -> str:
    """One weight alone or several, with any of the other options."""
    alone = random.choice([*WEIGHTS, "", ""])
    weights = {name: random.choice(values) for name, values in WEIGHTS.items() if alone in ("", name)}
    kept = {name: value for name, value in weights.items() if alone or random.random() < 0.7}
    kept |= {name: random.choice(values) for name, values in RULES.items() if random.random() < 0.6}
    return f"multifactor[{','.join(f'{name}={value}' for name, value in kept.items())}]" if kept else "multifactor"


def with_multifactor(random: Random) -> tuple[str, dict[str, Any]]:
    """A dispatcher with multifactor as the order of its queue, behind a guard, or for jobs that run ahead."""
    dispatcher = random.choice(["fcfs", "filler", "easy", "easy", "slurm-backfill"])
    options: dict[str, Any] = {"ordering": multifactor(random)}
    if dispatcher == "slurm-backfill":
        return dispatcher, options | {name: random.choice(SIMPLE[name]) for name in random.sample([*SIMPLE], 8)}
    if dispatcher == "easy":
        options |= {"backfill": multifactor(random)} if random.random() < 0.4 else {}
        options |= (
            {"ordering": random.choice(["fcfs", "unicef"])} if "backfill" in options and random.random() < 0.4 else {}
        )
        options |= {"reservation": "hosts"} if random.random() < 0.3 else {}
        kind = random.choice(["guarded", "predicted", "", ""])
        if kind == "guarded":
            options["ordering"] = f"guarded[ordering={options['ordering']},floor={random.choice([0, 1, 3])}]"
        elif kind:
            options["prediction"] = random.choice(["last-two", "online-regression", "oracle"])
    return dispatcher, options


def among_users(random: Random, tasks: list[Task]) -> list[Task]:
    """Let some jobs be nice, and most be of an account."""
    nice = [{}, {}, {"nice": random.choice([-100, 5, 50, 300])}]
    account = [{}, *({"account": name} for name in "abc")]
    return [task._replace(extra={**task.extra, **random.choice(nice), **random.choice(account)}) for task in tasks]


def same(machine: Machine, tasks: list[Task], dispatcher: str, options: dict[str, Any]) -> None:
    workload = workload_of(tasks)
    expected, found = (simulate(machine, workload, dispatcher, options) for simulate in (in_python, compiled))
    assert found.jobs == expected.jobs
    assert found == expected


@settings(max_examples=200)
@given(seed=st.integers(0, 2**32))
def test_random_jobs_of_users_on_whole_hosts(seed: int) -> None:
    random = Random(seed)
    hosts, last = random.randint(2, 8), random.choice([3, 20])
    tasks = []
    for number in range(random.randint(3, 40)):
        runtime = random.randint(1, 8) + random.choice([0, 0, 0.1, 0.7])
        walltime = random.choice([runtime, runtime, runtime + 1, runtime + 5, max(runtime - 1, 1), 90])
        units = hosts + 1 if random.random() < 0.03 else random.randint(1, hosts)
        tasks.append(Task(f"j{number}", random.randint(0, last), units, runtime, walltime))
    same(Machine.flat(hosts), among_users(random, tasks), *with_multifactor(random))


@settings(max_examples=200)
@given(seed=st.integers(0, 2**32))
def test_random_jobs_of_users_on_random_nodes(seed: int) -> None:
    random = Random(seed)
    machine, (dispatcher, options) = random_machine(random), with_multifactor(random)
    if applies.why_never(create(dispatcher, options), machine) is None:
        same(machine, among_users(random, random_tasks(random, machine)), dispatcher, options)


def shares(fair_tree: bool, period: float = 0.0) -> dict[str, Any]:
    return {
        "ordering": f"multifactor[fairshare=1000000,fair_tree={str(fair_tree).lower()},period={period},half_life=700]"
    }


@pytest.mark.parametrize("fair_tree", [False, True])
@pytest.mark.parametrize("period", [0.0, 300.0])
@pytest.mark.parametrize("dispatcher", ["easy", "slurm-backfill"])
def test_many_jobs_of_many_users(dispatcher: str, period: float, fair_tree: bool) -> None:
    random = Random(7)
    tasks = [
        Task(f"j{number}", 20 * number, random.randint(1, 12), random.randint(1, 900), 1000, extra={"account": account})
        for number, account in enumerate(random.choices("abcdefg", k=400))
    ]
    same(Machine.flat(16), tasks, dispatcher, shares(fair_tree, period))


@pytest.mark.parametrize("seed", range(20))
def test_users_are_level_whose_jobs_started_at_the_same_times_but_came_in_another_order(seed: int) -> None:
    """Sums are equal that are made in order of starts, ties by arrival; else one is often larger by the last digit."""
    random = Random(seed)
    sizes, at, number = random.sample([1, 3, 5, 7, 9], 4), random.randint(21, 60), 10**8
    tasks = [
        Task(f"{user}{9 - step if user == 1 else step}", 0, size, 99, 99, extra={"nice": number * (step - 10)})
        for step, size in enumerate(sizes)
        for user in range(3)
    ]
    tasks += [Task(f"{user}x", at, 100 - 3 * sum(sizes), 1, 1) for user in range(3)]
    # Behind every second job of each user, somebody fills the machine for a while.
    for step in (2, 4):
        others = {"account": "x", "nice": number * (step - 10) - number // 2}
        tasks.append(Task(f"y{step}", 0, 100 - 3 * sum(sizes[:step]), 10, 10, extra=others))
    same(Machine.flat(100), tasks, "fcfs", {"ordering": "multifactor[fairshare=1000000,fair_tree=true,half_life=70]"})


def test_levels_of_users_count_how_many_they_are_in_accounts_that_are_level() -> None:
    # Both accounts have 6 hosts. Of these, 3 are due to each of two users, and 2 to each of three, of whom one has 4:
    # the user of the first account goes first, though that job came later.
    held = [("a", 3), ("a", 3), ("b", 1), ("b", 4), ("b", 1)]
    tasks = [Task(f"r{n}", 0, hosts, 99, 99, extra={"account": name}) for n, (name, hosts) in enumerate(held)]
    tasks += [
        Task(f"x{n}", 10, 99 if n % 3 else 2, 1, 1, extra={"account": "b" if n < 7 else "a"}) for n in range(5, 10)
    ]
    workload, options = workload_of(tasks), {"ordering": "multifactor[fairshare=1000,fair_tree=true,half_life=0]"}
    found = compiled(Machine.flat(14), workload, "fcfs", options)
    assert found == in_python(Machine.flat(14), workload, "fcfs", options)
    assert [line.split(",")[0] for line in found.jobs.splitlines() if line.startswith(("x6", "x9"))] == ["x9", "x6"]


@pytest.mark.parametrize(
    ("reserved", "hosts", "walltime", "first"),
    [(True, 4, 50, "a"), (True, 4, 9, "b"), (False, 5, 9, "a"), (False, 4, 9, "b")],
)
def test_a_job_that_is_rejected_or_kept_back_makes_nobody_a_user(
    reserved: bool, hosts: int, walltime: int, first: str
) -> None:
    # The factor of the first user is 1/4 among two users, and 1/8 among three; so 0.25 of 3200 are enough or not.
    queues = {"queues": json.dumps({"reservations": [{"name": "r", "start": 30, "end": 40}]})} if reserved else {}
    machine = Machine([Host(id=i, name=f"h{i}", properties=queues) for i in range(4)])
    tasks = [Task("u", 0, 4, 5, 5), Task("b", 2, 2, 2, 2), Task("c", 1, hosts, 1, walltime), Task("a", 2, 3, 2, 2)]
    workload, options = workload_of(tasks), {"ordering": "multifactor[fairshare=1000,size=3200]"}
    found = compiled(machine, workload, "fcfs", options)
    assert found == in_python(machine, workload, "fcfs", options)
    rows = [line.split(",") for line in found.jobs.splitlines()[1:]]
    assert next(row[0] for row in rows if row[0] in ("a", "b")) == first


def test_a_nice_that_is_no_number_is_left_to_python() -> None:
    workload = workload_of([Task("a", 0, 1, 1, 1, extra={"nice": "very"})])
    with pytest.raises(Refusal, match="field 'nice': found 'very'"):
        compiled(Machine.flat(2), workload, "easy", {"ordering": "multifactor"})


def test_fields_of_jobs_are_read_where_they_matter_and_only_there(tmp_path: Path) -> None:
    workload, path = workload_of([Task("a", 0, 1, 1, 1, extra={"nice": 3}), Task("b", 0, 1, 1, 1)]), tmp_path / "w.json"
    write_workload(workload, path)
    for order in (["", "nice"], ["nice", ""], ["account", "nice", ""]):
        file, found = WorkloadFile(path), []
        for field in order:
            columns = file.columns({field} - {""})
            assert isinstance(columns, JobColumns)
            found.append(columns.extra)
        # What was read with the fields serves those who need none.
        told = order.index("nice")
        assert found[:told] == [None] * told
        assert [dict(each) for each in found[told] or ()] == [{"nice": 3}, {}]
        assert all(extra is not None for extra in found[told:])
