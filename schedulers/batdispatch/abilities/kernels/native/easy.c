/* EASY backfilling.
 *
 * With reservation=hosts the first of the queue keeps the lowest hosts of those that are free at its shadow time. Among
 * them are all hosts that are free now. So the free hosts that it does not keep are those above the last one that it
 * keeps: the threshold. It is looked for only when a job that would outlive the shadow time might use such hosts. */
#include <math.h>

#include "decisions.h"
#include "extremes.h"
#include "hosts.h"
#include "power_saving.h"
#include "queue_tree.h"
#include "rounding.h"
#include "running_jobs.h"
#include "sleepers.h"

/* More than what rounding adds to a time, s. */
#define TICK 1e-6

/* Return when the head of the queue may start. `spare` is how many hosts more than it needs are free, below 0 before, and
 * becomes how many it leaves spare then. */
static double shadow_time(const State *state, int64_t *spare)
{
    const double *expected = state->expected;
    int64_t holders = holding(state), left = *spare;
    double shadow = INFINITY;
    /* The loop goes on through the jobs that end at the very same time. */
    for (int64_t index = 0; index < holders && expected[index] <= shadow; index++) {
        left += state->units[state->expected_job[index]];
        if (shadow == INFINITY && left >= 0)
            shadow = expected[index];
    }
    *spare = left;
    return shadow;
}

void reserve(State *state, int64_t head)
{
    state->spare = state->free - state->units[head];
    state->shadow = shadow_time(state, &state->spare);
    state->threshold = UNKNOWN;
}

/* Return how many running jobs are expected to have ended at the shadow time. */
static int64_t ending_by_then(const State *state)
{
    int64_t jobs = 0;
    while (jobs < holding(state) && state->expected[jobs] <= state->shadow)
        jobs++;
    return jobs;
}

/* Return how many hosts of a running job have an id up to a host's. */
static int64_t held_up_to(const State *state, int64_t job, int64_t host)
{
    int64_t found = 0, behind = state->hosts_at[job] + state->hosts_runs[job];
    for (int64_t run = state->hosts_at[job]; run < behind && state->first[run] <= host; run++)
        found += (state->last[run] < host ? state->last[run] : host) - state->first[run] + 1;
    return found;
}

/* Return how many hosts with an id up to a host's are free at the shadow time. */
static int64_t free_then(const State *state, int64_t host)
{
    int64_t found = state->free - free_above(state, host), ending = ending_by_then(state);
    for (int64_t index = 0; index < ending; index++)
        found += held_up_to(state, state->expected_job[index], host);
    return found;
}

/* Return the highest host that is free at the shadow time, or a higher one. */
static int64_t highest_then(const State *state)
{
    int64_t high = state->free_runs ? state->free_last[0] : 0, ending = ending_by_then(state);
    for (int64_t index = 0; index < ending; index++) {
        int64_t job = state->expected_job[index];
        int64_t last = state->last[state->hosts_at[job] + state->hosts_runs[job] - 1];
        high = last > high ? last : high;
    }
    return high;
}

/* Return the last of so many lowest hosts that are free at the shadow time. */
static int64_t threshold_of(const State *state, int64_t units)
{
    int64_t low = 0, high = highest_then(state);
    while (low < high) {
        int64_t middle = (low + high) / 2;
        if (free_then(state, middle) >= units)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static void find_threshold(State *state, int64_t head)
{
    if (state->threshold != UNKNOWN)
        return;
    state->threshold = threshold_of(state, state->units[head]);
    state->spare = free_above(state, state->threshold);
}

/* Start a job that outlives the shadow time on what the first of the queue leaves spare, if that is enough. */
static void start_beside(State *state, int64_t job, int64_t head, bool by_hosts)
{
    if (by_hosts)
        find_threshold(state, head);
    if (state->units[job] > state->spare)
        return;
    start_job(state, job, state->threshold);
    state->spare -= state->units[job];
}

void start_ahead(State *state, int64_t job, int64_t head, bool by_hosts)
{
    /* A job whose hosts have to wake up may end later than it was let run ahead for. */
    if (by_hosts && state->sleepers)
        find_threshold(state, head);
    if (round_six(state->now + state->booked[job]) <= state->shadow)
        start_job(state, job, UNKNOWN);
    else
        start_beside(state, job, head, by_hosts);
    if (by_hosts && state->threshold != UNKNOWN)
        state->spare = free_above(state, state->threshold);
}

/* Start the jobs behind the first one that do not delay it. */
static void backfill(State *state, int64_t head, bool by_hosts)
{
    int64_t place = state->place[head] + 1;
    for (;;) {
        int64_t free = state->free, small = least_of(free, state->spare);
        int64_t job = first_from(state, place, small, free, state->shadow - state->now + TICK);
        if (job == UNKNOWN)
            return;
        place = state->place[job] + 1;
        start_ahead(state, job, head, by_hosts);
    }
}

void want_head(State *state)
{
    uint64_t *hosts = state->sleepers->planned_hosts;
    int64_t head = first_waiting(state), words = state->sleepers->words, spare = state->free - state->units[head];
    double shadow = shadow_time(state, &spare);
    if (shadow == INFINITY)
        return;
    copy(state->sleepers->free, hosts, words);
    for (int64_t index = 0; index < holding(state) && state->expected[index] <= shadow; index++)
        enter_job(state, state->expected_job[index], hosts);
    leave_lowest_bits(hosts, words, state->units[head]);
    want(state, shadow, hosts);
}

void decide_easy(State *state, bool by_hosts)
{
    int64_t head = first_waiting(state);
    if (head == UNKNOWN)
        return;
    if (state->freed || head != state->head) {
        decide_fcfs(state);
        state->freed = 0, state->head = UNKNOWN;
        if (state->waiting < 2)
            return;
        head = state->head = first_waiting(state);
        reserve(state, head);
    }
    backfill(state, head, by_hosts);
}
