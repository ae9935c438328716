"""The directory of copies: what is valid where, what has to be copied and how long that takes."""

import numpy as np

from batdispatch.abilities.tasks.copies import Copies
from batdispatch.abilities.tasks.tasks import Node, Task, task_of
from strategies import make_job
from task_graphs import node


def a_task(reads: dict[str, int], writes: dict[str, int]) -> Task:
    found = task_of(make_job("w0!t", 1, runtimes={"cpu": 1.0}, reads=reads, writes=writes))
    assert found is not None
    return found


def test_copies_come_from_the_main_memory_else_from_the_first_that_has_them() -> None:
    copies = Copies(Node(node(1, 3)))
    task = a_task({"x": 5, "y": 7}, {})
    copies.write(a_task({}, {"y": 7}), 3)
    copies.begin("k", copies.missing(a_task({"y": 7}, {}), 2), 1.0)
    copies.arrive("k")
    # y is on the second and third GPU, x in the main memory.
    assert [(one.name, one.source, one.target) for one in copies.missing(task, 1)] == [("x", 0, 1), ("y", 2, 1)]
    assert [copies.valid_bytes(task.data.items(), memory) for memory in range(4)] == [5, 0, 7, 7]
    assert (copies.moved_bytes(), copies.moved_bytes(2), copies.transfers) == (7, 7, 1)


def test_what_is_on_its_way_is_neither_valid_nor_missing() -> None:
    copies = Copies(Node(node(1, 1)))
    task = a_task({"x": 5}, {})
    copies.begin("k", copies.missing(task, 1), 3.0)
    assert copies.missing(task, 1) == []
    assert copies.awaited(task, 1) == {"k"}
    assert copies.valid_bytes(task.data.items(), 1) == 0
    copies.arrive_until(2.9)
    assert copies.expected("k") == 3.0
    copies.arrive_until(3.0)
    assert copies.awaited(task, 1) == set()
    assert copies.valid_bytes(task.data.items(), 1) == 5


def test_the_times_to_all_memories_are_those_to_each() -> None:
    rng = np.random.default_rng(5)
    hardware = Node(node(2, 3, bandwidth=3e6, latency=0.25))
    copies = Copies(hardware)
    data = [f"x{i}" for i in range(8)]
    for step in range(60):
        chosen = {data[i]: int(rng.integers(0, 9_000_000)) for i in rng.permutation(8)[:3]}
        task, memory = a_task(chosen, {}), int(rng.integers(0, 4))
        expected = [copies.seconds(copies.missing(task, target)) for target in range(4)]
        assert copies.seconds_to(task) == expected
        copies.begin(str(step), copies.missing(task, memory), float(step + rng.integers(0, 4)))
        copies.arrive_until(float(step))
        if rng.random() < 0.5:
            copies.write(a_task({}, {next(iter(chosen)): 1}), int(rng.integers(0, 4)))
    assert copies.transfers > 30
