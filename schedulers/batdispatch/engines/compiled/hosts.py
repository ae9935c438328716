"""Free hosts as runs of consecutive ids: what a start takes and an end gives back costs as much as there are runs.

Runs are kept in descending order, so that first-fit takes from the end of the arrays.
"""

from batdispatch.engines.compiled.jit import part
from batdispatch.engines.compiled.state import FREE, FREE_RUNS, RUNS, WAITING_JOBS, State


@part
def has_room(state: State) -> bool:
    """Return whether there is room for the runs of all jobs that may start now.

    Each start cuts a run of free hosts in two places at most.
    """
    count = state.count
    return count[RUNS] + count[FREE_RUNS] + 2 * min(count[WAITING_JOBS], count[FREE]) <= len(state.first)


@part
def take(state: State, job: int, above: int) -> None:
    """Give a job the lowest free hosts above the host `above`; there must be enough."""
    count, first, last = state.count, state.free_first, state.free_last
    units = state.jobs.units[job]
    runs, used = count[FREE_RUNS], count[RUNS]
    state.hosts_at[job] = used
    # The lowest run with a host above, and behind it the runs that stay.
    at = runs - 1
    while last[at] <= above:
        at -= 1
    behind = at + 1
    begin = first[at]
    if begin <= above:
        begin = above + 1
    missing = units
    while True:
        end = last[at]
        state.first[used] = begin
        here = end - begin + 1
        if here > missing:
            end = begin + missing - 1
        state.last[used] = end
        used += 1
        missing -= end - begin + 1
        if missing == 0:
            break
        at -= 1
        begin = first[at]
    # What is left of the last run taken from, and of the first one below `above`.
    left_above = last[at] > end
    lowest = behind - 1
    left_below = first[lowest] < state.first[state.hosts_at[job]]
    below_first, below_last = first[lowest], state.first[state.hosts_at[job]] - 1
    keep = at
    if left_above:
        first[at], last[at] = end + 1, last[at]
        keep += 1
    stay = runs - behind
    shift = keep + (1 if left_below else 0) - behind
    if shift > 0:
        for index in range(runs - 1, behind - 1, -1):
            first[index + shift], last[index + shift] = first[index], last[index]
    elif shift < 0:
        for index in range(behind, runs):
            first[index + shift], last[index + shift] = first[index], last[index]
    if left_below:
        first[keep], last[keep] = below_first, below_last
        keep += 1
    count[FREE_RUNS] = keep + stay
    state.hosts_runs[job] = used - state.hosts_at[job]
    count[RUNS] = used
    count[FREE] -= units


@part
def give_back(state: State, job: int) -> None:
    """Let the hosts of a job be free again."""
    count, first, last = state.count, state.free_first, state.free_last
    runs = count[FREE_RUNS]
    at = state.hosts_at[job]
    for index in range(at, at + state.hosts_runs[job]):
        a, b = state.first[index], state.last[index]
        # `low` free runs are above it.
        low, high = 0, runs
        while low < high:
            middle = (low + high) >> 1
            if first[middle] > b:
                low = middle + 1
            else:
                high = middle
        joins_above = low > 0 and first[low - 1] == b + 1
        joins_below = low < runs and last[low] == a - 1
        if joins_above and joins_below:
            first[low - 1] = first[low]
            for later in range(low + 1, runs):
                first[later - 1], last[later - 1] = first[later], last[later]
            runs -= 1
        elif joins_above:
            first[low - 1] = a
        elif joins_below:
            last[low] = b
        else:
            for later in range(runs, low, -1):
                first[later], last[later] = first[later - 1], last[later - 1]
            first[low], last[low] = a, b
            runs += 1
    count[FREE_RUNS] = runs
    count[FREE] += state.jobs.units[job]


@part
def free_above(state: State, host: int) -> int:
    """Return how many free hosts have an id above a host's."""
    found = 0
    for index in range(state.count[FREE_RUNS]):
        end = state.free_last[index]
        if end <= host:
            break
        found += end - max(state.free_first[index] - 1, host)
    return found
