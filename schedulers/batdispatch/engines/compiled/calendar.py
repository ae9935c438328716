"""The ends of the running jobs that are to come: a heap by (time, order of start), as the engine's calendar."""

from batdispatch.engines.compiled.jit import part
from batdispatch.engines.compiled.state import JOBS_STARTED, RUNNING_JOBS, State


@part
def _before(state: State, a: int, b: int) -> bool:
    due, turn = state.due, state.due_turn
    return due[a] < due[b] or (due[a] == due[b] and turn[a] < turn[b])


@part
def _swap(state: State, a: int, b: int) -> None:
    due, turn, job = state.due, state.due_turn, state.due_job
    due[a], due[b] = due[b], due[a]
    turn[a], turn[b] = turn[b], turn[a]
    job[a], job[b] = job[b], job[a]


@part
def enter_end(state: State, job: int, at: float) -> None:
    """Enter that a job which starts now ends at `at`."""
    index = state.count[RUNNING_JOBS]
    state.count[RUNNING_JOBS] += 1
    state.due[index], state.due_turn[index], state.due_job[index] = at, state.count[JOBS_STARTED], job
    state.count[JOBS_STARTED] += 1
    while index > 0:
        parent = (index - 1) >> 1
        if not _before(state, index, parent):
            break
        _swap(state, index, parent)
        index = parent


@part
def take_end(state: State) -> int:
    """Take out and return the job that ends first."""
    found = state.due_job[0]
    state.count[RUNNING_JOBS] -= 1
    count = state.count[RUNNING_JOBS]
    _swap(state, 0, count)
    index = 0
    while True:
        child = 2 * index + 1
        if child >= count:
            return found
        if child + 1 < count and _before(state, child + 1, child):
            child += 1
        if not _before(state, child, index):
            return found
        _swap(state, index, child)
        index = child
