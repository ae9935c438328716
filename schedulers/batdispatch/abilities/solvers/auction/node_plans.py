"""Plans over groups of nodes, split over the nodes.

A group's part of a plan says on how many of its nodes each job is and with how many units. Three ways lead from there
to the nodes, and each is tried where the one before fails:

1. one node: there is nothing to split;
2. the jobs are packed one after the other, the fullest first;
3. a small program over the sets of jobs that may meet on a node says how many nodes carry which set. It may use more
   nodes, or leave a job out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from batdispatch.abilities.solvers.auction.groups import Group
from batdispatch.abilities.solvers.auction.problem import JobDemand, Problem
from batdispatch.abilities.solvers.auction.program import GroupMeeting, MeetingCell

#: How often jobs are packed anew, each time with those first that found no place.
_ATTEMPTS = 12

#: For each job: how many units on which node of the problem.
Counts = dict[int, dict[int, int]]


def meetings(problem: Problem, group: Group, jobs: Sequence[int], most: int) -> tuple[list[GroupMeeting], bool]:
    """Return the sets of jobs that may meet on a node of a group, small ones first, and whether these are all.

    Args:
        problem: the problem.
        group: the group.
        jobs: its jobs, by their positions in the problem.
        most: return no more than so many.
    """
    least = {job: np.array(group.least_use(problem.askings[job])) for job in jobs}
    level: list[tuple[GroupMeeting, NDArray[np.int64]]] = [
        ((job,), np.array(group.free) - least[job]) for job in jobs if (least[job] <= group.free).all()
    ]
    found: list[GroupMeeting] = []
    while level:
        if len(found) + len(level) > most:
            return [*found, *(met for met, _ in level)][:most], False
        found += [met for met, _ in level]
        level = [
            ((*met, job), left - least[job])
            for met, left in level
            for job in jobs
            if job > met[-1] and (least[job] <= left).all()
        ]
    return found, True


def realise(problem: Problem, group: Group, cell: MeetingCell) -> NDArray[np.int64] | None:
    """Return the units of each job of a cell on each of its nodes, int64 [job of the cell, node], or None.

    Where the jobs ask for units of one resource and of equal amounts, this succeeds: after one unit of each job on each
    node, the rest may go anywhere.
    """
    for even in (False, True):
        found = _poured(problem, group, cell, even)
        if found is not None:
            return found
    return None


def _poured(problem: Problem, group: Group, cell: MeetingCell, even: bool) -> NDArray[np.int64] | None:
    units = np.zeros((len(cell.units), cell.nodes), dtype=np.int64)
    left = np.repeat(np.array([group.free]), cell.nodes, axis=0)
    for row, job in enumerate(cell.units):
        asking = problem.askings[job]
        units[row] = asking.each or 1
        left -= np.array(group.least_use(asking))
    first = 0
    for row, (job, wanted) in enumerate(cell.units.items()):
        asking = problem.askings[job]
        more = wanted - int(units[row].sum())
        if not more:
            continue
        used = asking.amounts > 0
        able = (left[:, used] // asking.amounts[used]).min(axis=1, initial=group.rooms[job])
        able = np.minimum(able, group.rooms[job] - units[row])
        if even:
            # Those that get one more follow each other from job to job.
            share = np.full(cell.nodes, more // cell.nodes)
            share[(first + np.arange(more % cell.nodes)) % cell.nodes] += 1
            first += more % cell.nodes
            added = np.minimum(share, able)
            able -= added
            more -= int(added.sum())
        else:
            added = np.zeros(cell.nodes, dtype=np.int64)
        filled = np.minimum(able.cumsum(), more)
        added += np.diff(filled, prepend=0)
        if int(filled[-1]) < more:
            return None
        units[row] += added
        left -= added[:, None] * asking.amounts
    return units


def pack(problem: Problem, group: Group, wanted: Mapping[int, tuple[int, int]], most: Mapping[int, int]) -> Counts:
    """Return a split of a group's part of a plan by packing one job after the other; jobs without a place are left out.

    Jobs that fill their nodes come first. If some jobs find no place or need more nodes, those jobs come first in the
    next attempt. The cheapest of the attempts is returned.

    Args:
        problem: the problem.
        group: the group.
        wanted: for each job, on how many nodes it is, and with how many units.
        most: for each job, on how many nodes it may be.
    """

    def urgency(job: int) -> tuple[float, ...]:
        nodes, units = wanted[job]
        least = group.least_use(problem.askings[job])
        once = max((use / free for use, free in zip(least, group.free, strict=True) if free), default=0.0)
        return -units / (nodes * group.rooms[job]), -once, -units, job

    order = sorted(wanted, key=urgency)
    best: Counts = {}
    cheapest = cost(problem, wanted, best)
    for _ in range(_ATTEMPTS):
        found = _packed(problem, group, wanted, most, order)
        costs = cost(problem, wanted, found)
        if costs < cheapest:
            best, cheapest = found, costs
        amiss = [job for job in order if job not in found or len(found[job]) > wanted[job][0]]
        if not amiss:
            break
        order = [*amiss, *(job for job in order if job not in amiss)]
    return best


def cost(problem: Problem, wanted: Mapping[int, tuple[int, int]], part: Counts) -> int:
    """Return what a split of a group costs: the nodes that its jobs use, and what the jobs left out are worth."""
    twice = 2 * len(problem.hosts)
    return sum(problem.askings[job].priority * (len(part[job]) if job in part else twice) for job in wanted)


def _packed(
    problem: Problem,
    group: Group,
    wanted: Mapping[int, tuple[int, int]],
    most: Mapping[int, int],
    order: Sequence[int],
) -> Counts:
    """Pack jobs in an order.

    Each job takes, of the nodes in ascending order of the room that is left for it, the first so many that hold it, and
    closes those with least room. Where no nodes hold it, it takes more nodes.
    """
    left = np.repeat(np.array([group.free]), len(group.nodes), axis=0)
    found: Counts = {}
    for job in order:
        nodes, units = wanted[job]
        asking = problem.askings[job]
        room = _room(asking, group, left, job)
        able = room.nonzero()[0]
        able = able[np.argsort(room[able], kind="stable")]
        sums = np.concatenate(([0], room[able].cumsum()))
        # The last so many nodes hold most. If they do not hold all units, more nodes are needed.
        held = sums[-1] - sums[::-1]
        nodes = max(nodes, int(held.searchsorted(units)))
        if nodes > min(most[job], len(able)):
            continue
        first = int((sums[nodes:] - sums[: len(sums) - nodes]).searchsorted(units))
        chosen = able[first : first + nodes]
        counts = _shared(room[chosen], units)
        left[chosen] -= np.array(group.once(asking)) + counts[:, None] * asking.amounts
        found[job] = dict(zip(group.nodes[chosen].tolist(), counts.tolist(), strict=True))
    return found


def _room(asking: JobDemand, group: Group, left: NDArray[np.int64], job: int) -> NDArray[np.int64]:
    """Return how many units of a job each node of a group takes of what is left there, int64 [node of the group]."""
    rest = left - np.array(group.once(asking))
    used = asking.amounts > 0
    room: NDArray[np.int64] = (rest[:, used] // asking.amounts[used]).min(axis=1, initial=group.rooms[job])
    room[(rest < 0).any(axis=1)] = 0
    return np.where(room >= asking.each, asking.each, 0) if asking.each else room


def _shared(rooms: NDArray[np.int64], units: int) -> NDArray[np.int64]:
    """Return how many units each node gets: one each, then the first ones as many as they take."""
    counts = np.ones_like(rooms)
    more = units - len(rooms)
    filled = np.minimum((rooms - 1).cumsum(), more)
    counts += np.diff(filled, prepend=0)
    return counts


def cells_on_nodes(problem: Problem, group: Group, cells: Sequence[MeetingCell]) -> Counts | None:
    """Return the cells of a group on its nodes, one cell after the other, or None if one cannot be realised."""
    found: Counts = {}
    first = 0
    for cell in cells:
        units = realise(problem, group, cell)
        if units is None:
            return None
        nodes = group.nodes[first : first + cell.nodes].tolist()
        for job, row in zip(cell.units, units.tolist(), strict=True):
            found.setdefault(job, {}).update(zip(nodes, row, strict=True))
        first += cell.nodes
    return found
