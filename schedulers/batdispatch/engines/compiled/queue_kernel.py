"""The kernel of the dispatchers that make no plan beyond the first of the queue: `fcfs`, `filler` and `easy`."""

from batdispatch.engines.compiled import easy, fcfs, filler
from batdispatch.engines.compiled.hosts import has_room
from batdispatch.engines.compiled.jit import kernel
from batdispatch.engines.compiled.running_jobs import advance
from batdispatch.engines.compiled.state import ALL_OVER, AT_PAUSE, DECIDES, FULL, State

# Which dispatcher decides.
FCFS, FILLER, EASY_COUNT, EASY_HOSTS = 0, 1, 2, 3


@kernel
def run(state: State, dispatcher: int, moments: int) -> int:
    """Simulate so many moments more, and return `ALL_OVER`, `AT_PAUSE` or `FULL`."""
    for _ in range(moments):
        if not state.count[DECIDES] and not advance(state):
            return ALL_OVER
        if not has_room(state):
            return FULL
        state.count[DECIDES] = 0
        if dispatcher == FCFS:
            fcfs.decide(state)
        elif dispatcher == FILLER:
            filler.decide(state)
        else:
            easy.decide(state, dispatcher == EASY_HOSTS)
    return AT_PAUSE
