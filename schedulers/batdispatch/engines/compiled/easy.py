"""EASY backfilling: see `batdispatch.dispatchers.backfilling.easy`.

With ``reservation=hosts`` the first of the queue keeps the lowest hosts of those that are free at its shadow time.
Among them are all hosts that are free now. So the free hosts that it does not keep are those above the last one that it
keeps: the threshold. It is looked for only when a job that would outlive the shadow time might use such hosts.
"""

import numpy as np

from batdispatch.engines.compiled import fcfs
from batdispatch.engines.compiled.hosts import free_above
from batdispatch.engines.compiled.jit import part
from batdispatch.engines.compiled.queue_tree import first_from
from batdispatch.engines.compiled.rounding import round_six
from batdispatch.engines.compiled.running_jobs import start
from batdispatch.engines.compiled.state import (
    FREE,
    FREE_RUNS,
    HEAD,
    HOSTS_FREED,
    NOW,
    RUNNING_JOBS,
    SHADOW,
    SPARE,
    THRESHOLD,
    UNKNOWN,
    WAITING_JOBS,
    State,
)

#: More than what rounding adds to a time, s.
_TICK = 1e-6


@part
def decide(state: State, by_hosts: bool) -> None:
    """Start jobs in order, and then those that do not delay the first one that is left.

    Args:
        state: of the simulation.
        by_hosts: whether particular hosts are reserved, or a number of them.
    """
    count = state.count
    head = fcfs.first_waiting(state)
    if head < 0:
        return
    if count[HOSTS_FREED] or head != count[HEAD]:
        fcfs.decide(state)
        count[HOSTS_FREED], count[HEAD] = 0, -1
        if count[WAITING_JOBS] < 2:
            return
        head = fcfs.first_waiting(state)
        count[HEAD] = head
        _reserve(state, head)
    _backfill(state, head, by_hosts)


@part
def _reserve(state: State, head: int) -> None:
    """Find the shadow time of the first of the queue, and how many hosts it leaves spare then."""
    units, free = state.jobs.units, state.count[FREE]
    shadow = np.inf
    for index in range(state.count[RUNNING_JOBS]):
        end = state.expected[index]
        if end > shadow:
            break
        free += units[state.expected_job[index]]
        # The loop goes on through the jobs that end at the very same time.
        if shadow == np.inf and free >= units[head]:
            shadow = end
    state.now[SHADOW] = shadow
    state.count[SPARE] = free - units[head]
    state.count[THRESHOLD] = UNKNOWN


@part
def _backfill(state: State, head: int, by_hosts: bool) -> None:
    """Start the jobs behind the first one that end by its shadow time, or use what it leaves spare then."""
    count, jobs = state.count, state.jobs
    now, shadow = state.now[NOW], state.now[SHADOW]
    place = jobs.place[head] + 1
    while True:
        free = count[FREE]
        job = first_from(state, place, min(free, count[SPARE]), free, shadow - now + _TICK)
        if job < 0:
            return
        place = jobs.place[job] + 1
        units = jobs.units[job]
        if round_six(now + jobs.booked[job]) <= shadow:
            start(state, job, UNKNOWN)
        else:
            if by_hosts and count[THRESHOLD] == UNKNOWN:
                count[THRESHOLD] = _threshold(state, jobs.units[head])
                count[SPARE] = free_above(state, count[THRESHOLD])
            if units > count[SPARE]:
                continue
            start(state, job, count[THRESHOLD])
            count[SPARE] -= units
        if by_hosts and count[THRESHOLD] != UNKNOWN:
            count[SPARE] = free_above(state, count[THRESHOLD])


@part
def _threshold(state: State, units: int) -> int:
    """Return the last of so many lowest hosts that are free at the shadow time."""
    # Not below `low`; and up to `high` there are enough.
    low, high = 0, np.int64(state.free_last[0]) if state.count[FREE_RUNS] else 0
    for index in range(_ending(state)):
        job = state.expected_job[index]
        high = max(high, np.int64(state.last[state.hosts_at[job] + state.hosts_runs[job] - 1]))
    while low < high:
        middle = (low + high) >> 1
        if _free_then(state, middle) >= units:
            high = middle
        else:
            low = middle + 1
    return low


@part
def _ending(state: State) -> int:
    """Return how many running jobs are expected to have ended at the shadow time."""
    jobs = 0
    while jobs < state.count[RUNNING_JOBS] and state.expected[jobs] <= state.now[SHADOW]:
        jobs += 1
    return jobs


@part
def _free_then(state: State, host: int) -> int:
    """Return how many hosts with an id up to a host's are free at the shadow time."""
    found = state.count[FREE] - free_above(state, host)
    for index in range(_ending(state)):
        job = state.expected_job[index]
        begin = state.hosts_at[job]
        for run in range(begin, begin + state.hosts_runs[job]):
            if state.first[run] > host:
                break
            found += min(np.int64(state.last[run]), host) - state.first[run] + 1
    return found
