"""Units put on hosts one after the other, each as full as its room allows: what every placement ends with."""

from __future__ import annotations

from typing import Any

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from batdispatch.core.capacity.need import Need
from batdispatch.core.capacity.space import Space
from batdispatch.core.hosts import hostset
from batdispatch.core.hosts.allocation import Allocation
from batdispatch.core.jobs.job import Job
from batdispatch.core.jobs.request import single_choices


def first_fit(space: Space[Any], free: Any, job: Job) -> Allocation | None:
    """Return the lowest hosts of `free` on which a job's units fit, or None. Needs a space that knows its hosts."""
    request = job.request
    if request.choices:
        found = (first_fit(space, free, replace(job, request=one)) for one in single_choices(request))
        return next((allocation for allocation in found if allocation is not None), None)
    if not space.machine.exclusive:
        if space.machine.licences and not space.fits(free, job):
            return None
        return fill(space.room(free, job), space.need(job))
    nodes = space.nodes(free)
    if request.plain:
        units = request.units
        return Allocation(hostset.lowest(nodes, units), size=units) if nodes.bit_count() >= units else None
    if not space.fits(free, job):
        return None
    nodes &= space.need(job).hosts
    mask = hostset.lowest_run(nodes, request.units) if request.contiguous else hostset.lowest(nodes, request.units)
    return None if mask is None else Allocation(mask)


def fill(
    room: NDArray[np.int64], need: Need, order: NDArray[np.intp] | None = None, *, consecutive: bool = False
) -> Allocation | None:
    """Put a job's units on hosts one after the other, each as full as its room allows; None if they do not fit.

    A request for consecutive nodes is put on the lowest of the shortest ranges, whatever the order. Where going in
    order would take more nodes than asked for, the nodes with most room are taken; where fewer, the first ones share.

    Args:
        room: int64 [host], units that each host can take.
        need: what the job needs.
        order: int64 [k], hosts in the order to be filled; ascending ids when None.
        consecutive: whether the hosts must have consecutive ids even if the job does not ask for it.
    """
    if consecutive or need.request.contiguous:
        found = need.range_in(room)
        if found is None:
            return None
        order = np.arange(found[0], found[1] + 1)
    ordered = room if order is None else room[order]
    filled = ordered.cumsum()
    if not len(filled) or filled[-1] < need.units:
        return None
    last = int(filled.searchsorted(need.units))
    counts = ordered[: last + 1].copy()
    counts[last] -= int(filled[last]) - need.units
    used = counts.nonzero()[0]
    if not need.plain and not need.least <= len(used) <= need.most:
        spread = _on_so_many(ordered, need)
        if spread is None:
            return None
        used, counts = spread
    else:
        counts = counts[used]
    hosts = used if order is None else order[used]
    if order is not None:
        ascending = hosts.argsort()
        hosts, counts = hosts[ascending], counts[ascending]
    return Allocation.of(hosts.tolist(), counts.tolist())


def _on_so_many(ordered: NDArray[np.int64], need: Need) -> tuple[NDArray[np.intp], NDArray[np.int64]] | None:
    """Return positions in the order and units there, on a number of nodes from `need.least` to `need.most`, or None."""
    able = ordered.nonzero()[0]
    if len(able) < need.least:
        return None
    # The roomiest nodes, first ones first among equals, in the order.
    roomiest = able[np.argsort(-ordered[able], kind="stable")]
    chosen = np.sort(roomiest[: need.most]) if ordered[able[: need.most]].sum() < need.units else able[: need.most]
    if ordered[chosen].sum() < need.units:
        return None
    # Each of the first `least` nodes takes a unit, the rest is filled up in order.
    counts = np.zeros(len(chosen), dtype=np.int64)
    counts[: need.least] = 1
    left = need.units - need.least
    for index, room in enumerate(ordered[chosen].tolist()):
        more = min(left, room - int(counts[index]))
        counts[index] += more
        left -= more
    used = counts.nonzero()[0]
    return chosen[used], counts[used]
