"""Fill: start whatever fits; see `batdispatch.dispatchers.backfilling.filler`."""

from batdispatch.engines.compiled.jit import part
from batdispatch.engines.compiled.queue_tree import first_from
from batdispatch.engines.compiled.running_jobs import start
from batdispatch.engines.compiled.state import FREE, UNKNOWN, State


@part
def decide(state: State) -> None:
    """Go through the queue in order and start every job that fits."""
    job = first_from(state, 0, state.count[FREE], 0, 0.0)
    while job >= 0:
        start(state, job, UNKNOWN)
        job = first_from(state, state.jobs.place[job] + 1, state.count[FREE], 0, 0.0)
