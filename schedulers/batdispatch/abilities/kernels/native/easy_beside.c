#include "easy_beside.h"

#include <math.h>
#include <string.h>

#include "extremes.h"
#include "heap.h"

/* Return whether there is as much as a job takes. */
static bool is_enough(const Beside *beside, int64_t job, const int64_t *there)
{
    for (int64_t resource = 0; resource < beside->resources; resource++)
        if (beside->needs[job * beside->resources + resource] > there[resource])
            return false;
    return true;
}

/* Take what a job takes, or give it back. */
static void shift(const Beside *beside, int64_t job, int64_t *there, int64_t sign)
{
    for (int64_t resource = 0; resource < beside->resources; resource++)
        there[resource] += sign * beside->needs[job * beside->resources + resource];
}

static bool has_free(const Beside *beside)
{
    for (int64_t resource = 0; resource < beside->resources; resource++)
        if (beside->free[resource])
            return true;
    return false;
}

/* A job that runs there has ended in reality. */
static void will_end(Beside *beside, int64_t job)
{
    double at = larger_of(beside->clock, beside->begun[job] + beside->runtime[job]);
    push_entry(beside->end_at, beside->end_job, beside->ending++, at, job);
}

/* A job that runs there runs in reality, too. */
static void runs_in_both(Beside *beside, int64_t job)
{
    double earlier = beside->begun[job] - beside->real[job];
    push_entry(beside->delay, beside->delay_job, beside->delays++, earlier, job);
}

static void forget_overdue(Beside *beside, int64_t job)
{
    int64_t left = 0;
    for (int64_t index = 0; index < beside->overdue; index++)
        if (beside->overdue_job[index] != job)
            beside->overdue_job[left++] = beside->overdue_job[index];
    beside->overdue = left;
}

/* Learn that a job has started in reality; it may be said twice. */
static void learn_start(Beside *beside, const State *state, int64_t job)
{
    if (!isnan(beside->real[job]))
        return;
    beside->real[job] = state->start[job];
    if (isnan(beside->begun[job]))
        return;
    forget_overdue(beside, job);
    runs_in_both(beside, job);
}

/* Learn from the log which jobs have ended in reality. */
static void learn_ends(Beside *beside, const State *state)
{
    for (; beside->lines < state->lines; beside->lines++) {
        int64_t line = state->log[beside->lines], job = line / KINDS;
        if (line % KINDS != ENDS)
            continue;
        learn_start(beside, state, job);
        beside->runtime[job] = state->end[job] - state->start[job];
        if (!isnan(beside->begun[job]))
            will_end(beside, job);
    }
}

/* Learn which of the jobs that stop the clock have started in reality; return whether any has. */
static bool learn_starts(Beside *beside, const State *state)
{
    bool found = false;
    for (int64_t index = beside->overdue - 1; index >= 0; index--) {
        int64_t job = beside->overdue_job[index];
        if (isnan(state->start[job]))
            continue;
        learn_start(beside, state, job);
        found = true;
    }
    return found;
}

static double wait_of(const Beside *beside, const State *state, int64_t job)
{
    return beside->begun[job] - state->submission[job];
}

/* Remember what a job that has just started there has waited. */
static void remember_wait(Beside *beside, const State *state, int64_t job)
{
    double wait = wait_of(beside, state, job);
    while (beside->last_wait > beside->first_wait &&
           wait_of(beside, state, beside->wait_job[beside->last_wait - 1]) <= wait)
        beside->last_wait--;
    beside->wait_job[beside->last_wait++] = job;
}

static void begin_job(Beside *beside, const State *state, int64_t job)
{
    double end = beside->clock + state->walltime[job];
    int64_t at = beside->running++;
    for (; at > 0 && beside->expected[at - 1] > end; at--)
        beside->expected[at] = beside->expected[at - 1], beside->expected_job[at] = beside->expected_job[at - 1];
    beside->expected[at] = end, beside->expected_job[at] = job;
    beside->begun[job] = beside->clock;
    shift(beside, job, beside->free, -1);
    remember_wait(beside, state, job);
    if (!isnan(beside->runtime[job]))
        will_end(beside, job);
    else if (isnan(beside->real[job]))
        beside->overdue_job[beside->overdue++] = job;
    else
        runs_in_both(beside, job);
}

static void leave(Beside *beside, int64_t job)
{
    shift(beside, job, beside->free, 1);
    int64_t at = 0;
    while (beside->expected_job[at] != job)
        at++;
    size_t behind = (size_t)(--beside->running - at);
    memmove(beside->expected + at, beside->expected + at + 1, behind * sizeof *beside->expected);
    memmove(beside->expected_job + at, beside->expected_job + at + 1, behind * sizeof *beside->expected_job);
}

