/* Conservative backfilling on nodes that jobs share, and on hosts of partitions: see
 * batdispatch.dispatchers.backfilling.conservative. What is not done in conservative.c is not done here either. */
#include <math.h>

#include "export.h"
#include "node_jobs.h"
#include "node_plan.h"
#include "node_use.h"
#include "plan.h"
#include "queue_order.h"
#include "rounding.h"
#include "running_jobs.h"

/* What decides. */
typedef struct {
    State *state;
    Nodes *nodes;
    NodePlan *plan;
    Order *order;
    /* By how many seconds a place may be too short for its job. */
    double slack;
} Deciding;

/* Note that something is free from `start` to `end`: the waiting jobs may gain by that. */
static void offer_steps(const Deciding *now, double start, double end)
{
    for (int64_t at = 0; end > start && at < now->order->in_play; at++) {
        double *until = now->plan->until + now->order->entries[at].job;
        *until = end > *until ? end : *until;
    }
}

/* Keep nothing for a job that has ended. */
static void end_kept(const Deciding *now, int64_t job)
{
    NodePlan *plan = now->plan;
    double time = now->state->now;
    recall_place(now->nodes, plan, plan->kept_row[job]);
    shift_steps(now->nodes, plan, job, time, plan->end[job], 1);
    offer_steps(now, time, plan->end[job]);
    plan->spare[plan->spare_kept++] = plan->kept_row[job];
}

/* Let everything happen that happens next, as the engine tells it in one message; false: all is over. */
static bool advance_kept(const Deciding *now)
{
    State *state = now->state;
    if (!begin_moment(state))
        return false;
    for (int64_t job = end_next(state); job != UNKNOWN; job = end_next(state)) {
        give_back_nodes(state, now->nodes, job, now->nodes->free);
        expect_no_longer(state, job);
        end_kept(now, job);
    }
    end_moment(state);
    return true;
}

/* Return for how many seconds nodes must be free for a job; one that is hardly longer than the slack is not cut. */
static double least_seconds(const Deciding *now, int64_t job)
{
    double booked = now->state->booked[job];
    return booked > 2 * now->slack ? booked - now->slack : booked;
}

/* Keep `place` for a job from `start` on. Return false where it is too short for the job. */
static bool keep_from(const Deciding *now, int64_t job, double start)
{
    NodePlan *plan = now->plan;
    double least = least_seconds(now, job), booked = now->state->booked[job], end = round_six(start + booked);
    if (least != booked && !stays_free(now->nodes, plan, job, round_six(start + least), end))
        return false;
    plan->start[job] = start, plan->end[job] = end;
    shift_steps(now->nodes, plan, job, start, end, -1);
    return true;
}

/* Reserve the earliest start of a job for which nothing is kept, if there is one. */
static bool place_first(const Deciding *now, int64_t job)
{
    NodePlan *plan = now->plan;
    double time = now->state->now;
    double start = earliest_on_nodes(now->nodes, plan, job, least_seconds(now, job), time, INFINITY, plan->steps);
    if (isnan(start))
        return true;
    plan->kept_row[job] = keep_place(now->nodes, plan);
    return keep_from(now, job, start);
}

/* Let a job have what is on `place` from `start` on, in place of what is kept for it. */
static bool move_kept(const Deciding *now, int64_t job, double start)
{
    NodePlan *plan = now->plan;
    double old_start = plan->start[job], old_end = plan->end[job];
    int32_t old = plan->kept_row[job], row = plan->kept_row[job] = keep_place(now->nodes, plan);
    recall_place(now->nodes, plan, old);
    shift_steps(now->nodes, plan, job, old_start, old_end, 1);
    recall_place(now->nodes, plan, row);
    plan->spare[plan->spare_kept++] = old;
    if (!keep_from(now, job, start))
        return false;
    double back = same_hosts(now->nodes, plan, old, row) && plan->end[job] > old_start ? plan->end[job] : old_start;
    offer_steps(now, back, old_end);
    return true;
}

