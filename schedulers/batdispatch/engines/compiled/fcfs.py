"""First come, first served: see `batdispatch.dispatchers.backfilling.fcfs`."""

from batdispatch.engines.compiled.jit import part
from batdispatch.engines.compiled.queue_tree import first_from
from batdispatch.engines.compiled.running_jobs import start
from batdispatch.engines.compiled.state import FREE, NOBODY, UNKNOWN, State


@part
def first_waiting(state: State) -> int:
    """Return the first job of the queue, or -1."""
    return first_from(state, 0, NOBODY - 1, 0, 0.0)


@part
def decide(state: State) -> None:
    """Start jobs in order until one does not fit."""
    job = first_waiting(state)
    while job >= 0 and state.jobs.units[job] <= state.count[FREE]:
        start(state, job, UNKNOWN)
        job = first_waiting(state)
