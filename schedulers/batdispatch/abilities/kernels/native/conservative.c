/* Conservative backfilling: see batdispatch.dispatchers.backfilling.conservative.
 *
 * What is not done here is to make a plan anew, which happens where jobs outlive their expected end, and to move later
 * reservations where a place is too short for its job by less than the tolerance for late ends. The first is ruled out
 * by batdispatch.abilities.kernels.applies; where the second would happen, the kernel stops. */
#include <math.h>
#include <stdlib.h>

#include "calls.h"
#include "candidates.h"
#include "export.h"
#include "extremes.h"
#include "gains.h"
#include "plan_search.h"
#include "power_saving.h"
#include "queue_tree.h"
#include "rounding.h"
#include "running_jobs.h"
#include "sleepers.h"
#include "switches.h"

/* Keep nothing for a job any more. */
static void forget(Plan *plan, int64_t job)
{
    plan->spare_kept_rows[plan->spare_kept++] = plan->kept_row[job];
    plan->start[job] = plan->end[job] = NAN;
    plan->kept_row[job] = UNKNOWN;
}

/* Let everything happen that happens next, as the engine tells it in one message; false: all is over. */
static bool advance_plan(State *state, Plan *plan, double slack)
{
    if (!begin_moment(state))
        return false;
    for (int64_t job = end_next(state); job != UNKNOWN; job = end_next(state)) {
        join(plan->now_free, job_set(plan, job), used_words(plan));
        shift(plan, job_set(plan, job), state->units[job], state->now, plan->end[job], true);
        offer(state, plan, job_set(plan, job), state->now, plan->end[job], slack);
        forget(plan, job);
    }
    end_moment(state);
    return true;
}

/* Return for how many seconds hosts must be free for a job. */
static double least_seconds(double booked, double slack)
{
    /* A job that is hardly longer than the slack is not worth cutting. */
    return booked > 2 * slack ? booked - slack : booked;
}

/* Give back what is kept for a waiting job; it is known still what that is. */
static void give_back(State *state, Plan *plan, int64_t job)
{
    shift(plan, job_set(plan, job), state->units[job], plan->start[job], plan->end[job], true);
    drop_planned(plan, job);
}

/* Keep what is in `common` for a job from `start` to `end`, in place of what was kept for it and given back, if anything. */
static void keep(State *state, Plan *plan, int64_t job, double start, double end, double slack)
{
    double old_start = plan->start[job], old_end = plan->end[job], back = old_start;
    int64_t used = used_words(plan);
    bool was_planned = !isnan(old_start);
    if (!was_planned)
        plan->kept_row[job] = plan->spare_kept_rows[--plan->spare_kept];
    else if (start <= old_start && same_sets(plan->common, job_set(plan, job), used))
        back = end > old_start ? end : old_start;
    copy(job_set(plan, job), plan->returned, used);
    copy(plan->common, job_set(plan, job), used);
    plan->start[job] = start, plan->end[job] = end;
    shift(plan, job_set(plan, job), state->units[job], start, end, false);
    enter_planned(state, plan, job);
    if (was_planned)
        offer(state, plan, plan->returned, back, old_end, slack);
}

/* Let a job whose hosts were given back start on the lowest hosts of `common`. Return false where its place is too short
 * for it. */
static bool move_to(State *state, Plan *plan, int64_t job, double start, double slack)
{
    double booked = state->booked[job], least = least_seconds(booked, slack), end = round_six(start + booked);
    leave_lowest(plan, state->units[job]);
    if (least != booked && free_until(plan, plan->common, round_six(start + least), end) < end)
        return false;
    keep(state, plan, job, start, end, slack);
    return true;
}

/* Reserve a job's earliest start in place of what is kept for it; nothing, if there is none. Return false where its place
 * is too short for it. */
static bool plan_anew(State *state, Plan *plan, int64_t job, double slack)
{
    bool is_planned = !isnan(plan->start[job]);
    if (is_planned)
        give_back(state, plan, job);
    Search search = search_all(plan, state->units[job], least_seconds(state->booked[job], slack), state->now);
    double start = earliest(plan, &search);
    if (!isnan(start))
        return move_to(state, plan, job, start, slack);
    if (is_planned) {
        offer(state, plan, job_set(plan, job), plan->start[job], plan->end[job], slack);
        forget(plan, job);
    }
    return true;
}

