"""Dispatching instances as JSON, one per line: a machine, the jobs that run on it, and queued jobs to decide about.

An instance does not keep what no model asks for: speeds, coordinates and topology of the hosts, users, profiles, holds.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Annotated, Any

import msgspec

from batdispatch.abilities.solvers.constraint.instance import FOREVER, Instance
from batdispatch.core.errors import BatdispatchError, FieldError, InputError
from batdispatch.core.hosts import hostset
from batdispatch.core.hosts.allocation import Allocation
from batdispatch.core.hosts.names import MAX_HOSTS
from batdispatch.core.jobs.fields import read_request, read_units, write_fields
from batdispatch.core.jobs.job import Job
from batdispatch.core.jobs.request import Request
from batdispatch.core.line.events import JobSubmitted, MachinesUnavailable, SimulationBegins
from batdispatch.core.line.ledger import Ledger
from batdispatch.core.machine.machine import CAPACITY_PROPERTY, LICENCES_PROPERTY, Host, Machine, capacity_text

Count = Annotated[int, msgspec.Meta(ge=1, le=10**6)]
Duration = Annotated[int, msgspec.Meta(ge=1, le=FOREVER)]
#: Bytes of the longest line.
MAX_LINE = 64 * 2**20


class SavedHosts(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    """Consecutive hosts that are alike: how many, and their capacity as in a platform, '' for whole hosts."""

    count: Count
    capacity: str = ""
    storage: bool = False


class SavedJob(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    """A queued job: its expected duration and its wait so far in s, its units `res`, and its request's other fields.

    `asks` holds these other fields as a workload has them.
    """

    id: str
    duration: Duration
    wait: Annotated[float, msgspec.Meta(ge=0)]
    res: int
    asks: dict[str, Any] = {}


class SavedRunning(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    """A running job: s until its expected end, its hosts, and its units on each of them; without counts, one each."""

    id: str
    remaining: Duration
    res: int
    hosts: str
    counts: list[Count] | None = None
    asks: dict[str, Any] = {}


class SavedInstance(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    """One line of a file of instances.

    Attributes:
        now: simulated time, s.
        hosts: the machine, in order of id.
        jobs: the queued jobs, in order.
        running: the running jobs.
        away: hosts that are away, in Batsim's notation.
        licences: what exists once for the whole machine.
        names: of the hosts, where a request names any.
    """

    now: float
    hosts: list[SavedHosts]
    jobs: list[SavedJob]
    running: list[SavedRunning]
    away: str = ""
    licences: str = ""
    names: list[str] = []


def encode(instance: Instance) -> bytes:
    """Return an instance as a line of JSON, without the line's end."""
    ledger = instance.ledger
    machine = ledger.machine
    kinds = [(capacity_text(host.properties) or "", host.storage) for host in machine.hosts]
    jobs = [
        SavedJob(job.id, int(duration), float(wait), job.units, _asks(job.request, machine))
        for job, duration, wait in zip(instance.jobs, instance.durations, instance.waits, strict=True)
    ]
    seconds = {one.stay.job.id: one.seconds for one in instance.running}
    running = [
        SavedRunning(
            job_id,
            seconds[job_id],
            stay.job.units,
            str(stay.allocation),
            None if stay.allocation.counts is None else list(stay.allocation.counts),
            _asks(stay.job.request, machine),
        )
        for job_id, stay in ledger.running.items()
        if job_id in seconds
    ]
    everyone = [*instance.jobs, *(stay.job for stay in ledger.running.values())]
    named = any(
        job.request.named or job.request.excluded or job.request.io_nodes or job.request.allowed is not None
        for job in everyone
    )
    saved = SavedInstance(
        now=ledger.now,
        hosts=[SavedHosts(len(list(group)), *kind) for kind, group in groupby(kinds)],
        jobs=jobs,
        running=running,
        away=str(Allocation(ledger.unavailable)),
        licences=" ".join(f"{name}={amount}" for name, amount in machine.licences),
        names=[host.name for host in machine.hosts] if named else [],
    )
    return msgspec.json.encode(saved)


def _asks(request: Request, machine: Machine) -> dict[str, Any]:
    # What a job depends on is over, or it would not be queued.
    request = msgspec.structs.replace(request, dependencies=())
    if request.allowed is not None:
        # Its partition, as a list of hosts.
        names = tuple(machine.hosts[host].name for host in hostset.ids(request.allowed))
        named = tuple(name for name in names if name in set(request.named)) if request.named else names
        request = msgspec.structs.replace(request, named=named, allowed=None)
    return write_fields(Job(id="", request=request))


