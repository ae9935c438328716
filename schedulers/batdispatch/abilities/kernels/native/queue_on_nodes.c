/* The dispatchers that make no plan beyond the first of the queue, on nodes: fcfs, filler and easy. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "decisions.h"
#include "node_fits.h"
#include "node_jobs.h"
#include "node_places.h"
#include "node_use.h"
#include "nodes.h"
#include "rounding.h"
#include "shown_jobs.h"

/* Start a job on the lowest hosts if it fits now. */
static bool start_lowest(State *state, Nodes *nodes, int64_t job)
{
    if (!fits_now(nodes, job) || !place_lowest(nodes, job, nodes->free))
        return false;
    start_on_nodes(state, nodes, job);
    return true;
}

/* Return whether room may be reserved for a job; `beside`: of guarded, or null. */
static bool holds_up(const State *state, const Beside *beside, int64_t job)
{
    return !beside || may_reserve(beside, state, job);
}

/* Start jobs in order; one that does not fit holds up the others, unless the gaps are to be filled. */
static void start_in_order(State *state, Nodes *nodes, Order *order, const Beside *beside, bool fills)
{
    for (int64_t at = 0; at < order->in_play; at++) {
        int64_t job = order->entries[at].job;
        if (!start_lowest(state, nodes, job) && !fills && holds_up(state, beside, job))
            break;
    }
    forget_started(state, order);
}

/* Return the first job in order that holds up others, or UNKNOWN. */
static int64_t first_to_hold_up(const State *state, const Order *order, const Beside *beside)
{
    for (int64_t at = 0; at < order->in_play; at++)
        if (holds_up(state, beside, order->entries[at].job))
            return order->entries[at].job;
    return UNKNOWN;
}

/* Find the shadow time of the head of the queue, and what is free then; `by_hosts`: beside its own hosts. */
static void reserve_nodes(State *state, Nodes *nodes, bool by_hosts)
{
    int64_t head = state->head;
    state->shadow = INFINITY;
    memcpy(nodes->then, nodes->free, (size_t)free_size(nodes) * sizeof *nodes->free);
    for (int64_t index = 0; index < state->running && state->expected[index] <= state->shadow; index++) {
        give_back_nodes(state, nodes, state->expected_job[index], nodes->then);
        if (state->shadow == INFINITY && fits_anywhere(nodes, head, nodes->then))
            state->shadow = state->expected[index];
    }
    if (by_hosts && place_lowest(nodes, head, nodes->then))
        shift_place(nodes, head, nodes->then, -1);
}

/* Start a job that outlives the shadow time if the head of the queue then still fits. */
static void start_beside(State *state, Nodes *nodes, int64_t job, bool by_hosts)
{
    int64_t amounts = free_size(nodes), *then = nodes->then, *both = nodes->both;
    for (int64_t index = 0; by_hosts && index < amounts; index++)
        both[index] = nodes->free[index] < then[index] ? nodes->free[index] : then[index];
    if (!place_lowest(nodes, job, by_hosts ? both : nodes->free))
        return;
    if (!by_hosts)
        memcpy(both, then, (size_t)amounts * sizeof *then);
    shift_place(nodes, job, then, -1);
    if (by_hosts || fits_anywhere(nodes, state->head, then))
        start_on_nodes(state, nodes, job);
    else
        memcpy(then, both, (size_t)amounts * sizeof *then);
}

/* Find the jobs behind the head that came as the `first`-th or later, in the order in which they run ahead. */
static int64_t find_ahead(const State *state, Nodes *nodes, const Order *order, int64_t first)
{
    int64_t found = 0;
    for (int64_t at = 0; at < order->in_play; at++) {
        Entry entry = order->entries[at];
        if (entry.job < first || !fits_now(nodes, entry.job))
            continue;
        if (order->ahead.formula != NO_KEY)
            entry = (Entry){1, key_of(&order->ahead, state, entry.job), entry.job};
        nodes->ahead[found++] = entry;
    }
    if (order->ahead.formula != NO_KEY)
        qsort(nodes->ahead, (size_t)found, sizeof *nodes->ahead, compare_entries);
    return found;
}

static void run_ahead(State *state, Nodes *nodes, Order *order, int64_t first, bool by_hosts)
{
    int64_t count = find_ahead(state, nodes, order, first);
    for (int64_t at = 0; at < count; at++) {
        int64_t job = nodes->ahead[at].job;
        if (round_six(state->now + state->booked[job]) <= state->shadow)
            start_lowest(state, nodes, job);
        else if (fits_now(nodes, job))
            start_beside(state, nodes, job, by_hosts);
    }
    forget_started(state, order);
}

/* As easy does: if nothing was freed and the head is the same, only jobs that came since may run ahead. */
static void decide_easy_on_nodes(State *state, Nodes *nodes, Order *order, const Beside *beside, Foresight *foresight,
                                 int64_t first, bool by_hosts)
{
    bool is_other = (foresight && correct_ends(state, foresight)) || beside || order->key.formula != COLUMN;
    if (is_other || state->freed || order->entries[0].job != state->head) {
        first = 0;
        start_in_order(state, nodes, order, beside, false);
        state->freed = 0, state->head = UNKNOWN;
        if (order->in_play < 2)
            return;
        state->head = first_to_hold_up(state, order, beside);
        if (state->head == UNKNOWN)
            return;
        reserve_nodes(state, nodes, by_hosts);
    }
    if (foresight)
        call_if_missed(state, state->shadow);
    run_ahead(state, nodes, order, first, by_hosts);
}

void decide_on_nodes(State *state, Nodes *nodes, Order *order, Beside *beside, Foresight *foresight, int64_t rule)
{
    int64_t first = order->came;
    let_wait(state, order);
    turn_jobs(state, nodes, order, first);
    if (!order->in_play)
        return;
    if (beside)
        look_beside(beside, state);
    sort_waiting(state, order, beside);
    if (rule == FCFS || rule == FILLER)
        start_in_order(state, nodes, order, NULL, rule == FILLER);
    else
        decide_easy_on_nodes(state, nodes, order, beside, foresight, first, rule == EASY_HOSTS);
}
