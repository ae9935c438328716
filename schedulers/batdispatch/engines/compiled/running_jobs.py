"""Jobs that start and end, and when those that run are expected to end."""

import numpy as np

from batdispatch.engines.compiled.calendar import enter_end, take_end
from batdispatch.engines.compiled.hosts import give_back, take
from batdispatch.engines.compiled.jit import part
from batdispatch.engines.compiled.queue_tree import enter, leave
from batdispatch.engines.compiled.rounding import round_six
from batdispatch.engines.compiled.state import (
    DECIDES,
    ENDS,
    HOSTS_FREED,
    KINDS,
    LOG_LINES,
    MESSAGES,
    NOW,
    REJECTS,
    RUNNING_JOBS,
    STARTS,
    SUBMISSIONS,
    State,
)


@part
def note(state: State, job: int, kind: int) -> None:
    """Write a line of the log."""
    state.log[state.count[LOG_LINES]] = job * KINDS + kind
    state.count[LOG_LINES] += 1


@part
def expected_end(state: State, job: int) -> float:
    """Return when a running job is expected to end, in seconds."""
    return round_six(state.start[job] + state.jobs.booked[job])


@part
def start(state: State, job: int, above: int) -> None:
    """Start a waiting job on the lowest free hosts above the host `above`; there must be enough."""
    take(state, job, above)
    leave(state, job)
    enter_running(state, job)
    # The running jobs in order of their expected end.
    end = expected_end(state, job)
    at = state.count[RUNNING_JOBS] - 1
    while at > 0 and _later(state, at - 1, end, job):
        state.expected[at], state.expected_job[at] = state.expected[at - 1], state.expected_job[at - 1]
        at -= 1
    state.expected[at], state.expected_job[at] = end, job


@part
def enter_running(state: State, job: int) -> None:
    """Let a job run from now on, and enter when it ends: by itself, or at its walltime."""
    now, jobs = state.now[NOW], state.jobs
    state.start[job] = now
    note(state, job, STARTS)
    enter_end(state, job, round_six(min(now + jobs.delay[job], now + jobs.walltime[job])))


@part
def _later(state: State, at: int, end: float, job: int) -> bool:
    """Return whether the running job that is the `at`-th to end comes behind a job that ends at `end`."""
    return state.expected[at] > end or (state.expected[at] == end and state.expected_job[at] > job)


@part
def _stop(state: State, job: int) -> None:
    """Let the hosts of a job that has ended be free, and expect it no longer."""
    give_back(state, job)
    end, count = expected_end(state, job), state.count[RUNNING_JOBS]
    low, high = 0, count
    while low < high:
        middle = (low + high) >> 1
        if state.expected_job[middle] != job and not _later(state, middle, end, job):
            low = middle + 1
        else:
            high = middle
    for index in range(low, count):
        state.expected[index], state.expected_job[index] = state.expected[index + 1], state.expected_job[index + 1]


@part
def next_moment(state: State) -> float:
    """Return when something happens next, in seconds; infinite for never."""
    due = state.due[0] if state.count[RUNNING_JOBS] else np.inf
    come = state.count[SUBMISSIONS]
    return min(due, state.jobs.submission[come]) if come < len(state.start) else due


@part
def end_next(state: State) -> int:
    """Let a job end that is due now, and return it; -1: there is none."""
    if not state.count[RUNNING_JOBS] or state.due[0] > state.now[NOW]:
        return -1
    job = take_end(state)
    state.end[job] = state.now[NOW]
    note(state, job, ENDS)
    state.count[HOSTS_FREED] = 1
    return job


@part
def submit(state: State) -> None:
    """Let the jobs come that are submitted by now; those that are larger than the machine are rejected."""
    count, jobs = state.count, state.jobs
    while count[SUBMISSIONS] < len(state.start) and jobs.submission[count[SUBMISSIONS]] <= state.now[NOW]:
        job = count[SUBMISSIONS]
        count[SUBMISSIONS] += 1
        if jobs.units[job] > state.size:
            note(state, job, REJECTS)
        else:
            enter(state, job)


@part
def begin_moment(state: State) -> bool:
    """Let the time come at which something happens next; False: all is over."""
    moment = next_moment(state)
    if moment == np.inf:
        return False
    state.now[NOW] = moment
    return True


@part
def end_moment(state: State) -> None:
    """Let the jobs come that come at this time: the engine tells the dispatcher of all that has happened."""
    submit(state)
    state.count[MESSAGES] += 1
    state.count[DECIDES] = 1


@part
def advance(state: State) -> bool:
    """Let everything happen that happens next, as the engine tells it in one message; False: all is over."""
    if not begin_moment(state):
        return False
    # The engine writes the rows of ended jobs before the dispatcher can reject one.
    job = end_next(state)
    while job >= 0:
        _stop(state, job)
        job = end_next(state)
    end_moment(state)
    return True
