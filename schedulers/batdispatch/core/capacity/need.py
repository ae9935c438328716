"""A request resolved for one machine: amounts along its resource axis, hosts as a mask, licences along their axis."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from batdispatch.core.errors import InputError
from batdispatch.core.hosts import hostset
from batdispatch.core.hosts.allocation import Allocation
from batdispatch.core.jobs.request import Amounts, Request
from batdispatch.core.machine.machine import POWER, Machine

#: More units than any job has: how many units that need nothing a node can take.
COUNTLESS = 2**31


class Need:
    """What a job needs of one machine.

    Attributes:
        request: what was asked for.
        units: number of units.
        whole: whether each node used is taken wholly, although other jobs might share it.
        amounts: what a unit takes of each resource, along the machine's axis; 0 where each unit is a whole node. A host
            of a machine of whole hosts has one unit of its only resource.
        once: what each node used gives once, along the machine's axis; None: nothing.
        per_host: how many units a wholly idle node holds, int64 [host]; None: one.
        hosts: mask of the hosts that may be used.
        sums: amounts of the whole machine below which the job surely does not fit, along the machine's axis.
        licences: what must be free at the start, along the machine's licences.
        taken: what the job takes of it.
        plain: True when only units and amounts restrict where the job goes.
    """

    __slots__ = (
        "_allowed",
        "_choices",
        "amounts",
        "each",
        "hosts",
        "least",
        "licences",
        "most",
        "once",
        "per_host",
        "plain",
        "request",
        "sums",
        "taken",
        "units",
        "whole",
    )

    def __init__(self, machine: Machine, request: Request) -> None:
        self.request = request
        self.units = request.units
        self.plain = request.plain
        shared = not machine.exclusive
        self.whole = shared and request.whole
        self.amounts = along(machine, request.per_unit or ()) if shared else (1,)
        self.once = along(machine, request.per_node) if shared and request.per_node else None
        self.per_host: NDArray[np.int64] | None = None
        if self.whole and (request.per_unit is not None or self.once is not None):
            self.per_host = self._on_idle(machine)
        self.hosts = machine.compute
        if request.named:
            self.hosts &= hostset.mask_of(_ids(machine, request.named, "node_list"))
        if request.excluded:
            self.hosts &= ~hostset.mask_of(_ids(machine, request.excluded, "exclude_nodes"))
        if request.allowed is not None:
            self.hosts &= request.allowed
        self._allowed: NDArray[np.bool_] | None = None
        if self.hosts != machine.compute:
            self._allowed = hostset.flags_of(self.hosts, len(machine.hosts))
        self._choices = [hostset.flags_of(mask & self.hosts, len(machine.hosts)) for mask in request.choices]
        self.least, self.most = request.nodes or (1, request.units)
        self.each = request.units_per_node or 0
        self._check(machine, machine.units_are_hosts(request))
        added, beside = request.power or (0, 0)
        self.taken = self._licences(machine, added)
        self.licences = self._licences(machine, added + beside) if beside else self.taken
        self.sums = self._sums(machine)

    def _licences(self, machine: Machine, power: int) -> tuple[int, ...]:
        """Return what is needed of each of the machine's licences; `power`: mW."""
        amounts = {**dict(self.request.licences), POWER: power}
        return tuple(amounts.get(name, 0) for name, _ in machine.licences)

    def _on_idle(self, machine: Machine) -> NDArray[np.int64]:
        """Return how many units each idle node holds, int64 [host]."""
        left = machine.capacity - (0 if self.once is None else np.array(self.once))
        able = (left >= 0).all(axis=1) & (machine.classes >= 0)
        room = np.where(able, 1 if self.request.per_unit is None else COUNTLESS, 0)
        for axis, amount in enumerate(self.amounts):
            if amount:
                room = np.minimum(room, np.maximum(left[:, axis], 0) // amount)
        return room

    def _check(self, machine: Machine, one_each: bool) -> None:
        """Refuse what contradicts itself.

        Raises:
            InputError: it does.
        """
        request, units = self.request, self.units
        if one_each and self.each > 1:
            raise InputError(f"asks for {self.each} units on each node, a unit is a whole node")
        if self.each and units % self.each:
            raise InputError(f"asks for {units} units, {self.each} on each node: {units} is no multiple of {self.each}")
        fixed = units if one_each else units // self.each if self.each else 0
        if request.nodes and fixed and not self.least <= fixed <= self.most:
            raise InputError(f"asks for {self.least} to {self.most} nodes, its {units} units take {fixed}")
        if request.nodes and self.least > units:
            raise InputError(f"asks for at least {self.least} nodes, and has only {units} units to put there")
        if fixed:
            self.least = self.most = fixed
        for name, amount in request.licences:
            if amount and name not in dict(machine.licences):
                known = ", ".join(known for known, _ in machine.licences) or "none"
                raise InputError(f"needs licence {name!r}, the machine has {known}")
        for name in request.io_nodes:
            if not any(host.name == name for host in machine.storage):
                raise InputError(f"is pinned to I/O node {name!r}, which is no storage host of the machine")

    def _sums(self, machine: Machine) -> tuple[int, ...]:
        if self.whole and self.request.per_unit is None:
            # Whole nodes of any kind: no sum tells whether enough of them are idle.
            return (0,) * len(machine.resources)
        once = self.once or (0,) * len(self.amounts)
        nodes = max(self.least, 1)
        return tuple(self.units * amount + nodes * fixed for amount, fixed in zip(self.amounts, once, strict=True))

    # ------------------------------------------------------------------ rooms

    def restrict(self, room: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return a room with nothing on hosts that may not be used, and only full shares where these are fixed.

        Args:
            room: int64 [..., host].
        """
        if self._allowed is not None:
            room = np.where(self._allowed, room, 0)
        if self.each:
            room = np.where(room >= self.each, self.each, 0)
        return room

    def enough(self, room: NDArray[np.int64]) -> bool:
        """Return whether all units find a place in a room, int64 [host], on a number of nodes that was asked for."""
        if self._choices:
            return any(self._enough_there(np.where(flags, room, 0)) for flags in self._choices)
        return self._enough_there(room)

    def _enough_there(self, room: NDArray[np.int64]) -> bool:
        if self.request.contiguous:
            return self.range_in(room) is not None
        return self._enough(room)

    def _enough(self, room: NDArray[np.int64]) -> bool:
        able = room[room > 0]
        if len(able) < self.least:
            return False
        if len(able) > self.most:
            able = np.partition(able, len(able) - self.most)[len(able) - self.most :]
        return int(able.sum()) >= self.units

    def range_in(self, room: NDArray[np.int64]) -> tuple[int, int] | None:
        """Return the shortest range of consecutive nodes that has enough room, the lowest of those, as (first, last).

        Every node of the range takes a unit. Time: linear in the nodes, apart from ranges of fixed lengths that do not
        suffice.
        """
        count = len(room)
        empty = np.append((room == 0).nonzero()[0], count)
        bound = empty[empty.searchsorted(np.arange(count))]
        capped = np.minimum(room, self.units)
        filled = np.concatenate(([0], capped.cumsum()))
        ends = np.maximum(filled.searchsorted(filled[:-1] + self.units), np.arange(count) + self.least)
        lengths = np.where((ends <= bound) & (ends - np.arange(count) <= self.most), ends - np.arange(count), count + 1)
        if not count:
            return None
        first = int(lengths.argmin())
        return None if lengths[first] > count else (first, first + int(lengths[first]) - 1)

    # ------------------------------------------------------------------ allocations

    def mismatch(self, allocation: Allocation, machine: Machine) -> str:
        """Return how an allocation breaks the request apart from capacity and the number of units, or ''."""
        request, size = self.request, allocation.size
        if self.per_host is not None:
            for host, count in allocation.per_host():
                most = int(self.per_host[host])
                # Units that are whole nodes may share one, as mappings of executors do.
                if not most or (request.per_unit is not None and count > most):
                    return f"host {host} ({machine.hosts[host].name}) holds {most} of its units, {count} are put there"
        wrong = hostset.ids(allocation.mask & ~self.hosts & machine.compute)
        if wrong:
            name = machine.hosts[wrong[0]].name
            return f"host {wrong[0]} ({name}) is " + (
                "excluded"
                if name in request.excluded
                else "not in its node list"
                if request.named and name not in request.named
                else "not open to it: the site leaves it other hosts"
            )
        if request.choices and all(allocation.mask & ~mask & machine.compute for mask in request.choices):
            return "its hosts are not all in one of the parts of the machine that it may choose from"
        if request.nodes and not self.least <= size <= self.most:
            return f"it asks for {self.least} to {self.most} nodes, the allocation has {size}"
        if self.each:
            for host, count in allocation.per_host():
                if count != self.each:
                    return f"it asks for {self.each} units on each node, host {host} has {count}"
        if request.contiguous and sum(1 for _ in hostset.runs(allocation.mask)) > 1:
            return "it asks for consecutive nodes"
        return ""


def resolve(machine: Machine, request: Request) -> Need:
    """Return what a request means on a machine.

    Raises:
        InputError: it names a resource, host or licence that the machine does not have, or contradicts itself.
    """
    return Need(machine, request)


def along(machine: Machine, amounts: Amounts) -> tuple[int, ...]:
    """Return amounts along the machine's resource axis."""
    by_name = dict(amounts)
    for name, amount in amounts:
        if amount and name not in machine.resources:
            raise InputError(f"needs resource {name!r}, the machine has {', '.join(machine.resources)}")
    return tuple(by_name.get(name, 0) for name in machine.resources)


def _ids(machine: Machine, names: Iterable[str], field: str) -> list[int]:
    known = machine.by_name
    for name in names:
        if name not in known:
            raise InputError(f"{field} names host {name!r}, which the machine does not have")
    return [known[name] for name in names]
