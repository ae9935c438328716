#include "hosts.h"

#include <string.h>

#include "extremes.h"
#include "host_sets.h"

/* Let `to` be the place of the free runs from `from` on, up to the last one. */
static void move_runs(State *state, int64_t from, int64_t to)
{
    size_t bytes = (size_t)(state->free_runs - from) * sizeof *state->free_first;
    memmove(state->free_first + to, state->free_first + from, bytes);
    memmove(state->free_last + to, state->free_last + from, bytes);
    state->free_runs += to - from;
}

/* Write so many of the lowest hosts from `begin` on as runs of a job's, where `begin` is in the free run `at`; return
 * the last free run that they are taken from. */
static int64_t write_hosts(State *state, int64_t at, int32_t begin, int64_t units)
{
    for (;;) {
        int64_t here = least_of((int64_t)state->free_last[at] - begin + 1, units);
        state->first[state->runs] = begin;
        state->last[state->runs++] = (int32_t)(begin + here - 1);
        units -= here;
        if (units == 0)
            return at;
        begin = state->free_first[--at];
    }
}

void take_hosts(State *state, int64_t job, int64_t above)
{
    int32_t *first = state->free_first, *last = state->free_last;
    int64_t lowest = state->free_runs - 1;
    while (last[lowest] <= above)
        lowest--;
    int32_t begin = first[lowest] <= above ? (int32_t)(above + 1) : first[lowest];
    state->hosts_at[job] = state->runs;
    int64_t at = write_hosts(state, lowest, begin, state->units[job]);
    state->hosts_runs[job] = (int32_t)(state->runs - state->hosts_at[job]);
    state->free -= state->units[job];
    /* What is left of the last run taken from, and of the first one below `begin`: at most one run more than before. */
    int32_t end = state->last[state->runs - 1], below = first[lowest];
    bool left_above = last[at] > end, left_below = below < begin;
    int64_t keep = at + left_above;
    move_runs(state, lowest + 1, keep + left_below);
    if (left_above)
        first[at] = end + 1;
    if (left_below)
        first[keep] = below, last[keep] = begin - 1;
}

/* Return how many free runs lie above a host. */
static int64_t runs_above(const State *state, int32_t host)
{
    int64_t low = 0, high = state->free_runs;
    while (low < high) {
        int64_t middle = (low + high) / 2;
        if (state->free_first[middle] > host)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void give_back_run(State *state, int32_t begin, int32_t end)
{
    int32_t *first = state->free_first, *last = state->free_last;
    int64_t at = runs_above(state, end);
    bool joins_above = at > 0 && first[at - 1] == end + 1;
    bool joins_below = at < state->free_runs && last[at] == begin - 1;
    if (joins_above && joins_below) {
        first[at - 1] = first[at];
        move_runs(state, at + 1, at);
    } else if (joins_above) {
        first[at - 1] = begin;
    } else if (joins_below) {
        last[at] = end;
    } else {
        move_runs(state, at, at + 1);
        first[at] = begin, last[at] = end;
    }
}

void give_back_hosts(State *state, int64_t job)
{
    int64_t at = state->hosts_at[job];
    for (int64_t run = at; run < at + state->hosts_runs[job]; run++)
        give_back_run(state, state->first[run], state->last[run]);
    state->free += state->units[job];
}

void enter_job(const State *state, int64_t job, uint64_t *set)
{
    int64_t at = state->hosts_at[job];
    enter_runs(set, state->first + at, state->last + at, state->hosts_runs[job]);
}

void give_set(State *state, int64_t job, const uint64_t *set, int64_t words)
{
    int64_t at = state->hosts_at[job] = state->runs;
    state->runs = write_set(set, words, state->first, state->last, at);
    state->hosts_runs[job] = (int32_t)(state->runs - at);
}

int64_t free_above(const State *state, int64_t host)
{
    int64_t found = 0;
    for (int64_t run = 0; run < state->free_runs && state->free_last[run] > host; run++) {
        int64_t below = (int64_t)state->free_first[run] - 1;
        found += state->free_last[run] - (below > host ? below : host);
    }
    return found;
}
