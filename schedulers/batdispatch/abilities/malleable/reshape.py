"""Which hosts a job keeps when it shrinks, and which it gets when it expands."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from batdispatch.core.hosts.allocation import Allocation, Place
from batdispatch.core.jobs.job import Job, Stay
from batdispatch.core.line.ledger import Ledger
from batdispatch.core.line.scene import Choose, Scene


def of_size(job: Job, units: int) -> Job:
    """Return a job that asks for the same, with another number of units and as much power for each."""
    request = job.request
    power = None if request.power is None else (-(-request.power[0] * units // request.units), request.power[1])
    return msgspec.structs.replace(job, request=msgspec.structs.replace(request, units=units, power=power))


def without_power(job: Job) -> Job:
    """Return a job that asks for no shared power."""
    return msgspec.structs.replace(job, request=msgspec.structs.replace(job.request, power=None))


def power_beyond(job: Job, units: int) -> int:
    """Return how much more power, in mW, a job asks for on some units than it has."""
    more, its = of_size(job, units).request.power, job.request.power
    return 0 if more is None or its is None else max(more[0] - its[0], 0)


def kept_by(ledger: Ledger, choose: Choose, stay: Stay, units: int) -> Allocation | None:
    """Return the part of its own hosts that a running job keeps if it shrinks to some units; None: there is none.

    Args:
        ledger: the cluster.
        choose: says where a job goes, as a placement's `place`. What it refuses, such as hosts of another shape, is not
            kept.
        stay: the job.
        units: fewer than it has.
    """
    own = _alone(ledger, stay.job, stay.allocation)
    place = choose(scene_if(ledger, stay, own), of_size(stay.job, units))
    return place.allocation if place is not None and place.allocation.is_within(stay.allocation) else None


def grown_to(ledger: Ledger, choose: Choose, stay: Stay, units: int) -> Allocation | None:
    """Return the hosts of a running job with further ones that are free, for some units; None: there are none.

    Args:
        ledger: the cluster.
        choose: as for `kept_by`; it must be content with all of the hosts together.
        stay: the job.
        units: more than it has. Hosts that sleep or switch are not free to it: it would stand still while they wake up.
    """
    space, own, job = ledger.space, stay.allocation, stay.job
    if own.mask & ledger.unavailable:
        return None
    awake = ledger.free_at_once
    larger, free = of_size(job, units), space.only(awake, ~own.mask)
    more = choose(scene_if(ledger, stay, free), of_size(job, units - job.units))
    if more is not None:
        both = own.joined(more.allocation)
        if larger.request.plain or not space.mismatch(larger, both):
            place = choose(scene_if(ledger, stay, _alone(ledger, larger, both)), larger)
            if place is not None and own.is_within(place.allocation):
                return place.allocation
    # What holds of all its hosts together, such as a shape, may need others.
    place = choose(scene_if(ledger, stay, space.give(free, job, own)), larger)
    return place.allocation if place is not None and own.is_within(place.allocation) else None


def scene_if(ledger: Ledger, stay: Stay, free: Any, kept: Allocation | None = None) -> Scene:
    """Return what a placement sees if some capacity is free, and a running job has only some of its hosts, or none."""

    def held() -> Iterator[tuple[Job, Place]]:
        for other in ledger.running.values():
            if other is not stay:
                yield other.job, Place(other.allocation)
        if kept is not None:
            yield of_size(stay.job, kept.units), Place(kept)

    return Scene(ledger, free, held)


def _alone(ledger: Ledger, job: Job, allocation: Allocation) -> Any:
    """Return the free capacity of a cluster in which nothing but what a job has on some hosts is free."""
    space = ledger.space
    return space.only(space.give(space.only(space.whole(), 0), job, allocation), ~ledger.unavailable)


def free_if(ledger: Ledger, stay: Stay, kept: Allocation) -> Any:
    """Return what would be free if a running job kept only a part of its hosts, a value of the ledger's space."""
    space = ledger.space
    there = space.give(ledger.free, stay.job, stay.allocation)
    left = space.take(there, of_size(stay.job, kept.units), kept)
    return space.only(left, ~ledger.unavailable) if ledger.unavailable else left


def units_free(ledger: Ledger, stay: Stay) -> int:
    """Return how many further units a running job could have on hosts that are awake, its own hosts apart."""
    job = stay.job
    if not ledger.concerns.late() and ledger.machine.takes_any_hosts(job.request):
        return ledger.free_hosts
    free = ledger.space.only(ledger.free_at_once, ~stay.allocation.mask)
    return int(ledger.space.room(free, job).sum())


def units_of_machine(ledger: Ledger, job: Job) -> int:
    """Return how many units of a job the idle machine could take."""
    return int(ledger.space.room(ledger.space.whole(), job).sum())
