"""A task's life: transfers, run times by class, further jobs, and the account of what was moved."""

import itertools
from typing import Any

import numpy as np
import pytest

from batdispatch.abilities.tasks.tasks import Node, task_of
from batdispatch.core.errors import InputError
from batdispatch.core.hosts.allocation import Allocation
from batdispatch.core.jobs.job import JobState
from batdispatch.core.line import events as e
from batdispatch.core.machine.machine import Host, Machine
from simulating import Result, Task, simulate
from strategies import make_job
from task_graphs import CASES, IDS, MEGA, node, spans, task

SUCCESS = JobState.COMPLETED_SUCCESSFULLY
every = pytest.mark.parametrize(("name", "options"), CASES, ids=IDS)


@every
def test_a_gpu_first_gets_the_data_and_then_computes(name: str, options: dict[str, Any]) -> None:
    """Two megabytes at one a second, 0.25 s of latency each, then 3 s."""
    tasks = [task("A", None, 3.0, reads=["x", "y"], writes=["y", "z"])]
    result = simulate(node(1, 1, latency=0.25), tasks, name, options=options)
    assert spans(result, tasks) == {"A": (0.0, 5.5, "1", SUCCESS)}
    assert result.ledger.parents == {"w0!A~gpu": "w0!A"}
    report = result.session.report
    assert (report["bytes_moved"], report["transfers"], report["tasks"]) == (2 * MEGA, 2, {"gpu": 1})
    assert report["task_seconds"] == 5.5
    assert report["gflops"] == pytest.approx(1 / 5.5)


@every
def test_a_task_on_a_cpu_that_has_its_data_simply_runs(name: str, options: dict[str, Any]) -> None:
    result = simulate(node(1, 1), [task("A", 3.0, None, reads=["x"], writes=["x"])], name, options=options)
    assert list(result.rows) == ["A"]
    assert result.rows["A"].end == 3_000_000
    assert result.session.report["bytes_moved"] == 0


@every
def test_what_a_gpu_has_written_is_nowhere_else(name: str, options: dict[str, Any]) -> None:
    """x goes to the GPU, is changed, goes back to the main memory for B, and C finds it on the GPU still."""
    tasks = [
        task("A", None, 1.0, reads=["x"], writes=["x"]),
        task("B", 2.0, None, reads=["x"], after=["A"]),
        task("C", None, 1.0, reads=["x"], after=["B"]),
    ]
    result = simulate(node(1, 1), tasks, name, options=options)
    # B's own job is a run time, so it too needs one that lasts longer.
    assert spans(result, tasks) == {
        "A": (0.0, 2.0, "1", SUCCESS),
        "B": (2.0, 5.0, "0", SUCCESS),
        "C": (5.0, 6.0, "1", SUCCESS),
    }
    assert (result.session.report["bytes_moved"], result.session.report["bytes_to_main"]) == (2 * MEGA, MEGA)


@every
def test_what_a_cpu_changes_makes_the_copies_invalid(name: str, options: dict[str, Any]) -> None:
    tasks = [
        task("A", None, 1.0, reads=["x"]),
        task("B", 1.0, None, reads=["x"], writes=["x"], after=["A"]),
        task("C", None, 1.0, reads=["x"], after=["B"]),
    ]
    result = simulate(node(1, 1), tasks, name, options=options)
    assert result.session.report["bytes_moved"] == 2 * MEGA
    assert spans(result, tasks)["C"][:2] == (3.0, 5.0)


@every
def test_between_two_gpus_both_ways_are_passed(name: str, options: dict[str, Any]) -> None:
    """x is on the first GPU, y on the second; a task that needs both copies one of them, for 2 x 0.5 s and a second."""
    machine = node(1, 2, latency=0.5)
    tasks = [
        task("A", None, 4.0, reads=["x"], writes=["x"]),
        task("B", None, 4.0, reads=["y"], writes=["y"]),
        task("C", None, 1.0, reads=["x", "y"], after=["A", "B"]),
    ]
    result = simulate(machine, tasks, name, options=options)
    found = spans(result, tasks)
    assert {found["A"][2], found["B"][2]} == {"1", "2"}
    assert found["C"][:2] == (5.5, 8.5)
    assert result.session.report["bytes_moved"] == 3 * MEGA


@every
def test_data_on_their_way_are_not_sent_twice(name: str, options: dict[str, Any]) -> None:
    """Both cores need x, which is on the GPU. The second core waits for the copy that the first one has asked for."""
    tasks = [
        task("A", None, 1.0, reads=["x"], writes=["x"]),
        task("B", 2.0, None, reads=["x"], after=["A"]),
        task("C", 2.5, None, reads=["x"], after=["A"]),
    ]
    result = simulate(node(2, 1), tasks, name, options=options)
    found = spans(result, tasks)
    assert {found["B"][:2], found["C"][:2]} == {(2.0, 5.0), (2.0, 5.5)}
    assert result.session.report["bytes_moved"] == 2 * MEGA