/* Return the shadow time of the first job, and find what it leaves spare then. */
static double reserve_beside(Beside *beside, int64_t job)
{
    double shadow = INFINITY;
    memcpy(beside->spare, beside->free, (size_t)beside->resources * sizeof *beside->free);
    for (int64_t index = 0; index < beside->running && beside->expected[index] <= shadow; index++) {
        shift(beside, beside->expected_job[index], beside->spare, 1);
        if (shadow == INFINITY && is_enough(beside, job, beside->spare))
            shadow = beside->expected[index];
    }
    shift(beside, job, beside->spare, -1);
    return shadow;
}

/* Start those behind the first job that do not delay it. */
static void backfill_beside(Beside *beside, const State *state, int64_t head)
{
    double shadow = reserve_beside(beside, beside->queue[head]);
    for (int64_t index = head + 1; index < beside->queued; index++) {
        int64_t job = beside->queue[index];
        bool outlives = beside->clock + state->walltime[job] > shadow;
        if (!is_enough(beside, job, beside->free) || (outlives && !is_enough(beside, job, beside->spare)))
            continue;
        if (outlives)
            shift(beside, job, beside->spare, -1);
        begin_job(beside, state, job);
    }
}

static void decide_beside(Beside *beside, const State *state)
{
    int64_t head = 0, left = 0, *queue = beside->queue;
    for (; head < beside->queued && is_enough(beside, queue[head], beside->free); head++)
        begin_job(beside, state, queue[head]);
    if (beside->queued - head >= 2 && has_free(beside))
        backfill_beside(beside, state, head);
    for (int64_t index = head; index < beside->queued; index++)
        if (isnan(beside->begun[queue[index]]))
            queue[left++] = queue[index];
    beside->queued = left;
}

/* Return the job that comes next there, or the number of those that came. */
static int64_t next_job(Beside *beside, const State *state)
{
    while (beside->came < state->submissions && state->units[beside->came] > state->size)
        beside->came++;
    return beside->came;
}

static void reach(Beside *beside, const State *state, double time)
{
    beside->clock = larger_of(beside->clock, time);
    while (beside->first_wait < beside->last_wait &&
           beside->begun[beside->wait_job[beside->first_wait]] < beside->clock - beside->memory)
        beside->first_wait++;
    /* The first of the queue came before all others of it. */
    beside->longest = beside->queued ? beside->clock - state->submission[beside->queue[0]] : 0.0;
    if (beside->first_wait < beside->last_wait)
        beside->longest = larger_of(beside->longest, wait_of(beside, state, beside->wait_job[beside->first_wait]));
    beside->ever = larger_of(beside->ever, beside->longest);
}

/* Return until when everything is known: no longer than the slowest of the jobs that run here and there has run. */
static double certain_until(Beside *beside, double now)
{
    while (beside->delays && !isnan(beside->runtime[beside->delay_job[0]]))
        pop_entry(beside->delay, beside->delay_job, --beside->delays);
    double until = now + (beside->delays ? beside->delay[0] : 0.0);
    return until < now ? until : now;
}

/* Let everything happen there that happens at a time. */
static void let_happen(Beside *beside, const State *state, double time)
{
    reach(beside, state, time);
    while (beside->ending && beside->end_at[0] <= time)
        leave(beside, pop_entry(beside->end_at, beside->end_job, --beside->ending));
    while (next_job(beside, state) < state->submissions && state->submission[beside->came] <= time)
        beside->queue[beside->queued++] = beside->came++;
    decide_beside(beside, state);
}

static void advance_beside(Beside *beside, const State *state)
{
    while (!beside->overdue) {
        double limit = certain_until(beside, state->now);
        double comes = next_job(beside, state) < state->submissions ? state->submission[beside->came] : INFINITY;
        double ends = beside->ending ? beside->end_at[0] : INFINITY, following = comes < ends ? comes : ends;
        if (following > limit) {
            reach(beside, state, limit);
            return;
        }
        let_happen(beside, state, following);
    }
}

void look_beside(Beside *beside, const State *state)
{
    learn_ends(beside, state);
    if (state->now == beside->looked)
        return;
    do
        advance_beside(beside, state);
    while (learn_starts(beside, state));
    beside->looked = state->now;
}

/* Return before when no job is late. */
static double floor_of(const Beside *beside)
{
    return beside->floor < beside->ever ? beside->floor : beside->ever;
}

/* Return for how long a job may wait before it is late. */
static double patience(const Beside *beside, const State *state, int64_t job)
{
    double floor = floor_of(beside), most = larger_of(floor, beside->share * beside->longest);
    if (isnan(beside->begun[job]))
        return most;
    double slack = larger_of(floor, wait_of(beside, state, job) + beside->slack * beside->longest);
    return slack < most ? slack : most;
}

bool is_late(const Beside *beside, const State *state, int64_t job)
{
    double wait = state->now - state->submission[job];
    return wait > floor_of(beside) && wait > patience(beside, state, job);
}

bool may_reserve(const Beside *beside, const State *state, int64_t job)
{
    /* What has started there and waits here stops the clock there. */
    return !isnan(beside->begun[job]) || is_late(beside, state, job);
}
