#include "queue_tree.h"

#include <math.h>

/* Set a node, and return whether that changes it. */
static bool set(State *state, int64_t node, int32_t units, double seconds)
{
    if (state->least[node] == units && state->shortest[node] == seconds)
        return false;
    state->least[node] = units, state->shortest[node] = seconds;
    return true;
}

static void put(State *state, int64_t place, int32_t units, double seconds)
{
    const int32_t *least = state->least;
    const double *shortest = state->shortest;
    int64_t node = place + state->leaves;
    while (set(state, node, units, seconds) && node > 1) {
        int64_t left = node & ~(int64_t)1, right = left + 1;
        units = least[left] < least[right] ? least[left] : least[right];
        seconds = shortest[left] < shortest[right] ? shortest[left] : shortest[right];
        node /= 2;
    }
}

void enter_queue(State *state, int64_t job)
{
    state->waiting++;
    put(state, state->place[job], (int32_t)state->units[job], state->booked[job]);
}

void leave_queue(State *state, int64_t job)
{
    state->waiting--;
    put(state, state->place[job], NOBODY, INFINITY);
}

int64_t first_waiting(const State *state)
{
    return first_from(state, 0, NOBODY - 1, 0, 0.0);
}

/* Return the node that comes behind all that lie below a node, or 0. */
static int64_t behind(int64_t node)
{
    while (node & 1)
        node /= 2;
    return node == 0 ? 0 : node + 1;
}

int64_t first_from(const State *state, int64_t place, int64_t small, int64_t units, double seconds)
{
    int64_t leaves = state->leaves, node = place < leaves ? place + leaves : 0;
    while (node != 0) {
        int32_t least = state->least[node];
        bool may_start = least <= small || (least <= units && state->shortest[node] <= seconds);
        if (!may_start)
            node = behind(node);
        else if (node < leaves)
            node *= 2;
        else
            return state->of_place[node - leaves];
    }
    return UNKNOWN;
}
