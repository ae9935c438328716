#include "queue_order.h"

#include <math.h>
#include <stdlib.h>

#include "running_jobs.h"

double key_of(const Key *key, const State *state, int64_t job)
{
    const double *column = key->column;
    double wait = state->now - state->submission[job];
    switch (key->formula) {
    case SLOWDOWN:
        return isfinite(column[job]) ? -(wait + column[job]) / column[job] : -1.0;
    case WFP3:
        /* Python's power is the same function. */
        return -pow(wait / column[job], 3.0) * (double)state->units[job];
    case UNICEF:
        return -wait / column[job];
    case AGED_AREA:
        return column[job] / pow(wait + key->head_start, key->power);
    case MULTIFACTOR:
        return -priority_of(key->factors, state, job);
    default:
        return column[job];
    }
}

Entry waiting_entry(const State *state, const Order *order, const Beside *beside, int64_t job)
{
    if (beside && is_late(beside, state, job))
        return (Entry){0, state->submission[job], job};
    return (Entry){order->tier ? order->tier[job] : 1, key_of(&order->key, state, job), job};
}

/* Enter a job that came where it belongs in an order that does not change; else behind the others, until these are sorted. */
static void enter_order(const State *state, Order *order, int64_t job)
{
    bool is_fixed = order->key.formula == COLUMN;
    Entry entry = is_fixed ? waiting_entry(state, order, NULL, job) : (Entry){0, 0.0, job};
    int64_t at = order->in_play++;
    for (; is_fixed && at > 0 && compare_entries(&entry, order->entries + at - 1) < 0; at--)
        order->entries[at] = order->entries[at - 1];
    order->entries[at] = entry;
}

bool let_wait(const State *state, Order *order)
{
    int64_t before = order->in_play;
    for (; order->came < state->submissions; order->came++)
        if (!is_refused(state, order->came))
            enter_order(state, order, order->came);
    return order->in_play > before;
}

void sort_waiting(const State *state, Order *order, const Beside *beside)
{
    if (order->key.formula == COLUMN && !beside)
        return;
    for (int64_t at = 0; at < order->in_play; at++)
        order->entries[at] = waiting_entry(state, order, beside, order->entries[at].job);
    qsort(order->entries, (size_t)order->in_play, sizeof *order->entries, compare_entries);
}

void forget_started(const State *state, Order *order)
{
    int64_t left = 0;
    for (int64_t at = 0; at < order->in_play; at++)
        if (isnan(state->start[order->entries[at].job]))
            order->entries[left++] = order->entries[at];
    order->in_play = left;
}
