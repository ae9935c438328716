"""The queue as a binary tree over its places: the first job that may start is found without a look at the others.

Each node knows the least units and the shortest booked time of the jobs that wait below it, so that a search passes by
what has nobody small or short enough. To add or to remove a job takes O(log n), as does a search for a job that is
small enough; a search for one that must be short as well comes by nodes where one is small and another one short.
"""

import numpy as np

from batdispatch.engines.compiled.jit import part
from batdispatch.engines.compiled.state import NOBODY, WAITING_JOBS, State


@part
def enter(state: State, job: int) -> None:
    """Let a job wait."""
    state.count[WAITING_JOBS] += 1
    _put(state, state.jobs.place[job], np.int32(state.jobs.units[job]), state.jobs.booked[job])


@part
def leave(state: State, job: int) -> None:
    """Take out a job that starts."""
    state.count[WAITING_JOBS] -= 1
    _put(state, state.jobs.place[job], NOBODY, np.inf)


@part
def _put(state: State, place: int, units: int, seconds: float) -> None:
    least, shortest = state.least, state.shortest
    node = place + (len(least) >> 1)
    least[node], shortest[node] = units, seconds
    while node > 1:
        node >>= 1
        units = min(least[2 * node], least[2 * node + 1])
        seconds = min(shortest[2 * node], shortest[2 * node + 1])
        if least[node] == units and shortest[node] == seconds:
            return
        least[node], shortest[node] = units, seconds


@part
def first_from(state: State, place: int, small: int, units: int, seconds: float) -> int:
    """Return the first job at or behind a place that may start, or -1.

    Args:
        state: of the simulation.
        place: in the queue.
        small: a job of so many units may start however long it takes.
        units: a job of so many units may start if it is short.
        seconds: the longest that such a job is booked for.
    """
    least, shortest = state.least, state.shortest
    leaves = len(least) >> 1
    if place >= leaves:
        return -1
    node = place + leaves
    while True:
        if least[node] <= small or (least[node] <= units and shortest[node] <= seconds):
            if node >= leaves:
                return state.jobs.of_place[node - leaves]
            node *= 2
            continue
        while node & 1:
            node >>= 1
        if node == 0:
            return -1
        node += 1
