#include "running_jobs.h"

#include <math.h>

#include "calls.h"
#include "extremes.h"
#include "heap.h"
#include "hosts.h"
#include "queue_tree.h"
#include "rounding.h"
#include "sleepers.h"
#include "switches.h"

static void note(State *state, int64_t job, int64_t kind)
{
    state->log[state->lines++] = job * KINDS + kind;
}

/* Let the dispatcher inside a layer decide after this moment. */
static void note_news(State *state)
{
    if (state->sleepers)
        state->sleepers->news = 1;
}

/* Return when a running job is expected to end. */
static double expected_end(const State *state, int64_t job)
{
    bool booted = state->sleepers && !isnan(state->sleepers->foreseen[job]);
    return round_six((booted ? state->sleepers->foreseen[job] : state->start[job]) + state->booked[job]);
}

/* Return whether the running job that is the `at`-th to end comes behind a job that ends at `end`. */
static bool is_later(const State *state, int64_t at, double end, int64_t job)
{
    double other = state->expected[at];
    return other > end || (other == end && state->expected_job[at] > job);
}

/* Return how many running jobs come before a job that is expected to end at `end`. */
static int64_t expected_before(const State *state, int64_t count, double end, int64_t job)
{
    int64_t low = 0, high = count;
    while (low < high) {
        int64_t middle = (low + high) / 2;
        if (state->expected_job[middle] != job && !is_later(state, middle, end, job))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void start_job(State *state, int64_t job, int64_t above)
{
    take_hosts(state, job, above);
    leave_queue(state, job);
    if (!boot(state, job))
        enter_running(state, job);
    expect_end(state, job);
}

void expect_end(State *state, int64_t job)
{
    double end = expected_end(state, job);
    int64_t at = holding(state) - 1;
    for (; at > 0 && is_later(state, at - 1, end, job); at--)
        state->expected[at] = state->expected[at - 1], state->expected_job[at] = state->expected_job[at - 1];
    state->expected[at] = end, state->expected_job[at] = job;
}

void enter_running(State *state, int64_t job)
{
    double by_itself = state->now + state->delay[job], at_most = state->now + state->walltime[job];
    state->start[job] = state->now;
    note(state, job, STARTS);
    state->started[state->starts] = job;
    push_entry(state->due, state->due_turn, state->running++, round_six(sooner_of(by_itself, at_most)), state->starts++);
}

void expect_no_longer(State *state, int64_t job)
{
    int64_t at = expected_before(state, holding(state) + 1, expected_end(state, job), job);
    for (; at < holding(state); at++)
        state->expected[at] = state->expected[at + 1], state->expected_job[at] = state->expected_job[at + 1];
}

bool begin_moment(State *state)
{
    double due = state->running ? state->due[0] : INFINITY;
    double comes = state->submissions < state->jobs ? state->submission[state->submissions] : INFINITY;
    double calls = state->calls ? state->call[0] : INFINITY;
    double moment = sooner_of(sooner_of(due, comes), calls);
    if (state->sleepers)
        moment = go_on_switching(state, moment);
    if (moment == INFINITY)
        return false;
    state->now = moment;
    return true;
}

int64_t end_next(State *state)
{
    if (!state->running || state->due[0] > state->now)
        return UNKNOWN;
    int64_t job = state->started[pop_entry(state->due, state->due_turn, --state->running)];
    state->end[job] = state->now;
    note(state, job, ENDS);
    state->freed = 1;
    note_news(state);
    return job;
}

bool is_refused(const State *state, int64_t job)
{
    return state->units[job] > state->size || (state->expires && state->expires[job] <= state->now);
}

void reject(State *state, int64_t job)
{
    note(state, job, REJECTS);
    leave_queue(state, job);
}

/* Let the jobs come that are submitted by now. */
static void submit(State *state)
{
    int64_t waiting = state->waiting;
    while (state->submissions < state->jobs && state->submission[state->submissions] <= state->now) {
        int64_t job = state->submissions++;
        if (is_refused(state, job))
            note(state, job, REJECTS);
        else
            enter_queue(state, job);
        /* A rejection is none, but that no job comes any more. */
        if (state->waiting > waiting || state->submissions == state->jobs)
            note_news(state);
    }
}

void end_moment(State *state)
{
    take_calls(state);
    if (state->sleepers)
        arrive(state);
    submit(state);
    state->messages++;
    state->decides = 1;
}

bool advance(State *state)
{
    if (!begin_moment(state))
        return false;
    /* The engine writes the rows of ended jobs before the dispatcher can reject one. */
    for (int64_t job = end_next(state); job != UNKNOWN; job = end_next(state)) {
        give_back_hosts(state, job);
        expect_no_longer(state, job);
    }
    end_moment(state);
    return true;
}

bool has_room(const State *state)
{
    /* Each start cuts a run of free hosts in two places at most. */
    int64_t most = state->runs + state->free_runs + 2 * least_of(state->waiting, state->free);
    bool may_switch = !state->sleepers || has_room_for_switches(state);
    return most <= state->room && may_switch && state->calls + MOST_ASKED <= state->most_calls;
}
