/* The kernel of slurm-backfill: see batdispatch.abilities.sites.slurm.backfill and main_loop. */
#include <math.h>
#include <string.h>

#include "export.h"
#include "hosts.h"
#include "node_fits.h"
#include "node_jobs.h"
#include "open_hosts.h"
#include "running_jobs.h"
#include "shown_jobs.h"
#include "slurm.h"

/* Let everything happen that happens next, as the engine tells it in one message; false: all is over. */
static bool advance_slurm(State *state, Slurm *slurm)
{
    if (slurm->nodes)
        return advance_nodes(state, slurm->nodes);
    if (!begin_moment(state))
        return false;
    for (int64_t job = end_next(state); job != UNKNOWN; job = end_next(state)) {
        enter_job(state, job, slurm->idle);
        state->free += state->units[job];
        expect_no_longer(state, job);
    }
    end_moment(state);
    return true;
}

/* Return whether a job that does not fit waits for nodes that are left, and so holds up others of its partition. */
static bool is_busy(const State *state, Slurm *slurm, int64_t job)
{
    Nodes *nodes = slurm->nodes;
    if (nodes && nodes->openings && nodes->alone[nodes->kind[job]])
        return fits_on(nodes, job, nodes->capacity, slurm->hosts);
    if (!nodes || nodes->alone[nodes->kind[job]] || fits_on(nodes, job, nodes->capacity, slurm->allowed))
        return true;
    for (int64_t index = 0; index < state->running; index++) {
        int64_t other = state->expected_job[index];
        if (nodes->alone[nodes->kind[other]] && shares_hosts(state, other, slurm->allowed))
            return true;
    }
    return false;
}

/* Leave for the jobs to come what one that does not fit does not hold up. */
static void hold_up(const State *state, Slurm *slurm, int64_t job)
{
    const Nodes *nodes = slurm->nodes;
    int64_t part = slurm->part[job];
    if (nodes && nodes->named[nodes->kind[job]]) {
        take_out(slurm->allowed, hosts_of(nodes, job), slurm->words);
    } else if (slurm->line[job] != part) {
        slurm->failed[slurm->line[job]] = 1;
    } else if (!(state->now - state->submission[job] < slurm->min_age) && is_busy(state, slurm, job)) {
        slurm->failed[part] = 1;
        take_out(slurm->allowed, slurm->part_hosts + part * slurm->words, slurm->words);
    }
}

/* Start jobs in order, of those up to a position, where none holds them up; return whether jobs were left. */
static bool run_in_order(State *state, Slurm *slurm, const Order *order, int64_t most)
{
    copy(slurm->hosts, slurm->allowed, slurm->words);
    memset(slurm->failed, 0, (size_t)slurm->lines * sizeof *slurm->failed);
    for (int64_t at = 0; at < order->in_play && has_some(slurm->allowed, slurm->words); at++) {
        int64_t job = order->entries[at].job;
        if (at > most)
            return true;
        if (slurm->failed[slurm->line[job]])
            continue;
        if (slurm->nodes && lacks_licence(slurm->nodes, job, slurm->nodes->free)) {
            if (slurm->licences)
                break;
            continue;
        }
        if (may_fit_now(state, slurm, job) && choose_hosts(state, slurm, job, NOW))
            start_on_place(state, slurm, job);
        else
            hold_up(state, slurm, job);
    }
    return false;
}

static void run_main_loop(State *state, Slurm *slurm, Order *order)
{
    int64_t due = main_loop_due(state, slurm, !slurm->head_asked);
    if (due == NOT_NOW)
        return;
    sort_waiting(state, order, NULL);
    slurm->whole_asked = run_in_order(state, slurm, order, due == FOR_WHOLE ? INT64_MAX : slurm->queue_depth);
    slurm->head_asked = 0;
    forget_started(state, order);
    if (slurm->whole_asked)
        main_loop_due(state, slurm, true);
}

static void backfill(State *state, Slurm *slurm, Order *order, bool is_sure)
{
    slurm->passes++;
    slurm->pass_asked = 0;
    sort_waiting(state, order, NULL);
    int64_t started = make_pass(state, slurm, order);
    forget_started(state, order);
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
    int64_t first = order->came;
    bool came = let_wait(state, order), is_late = foresight && correct_ends(state, foresight);
    turn_jobs(state, slurm->nodes, order, first);
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
static bool has_room_for(const State *state, const Slurm *slurm, const Order *order)
{
    int64_t most = slurm->most_tried < state->waiting ? slurm->most_tried : state->waiting;
    return 2 * most + 1 <= slurm->most_records &&
           (slurm->nodes ? has_room_on_nodes(state, slurm->nodes, order)
                         : state->runs + state->free <= state->room && state->calls + MOST_ASKED <= state->most_calls);
}

/* Simulate so many moments more, and return ALL_OVER, AT_PAUSE, FULL or ASKS; `foresight`: where jobs may outlive what is
 * expected of them, or null. */
EXPORT int64_t run_slurm(State *state, Slurm *slurm, Order *order, Foresight *foresight, int64_t moments)
{
    for (; moments > 0; moments--) {
        if (!state->decides && !advance_slurm(state, slurm))
            return ALL_OVER;
        if (foresight && foresight->told < state->submissions)
            return ASKS;
        if (!has_room_for(state, slurm, order))
            return FULL;
        state->decides = 0;
        decide(state, slurm, order, foresight);
        call_for_openings(state, slurm->nodes);
    }
    return AT_PAUSE;
}
