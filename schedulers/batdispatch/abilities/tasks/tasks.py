"""Tasks: jobs of one unit that say how long they run on each class of hosts, and which data they need there.

The fields of a job's JSON object are ``runtimes``, ``reads``, ``writes`` and ``flops``, see `Task`. The properties of a
host are ``class``, ``memory``, ``memory_bandwidth`` and ``memory_latency``, see `Node`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import msgspec

from batdispatch.core.errors import InputError
from batdispatch.core.jobs.fields import MAX_LISTED, MAX_MOMENT, plain_request
from batdispatch.core.jobs.job import Job
from batdispatch.core.jobs.request import MAX_AMOUNT
from batdispatch.core.machine.machine import Host, Machine
from batdispatch.core.numerals import number_of

#: Class of a host that states none.
CPU = "cpu"
#: Memory of a host that states none, in which all data are at the start.
MAIN = "main"


class Task(msgspec.Struct, frozen=True, eq=False, gc=False):
    """What a job says of itself as a task.

    Attributes:
        job: the job.
        runtimes: class of hosts -> seconds that it computes there.
        reads: name -> bytes of the data that it needs in the host's memory.
        writes: name -> bytes of the data that are valid only there once it has ended.
        flops: operations, for the account of rates.
        data: name -> bytes of all data that it touches; worked out at construction.
    """

    job: Job
    runtimes: Mapping[str, float]
    reads: Mapping[str, int]
    writes: Mapping[str, int]
    flops: float
    data: Mapping[str, int] = {}

    def __post_init__(self) -> None:
        msgspec.structs.force_setattr(self, "data", {**self.reads, **self.writes})


def task_of(job: Job) -> Task | None:
    """Return a job as a task, or None if it states no run time by class.

    Raises:
        InputError: one of the fields is wrong, or the job asks for more than a host.
    """
    runtimes = job.extra.get("runtimes")
    if runtimes is None:
        return None
    if type(runtimes) is not dict or not runtimes:
        raise _wrong(job, "runtimes", runtimes, 'an object such as {"cpu": 0.03, "gpu": 0.001}')
    for name, seconds in runtimes.items():
        if type(seconds) not in (int, float) or not 0 < seconds <= MAX_MOMENT:
            raise _wrong(job, f"runtimes.{name}", seconds, f"seconds above 0 and up to {MAX_MOMENT:g}")
    flops = job.extra.get("flops", 0)
    if type(flops) not in (int, float) or not 0 <= flops < math.inf:
        raise _wrong(job, "flops", flops, "a number of operations")
    request = msgspec.structs.replace(job.request, dependencies=())
    if request != plain_request(1):
        raise InputError(
            "it states run times by class, so it is a task: expected 1 unit, and no field that says more of the hosts",
            place=f"job {job.id}",
        )
    return Task(job, runtimes, _data(job, "reads"), _data(job, "writes"), float(flops))


def _data(job: Job, field: str) -> dict[str, int]:
    told = job.extra.get(field, {})
    if type(told) is not dict or len(told) > MAX_LISTED:
        raise _wrong(job, field, told, 'an object of data and their bytes such as {"A.0.0": 2097152}')
    for name, size in told.items():
        if type(size) is not int or not 0 <= size <= MAX_AMOUNT:
            raise _wrong(job, f"{field}.{name}", size, f"a whole number of bytes from 0 to {MAX_AMOUNT}")
    return told


def _wrong(job: Job, field: str, found: Any, expected: str) -> InputError:
    return InputError(f"found {str(found)[:60]!r}, expected {expected}", place=f"job {job.id}, field {field!r}")


class Resource(NamedTuple):
    """A host that runs one task at a time."""

    #: Host id.
    host: int
    #: Its class.
    kind: str
    #: Position of its memory in `Node.memories`.
    memory: int


class Node:
    """The hosts as resources for tasks, and the memories that they compute in.

    Attributes:
        resources: the compute hosts, in order of id.
        memories: names of the memories; the first one is `MAIN`.
        bandwidth: of the way between the main memory and each memory, bytes/s, [memory].
        latency: of that way, s, [memory].
        carriers: the first host that computes in each memory, [memory]; it stands for the memory in transfers. None:
            no host computes there.
    """

    def __init__(self, machine: Machine) -> None:
        """Read the hosts' properties.

        Raises:
            InputError: a property is malformed, or hosts of one memory contradict each other.
        """
        self.memories = [MAIN]
        self.bandwidth = [math.inf]
        self.latency = [0.0]
        self.carriers: list[int | None] = [None]
        self.resources: list[Resource] = []
        for host in machine.hosts:
            if host.storage:
                continue
            name = host.properties.get("memory", MAIN)
            way = (_number(host, "memory_bandwidth", math.inf), _number(host, "memory_latency", 0.0))
            if name not in self.memories:
                self.memories.append(name)
                self.bandwidth.append(way[0])
                self.latency.append(way[1])
                self.carriers.append(None)
            memory = self.memories.index(name)
            if way != (self.bandwidth[memory], self.latency[memory]):
                raise InputError(
                    f"host {host.name}: its way to memory {name!r} is not that of the hosts before it"
                    + (", and all data are in main at the start: expected no way to it" if name == MAIN else "")
                )
            if self.carriers[memory] is None:
                self.carriers[memory] = host.id
            self.resources.append(Resource(host.id, host.properties.get("class", CPU), memory))
        known = range(len(self.memories))
        self._ways = [[self._way(source, target) for target in known] for source in known]

    def seconds(self, size: int, source: int, target: int) -> float:
        """Return how long a copy takes from one memory to another if nothing else is copied.

        Between two memories other than the main one, both ways are passed, and the slower one limits.
        """
        fixed, per_byte = self._ways[source][target]
        return fixed + size * per_byte

    def _way(self, source: int, target: int) -> tuple[float, float]:
        """Return the seconds of a copy apart from its bytes, and those of each byte."""
        if source == target:
            return 0.0, 0.0
        fixed = self.latency[source] + self.latency[target]
        return fixed, 1 / min(self.bandwidth[source], self.bandwidth[target])


def _number(host: Host, name: str, default: float) -> float:
    text = host.properties.get(name)
    if text is None:
        return default
    value = number_of(text)
    least_is_allowed = name == "memory_latency"
    if not (0 <= value < math.inf) or (value == 0 and not least_is_allowed):
        unit = "seconds" if least_is_allowed else "bytes/s"
        raise InputError(f"host {host.name}: property {name} {text[:60]!r}, expected a number of {unit}")
    return value
