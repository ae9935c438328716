"""Random machines, jobs and workloads for property tests."""

import math
from typing import Any

from hypothesis import strategies as st

from batdispatch.core.capacity.granularity import space_of
from batdispatch.core.hosts.allocation import Allocation
from batdispatch.core.jobs.fields import read_request
from batdispatch.core.jobs.job import Job
from batdispatch.core.line import events as e
from batdispatch.core.machine.machine import Host, Machine
from simulating import Task

NODE_CLASSES = ["core=4 mem=8", "core=4 gpu=2 mem=8", "core=2 mic=1 mem=16", "core=8 gpu=1 mem=4"]
DEMANDS = [
    {"core": 1},
    {"core": 2, "mem": 3},
    {"core": 1, "gpu": 1},
    {"mem": 5},
    {"core": 4, "mem": 8},
    {"core": 1, "mic": 1, "mem": 0},
    {},
]


@st.composite
def exclusive_machines(draw: st.DrawFn, most: int = 8) -> Machine:
    """Up to `most` compute hosts and perhaps storage hosts among them."""
    storage = draw(st.lists(st.booleans(), min_size=1, max_size=most).filter(lambda flags: not all(flags)))
    if draw(st.booleans()):
        storage = [False] * len(storage)
    return Machine([Host(id=i, name=f"n{i}", storage=flag) for i, flag in enumerate(storage)])


@st.composite
def shared_machines(draw: st.DrawFn, most: int = 4) -> Machine:
    """Up to `most` nodes of several classes, and perhaps a storage host."""
    classes = draw(st.lists(st.sampled_from(NODE_CLASSES), min_size=1, max_size=most))
    hosts = [Host(id=i, name=f"n{i}", properties={"capacity": text}) for i, text in enumerate(classes)]
    if draw(st.booleans()):
        hosts.append(Host(id=len(hosts), name="io", storage=True))
    return Machine(hosts)


def machines() -> st.SearchStrategy[Machine]:
    """Exclusive and shared machines."""
    return st.one_of(exclusive_machines(), shared_machines())


@st.composite
def jobs(draw: st.DrawFn, machine: Machine, name: str = "w0!1") -> Job:
    """A job whose request is resolved and that the idle machine can run."""
    demand, most = None, machine.size
    if not machine.exclusive:
        usable = [None] + [d for d in DEMANDS if set(d) <= set(machine.resources)]
        demand = draw(st.sampled_from(usable))
        space = space_of(machine)
        most = int(space.room(space.whole(), make_job(demand=demand)).clip(max=6).sum())
        if not most:
            demand, most = None, machine.size
    return make_job(name, draw(st.integers(1, most)), demand)


def make_job(
    name: str = "w0!1",
    units: int = 1,
    demand: dict[str, int] | None = None,
    *,
    walltime: float = math.inf,
    **fields: Any,
) -> Job:
    """A job as it would be read from a workload; `fields` are those of `core.jobs.request`."""
    extra = fields if demand is None else {"demand": demand, **fields}
    return Job(id=name, request=read_request(units, extra), walltime=walltime, extra=extra)


def _seconds(low: int, high: int) -> st.SearchStrategy[float]:
    """Whole seconds, so that many ties arise, or tenths, so that sums are inexact."""
    return st.one_of(
        st.integers(low, high).map(float), st.integers(low * 10, high * 10).filter(bool).map(lambda tenths: tenths / 10)
    )


@st.composite
def workloads(
    draw: st.DrawFn, machine: Machine, *, most: int = 12, walltimes: bool = False, impossible: bool = True
) -> list[Task]:
    """Tasks for a machine.

    Args:
        draw: of hypothesis.
        machine: what they run on.
        most: largest number of tasks.
        walltimes: whether every task has a walltime; if not, some do.
        impossible: whether some may ask for more than there is.
    """
    tasks: list[Task] = []
    for number in range(draw(st.integers(1, most))):
        runtime = draw(_seconds(1, 9))
        kind = draw(st.sampled_from(["equal", "above", "above", "below"] + ([] if walltimes else ["none"])))
        walltime = {
            "equal": runtime,
            "above": runtime + draw(_seconds(1, 9)),
            "below": max(round(runtime / 2, 1), 0.1),
            "none": math.inf,
        }[kind]
        job = draw(jobs(machine))
        units = job.units
        if impossible and draw(st.integers(0, 15)) == 0:
            units = 100 * len(machine.hosts)
        demand = job.request.demand
        user = draw(st.sampled_from(["", "ann", "ben"]))
        submission = draw(st.one_of(st.just(0.0), _seconds(0, 20)))
        tasks.append(Task(str(number), submission, units, runtime, walltime, demand, user))
    return tasks


@st.composite
def absences(draw: st.DrawFn, machine: Machine) -> list[e.Event]:
    """Hosts that come and go; in the end all are there."""
    found: list[e.Event] = []
    for _ in range(draw(st.integers(0, 4))):
        hosts = Allocation(draw(st.integers(1, 2 ** len(machine.hosts) - 1)))
        begin = draw(st.integers(0, 150)) / 10
        found.append(e.MachinesUnavailable(begin, hosts))
        if draw(st.booleans()):
            found.append(e.MachinesAvailable(begin + draw(st.integers(0, 100)) / 10, hosts))
    return [*found, e.MachinesAvailable(30.0, Allocation((1 << len(machine.hosts)) - 1))] if found else []


#: Options of slurm-backfill's two loops, with values that matter within some 100 s.
SLURM_LOOPS = {
    "interval": st.sampled_from(["0", "10", "30"]),
    "tick": st.sampled_from(["0", "1"]),
    "ordering": st.sampled_from(["basic", "sjf", "multifactor[size=100,age=1000]"]),
    "depth": st.sampled_from(["1", "3", "100"]),
    "reservations": st.sampled_from(["0", "1"]),
}
