"""Small machines of two classes and small graphs of tasks."""

from collections.abc import Mapping, Sequence
from typing import Any

from batdispatch.core.jobs.job import JobState
from batdispatch.core.machine.machine import Host, Machine
from simulating import Result, Task

#: The dispatchers of tasks with the options that change what they do.
CASES: list[tuple[str, dict[str, Any]]] = [
    ("dada", {"alpha": 0.0}),
    ("dada", {"alpha": 0.5}),
    ("dada", {"alpha": 1.0, "communication": True, "affinity": "written-bytes"}),
    ("dada", {"batch": "fresh"}),
    ("heft", {}),
    ("heft", {"hold": True}),
    ("work-stealing", {}),
    ("work-stealing", {"locality": False}),
]
IDS = ["-".join([name, *map(str, options.values())]) for name, options in CASES]
MEGA = 1_000_000


def node(cores: int, gpus: int, *, bandwidth: float = 1e6, latency: float = 0.0) -> Machine:
    """Return a machine of CPU cores and GPUs, a megabyte a second by default."""
    hosts = [Host(id=i, name=f"c{i}") for i in range(cores)]
    for i in range(gpus):
        facts = {"memory_bandwidth": str(bandwidth), "memory_latency": str(latency)}
        hosts.append(Host(id=cores + i, name=f"g{i}", properties={"class": "gpu", "memory": f"g{i}", **facts}))
    return Machine(hosts)


def task(
    name: str,
    cpu: float | None,
    gpu: float | None,
    *,
    reads: Sequence[str] = (),
    writes: Sequence[str] = (),
    after: Sequence[str] = (),
    size: int = MEGA,
    submission: float = 0.0,
    **more: Any,
) -> Task:
    """Return a task whose data are a megabyte each; None: the class cannot run it."""
    runtimes = {kind: seconds for kind, seconds in (("cpu", cpu), ("gpu", gpu)) if seconds is not None}
    extra: dict[str, Any] = {"runtimes": runtimes, "reads": dict.fromkeys(reads, size), "flops": 1e9, **more}
    extra["writes"] = dict.fromkeys(writes, size)
    if after:
        extra["dependencies"] = list(after)
    return Task(name, submission, 1, 1000.0 if cpu is None else cpu, extra=extra)


def logical(result: Result, name: str) -> tuple[float, float, str, JobState]:
    """Return (start, end, hosts, state) of a task over its segments, in seconds."""
    segments = [row for row in result.rows.values() if row.id.partition("~")[0] == name]
    last = max(segments, key=lambda row: (row.end, row.state is JobState.COMPLETED_SUCCESSFULLY))
    return min(row.start for row in segments) / 1e6, last.end / 1e6, last.hosts, last.state


def spans(result: Result, tasks: Sequence[Task]) -> Mapping[str, tuple[float, float, str, JobState]]:
    return {each.id: logical(result, each.id) for each in tasks}
