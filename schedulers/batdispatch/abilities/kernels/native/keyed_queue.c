/* Decisions in an order by key: those of batdispatch.dispatchers.backfilling with an ordering that changes over time. */
#include <math.h>
#include <stdlib.h>

#include "decisions.h"
#include "running_jobs.h"

/* Put the jobs in play in order: those that fit now, and those for which room may be reserved. */
static void put_in_order(const State *state, Order *order, const Beside *beside)
{
    Entry first = {2, 0.0, UNKNOWN};
    order->in_play = 0;
    for (int64_t index = 0; index < order->queued; index++) {
        int64_t job = order->queue[index];
        bool is_small = state->units[job] <= state->free;
        if (!is_small && beside && !may_reserve(beside, state, job))
            continue;
        Entry entry = waiting_entry(state, order, beside, job);
        if (is_small)
            order->entries[order->in_play++] = entry;
        else if (compare_entries(&entry, &first) < 0)
            /* The others behind it neither start nor hold up anybody. */
            first = entry;
    }
    if (first.job != UNKNOWN)
        order->entries[order->in_play++] = first;
    qsort(order->entries, (size_t)order->in_play, sizeof *order->entries, compare_entries);
}

/* Let the jobs wait that came since the last decision. */
static void take_in(const State *state, Order *order)
{
    for (; order->came < state->submissions; order->came++)
        if (state->units[order->came] <= state->size)
            order->queue[order->queued++] = order->came;
}

/* Drop the jobs that have started. */
static void drop_started(const State *state, Order *order)
{
    int64_t left = 0;
    for (int64_t index = 0; index < order->queued; index++)
        if (isnan(state->start[order->queue[index]]))
            order->queue[left++] = order->queue[index];
    order->queued = left;
}

/* Start jobs in order until one holds up the others, and return its position; or the number of jobs in play. */
static int64_t start_from_head(State *state, const Order *order, const Beside *beside, bool fills)
{
    for (int64_t at = 0; at < order->in_play; at++) {
        int64_t job = order->entries[at].job;
        if (state->units[job] <= state->free)
            start_job(state, job, UNKNOWN);
        else if (!fills && (!beside || may_reserve(beside, state, job)))
            return at;
    }
    return order->in_play;
}

/* Put the jobs from a position on in the order in which they run ahead of the head. */
static void sort_ahead(const State *state, Order *order, int64_t at)
{
    for (int64_t index = at; index < order->in_play; index++) {
        int64_t job = order->entries[index].job;
        order->entries[index] = (Entry){1, key_of(&order->ahead, state, job), job};
    }
    qsort(order->entries + at, (size_t)(order->in_play - at), sizeof *order->entries, compare_entries);
}

static void run_ahead(State *state, Order *order, int64_t at, bool by_hosts)
{
    int64_t head = order->entries[at].job;
    if (order->ahead.formula != NO_KEY)
        sort_ahead(state, order, at + 1);
    for (at++; at < order->in_play && state->free > 0; at++)
        if (state->units[order->entries[at].job] <= state->free)
            start_ahead(state, order->entries[at].job, head, by_hosts);
}

/* Decide as EASY does where jobs may outlive what is expected of them: as the dispatcher in Python, it asks for a call
 * only when it looks for jobs that may run ahead. */
static void decide_with_foresight(State *state, Order *order, Foresight *foresight, bool came, bool by_hosts)
{
    int64_t at = 0;
    bool is_late = correct_ends(state, foresight);
    put_in_order(state, order, NULL);
    bool anew = is_late || order->key.formula != COLUMN || state->freed || order->entries[0].job != state->head;
    if (anew) {
        at = start_from_head(state, order, NULL, false);
        drop_started(state, order);
        state->freed = 0, state->head = UNKNOWN;
        if (order->queued < 2)
            return;
        state->head = order->entries[at].job;
        reserve(state, state->head);
    }
    if (!by_hosts && ((!anew && !came) || state->free == 0))
        return;
    call_if_missed(state, state->shadow);
    run_ahead(state, order, at, by_hosts);
    drop_started(state, order);
}

void decide_by_key(State *state, Order *order, Beside *beside, Foresight *foresight, int64_t rule)
{
    int64_t before = order->queued;
    take_in(state, order);
    if (!order->queued)
        return;
    if (foresight) {
        decide_with_foresight(state, order, foresight, order->queued > before, rule == EASY_HOSTS);
        return;
    }
    if (beside)
        look_beside(beside, state);
    put_in_order(state, order, beside);
    int64_t at = 0;
    /* Where hosts sleep, jobs end later than they were let run ahead for, and a reservation is kept until it is made anew. */
    if (!state->sleepers || state->freed || order->entries[0].job != state->head) {
        at = start_from_head(state, order, beside, rule == FILLER);
        state->freed = 0, state->head = UNKNOWN;
    }
    if (at < order->in_play && state->waiting > 1 && (rule == EASY_COUNT || rule == EASY_HOSTS)) {
        if (state->head == UNKNOWN)
            reserve(state, order->entries[at].job);
        state->head = order->entries[at].job;
        run_ahead(state, order, at, rule == EASY_HOSTS);
    }
    drop_started(state, order);
}
