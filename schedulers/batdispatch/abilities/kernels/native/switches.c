#include "switches.h"

#include <math.h>

#include "extremes.h"
#include "host_sets.h"
#include "hosts.h"
#include "rounding.h"

/* Seconds by which times may differ that are one, as in batdispatch.engines.mail. */
#define EARLY 1.0001e-9

void read_job(const State *state, int64_t job, uint64_t *mask)
{
    empty(mask, state->sleepers->words);
    enter_job(state, job, mask);
}

void read_switch(const Sleepers *s, int64_t number, uint64_t *mask)
{
    empty(mask, s->words);
    enter_runs(mask, s->first + s->at[number], s->last + s->at[number], s->pieces[number]);
}

bool is_away(const Sleepers *s, const uint64_t *mask)
{
    return touch(mask, s->falling, s->words) || touch(mask, s->asleep, s->words) || touch(mask, s->rising, s->words);
}

bool has_room_for_switches(const State *state)
{
    const Sleepers *s = state->sleepers;
    return s->switches + state->size <= s->most_switches && s->runs + state->size <= s->room
           && s->events + PHASES * state->size <= s->most_events && s->groups + 2 <= s->most_groups
           && state->calls + MOST_ASKED <= state->most_calls;
}

static void note(const State *state, int64_t number, int64_t phase, double time)
{
    Sleepers *s = state->sleepers;
    s->event[s->events] = number * PHASES + phase;
    s->event_at[s->events] = time;
    s->event_line[s->events++] = state->lines;
}

/* Let hosts of one kind switch. */
static void begin_switch(State *state, int64_t turn, const uint64_t *hosts)
{
    Sleepers *s = state->sleepers;
    int64_t number = s->switches++;
    s->turn[number] = turn, s->at[number] = s->runs;
    s->runs = write_set(hosts, s->words, s->first, s->last, s->runs);
    s->pieces[number] = s->runs - s->at[number];
    s->expected[number] = state->now + s->seconds[turn];
    s->end[number] = NAN;
    s->clock = larger_of(s->clock, state->now);
    s->active_switch[s->active++] = number;
    join(turn % WAYS == UP ? s->rising : s->falling, hosts, s->words);
    if (turn % WAYS == UP)
        take_out(s->asleep, hosts, s->words);
    note(state, number, DECISION, state->now);
}

void begin_switches(State *state, int64_t way, const uint64_t *hosts, uint64_t *part)
{
    Sleepers *s = state->sleepers;
    for (int64_t kind = 0; kind < s->sorts; kind++) {
        copy(hosts, part, s->words);
        meet(part, s->members + kind * s->words, s->words);
        if (has_some(part, s->words))
            begin_switch(state, kind * WAYS + way, part);
    }
}

/* Let loads follow what has changed since time last passed. */
static void settle(State *state)
{
    Sleepers *s = state->sleepers;
    for (int64_t index = 0; index < s->leaving; index++)
        note(state, s->leaving_switch[index], UNLOADING, s->clock);
    s->leaving = 0;
    for (int64_t index = 0; index < s->active; index++) {
        int64_t number = s->active_switch[index];
        if (!isnan(s->end[number]))
            continue;
        s->end[number] = s->clock + s->seconds[s->turn[number]];
        note(state, number, LOADING, s->clock);
    }
}

double go_on_switching(State *state, double until)
{
    Sleepers *s = state->sleepers;
    if (!s->active && !s->leaving)
        return until;
    settle(state);
    double first = INFINITY;
    for (int64_t index = 0; index < s->active; index++)
        first = fmin(first, s->end[s->active_switch[index]]);
    if (first > until || !s->active) {
        s->clock = until < INFINITY ? until : s->clock;
        return until;
    }
    s->clock = larger_of(s->clock, first);
    int64_t left = 0;
    for (int64_t index = 0; index < s->active; index++) {
        int64_t number = s->active_switch[index];
        if (s->end[number] > s->clock + EARLY) {
            s->active_switch[left++] = number;
            continue;
        }
        note(state, number, LOOK, s->clock);
        s->leaving_switch[s->leaving++] = s->told_switch[s->told++] = number;
    }
    s->active = left;
    return larger_of(round_six(s->clock), state->now);
}

void arrive(State *state)
{
    Sleepers *s = state->sleepers;
    for (int64_t index = 0; index < s->told; index++)
        note(state, s->told_switch[index], ARRIVAL, state->now);
    if (s->told)
        s->clock = larger_of(s->clock, state->now);
}

double seconds_up(const Sleepers *s, const uint64_t *hosts)
{
    double up = 0.0;
    for (int64_t kind = 0; kind < s->sorts; kind++)
        for (int64_t index = 0; index < s->words; index++)
            if (hosts[index] & s->members[kind * s->words + index])
                up = larger_of(up, s->seconds[kind * WAYS + UP]);
    return up;
}

double awake_at(const State *state, const uint64_t *hosts, uint64_t *some)
{
    const Sleepers *s = state->sleepers;
    double found = state->now;
    for (int64_t index = 0; index < s->active; index++) {
        int64_t number = s->active_switch[index], turn = s->turn[number];
        read_switch(s, number, some);
        meet(some, hosts, s->words);
        if (has_some(some, s->words))
            found = larger_of(found, larger_of(s->expected[number], state->now)
                                      + (turn % WAYS == DOWN ? s->seconds[turn + UP - DOWN] : 0.0));
    }
    copy(hosts, some, s->words);
    meet(some, s->asleep, s->words);
    return larger_of(found, state->now + seconds_up(s, some));
}

bool boot(State *state, int64_t job)
{
    Sleepers *s = state->sleepers;
    if (!s)
        return false;
    read_job(state, job, s->some);
    if (!is_away(s, s->some))
        return false;
    state->start[job] = s->foreseen[job] = awake_at(state, s->some, s->others);
    s->booting_job[s->booting++] = job;
    s->booted += s->foreseen[job] > state->now;
    meet(s->some, s->asleep, s->words);
    begin_switches(state, UP, s->some, s->others);
    return true;
}
