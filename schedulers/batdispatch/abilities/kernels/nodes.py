"""Nodes that several jobs share, and hosts of partitions, for a kernel: what the structure of native/nodes.h holds.

The header says what each field is. What jobs need, and why some never run, the core says.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from batdispatch.abilities.kernels.library import structure_of
from batdispatch.abilities.kernels.state import Counts, Ints, Jobs, State
from batdispatch.core.capacity.granularity import space_of
from batdispatch.core.capacity.impossible import why_never
from batdispatch.core.capacity.need import COUNTLESS, Need
from batdispatch.core.jobs.job import Job
from batdispatch.core.jobs.request import Request
from batdispatch.core.machine.machine import Machine
from batdispatch.core.machine.site import Site
from batdispatch.native.record import Record
from batdispatch.parts.placement.consecutive import weights_of

#: Bits of a word.
WORD = 64
#: More units than there can be of what is counted.
_UNBOUND = 2**62

#: Sets of hosts, or of blocks of them, uint64 [set, word].
Masks = NDArray[np.uint64]


class Part(NamedTuple):
    """A partition."""

    hosts: int
    tier: int


class Demands(NamedTuple):
    """What the jobs of a workload ask for on a machine that they share, or that has partitions."""

    machine: Machine
    #: What jobs of each kind need, and the kind of each job; 0 for those that never run.
    needs: list[Need]
    kind: Counts
    #: The partitions; one of all hosts stands for none. And that of each job.
    parts: list[Part]
    part: Counts
    #: The number of the reservation that each job asks for, from 1 on; 0: none.
    reserved: Counts
    #: Why some jobs never run, by rank.
    never: dict[int, str]

    def limited(self, jobs: Jobs) -> Jobs:
        """Return the jobs, of which only those that never run ask for more than `most`."""
        units = jobs.units.copy()
        units[list(self.never)] = self.most + 1
        return jobs._replace(units=units)

    def sums(self) -> tuple[Ints, Ints]:
        """Return what is pooled over the idle machine, int64 [resource], and what each job takes, [job, resource]."""
        space = space_of(self.machine)
        free = space.pooled(space.whole())
        needs = _numbers(amount for need in self.needs for amount in (*need.sums, *need.licences))
        return free, needs.reshape(-1, len(free))[self.kind] if self.needs else np.outer(self.kind, free)

    @property
    def most(self) -> int:
        """The most units that any job has that may run."""
        return max((need.units for need in self.needs), default=1)


def demands_of(machine: Machine, jobs: Jobs) -> Demands:
    """Return what jobs ask for, which `Jobs.said` tells."""
    space, site = space_of(machine), machine.site
    kinds, parts = dict[Request, int](), {"": 0}
    count = len(jobs.said)
    kind, part, reserved = (np.zeros(count, dtype=np.int32) for _ in range(3))
    known, never, needs = dict[Request, str](), dict[int, str](), list[Need]()
    for rank, told in enumerate(jobs.said.told or ()):
        # Queues look at walltimes, which are those of the clock.
        job = told if site is None else jobs.said.job(rank)
        reason, fitted = ("", job) if site is None else (site.refusal(job), site.fitted(job))
        if not reason and fitted.request not in known:
            known[fitted.request] = why_never(space, fitted)
        reason = reason or known[fitted.request]
        if reason:
            never[rank] = reason
            continue
        if fitted.request not in kinds:
            kinds[fitted.request] = len(needs)
            needs.append(space.need(fitted))
        kind[rank], part[rank] = kinds[fitted.request], parts.setdefault(_part(site, job), len(parts))
        if site is not None and (window := site.window_of(job)) is not None:
            reserved[rank] = site.windows.index(window) + 1
    listed = [Part(machine.compute, 1) if not name else _told(site, name) for name in parts]
    return Demands(machine, needs, kind, listed, part, reserved, never)


def _part(site: Site | None, job: Job) -> str:
    partition = None if site is None else site.partition_of(job)
    return "" if partition is None else partition.name


def _told(site: Site | None, name: str) -> Part:
    assert site is not None
    return Part(site.hosts[name], site.partitions[name].tier)


class Nodes(Record):
    """What is free, what jobs need, and what a search works on."""

    kinds, _fields_ = structure_of("nodes.h", "Nodes")


def nodes_of(demands: Demands, state: State) -> Nodes:
    """Return the nodes before anything happens."""
    machine, needs = demands.machine, demands.needs
    hosts, resources = machine.capacity.shape
    nodes = Nodes(hosts=hosts, resources=resources, words=words_of(machine), licences=len(machine.licences))
    capacity = np.concatenate((machine.capacity.ravel(), _numbers(amount for _, amount in machine.licences)))
    nodes.hold(weight=weights_of(machine), kind=demands.kind)
    nodes.hold(**{name: capacity.copy() for name in ("capacity", "free", "then", "both")})
    nodes.hold(
        **{name: _numbers(getattr(need, name) for need in needs) for name in ("units", "least", "most", "each")},
        bound=_numbers(map(_bound, needs)),
        alone=_numbers(machine.takes_hosts(need.request) for need in needs),
        idle=_numbers(need.whole for need in needs),
        named=_numbers(bool(need.request.named) for need in needs),
        licensed=_numbers(bool(need.request.licences) for need in needs),
        amounts=_numbers(amount for need in needs for amount in need.amounts),
        once=_numbers(amount for need in needs for amount in need.once or (0,) * resources),
        held=_numbers(amount for need in needs for amount in need.taken),
        may=masks_of([need.hosts for need in needs], nodes.words),
        unfit=np.full(len(needs), -1, dtype=np.int64),
    )
    # A host with its place takes two numbers, a set of neighbours four, and a job in an order three.
    sizes = {"able_host": 1, "room": 1, "order": 1, "on": 1, "roomy": 2, "sets": 4}
    for name, size in sizes.items():
        nodes.hold_zeros(size * hosts, name)
    nodes.hold_zeros(nodes.words, "place")
    nodes.hold_zeros(3 * state.jobs, "ahead")
    nodes.hold_zeros(state.jobs, "counts_at")
    make_room(nodes, state.room)
    return nodes


def _numbers(values: object) -> Ints:
    return np.array([*values], dtype=np.int64)  # type: ignore[misc]


def _bound(need: Need) -> int:
    """Return how many units a host takes at most, apart from what they need there, see `NodeSpace.room`."""
    if need.whole:
        return 1 if need.request.per_unit is None else COUNTLESS
    return _UNBOUND if any(need.amounts) else COUNTLESS


def words_of(machine: Machine) -> int:
    """Return of how many words sets of hosts are that run jobs."""
    return -(-machine.compute.bit_length() // WORD)


def masks_of(hosts: list[int], words: int) -> Masks:
    """Return sets of hosts that are given as masks, one behind the other, uint64 [set * word]."""
    return np.frombuffer(b"".join(mask.to_bytes(words * (WORD // 8), "little") for mask in hosts), dtype=np.uint64)


def make_room(nodes: Nodes, room: int) -> None:
    """Make room for the hosts of so many jobs, one by one."""
    nodes.lengthen(nodes.counted, room, "counts")
