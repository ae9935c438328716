#include "node_use.h"

int64_t free_size(const Nodes *nodes)
{
    return nodes->hosts * nodes->resources + nodes->licences;
}

/* Return how much of a resource so many units of a kind need on a host. */
static int64_t amount_on(const Nodes *nodes, int64_t kind, int64_t host, int64_t units, int64_t axis)
{
    int64_t of_kind = kind * nodes->resources + axis, of_host = host * nodes->resources + axis;
    return nodes->idle[kind] ? nodes->capacity[of_host] : units * nodes->amounts[of_kind] + nodes->once[of_kind];
}

/* Take what so many units of a kind need on a host, or give it back. */
static void shift(const Nodes *nodes, int64_t kind, int64_t host, int64_t units, int64_t *free, int64_t sign)
{
    for (int64_t axis = 0; axis < nodes->resources; axis++)
        free[host * nodes->resources + axis] += sign * amount_on(nodes, kind, host, units, axis);
}

/* Take the licences of a job, or give them back. */
static void shift_licences(const Nodes *nodes, int64_t job, int64_t *free, int64_t sign)
{
    const int64_t *held = nodes->held + nodes->kind[job] * nodes->licences;
    for (int64_t licence = 0; licence < nodes->licences; licence++)
        free[nodes->hosts * nodes->resources + licence] += sign * held[licence];
}

void shift_place(const Nodes *nodes, int64_t job, int64_t *free, int64_t sign)
{
    shift_licences(nodes, job, free, sign);
    for (int64_t index = 0; index < nodes->words; index++)
        for (uint64_t word = nodes->place[index]; word; word &= word - 1) {
            int64_t host = index * WORD + lowest_place(word);
            shift(nodes, nodes->kind[job], host, nodes->on[host], free, sign);
        }
}

void give_back_nodes(const State *state, const Nodes *nodes, int64_t job, int64_t *free)
{
    const int64_t *counts = nodes->counts + nodes->counts_at[job];
    int64_t at = state->hosts_at[job], behind = at + state->hosts_runs[job];
    shift_licences(nodes, job, free, 1);
    for (; at < behind; at++)
        for (int64_t host = state->first[at]; host <= state->last[at]; host++)
            shift(nodes, nodes->kind[job], host, *counts++, free, 1);
}

int64_t amount_of(const State *state, const Nodes *nodes, int64_t job, int64_t axis)
{
    const int64_t *counts = nodes->counts + nodes->counts_at[job];
    int64_t at = state->hosts_at[job], behind = at + state->hosts_runs[job], amount = 0;
    for (; at < behind; at++)
        for (int64_t host = state->first[at]; host <= state->last[at]; host++)
            amount += amount_on(nodes, nodes->kind[job], host, *counts++, axis);
    return amount;
}
