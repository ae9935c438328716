/* The kernel of slurm-backfill: see batdispatch.dispatchers.slurm.backfill and main_loop. */
#include <math.h>
#include <stdlib.h>

#include "export.h"
#include "running_jobs.h"
#include "slurm.h"

/* Simulate so many moments more, and return ALL_OVER, AT_PAUSE, FULL or ASKS; `foresight`: where jobs may outlive what is
 * expected of them, or null. */
EXPORT int64_t run_slurm(State *state, Slurm *slurm, Order *order, Foresight *foresight, int64_t moments);

/* Let everything happen that happens next, as the engine tells it in one message; false: all is over. */
static bool advance_slurm(State *state, Slurm *slurm)
{
    if (!begin_moment(state))
        return false;
    for (int64_t job = end_next(state); job != UNKNOWN; job = end_next(state)) {
        int64_t at = state->hosts_at[job], behind = at + state->hosts_runs[job];
        for (; at < behind; at++)
            enter_run(slurm->idle, state->first[at], state->last[at]);
        state->free += state->units[job];
        expect_no_longer(state, job);
    }
    end_moment(state);
    return true;
}

/* Enter a job that came where it belongs in an order that does not change. */
static void enter_order(const State *state, Order *order, int64_t job)
{
    Entry entry = {1, key_of(&order->key, state, job), job};
    int64_t at = order->in_play++;
    for (; at > 0 && compare_entries(&entry, order->entries + at - 1) < 0; at--)
        order->entries[at] = order->entries[at - 1];
    order->entries[at] = entry;
}

/* Let the jobs wait that came since the last decision, and return whether any did. */
static bool take_in(const State *state, Order *order)
{
    int64_t before = order->in_play;
    for (; order->came < state->submissions; order->came++)
        if (state->units[order->came] <= state->size)
            enter_order(state, order, order->came);
    return order->in_play > before;
}

/* Put the waiting jobs in order, if that changes over time. */
static void put_in_order(const State *state, Order *order)
{
    if (order->key.formula == COLUMN)
        return;
    for (int64_t at = 0; at < order->in_play; at++)
        order->entries[at].key = key_of(&order->key, state, order->entries[at].job);
    qsort(order->entries, (size_t)order->in_play, sizeof *order->entries, compare_entries);
}

static void drop_started(const State *state, Order *order)
{
    int64_t left = 0;
    for (int64_t at = 0; at < order->in_play; at++)
        if (isnan(state->start[order->entries[at].job]))
            order->entries[left++] = order->entries[at];
    order->in_play = left;
}

/* Start jobs in order until one does not fit, of those up to a position; return whether jobs were left. */
static bool run_in_order(State *state, Slurm *slurm, const Order *order, int64_t most)
{
    copy(slurm->hosts, slurm->allowed, slurm->words);
    for (int64_t at = 0; at < order->in_play; at++) {
        int64_t job = order->entries[at].job;
        if (at > most)
            return true;
        if (state->units[job] > state->free || !choose_hosts(state, slurm, job, slurm->idle))
            return false;
        start_on_place(state, slurm, job);
    }
    return false;
}

static void run_main_loop(State *state, Slurm *slurm, Order *order)
{
    int64_t due = main_loop_due(state, slurm, !slurm->head_asked);
    if (due == NOT_NOW)
        return;
    put_in_order(state, order);
    slurm->whole_asked = run_in_order(state, slurm, order, due == FOR_WHOLE ? INT64_MAX : slurm->queue_depth);
    slurm->head_asked = 0;
    drop_started(state, order);
    if (slurm->whole_asked)
        main_loop_due(state, slurm, true);
}

static void backfill(State *state, Slurm *slurm, Order *order, bool is_sure)
{
    slurm->passes++;
    slurm->pass_asked = 0;
    put_in_order(state, order);
    int64_t started = make_pass(state, slurm, order);
    drop_started(state, order);
    slurm->backfilled += started;
    if (!is_sure)
        call_if_missed(state, slurm->first_reserved);
    /* Jobs behind the depth may have come within it. */
    if (started && slurm->stopped) {
        slurm->pass_asked = 1;
        if (slurm->interval > 0)
            pass_due(state, slurm);
    }
}

static void decide(State *state, Slurm *slurm, Order *order, Foresight *foresight)
{
    bool came = take_in(state, order), is_late = foresight && correct_ends(state, foresight);
    if (came || is_late || state->freed)
        slurm->head_asked = slurm->pass_asked = 1;
    state->freed = 0;
    if (!order->in_play) {
        if (slurm->pass_asked)
            pass_changed(slurm, state->now);
        slurm->awaited = INFINITY;
        slurm->head_asked = slurm->whole_asked = slurm->pass_asked = 0;
        return;
    }
    if (slurm->head_asked || slurm->whole_asked)
        run_main_loop(state, slurm, order);
    if (slurm->pass_asked && order->in_play && pass_due(state, slurm))
        backfill(state, slurm, order, !foresight);
}

/* Return whether there is room for whatever a decision may need. */
static bool has_room_for(const State *state, const Slurm *slurm)
{
    int64_t most = slurm->most_tried < state->waiting ? slurm->most_tried : state->waiting;
    return state->runs + state->free <= state->room && state->calls + MOST_ASKED <= state->most_calls &&
           2 * most + 1 <= slurm->most_records;
}

int64_t run_slurm(State *state, Slurm *slurm, Order *order, Foresight *foresight, int64_t moments)
{
    for (; moments > 0; moments--) {
        if (!state->decides && !advance_slurm(state, slurm))
            return ALL_OVER;
        if (foresight && foresight->told < state->submissions)
            return ASKS;
        if (!has_room_for(state, slurm))
            return FULL;
        state->decides = 0;
        decide(state, slurm, order, foresight);
    }
    return AT_PAUSE;
}
