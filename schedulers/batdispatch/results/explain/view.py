"""What a waiting job lacked at one moment, and what starting it would have done to the first in line."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from batdispatch.core.job import Job
from batdispatch.core.ledger import Ledger
from batdispatch.core.machine import Machine
from batdispatch.core.space import Space
from batdispatch.results.explain.records import Amounts, Kind, Line

#: Stands for a wholly idle node among the resources.
NODE = "node"


class State:
    """What was free between two changes.

    Attributes:
        free: a value of the machine's space.
        held: what running jobs held, hosts that are away included, [resource].
    """

    __slots__ = ("_pooled", "_space", "free", "held")

    def __init__(self, space: Space[Any], free: Any, held: list[int]) -> None:
        self.free = free
        self.held = held
        self._space = space
        self._pooled: list[int] | None = None

    @property
    def pooled(self) -> list[int]:
        """What was free of each resource over the machine, [resource]."""
        if self._pooled is None:
            self._pooled = self._space.pooled(self.free).tolist()
        return self._pooled


@dataclass(frozen=True, slots=True)
class Sight:
    """A job's view of a state: why it does not start, how many of its units have a place."""

    kind: Kind
    short: tuple[str, ...]
    room: int
    state: State


def see(machine: Machine, state: State, job: Job) -> Sight:
    """Return what a job lacks in a state."""
    free, units = state.free, job.units
    if machine.exclusive:
        room = state.pooled[0]
        return Sight("room", (), units, state) if room >= units else Sight("short", machine.resources, room, state)
    room = int(machine.room(free, job.request).sum())
    if room >= units:
        return Sight("room", (), units, state)
    if job.request is None:
        return Sight("short", (NODE,), room, state)
    named = [(axis, name, job.request[axis]) for axis, name in enumerate(machine.resources) if job.request[axis]]
    pooled = state.pooled
    short = tuple(name for axis, name, amount in named if pooled[axis] < units * amount)
    if short:
        return Sight("short", short, room, state)
    # Of each resource there is enough: which of them lies in pieces too small for a unit?
    pieces = tuple(name for axis, name, amount in named if int((free[:, axis] // amount).sum()) < units)
    return Sight("scattered", pieces, room, state)


def asked(machine: Machine, job: Job) -> Amounts:
    """Return what all units of a job ask for."""
    if machine.exclusive:
        return {machine.resources[0]: job.units}
    if job.request is None:
        return {NODE: job.units}
    return {
        name: job.units * amount for name, amount in zip(machine.resources, job.request, strict=True) if amount
    } or {NODE: 0}


def line(cluster: Ledger, job: Job) -> Line:
    """Return who waited before a job for which there is room, and whether it would have delayed the first of them.

    By walltimes, as EASY reckons: the first in line is due when enough of what runs has reached its walltime, and the
    job delays it if it would run beyond that on hosts, the lowest it fits on, without which the other does not fit.
    `Line.start` is not known yet.
    """
    earlier = [other for other in cluster.queue.values() if other.rank < job.rank]
    if not earlier:
        return Line(ahead=0)
    first = min(earlier, key=lambda other: other.rank)
    found = Line(ahead=len(earlier), first=first.id, asked=asked(cluster.machine, first))
    space, free, due = cluster.space, cluster.free, cluster.now
    ends = sorted((other.start + other.walltime, other.rank, other) for other in cluster.running.values())
    for end, _, other in ends:
        if space.fits(free, first):
            break
        assert other.allocation is not None
        free, due = space.give(free, other, other.allocation), max(end, cluster.now)
        if cluster.unavailable:
            free = space.only(free, ~cluster.unavailable)
    if due == float("inf") or not space.fits(free, first):
        return found
    delays = False
    if cluster.now + job.walltime > due:
        place = cluster.place(job)
        delays = place is not None and not space.fits(space.take(free, job, place), first)
    return Line(ahead=found.ahead, first=first.id, asked=found.asked, due=due, delays=delays)