@every
def test_who_waits_for_a_failed_task_is_rejected_and_the_rest_goes_on(name: str, options: dict[str, Any]) -> None:
    """A reaches its walltime. B, which is first in any plan behind it, never comes; C runs all the same."""
    failing = task("A", 5.0, 5.0)._replace(walltime=2.0)
    tasks = [failing, task("B", 100.0, 100.0, after=["A"]), task("C", 1.0, 1.0), task("D", 1.0, 1.0, after=["C"])]
    result = simulate(node(1, 0), tasks, name, options=options)
    assert result.rows["A"].state is JobState.COMPLETED_WALLTIME_REACHED
    assert result.rows["B"].state is JobState.REJECTED
    assert result.rows["C"].state is result.rows["D"].state is SUCCESS
    # What failed has written nothing, and counts for nothing.
    assert result.session.report["tasks"] == {"cpu": 2}


@every
def test_a_task_that_no_class_can_run_is_rejected_with_the_reason(name: str, options: dict[str, Any]) -> None:
    result = simulate(node(1, 0), [task("A", None, 1.0), task("B", 1.0, None)], name, options=options)
    assert result.rows["A"].state is JobState.REJECTED
    assert result.ledger.rejections == [("w0!A", "has no run time on a class of the machine's hosts, only on gpu")]


@every
def test_tasks_wait_for_a_class_that_is_away_and_others_go_on(name: str, options: dict[str, Any]) -> None:
    tasks = [task("A", None, 1.0), task("B", 1.0, None, submission=1.0), task("C", 1.0, 1.0, submission=1.0)]
    away = [
        e.MachinesUnavailable(0.0, Allocation.parse("1")),
        e.MachinesAvailable(10.0, Allocation.parse("1")),
    ]
    result = simulate(
        node(1, 1), [one._replace(submission=one.submission + 1) for one in tasks], name, options=options, events=away
    )
    found = spans(result, tasks)
    assert found["A"][:3] == (10.0, 11.0, "1")
    assert {found["B"][:3], found["C"][:3]} == {(2.0, 3.0, "0"), (3.0, 4.0, "0")}


@every
def test_jobs_that_are_no_tasks_run_on_what_tasks_leave_free(name: str, options: dict[str, Any]) -> None:
    tasks = [
        task("A", None, 4.0, reads=["x"]),
        Task("wide", 0.0, 2, 10.0),
        Task("narrow", 0.0, 1, 3.0),
    ]
    result = simulate(node(1, 1), tasks, name, options=options)
    assert spans(result, tasks[:1])["A"][:3] == (0.0, 5.0, "1")
    assert result.rows["narrow"].hosts == "0"
    assert result.rows["narrow"].start == 0
    assert (result.rows["wide"].start, result.rows["wide"].hosts) == (5_000_000, "0-1")


@every
def test_a_job_of_the_workload_may_have_the_name_of_a_further_job(name: str, options: dict[str, Any]) -> None:
    tasks = [task("A", None, 1.0), Task("A~gpu", 0.0, 1, 2.0)]
    result = simulate(node(1, 1), tasks, name, options=options)
    assert {row.id for row in result.rows.values()} == {"A", "A~gpu", "A~gpu~"}
    assert all(row.state in (SUCCESS, JobState.COMPLETED_KILLED) for row in result.rows.values())


# ---------------------------------------------------------------------- graphs at random, and an account of one's own


def graph(rng: np.random.Generator, size: int) -> list[Task]:
    """A random sequential program over six data, as tasks with both kinds of edges."""
    last: dict[str, str] = {}
    readers: dict[str, set[str]] = {}
    tasks = []
    for number in range(size):
        name = f"t{number:02}"
        data = [f"x{i}" for i in rng.permutation(6)[: int(rng.integers(1, 4))]]
        changed = [one for one in data if rng.random() < 0.6]
        before = {last[one] for one in data if one in last}
        before |= {reader for one in changed for reader in readers.get(one, ())}
        for one in data:
            readers.setdefault(one, set()).add(name)
        for one in changed:
            last[one], readers[one] = name, set()
        cpu, gpu = (None if rng.random() < 0.1 else float(rng.integers(1, 9)) / 4 for _ in range(2))
        if cpu is gpu is None:
            cpu = 1.0
        tasks.append(
            task(
                name, cpu, gpu, reads=data, writes=changed, after=sorted(before - {name}),
                submission=float(rng.integers(0, 3)) * 0.7 if rng.random() < 0.3 else 0.0,
            )
        )  # fmt: skip
    return tasks


