"""What a waiting job lacked at one moment, and what starting it would have done to the first in line."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import msgspec
import numpy as np

from batdispatch.core.capacity.books import Snapshot
from batdispatch.core.capacity.need import Need
from batdispatch.core.capacity.space import Space
from batdispatch.core.errors import InputError
from batdispatch.core.jobs.job import Job
from batdispatch.core.line.ledger import Ledger
from batdispatch.core.line.scene import Choose, Scene
from batdispatch.explain.records import Amounts, Kind, Line

#: Stands for a wholly idle node among the resources.
NODE = "node"


class State(NamedTuple):
    """What was free and held between two changes.

    Attributes:
        seen: what was free.
        held: what running jobs held, hosts that are away included, [pooled resource].
    """

    seen: Snapshot
    held: list[int]


@dataclass(frozen=True, slots=True)
class Sight:
    """A job's view of a state: why it does not start, and how many of its units have a place.

    Attributes:
        kind: why.
        short: the resources and licences that are short.
        by: what else stands behind the kind, see `records.Phase.by`.
        room: units that have a place, at most as many as the job has.
        state: what is seen.
    """

    kind: Kind
    short: tuple[str, ...]
    by: tuple[str, ...]
    room: int
    state: State


def see(ledger: Ledger, state: State, job: Job, choose: Choose | None) -> Sight:
    """Return what a job lacks in a state.

    Args:
        ledger: the cluster.
        state: what is free.
        job: the job.
        choose: where the run's placement puts a job; None: wherever it fits.
    """
    space, seen, units, request = ledger.space, state.seen, job.units, job.request
    need = space.need(job)
    short = _short(space, state, need, job)
    if ledger.machine.takes_any_hosts(request):
        room = min(seen.pooled[0], units)
    else:
        loose = job if request.plain else _loosened(job)
        room = min(int(space.room(seen.free, loose).sum()), units)
        if not short and room < units and ledger.machine.takes_hosts(request):
            short = (NODE,)
    if short:
        licences = {name for name, _ in ledger.machine.licences}
        return Sight("short", short, tuple(name for name in short if name in licences), room, state)
    if room < units:
        return Sight("scattered", _pieces(space, state, need), (), room, state)
    if request.named or request.excluded:
        there = msgspec.structs.replace(_loosened(job).request, named=request.named, excluded=request.excluded)
        room = min(int(space.room(seen.free, msgspec.structs.replace(job, request=there)).sum()), units)
        if room < units:
            return Sight("elsewhere", (), (), room, state)
    if not request.plain and not space.fits(seen.free, job):
        return Sight("form", (), _forms(need), units, state)
    if choose is not None and choose(Scene(ledger, seen.free), job) is None:
        return Sight("placement", (), (), units, state)
    return Sight("room", (), (), units, state)


def _loosened(job: Job) -> Job:
    """Return a job that asks for the same amounts wherever and in whatever form."""
    request = msgspec.structs.replace(
        job.request, named=(), excluded=(), nodes=None, units_per_node=None, contiguous=False, licences=()
    )
    return msgspec.structs.replace(job, request=request)


def _short(space: Space[Any], state: State, need: Need, job: Job) -> tuple[str, ...]:
    """Return the resources and licences of which less is free than all units need."""
    machine, pooled = space.machine, state.seen.pooled
    asked = (0,) * len(machine.resources) if need.whole else need.sums
    return tuple(
        name for name, free, amount in zip(space.pools, pooled, (*asked, *need.licences), strict=True) if free < amount
    )


def _pieces(space: Space[Any], state: State, need: Need) -> tuple[str, ...]:
    """Return the resources of which enough is free in all, but in pieces that are too small for a unit."""
    free = space.nodes(state.seen.free)
    once = need.once or (0,) * len(need.amounts)
    return tuple(
        name
        for axis, name in enumerate(space.machine.resources)
        if need.amounts[axis]
        and int((np.maximum(free[:, axis] - once[axis], 0) // need.amounts[axis]).sum()) < need.units
    )


def _forms(need: Need) -> tuple[str, ...]:
    """Return in words in which form a job asks for its room."""
    found = []
    if need.request.contiguous:
        found.append("consecutive nodes")
    if need.each:
        found.append(f"nodes with {need.each} of its units each")
    if need.request.nodes:
        least, most = need.request.nodes
        found.append(f"{least} nodes" if least == most else f"{least} to {most} nodes")
    return tuple(found)


def total_demand(space: Space[Any], job: Job) -> Amounts:
    """Return what all units of a job ask for; nothing if it can never run here."""
    try:
        need = space.need(job)
    except InputError:
        return {}
    machine = space.machine
    if need.whole:
        most = 1 if need.per_host is None else max(int(need.per_host.max()), 1)
        found = {NODE: max(need.least, -(-job.units // most))}
    else:
        amounts = zip(machine.resources, need.sums, strict=True)
        found = {name: amount for name, amount in amounts if amount} or {NODE: 0}
    licences = zip((name for name, _ in machine.licences), need.licences, strict=True)
    return found | {name: amount for name, amount in licences if amount}


def line(ledger: Ledger, job: Job, expected: Callable[[Job], float], by: str) -> Line:
    """Return who waited before a job for which there is room, and whether it would have delayed the first of them.

    As EASY reckons: the first in line is due when enough jobs have run as long as expected, and the job delays it if it
    would run beyond that on hosts, the lowest it fits on, without which the other does not fit. `Line.start` is not
    known yet.

    Args:
        ledger: the cluster.
        job: the job.
        expected: how long a job is expected to run, s.
        by: what says so, in words.
    """
    ranks = ledger.roll.ranks
    waiting = sorted(map(ranks.__getitem__, ledger.queue))
    ahead = bisect_left(waiting, ranks[job.id])
    if not ahead:
        return Line(ahead=0)
    first = next(other for name, other in ledger.queue.items() if ranks[name] == waiting[0])
    space, free, due = ledger.space, ledger.free, ledger.now
    found = Line(ahead=ahead, first=first.id, asked=total_demand(space, first), by=by)
    ends = sorted((stay.start + expected(stay.job), ranks[stay.job.id], stay) for stay in ledger.running.values())
    for end, _, stay in ends:
        if space.fits(free, first):
            break
        free, due = space.give(free, stay.job, stay.allocation), max(end, ledger.now)
        if ledger.unavailable:
            free = space.only(free, ~ledger.unavailable)
    if due == float("inf") or not space.fits(free, first):
        return found
    delays = False
    if ledger.now + expected(job) > due:
        place = ledger.place(job)
        delays = place is not None and not space.fits(space.take(free, job, place.allocation), first)
    return Line(ahead=found.ahead, first=first.id, asked=found.asked, due=due, delays=delays, by=by)
