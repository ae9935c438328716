"""Units put on hosts one after the other, each as full as its room allows: what every placement ends with."""

from __future__ import annotations

from typing import Any

from batdispatch.core import hostset
from batdispatch.core.allocation import Allocation
from batdispatch.core.job import Job
from batdispatch.core.space import Space


def first_fit(space: Space[Any], free: Any, job: Job) -> Allocation | None:
    """Return the lowest hosts of `free` on which a job's units fit, or None. Works on host and node spaces."""
    if not space.fits(free, job):
        return None
    if space.machine.exclusive:
        return Allocation(hostset.lowest(free, job.units))
    return fill(space.machine.room(free, job.request), job.units)


def fill(room: Any, units: int, order: Any = None) -> Allocation | None:
    """Put `units` on hosts one after the other, each as full as its room allows.

    Args:
        room: int64 [host], units that each host can take.
        units: how many to place.
        order: int64 [k], hosts in the order to be filled; ascending ids when None.
    """
    ordered = room if order is None else room[order]
    filled = ordered.cumsum()
    if not len(filled) or filled[-1] < units:
        return None
    last = int(filled.searchsorted(units))
    counts = ordered[: last + 1].copy()
    counts[last] -= int(filled[last]) - units
    used = counts.nonzero()[0]
    hosts, counts = (used if order is None else order[used]), counts[used]
    if order is not None:
        ascending = hosts.argsort()
        hosts, counts = hosts[ascending], counts[ascending]
    return Allocation.of(hosts.tolist(), counts.tolist())