/* Return whether a job may start on lower hosts at the same time; `common`: on these. */
static bool has_lower(State *state, Plan *plan, int64_t job, double seconds)
{
    if (!has_others(plan, job, seconds))
        return false;
    join(plan->common, job_set(plan, job), used_words(plan));
    leave_lowest(plan, state->units[job]);
    return !same_sets(plan->common, job_set(plan, job), used_words(plan));
}

/* Let a job start earlier, or on lower hosts, if its hopes come true. Return false where its place is too short for it. */
static bool improve(State *state, Plan *plan, int64_t job, double slack)
{
    double start = NAN, until = 0.0, seconds = least_seconds(state->booked[job], slack);
    for (int64_t index = 0; index < plan->hopes_of[job] && isnan(start); index++) {
        Hope hope = plan->hopes[job * plan->most_hopes + index];
        Search search = search_before(plan, job, state->units[job], seconds, state->now, hope);
        start = earliest(plan, &search);
        until = hope.until > until ? hope.until : until;
    }
    if (isnan(start)) {
        if (until <= plan->start[job] || !has_lower(state, plan, job, seconds))
            return true;
        start = plan->start[job];
    }
    give_back(state, plan, job);
    return move_to(state, plan, job, start, slack);
}

/* Return the first job from a place in the queue on for which hosts are kept, or UNKNOWN. */
static int64_t next_planned(const State *state, const Plan *plan, int64_t place)
{
    int64_t job = first_from(state, place, NOBODY - 1, 0, 0.0);
    while (job != UNKNOWN && isnan(plan->start[job]))
        job = first_from(state, state->place[job] + 1, NOBODY - 1, 0, 0.0);
    return job;
}

/* Let the waiting jobs keep their hosts, and start later where these are not free in time; each may gain by that. */
static void keep_planned(State *state, Plan *plan)
{
    Entry *planned = state->sleepers->planned;
    size_t count = 0;
    for (int64_t job = next_planned(state, plan, 0); job != UNKNOWN;
         job = next_planned(state, plan, state->place[job] + 1))
        planned[count++] = (Entry){0, plan->start[job], job};
    /* What is to start at the same time has different hosts, so that its order does not matter. */
    qsort(planned, count, sizeof *planned, compare_entries);
    plan->planned = 0;
    for (size_t index = 0; index < count; index++) {
        int64_t job = planned[index].job;
        double start = plan->start[job], seconds = plan->end[job] - start;
        start = earliest_there(plan, job_set(plan, job), seconds, start > state->now ? start : state->now);
        if (isnan(start)) {
            forget(plan, job);
            enter_candidate(state, plan, job);
            continue;
        }
        plan->start[job] = start, plan->end[job] = round_six(start + seconds);
        shift(plan, job_set(plan, job), state->units[job], start, plan->end[job], false);
        enter_planned(state, plan, job);
        enter_hope(state, plan, job, (Hope){-INFINITY, INFINITY});
    }
}

/* Make the plan anew: the jobs that hold hosts do so until their expected ends, the others start as planned or later. */
static void settle(State *state, Plan *plan)
{
    renew(plan, state->now);
    for (int64_t index = 0; index < holding(state); index++) {
        int64_t booting = index - state->running;
        int64_t job = booting < 0 ? state->started[state->due_turn[index]] : state->sleepers->booting_job[booting];
        shift(plan, job_set(plan, job), state->units[job], state->now, plan->end[job], false);
    }
    keep_planned(state, plan);
}

/* Let a job that has its hosts begin later than it was planned, when they are awake. */
static void delay(State *state, Plan *plan, int64_t job)
{
    double end = plan->end[job], later = round_six(end + (state->start[job] - plan->start[job]));
    plan->end[job] = later;
    if (free_until(plan, job_set(plan, job), end, later) == later)
        shift(plan, job_set(plan, job), state->units[job], end, later, false);
    else
        settle(state, plan);
}

