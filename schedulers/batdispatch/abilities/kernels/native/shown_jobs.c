#include "shown_jobs.h"

#include <math.h>
#include <stdlib.h>

#include "calls.h"
#include "node_fits.h"
#include "open_hosts.h"
#include "running_jobs.h"

/* See what is open to a waiting job now, and return whether that is something else than before. */
static bool look(const State *state, const Nodes *nodes, int64_t job)
{
    Openings *openings = nodes->openings;
    const uint64_t *reach = openings->reach + nodes->kind[job] * nodes->words;
    copy(reach, openings->past, nodes->words);
    copy(reach, openings->open, nodes->words);
    close_hosts(nodes, job, openings->looked[job], openings->past);
    openings->change[job] = close_hosts(nodes, job, state->now, openings->open);
    openings->looked[job] = state->now;
    openings->shut[job] = !same_sets(openings->open, reach, nodes->words);
    openings->unfit[job] = -1;
    return !same_sets(openings->open, openings->past, nodes->words);
}

/* Return whether the dispatcher is to see a job, as it is now. */
static bool is_to_be_shown(Nodes *nodes, int64_t job)
{
    return nodes->openings->plans || fits_anywhere(nodes, job, nodes->capacity);
}

/* Take up a job that came. */
static void take_up(const State *state, Nodes *nodes, int64_t job)
{
    Openings *openings = nodes->openings;
    look(state, nodes, job);
    openings->shown[job] = is_to_be_shown(nodes, job);
    openings->waiting_job[openings->waiting++] = job;
    openings->quiet = openings->change[job] < openings->quiet ? openings->change[job] : openings->quiet;
}

/* Look at a waiting job again, and return whether the dispatcher sees it with other hosts than before. */
static bool turn_job(const State *state, Nodes *nodes, int64_t job)
{
    if (!look(state, nodes, job))
        return false;
    nodes->openings->shown[job] = is_to_be_shown(nodes, job);
    return nodes->openings->shown[job];
}

/* Return less than 0 if what changes for one job comes before what changes for another. */
static int compare_changes(const void *one, const void *other)
{
    const Entry *a = one, *b = other;
    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    return a->tier < b->tier ? -1 : 1;
}

/* Look at the jobs for which something changes, and reject those for which their reservations have no time left. Return
 * whether there may be others than before that the dispatcher sees. */
static bool turn_due(State *state, Nodes *nodes)
{
    Openings *openings = nodes->openings;
    int64_t left = 0, late = 0;
    openings->quiet = INFINITY;
    for (int64_t at = 0; at < openings->waiting; at++) {
        int64_t job = openings->waiting_job[at];
        if (!isnan(state->start[job]))
            continue;
        bool is_due = openings->change[job] <= state->now;
        if (is_due && is_refused(state, job)) {
            nodes->ahead[late++] = (Entry){openings->by_id[job], openings->change[job], job};
            continue;
        }
        state->freed |= is_due && turn_job(state, nodes, job);
        openings->waiting_job[left++] = job;
        openings->quiet = openings->change[job] < openings->quiet ? openings->change[job] : openings->quiet;
    }
    openings->waiting = left;
    qsort(nodes->ahead, (size_t)late, sizeof *nodes->ahead, compare_changes);
    for (int64_t at = 0; at < late; at++)
        reject(state, nodes->ahead[at].job);
    return late || !openings->plans;
}

/* Leave those jobs in the order that the dispatcher sees. */
static void show_jobs(const State *state, const Openings *openings, Order *order)
{
    order->in_play = 0;
    for (int64_t at = 0; at < openings->waiting; at++) {
        int64_t job = openings->waiting_job[at];
        if (openings->shown[job] && isnan(state->start[job]))
            order->entries[order->in_play++] = waiting_entry(state, order, NULL, job);
    }
    qsort(order->entries, (size_t)order->in_play, sizeof *order->entries, compare_entries);
}

void turn_jobs(State *state, Nodes *nodes, Order *order, int64_t first)
{
    Openings *openings = nodes ? nodes->openings : NULL;
    if (!openings)
        return;
    bool is_other = openings->quiet <= state->now && turn_due(state, nodes);
    for (int64_t job = first; job < order->came; job++)
        if (!is_refused(state, job)) {
            take_up(state, nodes, job);
            is_other |= !openings->shown[job];
        }
    if (is_other)
        show_jobs(state, openings, order);
}

void call_for_openings(State *state, const Nodes *nodes)
{
    Openings *openings = nodes ? nodes->openings : NULL;
    int64_t at = 0;
    if (!openings || !state->waiting)
        return;
    while (at < openings->moments && openings->moment[at] <= state->now + TICK / 2)
        at++;
    if (at == openings->moments || openings->moment[at] == openings->called)
        return;
    openings->called = openings->moment[at];
    call_at(state, openings->called);
}
