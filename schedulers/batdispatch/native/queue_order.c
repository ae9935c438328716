#include "queue_order.h"

#include <math.h>

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
    default:
        return column[job];
    }
}

int compare_entries(const void *one, const void *other)
{
    const Entry *a = one, *b = other;
    if (a->tier != b->tier)
        return a->tier < b->tier ? -1 : 1;
    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    return a->job < b->job ? -1 : 1;
}