def check_account(machine: Machine, tasks: list[Task], result: Result) -> None:
    """Play the schedule again with a directory of one's own; every memory has one host, so nothing is awaited."""
    found = spans(result, tasks)
    by_id = {one.id: one for one in tasks}
    holds: dict[str, set[str]] = {}
    moved = 0
    happenings = sorted(
        [(round(end * 1e6), 0, name) for name, (_, end, _, _) in found.items()]
        + [(round(start * 1e6), 1, name) for name, (start, _, _, _) in found.items()]
    )
    pending: dict[str, set[str]] = {}
    for at, begins, name in happenings:
        one, (start, end, host, state) = by_id[name], found[name]
        assert state is SUCCESS
        if not begins:
            for datum in pending.pop(name):
                holds[datum].add(host)
            for datum in one.extra["writes"]:
                holds[datum] = {host}
            continue
        assert start >= one.submission
        for other in one.extra.get("dependencies", []):
            assert found[other][1] <= start
        seconds = one.extra["runtimes"]["cpu" if host == "0" else "gpu"]
        missing = set()
        for datum in one.extra["reads"]:
            where = holds.setdefault(datum, {"0"})
            if host not in where:
                missing.add(datum)
                source = "0" if "0" in where else min(where)
                # Half a second of latency for each GPU on the way, and a second for the megabyte.
                seconds += 1.0 + 0.5 * ((source != "0") + (host != "0"))
        pending[name] = missing
        moved += MEGA * len(missing)
        assert at == round(start * 1e6)
        assert end - start == pytest.approx(seconds)
    assert result.session.report["bytes_moved"] == moved
    assert sum(result.session.report["tasks"].values()) == len(tasks)


@every
@pytest.mark.parametrize("seed", range(6))
def test_random_graphs_have_the_times_and_bytes_of_a_naive_directory(
    name: str, options: dict[str, Any], seed: int
) -> None:
    rng = np.random.default_rng(seed)
    machine = node(1, int(rng.integers(1, 4)), latency=0.5)
    tasks = graph(rng, 25)
    tasks = [one for one in tasks if len(machine.hosts) > 1 or "cpu" in one.extra["runtimes"]]
    result = simulate(machine, tasks, name, options=options)
    check_account(machine, tasks, result)
    # No two tasks at once on a host.
    found = spans(result, tasks)
    for host in {one[2] for one in found.values()}:
        own = sorted(one[:2] for one in found.values() if one[2] == host)
        assert all(first[1] <= second[0] for first, second in itertools.pairwise(own))


@every
def test_same_seed_same_files(name: str, options: dict[str, Any]) -> None:
    tasks = graph(np.random.default_rng(3), 20)
    first, second = (simulate(node(2, 2), tasks, name, options=options).files for _ in range(2))
    assert first == second


# ---------------------------------------------------------------------- what is refused


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"runtimes": {}}, "runtimes"),
        ({"runtimes": 3}, "runtimes"),
        ({"runtimes": {"cpu": 0}}, "runtimes.cpu"),
        ({"runtimes": {"cpu": "1"}}, "runtimes.cpu"),
        ({"runtimes": {"cpu": True}}, "runtimes.cpu"),
        ({"reads": ["x"]}, "reads"),
        ({"reads": {"x": 1.5}}, "reads.x"),
        ({"writes": {"x": -1}}, "writes.x"),
        ({"flops": -1}, "flops"),
        ({"flops": float("inf")}, "flops"),
    ],
)
def test_a_wrong_field_is_named_with_its_job(fields: dict[str, Any], field: str) -> None:
    with pytest.raises(InputError, match=rf"job w0!A, field '{field}': found .* expected "):
        task_of(make_job("w0!A", 1, **{"runtimes": {"cpu": 1.0}, **fields}))


@pytest.mark.parametrize(
    ("units", "fields"),
    [
        (2, {}),
        (1, {"sizes": {"least": 1, "most": 2}}),
        (1, {"node_list": ["c0"]}),
        (1, {"demand": {"core": 1}}),
    ],
)
def test_a_task_is_a_job_of_one_unit_that_may_go_anywhere(units: int, fields: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=r"job w0!A: .*expected 1 unit"):
        task_of(make_job("w0!A", units, runtimes={"cpu": 1.0}, **fields))


def test_a_job_without_run_times_is_no_task() -> None:
    assert task_of(make_job("w0!A", 1, reads={"x": "nonsense"})) is None


@pytest.mark.parametrize(
    ("hosts", "message"),
    [
        ([{"memory": "g", "memory_bandwidth": "fast"}], "host n0: property memory_bandwidth 'fast'"),
        ([{"memory": "g", "memory_bandwidth": "0"}], "number of bytes/s"),
        ([{"memory": "g", "memory_latency": "-1"}], "number of seconds"),
        ([{"memory": "g", "memory_latency": "1"}, {"memory": "g"}], "host n1: its way to memory 'g' is not that of"),
        ([{"memory_latency": "1"}], "expected no way to it"),
    ],
)
def test_properties_that_contradict_are_refused(hosts: list[dict[str, str]], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Node(Machine([Host(id=i, name=f"n{i}", properties=facts) for i, facts in enumerate(hosts)]))