def read_instances(path: Path) -> Iterator[tuple[int, Instance]]:
    """Yield (line number, instance) of a file of instances.

    Raises:
        InputError: a line is no instance, or describes an impossible one.
        OSError: the file cannot be read.
    """
    decoder = msgspec.json.Decoder(SavedInstance)
    found = False
    with path.open("rb") as file:
        number = 0
        while line := file.readline(MAX_LINE + 1):
            number += 1
            place = f"line {number}"
            if len(line) > MAX_LINE:
                raise InputError(f"is longer than {MAX_LINE} bytes", source=str(path), place=place)
            if not line.strip():
                continue
            try:
                saved = decoder.decode(line)
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as problem:
                raise InputError(f"is no dispatching instance: {problem}", source=str(path), place=place) from None
            found = True
            try:
                instance = _instance(saved)
            except BatdispatchError as problem:
                raise InputError(str(problem), source=str(path), place=place) from None
            yield number, instance
    if not found:
        raise InputError("holds no dispatching instance", source=str(path))


def _machine(saved: SavedInstance) -> Machine:
    count = sum(row.count for row in saved.hosts)
    if not saved.jobs:
        raise InputError("holds no queued job, expected at least one")
    if not 1 <= count <= MAX_HOSTS:
        raise InputError(f"{count:,} hosts, expected 1 to {MAX_HOSTS:,}")
    if saved.names and len(saved.names) != count:
        raise InputError(f"{len(saved.names)} names for {count} hosts")
    if len(set(saved.names)) < len(saved.names):
        twice = next(name for index, name in enumerate(saved.names) if name in saved.names[:index])
        raise InputError(f"names {twice!r} twice, expected each host's own name")
    hosts: list[Host] = []
    for row in saved.hosts:
        properties = {CAPACITY_PROPERTY: row.capacity} if row.capacity else {}
        if saved.licences:
            properties[LICENCES_PROPERTY] = saved.licences
        for _ in range(row.count):
            name = saved.names[len(hosts)] if saved.names else f"n{len(hosts)}"
            hosts.append(Host(id=len(hosts), name=name, properties=properties, storage=row.storage))
    return Machine(hosts)


def _job(saved: SavedJob | SavedRunning, seconds: int, submission: float) -> Job:
    try:
        request = read_request(read_units(saved.res), saved.asks)
    except FieldError as problem:
        field, shown = problem.field, str(problem.found)[:80]
        raise InputError(f"job {saved.id}: {field} is {shown}, expected {problem.expected}") from None
    if request.dependencies:
        raise InputError(f"job {saved.id} depends on others, which a queued or running job no longer does")
    return Job(id=saved.id, request=request, submission=submission, walltime=float(seconds))


def _instance(saved: SavedInstance) -> Instance:
    ledger = Ledger(SimulationBegins(time=saved.now, machine=_machine(saved)))
    ledger.now = saved.now
    for one in saved.running:
        job = ledger.apply_submitted(JobSubmitted(saved.now, _job(one, one.remaining, saved.now)))
        if job.units != (units := Allocation.parse(one.hosts).size if one.counts is None else sum(one.counts)):
            raise InputError(f"job {job.id} has {job.units} units, {units} run")
        ledger.start(job, Allocation.of(Allocation.parse(one.hosts).ids, one.counts))
    ledger.take_decisions()
    if saved.away:
        away = Allocation.parse(saved.away)
        if away.mask >> len(ledger.machine.hosts):
            raise InputError(f"host {away.ids[-1]} is away, which the machine does not have")
        ledger.apply(MachinesUnavailable(ledger.now, away))
    queued = []
    for waiting in saved.jobs:
        job = ledger.apply_submitted(JobSubmitted(saved.now, _job(waiting, waiting.duration, saved.now - waiting.wait)))
        reason = ledger.why_impossible(job)
        if reason:
            raise InputError(f"job {job.id} {reason}")
        queued.append(job)
    return Instance(ledger, queued, _walltime)


def _walltime(job: Job) -> float:
    """Return how long a job is expected to run, s: it was read with that as its walltime."""
    return job.walltime
