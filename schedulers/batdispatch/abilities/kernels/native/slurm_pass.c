/* See batdispatch.abilities.sites.slurm.backfill_pass. */
#include <math.h>
#include <string.h>

#include "hosts.h"
#include "node_fits.h"
#include "node_jobs.h"
#include "queue_tree.h"
#include "rounding.h"
#include "running_jobs.h"
#include "slurm.h"

void start_on_place(State *state, Slurm *slurm, int64_t job)
{
    if (slurm->nodes) {
        start_on_nodes(state, slurm->nodes, job);
        return;
    }
    give_set(state, job, slurm->place, slurm->words);
    take_out(slurm->idle, slurm->place, slurm->words);
    state->free -= state->units[job];
    leave_queue(state, job);
    enter_running(state, job);
    expect_end(state, job);
}

/* Return when a job that starts at a time is expected to end. */
static double end_from(const State *state, int64_t job, double start)
{
    return round_six(start + state->booked[job]);
}

/* Return whether a job could start now as far as is reserved by now: false only if it surely cannot. */
static bool may_start(const State *state, Slurm *slurm, int64_t job)
{
    if (!may_fit_now(state, slurm, job))
        return false;
    find_allowed(slurm, job, state->now, end_from(state, job, state->now));
    if (slurm->nodes)
        return fits_on(slurm->nodes, job, slurm->nodes->free, slurm->allowed);
    meet(slurm->allowed, slurm->idle, slurm->words);
    return count_hosts(slurm->allowed, slurm->words) >= state->units[job];
}

/* Return whether a job is passed over; if not, count it for the limits of its user and partition. */
static bool is_skipped(Slurm *slurm, int64_t job)
{
    if (slurm->nodes && !slurm->licences && lacks_licence(slurm->nodes, job, slurm->nodes->free))
        return true;
    int32_t *of_user = slurm->tried_of + slurm->user[job];
    int64_t *in_part = slurm->tried_in + slurm->part[job];
    if ((slurm->user_jobs && *of_user >= slurm->user_jobs) || (slurm->part_jobs && *in_part >= slurm->part_jobs))
        return true;
    ++*of_user, ++*in_part;
    return false;
}

/* Return whether no other job may use the hosts of this one. */
static bool takes_hosts(const Slurm *slurm, int64_t job)
{
    return !slurm->nodes || slurm->nodes->alone[slurm->nodes->kind[job]];
}

/* Reserve `place` for a job if it is nobody else's. If it is, return when to look again; otherwise 0. */
static double reserve_place(const State *state, Slurm *slurm, int64_t job, double begin)
{
    double end = end_from(state, job, begin);
    if (begin > state->now + slurm->window)
        return 0.0;
    if (are_reserved(slurm, slurm->place, begin, end))
        return begin;
    reserve_hosts(slurm, slurm->place, begin, end);
    take_licences(slurm, job, rounded(slurm, begin), rounded(slurm, end));
    slurm->reserved_in[slurm->part[job]]++;
    slurm->first_reserved = begin < slurm->first_reserved ? begin : slurm->first_reserved;
    return 0.0;
}

/* Ask about starts later than now from here on, or about starts now. */
static void look_later(const Slurm *slurm, bool later)
{
    if (slurm->nodes && slurm->nodes->openings)
        slurm->nodes->openings->looks_later = later;
}

/* Start a job now, or reserve hosts for it if it may have a reservation; return whether it was started. */
static bool try_job(State *state, Slurm *slurm, int64_t job)
{
    bool is_counted = false;
    int64_t least = slurm->nodes ? slurm->nodes->least[slurm->nodes->kind[job]] : state->units[job];
    bool now_only = state->now - state->submission[job] < slurm->min_age ||
                    (slurm->reservations && slurm->reserved_in[slurm->part[job]] >= slurm->reservations);
    for (double start = state->now, later; start < INFINITY; start = later) {
        later = find_allowed(slurm, job, start, end_from(state, job, start));
        if (count_hosts(slurm->allowed, slurm->words) >= least) {
            double begin;
            slurm->tried += !is_counted;
            is_counted = true;
            look_later(slurm, start > state->now);
            bool is_found = will_run(state, slurm, job, now_only, &begin);
            look_later(slurm, false);
            begin = begin > start ? begin : start;
            if (is_found && begin <= state->now) {
                double end = end_from(state, job, state->now);
                start_on_place(state, slurm, job);
                take_licences(slurm, job, -INFINITY, rounded(slurm, end));
                if (takes_hosts(slurm, job))
                    reserve_hosts(slurm, slurm->place, state->now, end);
                slurm->changes++;
                return true;
            }
            if (is_found && !(start < later && later < begin))
                later = reserve_place(state, slurm, job, begin);
        }
        if (now_only || later <= start)
            return false;
    }
    return false;
}

static void begin_pass(const State *state, Slurm *slurm)
{
    begin_records(slurm, state->now);
    slurm->tried = slurm->stopped = slurm->held = 0;
    for (int64_t index = 0; index < state->running; index++)
        take_licences(slurm, state->expected_job[index], -INFINITY, rounded(slurm, state->expected[index]));
    slurm->first_reserved = INFINITY;
    memset(slurm->tried_of, 0, (size_t)slurm->users * sizeof *slurm->tried_of);
    memset(slurm->tried_in, 0, (size_t)slurm->parts * sizeof *slurm->tried_in);
    memset(slurm->reserved_in, 0, (size_t)slurm->parts * sizeof *slurm->reserved_in);
}

int64_t make_pass(State *state, Slurm *slurm, const Order *order)
{
    int64_t started = 0, candidate = 0, known = -1;
    begin_pass(state, slurm);
    for (int64_t at = 0; at < order->in_play; at++) {
        /* What is reserved behind the last job that can start matters to nobody. */
        for (; candidate < order->in_play && known != slurm->changes; candidate++)
            if (may_start(state, slurm, order->entries[candidate].job)) {
                known = slurm->changes;
                break;
            }
        if (candidate == order->in_play)
            break;
        if (slurm->tried >= slurm->most_tried || (slurm->starts && started >= slurm->starts)) {
            slurm->stopped = 1;
            break;
        }
        if (candidate == at)
            candidate++, known = -1;
        int64_t job = order->entries[at].job;
        started += !is_skipped(slurm, job) && try_job(state, slurm, job);
    }
    return started;
}