/* Give a planned job an earlier start, or lower hosts unless it keeps its place, if it can gain by what was given back. */
static bool improve_kept(const Deciding *now, int64_t job)
{
    NodePlan *plan = now->plan;
    double start = plan->start[job], until = plan->until[job], seconds = least_seconds(now, job);
    if (until <= now->state->now && start > now->state->now)
        return true;
    int64_t own = count_before(plan->times, plan->steps, start);
    recall_place(now->nodes, plan, plan->kept_row[job]);
    double before = until < start ? until : start;
    double earlier = earliest_on_nodes(now->nodes, plan, job, seconds, now->state->now, before, own);
    if (!isnan(earlier))
        return move_kept(now, job, earlier);
    if (plan->keeps_places || (until <= start && start > now->state->now))
        return true;
    place_again(now->nodes, plan, job, start, round_six(start + seconds));
    return move_kept(now, job, start);
}

/* Keep what is kept for a job that is to start now, unless it could not start from now on at any time. */
static void keep_due(const Deciding *now, int64_t job)
{
    NodePlan *plan = now->plan;
    double start = plan->start[job], end = plan->end[job];
    recall_place(now->nodes, plan, plan->kept_row[job]);
    shift_steps(now->nodes, plan, job, start, end, 1);
    double seconds = least_seconds(now, job);
    if (isnan(earliest_on_nodes(now->nodes, plan, job, seconds, now->state->now, INFINITY, plan->steps))) {
        plan->start[job] = plan->end[job] = NAN;
        plan->spare[plan->spare_kept++] = plan->kept_row[job];
        offer_steps(now, start, end);
        return;
    }
    recall_place(now->nodes, plan, plan->kept_row[job]);
    shift_steps(now->nodes, plan, job, start, end, -1);
}

/* Reserve a job's earliest start. Return false where its place is too short for it. */
static bool reserve_for(const Deciding *now, int64_t job)
{
    double start = now->plan->start[job];
    if (isnan(start))
        return place_first(now, job);
    if (start > now->state->now || !now->plan->keeps_places)
        return improve_kept(now, job);
    keep_due(now, job);
    return true;
}

/* Reserve a job's earliest start, and start it if that is now. Return false where its place is too short for it, or where it
 * is late for it. */
static bool put(const Deciding *now, int64_t job)
{
    NodePlan *plan = now->plan;
    /* Late are jobs whose units need nothing, so that nothing is kept free for them. */
    if (plan->start[job] < now->state->now || !reserve_for(now, job))
        return false;
    plan->until[job] = -INFINITY;
    if (!(plan->start[job] <= now->state->now))
        return true;
    recall_place(now->nodes, plan, plan->kept_row[job]);
    start_on_nodes(now->state, now->nodes, job);
    return true;
}

/* Plan the new jobs; if something was given back, give each waiting job in turn its earliest start. */
static bool decide_kept(const Deciding *now)
{
    State *state = now->state;
    int64_t first = state->freed ? 0 : now->order->came;
    let_wait(state, now->order);
    state->freed = 0;
    forget_past_steps(now->plan, state->now);
    for (int64_t at = 0; at < now->order->in_play; at++) {
        int64_t job = now->order->entries[at].job;
        if (job >= first && !put(now, job))
            return false;
    }
    forget_started(state, now->order);
    return true;
}

/* Simulate so many moments more, and return ALL_OVER, AT_PAUSE, FULL or AT_STOP; `slack`: by how many seconds a place may
 * be too short for its job. */
EXPORT int64_t run_conservative_on_nodes(State *state, Nodes *nodes, NodePlan *plan, Order *order, double slack,
                                         int64_t moments)
{
    Deciding now = {state, nodes, plan, order, slack};
    for (; moments > 0; moments--) {
        if (!state->decides && !advance_kept(&now))
            return ALL_OVER;
        if (!has_room_on_nodes(state, nodes, order) || !has_room_in_plan(plan, state->waiting + state->running))
            return FULL;
        state->decides = 0;
        if (!decide_kept(&now))
            return AT_STOP;
    }
    return AT_PAUSE;
}
