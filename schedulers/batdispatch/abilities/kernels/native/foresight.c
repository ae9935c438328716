#include "foresight.h"

#include <math.h>
#include <stddef.h>

#include "calls.h"
#include "rounding.h"

/* Seconds after its expected end at which the end of a job is still on time. */
#define TOLERANCE 0.01
/* Shortest expected run time, s. */
#define LEAST 1.0

/* What is added to a prediction in turn, s. */
static const double steps[] = {60, 300, 900, 1800, 3600, 7200, 18000, 36000, 72000, 180000, 360000};

static bool overdue(double end, double now)
{
    return now > end + TOLERANCE;
}

/* Return the first of length, 2 length, 4 length, ... that has not been outlived. */
static double doubled(double length, double elapsed)
{
    while (overdue(length, elapsed))
        length *= 2;
    return length;
}

/* Return what was expected and the first step that has not been outlived; infinity after the last one. */
static double next_step(double expected, double elapsed)
{
    for (size_t step = 0; step < sizeof steps / sizeof *steps; step++)
        if (!overdue(expected + steps[step], elapsed))
            return expected + steps[step];
    return INFINITY;
}

/* Return how long a running job is expected to run in all, as batdispatch.core.plans.correction has it. */
static double corrected(int64_t rule, double expected, double elapsed, double limit)
{
    if (!overdue(expected, elapsed))
        return expected;
    if (overdue(limit, elapsed))
        return limit + doubled(LEAST, elapsed - limit);
    double longer = rule == STEPS ? next_step(expected, elapsed) : INFINITY;
    if (rule == DOUBLING || (longer == INFINITY && limit == INFINITY))
        longer = doubled(expected, elapsed);
    return longer < limit ? longer : limit;
}

/* Give the running job that is expected to end first a later end. */
static void correct_first(State *state, Foresight *foresight)
{
    int64_t job = state->expected_job[0], at = 0;
    double elapsed = state->now - state->start[job] - foresight->delay;
    double seconds = corrected(foresight->rule, foresight->predicted[job], elapsed, state->walltime[job]);
    foresight->booked[job] = seconds + foresight->delay;
    double end = round_six(state->start[job] + foresight->booked[job]);
    for (; at + 1 < state->running; at++) {
        bool goes_on = state->expected[at + 1] < end ||
                       (state->expected[at + 1] == end && state->expected_job[at + 1] < job);
        if (!goes_on)
            break;
        state->expected[at] = state->expected[at + 1], state->expected_job[at] = state->expected_job[at + 1];
    }
    state->expected[at] = end, state->expected_job[at] = job;
}

bool correct_ends(State *state, Foresight *foresight)
{
    int64_t late = 0;
    while (late < state->running && overdue(state->expected[late], state->now))
        late++;
    for (int64_t index = 0; index < late; index++)
        correct_first(state, foresight);
    return late > 0;
}

void call_if_missed(State *state, double time)
{
    double latest = time > state->now ? time : state->now;
    if (time == INFINITY)
        return;
    /* Batsim 5 counts the times of calls in milliseconds. */
    call_at(state, ceil(round_three((latest + TOLERANCE) * 1000)) / 1000 + SOONEST);
}
