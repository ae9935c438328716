"""The line of a machine's nodes, and the ranges on it in which a job may run."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from batdispatch.core import hostset
from batdispatch.core.allocation import Allocation
from batdispatch.core.filling import first_fit
from batdispatch.core.job import Job
from batdispatch.core.machine import Machine
from batdispatch.core.request import Request
from batdispatch.core.space import REMEMBERED, Space, present
from batdispatch.core.topology import Grid
from batdispatch.core.topology.curves import line
from batdispatch.dispatchers.topology.ranges import Ints, Ranges

#: `auto`: `snake` on a torus or mesh, else `names`. `names`: the order of the hosts' names, n2 before n10. `ids`: the
#: order of Batsim's numbers, by which I/O nodes come after all others. The rest are curves through a torus or mesh.
Order = Literal["auto", "names", "ids", "row-major", "snake", "hilbert"]


class Line:
    """The compute nodes of a machine in some order, numbered without the I/O nodes between them.

    An I/O node has a *gap*: the place between the compute nodes before and after it. A compute node is its *neighbour*
    where no other node stands between them in the full line.

    Attributes:
        hosts: host ids along the line, int64 [position].
        position: where each host is on the line, -1 for I/O nodes, int64 [host].
        beside: name of each I/O node -> positions of its neighbours, at most two, ascending.
    """

    def __init__(self, machine: Machine, order: Order = "auto") -> None:
        """Put all hosts of a machine in line, I/O nodes among them.

        Raises:
            ValueError: the order leads through routers, and the machine's topology is not known or no grid.
        """
        full = _in_line(machine, order)
        storage = {disk.id for disk in machine.storage}
        self.hosts: Ints = np.array([host for host in full if host not in storage], dtype=np.int64)
        self.position: Ints = np.full(len(machine.hosts), -1, dtype=np.int64)
        self.position[self.hosts] = np.arange(len(self.hosts))
        self.beside: dict[str, tuple[int, ...]] = {}
        for place, host in enumerate(full):
            if host in storage:
                around = full[max(place - 1, 0) : place] + full[place + 1 : place + 2]
                beside = sorted(int(self.position[other]) for other in around if other not in storage)
                self.beside[machine.hosts[host].name] = tuple(beside)

    def __len__(self) -> int:
        return len(self.hosts)

    def mask(self, start: int, stop: int) -> int:
        """Return the mask of the hosts at the positions start, ..., stop - 1."""
        return hostset.mask_of(self.hosts[start:stop].tolist())

    def chosen(self, mask: int) -> NDArray[np.bool_]:
        """Return which positions have their hosts in a mask, bool [position]."""
        found = np.zeros(len(self.hosts), dtype=np.bool_)
        places = self.position[hostset.ids(mask)]
        found[places[places >= 0]] = True
        return found


def _in_line(machine: Machine, order: Order) -> list[int]:
    """Return all hosts of a machine in an order; hosts that are not in the network of a curve come last."""
    everyone = np.arange(len(machine.hosts), dtype=np.int64)
    topology = machine.topology
    if order == "auto":
        order = "snake" if isinstance(topology, Grid) else "names"
    if order == "names":
        return sorted(everyone.tolist(), key=lambda host: _natural(machine.hosts[host].name))
    if order == "ids" or topology is None:
        return [*line(everyone, topology, order).tolist()]
    outside = topology.router_of < 0
    return [*line(everyone[~outside], topology, order).tolist(), *everyone[outside].tolist()]


def _natural(name: str) -> list[tuple[bool, int, str]]:
    """Return a key by which the numbers in names are compared as numbers."""
    return [(part.isdecimal(), int(part) if part.isdecimal() else 0, part) for part in re.split(r"(\d+)", name)]


class Asking:
    """Where on a line each request may go on the idle machine; requests that ask alike share one answer."""

    def __init__(self, line: Line, space: Space[Any]) -> None:
        self._line = line
        self._space = space
        self._known: dict[Request, Ranges | None] = {}
        #: The same while some hosts are away, for requests that would have no range otherwise, and which hosts.
        self._around: dict[Request, Ranges | None] = {}
        self._away = 0
        #: Number of whole hosts -> all ranges of so many.
        self._plain: dict[int, Ranges] = {}

    def ranges(self, job: Job, away: int = 0) -> Ranges | None:
        """Return the ranges of a job while the hosts of a mask are away, or None if it has none.

        On whole hosts a range holds as many nodes as the job asks for. Where jobs may share nodes, it holds the job,
        and no range within it does; the job has the nodes of its range for itself.

        A job that is pinned to I/O nodes may go to the ranges that hold a neighbour of each of them, and uses every
        node of its range. A job that is pinned to none may go anywhere; where it cannot have nodes beside each other,
        since it names others or hosts are away, its ranges lead from the first to the last of them.
        """
        request = job.request
        if request not in self._known:
            if len(self._known) >= REMEMBERED:
                self._known.clear()
            self._known[request] = self._find(job)
        found = self._known[request]
        if not away or found is None:
            return found
        found = found.within(~self._line.chosen(away))
        if len(found.starts) or request.io_nodes:
            return found if len(found.starts) else None
        if self._away != away:
            self._around, self._away = {}, away
        if request not in self._around:
            self._around[request] = self._shortest(job, present(self._space, away))
        return self._around[request]

    def _find(self, job: Job) -> Ranges | None:
        request = job.request
        exclusive = self._space.machine.exclusive
        whole = self._space.whole()
        ranges = self._ranges(job) if exclusive else self._shortest(job, whole)
        if ranges is None and exclusive and not request.io_nodes:
            ranges = self._shortest(job, whole)
        if ranges is None or not request.io_nodes:
            return ranges
        keep = np.ones(len(ranges.starts), dtype=np.bool_)
        for name in request.io_nodes:
            beside = [(ranges.starts <= node) & (node < ranges.stops) for node in self._line.beside[name]]
            keep &= np.logical_or.reduce(beside) if beside else np.zeros_like(keep)
        if not exclusive:
            places = zip(ranges.starts.tolist(), ranges.stops.tolist(), strict=True)
            keep &= [self._fills(job, start, stop) for start, stop in places]
        return _kept(ranges, keep)

    def _ranges(self, job: Job) -> Ranges | None:
        """Return the ranges of exactly as many whole hosts as a job asks for, all of which it may use."""
        line, request = self._line, job.request
        ranges = self._plain.get(request.units)
        if ranges is None:
            starts = np.arange(len(line) - request.units + 1, dtype=np.int64)
            ranges = self._plain[request.units] = Ranges(starts, starts + request.units)
        if not len(ranges.starts):
            return None
        if request.plain:
            return ranges
        keep = ranges.all_of(line.chosen(self._space.need(job).hosts))
        keep[keep] = [
            not self._space.mismatch(job, Allocation(line.mask(start, stop)))
            for start, stop in zip(ranges.starts[keep].tolist(), ranges.stops[keep].tolist(), strict=True)
        ]
        return _kept(ranges, keep)

    def _shortest(self, job: Job, free: Any) -> Ranges | None:
        """Return the ranges that hold a job while none within them does, whether or not it uses all of their nodes."""
        line, space = self._line, self._space
        starts: list[int] = []
        stops: list[int] = []
        stop = 0
        for start in range(len(line)):
            while not (stop > start and space.fits(space.only(free, line.mask(start, stop)), job)):
                stop += 1
                if stop > len(line):
                    return _listed(starts, stops)
            if stops and stops[-1] == stop:
                starts[-1] = start
            else:
                starts.append(start)
                stops.append(stop)
        return _listed(starts, stops)

    def _fills(self, job: Job, start: int, stop: int) -> bool:
        allocation = self.allocation(job, self._space.whole(), start, stop)
        return allocation is not None and allocation.size == stop - start

    def allocation(self, job: Job, free: Any, start: int, stop: int) -> Allocation | None:
        """Return where in a range a job's units go, within some free capacity, or None if it does not hold them."""
        return first_fit(self._space, self._space.only(free, self._line.mask(start, stop)), job)


def _kept(ranges: Ranges, keep: NDArray[np.bool_]) -> Ranges | None:
    return Ranges(ranges.starts[keep], ranges.stops[keep]) if keep.any() else None


def _listed(starts: Sequence[int], stops: Sequence[int]) -> Ranges | None:
    return Ranges(np.array(starts, dtype=np.int64), np.array(stops, dtype=np.int64)) if starts else None