/* Start a job on the hosts that are kept for it. */
static void start_planned(State *state, Plan *plan, int64_t job)
{
    const uint64_t *mask = job_set(plan, job);
    int64_t begin = state->runs;
    take_out(plan->now_free, mask, used_words(plan));
    state->runs = write_runs(plan, mask, state->first, state->last, begin);
    state->hosts_at[job] = begin, state->hosts_runs[job] = (int32_t)(state->runs - begin);
    drop_planned(plan, job);
    leave_queue(state, job);
    if (!boot(state, job))
        enter_running(state, job);
    else if (state->start[job] > state->now)
        delay(state, plan, job);
}

/* Reserve the earliest start of a candidate, and start it if that is now and its hosts are free; return false where its
 * place is too short for it. */
static bool put(State *state, Plan *plan, int64_t job, double slack)
{
    bool is_settled = plan->start[job] > state->now;
    if (!(is_settled ? improve : plan_anew)(state, plan, job, slack))
        return false;
    /* Without a place, the job goes on looking for one. */
    if (!isnan(plan->start[job]))
        drop_candidate(state, plan, job);
    /* A job that is expected to end just now may still hold its hosts. */
    if (plan->start[job] <= state->now && within(job_set(plan, job), plan->now_free, used_words(plan)))
        start_planned(state, plan, job);
    return true;
}

/* Let the new jobs be candidates, and, if hosts were freed, those that are to start by now. */
static void enter_candidates(State *state, Plan *plan, bool freed)
{
    for (int64_t job = state->decided; job < state->submissions; job++)
        if (state->units[job] <= state->size)
            enter_candidate(state, plan, job);
    for (int64_t at = 0; freed && at < plan->planned && plan->planned_start[at] <= state->now; at++)
        enter_candidate(state, plan, plan->planned_job[at]);
}

/* Plan the new jobs; if hosts were freed, give each candidate in turn its earliest start. Return false where a place is
 * too short for its job. */
static bool decide(State *state, Plan *plan, double slack)
{
    bool freed = state->freed;
    forget_past(plan, state->now);
    state->freed = 0;
    enter_candidates(state, plan, freed);
    for (int64_t job = next_candidate(state, plan, 0); job != UNKNOWN;) {
        int64_t following = state->place[job] + 1;
        if ((freed || job >= state->decided) && !put(state, plan, job, slack))
            return false;
        job = next_candidate(state, plan, following);
    }
    state->decided = state->submissions;
    return true;
}

/* Let hosts wake up for what is planned, and others sleep. */
static void switch_hosts(State *state, const Plan *plan)
{
    Sleepers *s = state->sleepers;
    empty(s->free, s->words);
    enter_hosts(plan, plan->now_free, s->free);
    bool looks = looks_ahead(state);
    for (int64_t at = 0; looks && at < plan->planned; at++) {
        double start = plan->planned_start[at];
        /* Hosts are due before anything that starts as late as this, or later, wants some. */
        if (start - s->longest > larger_of(state->now + 2 * SOONEST, s->due))
            break;
        empty(s->planned_hosts, s->words);
        enter_hosts(plan, job_set(plan, plan->planned_job[at]), s->planned_hosts);
        want(state, start, s->planned_hosts);
    }
    if (s->acts)
        let_sleep(state);
}

/* Simulate so many moments more, and return ALL_OVER, AT_PAUSE, FULL or AT_STOP; `slack`: by how many seconds a place may
 * be too short for its job. */
EXPORT int64_t run_conservative(State *state, Plan *plan, double slack, int64_t moments)
{
    for (; moments > 0; moments--) {
        if (!state->decides && !advance_plan(state, plan, slack))
            return ALL_OVER;
        if (state->runs + state->size > state->room || !has_room_for(plan, state->waiting + holding(state)))
            return FULL;
        if (state->sleepers && !has_room_for_switches(state))
            return FULL;
        state->decides = 0;
        if ((!state->sleepers || hear_of_switches(state)) && !decide(state, plan, slack))
            return AT_STOP;
        if (state->sleepers)
            switch_hosts(state, plan);
    }
    return AT_PAUSE;
}
