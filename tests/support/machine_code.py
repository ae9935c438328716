"""All kernels in machine code beside the dispatchers in Python, for a process in which Numba compiles."""

import math
import random
from typing import Any

from batdispatch.core.machine.machine import Machine
from batdispatch.engines.compiled import conservative, queue_kernel
from batdispatch.engines.compiled.machine_times import left_last
from compiling import compiled, in_python, workload_of
from simulating import Task

CASES: list[tuple[str, dict[str, Any]]] = [
    ("fcfs", {}),
    ("filler", {"ordering": "f1"}),
    ("easy", {}),
    ("easy", {"ordering": "sjf"}),
    ("easy", {"reservation": "hosts", "rjms_delay": 5}),
    ("easy", {"reservation": "hosts", "ordering": "largest-area"}),
    ("conservative", {}),
    ("conservative", {"ordering": "f2", "rjms_delay": 5}),
]
#: Dispatcher -> its kernel.
KERNELS: dict[str, Any] = {
    **dict.fromkeys(("fcfs", "filler", "easy"), queue_kernel.run),
    "conservative": conservative.run,
}


def compare(*dispatchers: str) -> int:
    """Compare the files of the cases of some dispatchers, and return how many there are.

    Raises:
        AssertionError: a file differs, or nothing was compiled.
    """
    kernels = (left_last, *dict.fromkeys(KERNELS[name] for name in dispatchers))
    for kernel in kernels:
        assert type(kernel).__name__ == "CPUDispatcher", kernel
    machine, tasks = Machine.flat(40), _tasks(random.Random(3), 400, 40)
    whole, broken = workload_of(tasks), workload_of(_broken(random.Random(4), tasks))
    cases = [case for case in CASES if case[0] in dispatchers]
    for dispatcher, options in cases:
        workload = whole if dispatcher == "conservative" else broken
        found, expected = (simulate(machine, workload, dispatcher, options) for simulate in (compiled, in_python))
        assert found.jobs == expected.jobs, (dispatcher, options)
        assert found == expected, (dispatcher, options)
    # Whoever asks for compiled code must have got it.
    assert all(kernel.signatures for kernel in kernels)
    return len(cases)


def _tasks(chance: random.Random, count: int, hosts: int) -> list[Task]:
    """Return contended jobs at whole seconds with many ties; some have no walltime, some fail, some are too large."""
    tasks = []
    for index in range(count):
        runtime = chance.randint(1, 60)
        walltime = math.inf if index % 17 == 0 else max(runtime + chance.choice([0, 0, 5, 40, -1]), 1)
        units = hosts + 1 if index % 41 == 0 else min(int(2 ** chance.uniform(0, 6)), hosts)
        tasks.append(
            Task(
                f"j\u00e9{index}",
                chance.randint(0, count * 3),
                units,
                runtime,
                walltime,
                extra={"ret": 1} if index % 23 == 0 else {},
            )
        )
    return tasks


def _broken(chance: random.Random, tasks: list[Task]) -> list[Task]:
    """Return jobs that come and go near a half of a microsecond, where a rounding goes wrong first."""
    changed = []
    for task in tasks:
        halves = [math.nextafter(chance.randrange(10**6) / 10**6 + 5e-7, chance.choice([-1, 1])) for _ in range(2)]
        changed.append(task._replace(submission=task.submission + halves[0], runtime=task.runtime + halves[1]))
    return changed
