"""The line of a machine's nodes, and the ranges on it in which a job may run."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from batdispatch.abilities.solvers.pinned_io.ranges import Ints, Ranges
from batdispatch.abilities.topology.networks import Grid, topology_of
from batdispatch.abilities.topology.networks.curves import line
from batdispatch.abilities.topology.placement.geometry.ranges import ranges
from batdispatch.core.capacity.filling import first_fit
from batdispatch.core.capacity.space import CACHE_SIZE, Space, present
from batdispatch.core.hosts import hostset
from batdispatch.core.hosts.allocation import Allocation
from batdispatch.core.jobs.job import Job
from batdispatch.core.jobs.request import Request
from batdispatch.core.machine.machine import Machine

if TYPE_CHECKING:
    from batdispatch.abilities.topology.placement.geometry.moment import HostDemand

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
    topology = topology_of(machine)
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


class RangeFinder:
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
        node of its range. On shared nodes, such a range may have room for more units than the job has: each node then
        takes at least one. A job that is pinned to none may go anywhere; where it cannot have nodes beside each other,
        since it names others or hosts are away, its ranges lead from the first to the last of them.
        """
        request = job.request
        if request not in self._known:
            if len(self._known) >= CACHE_SIZE:
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
        if not self._space.machine.exclusive:
            return self._beside(job) if request.io_nodes else self._shortest(job, self._space.whole())
        found = self._ranges(job)
        if not request.io_nodes:
            return self._shortest(job, self._space.whole()) if found is None else found
        if found is None:
            return None
        keep = np.ones(len(found.starts), dtype=np.bool_)
        for name in request.io_nodes:
            beside = [(found.starts <= node) & (node < found.stops) for node in self._line.beside[name]]
            keep &= np.logical_or.reduce(beside) if beside else np.zeros_like(keep)
        return _kept(found, keep)

    def _ranges(self, job: Job) -> Ranges | None:
        """Return the ranges of exactly as many whole hosts as a job asks for, all of which it may use."""
        line, request = self._line, job.request
        found = self._plain.get(request.units)
        if found is None:
            starts = np.arange(len(line) - request.units + 1, dtype=np.int64)
            found = self._plain[request.units] = Ranges(starts, starts + request.units)
        if not len(found.starts):
            return None
        if request.plain:
            return found
        keep = found.all_of(line.chosen(self._space.need(job).hosts))
        keep[keep] = [
            not self._space.mismatch(job, Allocation(line.mask(start, stop)))
            for start, stop in zip(found.starts[keep].tolist(), found.stops[keep].tolist(), strict=True)
        ]
        return _kept(found, keep)

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

    def _beside(self, job: Job) -> Ranges | None:
        """Return the ranges of shared nodes beside all I/O nodes of a job that it can fill, while none within them is.

        Exact: if there is none, no range of nodes will do. Time: as `_touching`, and an allocation for each range.
        """
        starts: list[int] = []
        stops: list[int] = []
        bound = len(self._line) + 1
        for start, stop in sorted(self._touching(job), key=lambda place: (-place[0], place[1])):
            # From `bound` on, it would hold a range that begins later.
            if stop < bound and self._fills(job, start, stop):
                starts.append(start)
                stops.append(stop)
                bound = stop
        return _listed(starts[::-1], stops[::-1])

    def _touching(self, job: Job) -> Iterator[tuple[int, int]]:
        """Yield (start, stop) of all ranges with room for a job that hold a neighbour of each of its I/O nodes.

        Time: `O(l^2 log l)` for jobs on up to l nodes.
        """
        space, hosts = self._space, self._line.hosts
        beside = [self._line.beside[name] for name in job.request.io_nodes]
        if not all(beside):
            return
        wanted = _wanted(space, space.whole(), job)
        low = max(0, *(min(nodes) - wanted.most + 1 for nodes in beside))
        high = min(max(nodes) + wanted.most for nodes in beside)
        room = wanted.room[hosts[low:high]]
        for first, length in ranges(room, wanted.units, wanted.least, wanted.most, wrap=False, longer=True):
            start, stop = low + first, low + first + length
            if all(any(start <= node < stop for node in nodes) for nodes in beside):
                yield start, stop

    def _fills(self, job: Job, start: int, stop: int) -> bool:
        allocation = self.allocation(job, self._space.whole(), start, stop)
        return allocation is not None and not self._space.mismatch(job, allocation)

    def allocation(self, job: Job, free: Any, start: int, stop: int) -> Allocation | None:
        """Return where in a range a job's units go, within some free capacity, or None if it does not hold them."""
        space = self._space
        there = space.only(free, self._line.mask(start, stop))
        if space.machine.exclusive or not job.request.io_nodes:
            return first_fit(space, there, job)
        wanted = _wanted(space, there, job)
        hosts = np.sort(self._line.hosts[start:stop])
        if not space.fits(there, job) or not wanted.room[hosts].all():
            return None
        return wanted.settle(hosts, len(hosts))


def _kept(ranges: Ranges, keep: NDArray[np.bool_]) -> Ranges | None:
    return Ranges(ranges.starts[keep], ranges.stops[keep]) if keep.any() else None


def _listed(starts: Sequence[int], stops: Sequence[int]) -> Ranges | None:
    return Ranges(np.array(starts, dtype=np.int64), np.array(stops, dtype=np.int64)) if starts else None


def _wanted(space: Space[Any], free: Any, job: Job) -> HostDemand:
    """Return what a job wants of hosts that have so much free."""
    # It needs SciPy, and whoever has none hears which dispatcher needs it.
    from batdispatch.abilities.topology.placement.geometry.moment import HostDemand

    return HostDemand(space.need(job), space.room(free, job))
