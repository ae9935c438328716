"""What a kernel knows of the simulation that it runs, as arrays: it stops now and then, and goes on with them.

A job is a number, its rank: the position in the order in which jobs are submitted. A place in the queue is a number as
well, since an ordering that does not change over time puts all jobs of the workload into one order beforehand.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Counts = NDArray[np.int32]

# Which number of `State.now` and `State.count` is what.
#: Simulated time, s.
NOW = 0
#: When the first of the queue may start, s (EASY).
SHADOW = 1
#: Jobs submitted.
SUBMISSIONS = 0
#: Jobs that wait.
WAITING_JOBS = 1
#: Jobs that run.
RUNNING_JOBS = 2
#: Jobs started; their order breaks ties of simultaneous ends.
JOBS_STARTED = 3
#: Hosts that are free, and runs of them.
FREE = 4
FREE_RUNS = 5
#: Lines of `State.log`.
LOG_LINES = 6
#: Runs of hosts of all jobs started.
RUNS = 7
#: Messages that the engine would have exchanged.
MESSAGES = 8
#: Whether hosts were freed since the last decision.
HOSTS_FREED = 9
#: First of the queue for whom `SHADOW` was found, or -1 (EASY).
HEAD = 10
#: Hosts that the first of the queue leaves spare at the shadow time (EASY).
SPARE = 11
#: Hosts above this one are spare, or `UNKNOWN` (EASY with reservation=hosts).
THRESHOLD = 12
#: Whether the events of a moment have been applied, and the decision is to come.
DECIDES = 13
#: Jobs submitted by the last decision (conservative).
JOBS_DECIDED = 14
NUMBERS = 15

#: No host.
UNKNOWN = -1

# What a line of `State.log` tells of a job: job * KINDS + kind.
ENDS, STARTS, REJECTS = 0, 1, 2
KINDS = 3

# What a kernel returns.
#: All jobs are over.
ALL_OVER = 0
#: It was to stop here.
AT_PAUSE = 1
#: `State.first` and `State.last` are full.
FULL = 2

#: In `State.least`: nobody waits here.
NOBODY = np.int32(2**31 - 1)


class Jobs(NamedTuple):
    """What is known of the jobs of a workload, by rank. Times in seconds, on a clock of microseconds."""

    submission: Floats
    units: Ints
    #: How long the job computes if nothing stops it.
    delay: Floats
    #: Infinite for none.
    walltime: Floats
    #: How long the job is expected to run.
    expected: Floats
    #: For how long the plan keeps the job's hosts.
    booked: Floats
    #: Place in the queue.
    place: Ints
    #: The job of each place in the queue.
    of_place: Ints


class State(NamedTuple):
    """Where a simulation stands. What is appended to has room for all that may come, apart from runs of hosts."""

    jobs: Jobs
    size: int
    now: Floats
    count: Ints
    start: Floats
    end: Floats
    #: What happened, in order.
    log: Ints
    #: The first run of each job's hosts, and how many there are; runs are in ascending order.
    hosts_at: Ints
    hosts_runs: Counts
    first: Counts
    last: Counts
    #: Runs of free hosts in descending order, so that the lowest stand at the end, where most changes are.
    free_first: Counts
    free_last: Counts
    #: Heap of running jobs by (end, order of start).
    due: Floats
    due_turn: Ints
    due_job: Ints
    #: Running jobs by (expected end, rank), ascending.
    expected: Floats
    expected_job: Ints
    #: Binary tree over the places of the queue: units of the smallest job that waits below each node, and the seconds
    #: that the shortest is booked for.
    least: Counts
    shortest: Floats


def begin(jobs: Jobs, runs: NDArray[np.int64], room: int) -> State:
    """Return the state of a simulation before anything happens.

    Args:
        jobs: the jobs.
        runs: int64 [run, 2], first and last host of each maximal run of hosts that run jobs, ascending.
        room: runs of hosts of started jobs that there is room for.
    """
    n = len(jobs.units)
    size = int((runs[:, 1] - runs[:, 0] + 1).sum())
    most = min(n, size) + 1
    leaves = 1 << max(n - 1, 0).bit_length()
    # Two free runs are never neighbours.
    free_runs = len(runs) + size // 2 + 2
    state = State(
        jobs=jobs,
        size=size,
        now=np.zeros(2),
        count=np.zeros(NUMBERS, dtype=np.int64),
        start=np.full(n, np.nan),
        end=np.full(n, np.nan),
        log=np.zeros(2 * n, dtype=np.int64),
        hosts_at=np.zeros(n, dtype=np.int64),
        hosts_runs=np.zeros(n, dtype=np.int32),
        first=np.zeros(room, dtype=np.int32),
        last=np.zeros(room, dtype=np.int32),
        free_first=np.zeros(free_runs, dtype=np.int32),
        free_last=np.zeros(free_runs, dtype=np.int32),
        due=np.zeros(most),
        due_turn=np.zeros(most, dtype=np.int64),
        due_job=np.zeros(most, dtype=np.int64),
        expected=np.zeros(most),
        expected_job=np.zeros(most, dtype=np.int64),
        least=np.full(2 * leaves, NOBODY, dtype=np.int32),
        shortest=np.full(2 * leaves, np.inf),
    )
    state.free_first[: len(runs)] = runs[::-1, 0]
    state.free_last[: len(runs)] = runs[::-1, 1]
    state.count[FREE] = size
    state.count[FREE_RUNS] = len(runs)
    state.count[HEAD] = -1
    state.count[THRESHOLD] = UNKNOWN
    # The engine tells of the beginning.
    state.count[MESSAGES] = 1
    return state


def with_room(state: State, room: int) -> State:
    """Return the same state with room for so many runs of hosts."""
    first, last = np.zeros(room, dtype=np.int32), np.zeros(room, dtype=np.int32)
    used = int(state.count[RUNS])
    first[:used], last[:used] = state.first[:used], state.last[:used]
    return state._replace(first=first, last=last)
