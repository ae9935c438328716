"""Where a simulation in a kernel stands, and how it begins: what the structure of native/state.h holds.

A job is a number, its rank: the position in the order in which jobs are submitted. A place in the queue is a number as
well, since an ordering that does not change over time puts all jobs of the workload into one order beforehand.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from batdispatch.abilities.kernels.library import structure_of
from batdispatch.inputs.workloads.columns import JobColumns
from batdispatch.native.record import Record

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Counts = NDArray[np.int32]

#: No host, no job.
UNKNOWN = -1
# What a line of the log tells of a job: job * KINDS + kind.
ENDS, STARTS, REJECTS, KINDS = range(4)
# What a kernel returns: all jobs are over; it was to stop here; something is full; a place is too short for its
# job; Python is to predict how long jobs run that came.
ALL_OVER, AT_PAUSE, FULL, AT_STOP, ASKS = range(5)
#: Calls that a decision may ask for.
MOST_ASKED = 5
#: In the tree of the queue: nobody waits here.
NOBODY = np.int32(2**31 - 1)


class Key(NamedTuple):
    """How the key of each job is made, see `queue_order`, and the number of each job that it is made of, by rank."""

    formula: int
    column: Floats
    #: Of an aged area, see its options.
    head_start: float = 0.0
    power: float = 0.0
    #: Of multifactor: its record, once the machine is known.
    factors: Record | None = None


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
    #: The same as the dispatcher hears of them.
    said: JobColumns
    #: What puts the queue in order at each decision, if places do not, and who runs ahead of its head, if others do.
    key: Key | None = None
    ahead: Key | None = None


#: What C is told of the jobs.
COLUMNS = frozenset(("submission", "units", "delay", "walltime", "booked", "place", "of_place"))


class State(Record):
    """Where a simulation stands."""

    kinds, _fields_ = structure_of("state.h", "State")


def is_refused(state: State, rank: int) -> bool:
    """Return whether a job that comes now is rejected."""
    expires = state.arrays.get("expires")
    too_late = expires is not None and expires[rank] <= state.now
    return too_late or bool(state.arrays["units"][rank] > state.size)


def begin(jobs: Jobs, runs: Ints, room: int, largest: int | None = None) -> State:
    """Return the state of a simulation before anything happens.

    Args:
        jobs: the jobs.
        runs: int64 [run, 2], first and last host of each maximal run of hosts that run jobs, ascending.
        room: runs of hosts of started jobs that there is room for.
        largest: units of the largest job that is not rejected, where several jobs share a host; None: they do not.

    Raises:
        ValueError: a kernel cannot count on what is said of the jobs.
    """
    _check(jobs)
    n = len(jobs.units)
    size = int((runs[:, 1] - runs[:, 0] + 1).sum())
    most = (n if largest is not None else min(n, size)) + 1
    leaves = 1 << max(n - 1, 0).bit_length()
    # The engine tells of the beginning.
    state = State(jobs=n, size=size, leaves=leaves, free=size, free_runs=len(runs), messages=1)
    state.head = state.threshold = UNKNOWN
    if largest is not None:
        state.size = largest
    state.hold(**{name: array for name, array in jobs._asdict().items() if name in COLUMNS})
    state.hold(
        start=np.full(n, np.nan),
        end=np.full(n, np.nan),
        # Two free runs are never neighbours.
        free_first=_with_zeros(runs[::-1, 0], len(runs) + size // 2 + 2),
        free_last=_with_zeros(runs[::-1, 1], len(runs) + size // 2 + 2),
        least=np.full(2 * leaves, NOBODY, dtype=np.int32),
        shortest=np.full(2 * leaves, np.inf),
    )
    state.hold_zeros(2 * n, "log")
    state.hold_zeros(n, "hosts_at", "hosts_runs", "started")
    state.hold_zeros(most, "due", "due_turn", "expected", "expected_job")
    make_room(state, room)
    make_room_for_calls(state)
    return state


def _check(jobs: Jobs) -> None:
    """Check what the kernels build upon, so that no workload takes them out of their arrays."""
    n = len(jobs.units)
    times = np.array([jobs.submission, jobs.delay, jobs.walltime, jobs.booked])
    places = np.sort(jobs.place), np.sort(jobs.of_place)
    # Of shape [4, job]: all columns are of one length. NaN is not at least 0.
    if times.shape != (4, n) or not (times >= 0.0).all() or not (jobs.units >= 1).all():
        raise ValueError("jobs of a kernel ask for a host or more, and their times are numbers")
    if not (np.diff(jobs.submission) >= 0.0).all() or not all(np.array_equal(each, np.arange(n)) for each in places):
        raise ValueError("jobs of a kernel come in order of submission, and each has a place of its own")


def _with_zeros(numbers: Ints, room: int) -> Counts:
    return np.concatenate([numbers, np.zeros(room - len(numbers), dtype=np.int64)]).astype(np.int32)


def make_room(state: State, room: int) -> None:
    """Make room for so many runs of hosts."""
    state.lengthen(state.runs, room, "first", "last")
    state.room = room


def make_room_for_calls(state: State) -> None:
    """Make room for as many calls again, and some more."""
    state.most_calls = 2 * state.most_calls + 8
    state.lengthen(state.calls, state.most_calls, "call")
