/* What is free on nodes, and what fits there. */
#include "nodes.h"

#include <math.h>
#include <string.h>

#include "export.h"
#include "hosts.h"
#include "queue_tree.h"
#include "running_jobs.h"

/* Return how many units of a kind a host can take that has so much free. */
static int64_t room_on(const Nodes *nodes, int64_t kind, int64_t host, const int64_t *free)
{
    int64_t width = nodes->resources, room = nodes->bound[kind], any = 0;
    const int64_t *amounts = nodes->amounts + kind * width, *once = nodes->once + kind * width;
    const int64_t *capacity = nodes->capacity + host * width;
    for (int64_t axis = 0; axis < width; axis++) {
        if (free[axis] < once[axis] || (nodes->idle[kind] && free[axis] != capacity[axis]))
            return 0;
        any |= free[axis];
        if (amounts[axis]) {
            int64_t left = free[axis] - once[axis], units = amounts[axis] == 1 ? left : left / amounts[axis];
            room = units < room ? units : room;
        }
    }
    if (nodes->each[kind])
        room = room >= nodes->each[kind] ? nodes->each[kind] : 0;
    return any ? room : 0;
}

/* Find the hosts with room for a job, and return how many units they can take in all. */
static int64_t find_room(Nodes *nodes, int64_t job, const int64_t *free, const uint64_t *set)
{
    int64_t total = 0, kind = nodes->kind[job];
    const uint64_t *hosts = hosts_of(nodes, job);
    nodes->able = 0;
    for (int64_t index = 0; index < nodes->words; index++) {
        uint64_t word = set[index] & hosts[index];
        for (; word; word &= word - 1) {
            int64_t host = index * WORD + lowest_place(word);
            int64_t room = room_on(nodes, kind, host, free + host * nodes->resources);
            if (!room)
                continue;
            nodes->able_host[nodes->able++] = host;
            nodes->room[host] = room;
            total += room;
        }
    }
    return total;
}

/* Return how many units the roomiest hosts can take, of so many of those with room. */
static int64_t room_of_roomiest(Nodes *nodes, int64_t most)
{
    int64_t total = 0;
    for (int64_t at = 0; at < nodes->able; at++)
        nodes->roomy[at] = (Roomy){nodes->room[nodes->able_host[at]], at};
    sort_roomy(nodes->roomy, nodes->able);
    for (int64_t at = 0; at < most; at++)
        total += nodes->roomy[at].room;
    return total;
}

int64_t free_size(const Nodes *nodes)
{
    return nodes->hosts * nodes->resources + nodes->licences;
}

bool lacks_licence(const Nodes *nodes, int64_t job, const int64_t *free)
{
    const int64_t *held = nodes->held + nodes->kind[job] * nodes->licences;
    for (int64_t licence = 0; licence < nodes->licences; licence++)
        if (free[nodes->hosts * nodes->resources + licence] < held[licence])
            return true;
    return false;
}

bool fits_on(Nodes *nodes, int64_t job, const int64_t *free, const uint64_t *set)
{
    if (lacks_licence(nodes, job, free))
        return false;
    int64_t kind = nodes->kind[job], total = find_room(nodes, job, free, set);
    if (nodes->able < nodes->least[kind] || total < nodes->units[kind])
        return false;
    return nodes->able <= nodes->most[kind] || room_of_roomiest(nodes, nodes->most[kind]) >= nodes->units[kind];
}

bool fits_anywhere(Nodes *nodes, int64_t job, const int64_t *free)
{
    return fits_on(nodes, job, free, nodes->may + nodes->kind[job] * nodes->words);
}

bool fits_now(Nodes *nodes, int64_t job)
{
    int64_t *unfit = unfit_of(nodes, job);
    if (*unfit == nodes->returns)
        return false;
    if (fits_anywhere(nodes, job, nodes->free))
        return true;
    *unfit = nodes->returns;
    return false;
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

void start_on_nodes(State *state, Nodes *nodes, int64_t job)
{
    give_set(state, job, nodes->place, nodes->words);
    nodes->counts_at[job] = nodes->counted;
    for (int64_t index = 0; index < nodes->words; index++)
        for (uint64_t word = nodes->place[index]; word; word &= word - 1)
            nodes->counts[nodes->counted++] = nodes->on[index * WORD + lowest_place(word)];
    shift_place(nodes, job, nodes->free, -1);
    leave_queue(state, job);
    enter_running(state, job);
    expect_end(state, job);
}

bool advance_nodes(State *state, Nodes *nodes)
{
    if (!begin_moment(state))
        return false;
    for (int64_t job = end_next(state); job != UNKNOWN; job = end_next(state)) {
        give_back_nodes(state, nodes, job, nodes->free);
        nodes->returns++;
        expect_no_longer(state, job);
    }
    end_moment(state);
    return true;
}

/* Return on how many hosts a job may be at most. */
static int64_t most_hosts(const Nodes *nodes, int64_t job)
{
    int64_t most = nodes->most[nodes->kind[job]];
    return most < nodes->hosts ? most : nodes->hosts;
}

bool has_room_on_nodes(const State *state, const Nodes *nodes, const Order *order)
{
    const Openings *openings = nodes->openings;
    int64_t most = 0;
    for (int64_t at = 0; at < order->in_play; at++)
        most += most_hosts(nodes, order->entries[at].job);
    for (int64_t at = 0; openings && openings->quiet <= state->now && at < openings->waiting; at++)
        most += most_hosts(nodes, openings->waiting_job[at]);
    for (int64_t job = order->came; job < state->submissions; job++)
        if (!is_refused(state, job))
            most += most_hosts(nodes, job);
    /* A job has as many runs as hosts at most. */
    return nodes->counted + most <= state->room && state->calls + MOST_ASKED <= state->most_calls;
}
