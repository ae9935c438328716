#include "power_saving.h"

#include <math.h>

#include "calls.h"
#include "extremes.h"
#include "host_sets.h"
#include "rounding.h"
#include "running_jobs.h"
#include "switches.h"

/* Let the jobs run whose hosts are awake, and wake hosts for the others that have just fallen asleep. */
static void begin_booted(State *state)
{
    Sleepers *s = state->sleepers;
    int64_t left = 0, waiting = s->booting;
    for (int64_t index = 0; index < waiting; index++) {
        int64_t job = s->booting_job[index];
        read_job(state, job, s->some);
        if (is_away(s, s->some))
            s->booting_job[left++] = job;
        else
            enter_running(state, job);
    }
    s->booting = left;
    for (int64_t index = 0; index < left; index++) {
        read_job(state, s->booting_job[index], s->some);
        meet(s->some, s->asleep, s->words);
        join(s->idle, s->some, s->words);
    }
}

bool hear_of_switches(State *state)
{
    Sleepers *s = state->sleepers;
    for (int64_t index = 0; index < s->told; index++) {
        int64_t number = s->told_switch[index];
        bool up = s->turn[number] % WAYS == UP;
        read_switch(s, number, s->some);
        take_out(up ? s->rising : s->falling, s->some, s->words);
        if (!up)
            join(s->asleep, s->some, s->words);
        s->woken |= up;
        /* No set of idle hosts is needed between two decisions. */
        empty(s->idle, s->words);
        begin_booted(state);
        begin_switches(state, UP, s->idle, s->some);
    }
    s->told = 0;
    return s->news;
}

void find_free(const State *state)
{
    empty(state->sleepers->free, state->sleepers->words);
    enter_runs(state->sleepers->free, state->free_first, state->free_last, state->free_runs);
}

/* Make `idle` the set of hosts that can sleep, are awake, and are free. */
static void find_idle(const State *state)
{
    Sleepers *s = state->sleepers;
    empty(s->idle, s->words);
    for (int64_t kind = 0; kind < s->sorts; kind++)
        join(s->idle, s->members + kind * s->words, s->words);
    for (int64_t index = 0; index < s->words; index++)
        s->idle[index] &= s->free[index] & ~away(s, index);
}

bool looks_ahead(State *state)
{
    Sleepers *s = state->sleepers;
    bool has_away = has_some(s->falling, s->words) || has_some(s->asleep, s->words) || has_some(s->rising, s->words);
    s->acts = s->news || s->woken || s->slept || s->next <= state->now || has_some(s->wanted, s->words);
    if (!s->acts)
        return false;
    s->due = INFINITY;
    empty(s->wanted, s->words);
    find_idle(state);
    return s->ahead && state->waiting && (has_away || has_some(s->idle, s->words));
}

/* Want those of some idle hosts that cannot fall asleep and wake up again within some seconds. */
static void keep_awake(Sleepers *s, double seconds, const uint64_t *hosts)
{
    for (int64_t kind = 0; kind < s->sorts && seconds < s->longest + SOONEST; kind++) {
        const double *turns = s->seconds + kind * WAYS;
        for (int64_t index = 0; seconds < turns[DOWN] + turns[UP] + SOONEST && index < s->words; index++)
            s->wanted[index] |= hosts[index] & s->idle[index] & s->members[kind * s->words + index];
    }
}

void want(State *state, double start, const uint64_t *hosts)
{
    Sleepers *s = state->sleepers;
    /* A call for a moment before `soon` would come too late. */
    double soonest = start - s->longest, soon = round_six(state->now + SOONEST), due;
    keep_awake(s, start - state->now, hosts);
    if (!is_away(s, hosts))
        return;
    if (soonest > state->now && tick_before(soonest) >= soon) {
        s->due = fmin(s->due, tick_before(soonest));
        return;
    }
    for (int64_t index = 0; index < s->words; index++)
        s->others[index] = hosts[index] & away(s, index);
    due = start - (awake_at(state, s->others, s->some) - state->now);
    take_out(s->others, s->rising, s->words);
    if (due <= state->now || tick_before(due) < soon)
        join(s->wanted, hosts, s->words);
    else if (has_some(s->others, s->words))
        s->due = fmin(s->due, larger_of(tick_before(due), tick_before(start - seconds_up(s, s->others))));
}

/* Note which hosts are idle now. */
static void see(Sleepers *s, const uint64_t *idle, double now)
{
    int64_t left = 0;
    copy(idle, s->group + s->groups * s->words, s->words);
    uint64_t *fresh = s->group + s->groups * s->words;
    s->since[s->groups] = now;
    for (int64_t index = 0; index < s->groups; index++) {
        uint64_t *group = s->group + index * s->words;
        take_out(fresh, group, s->words);
        meet(group, idle, s->words);
    }
    s->groups++;
    for (int64_t index = 0; index < s->groups; index++) {
        uint64_t *group = s->group + index * s->words;
        if (!has_some(group, s->words))
            continue;
        copy(group, s->group + left * s->words, s->words);
        s->since[left++] = s->since[index];
    }
    s->groups = left;
}

/* Make `some` the set of the hosts that have been idle for long enough and are not wanted; return how many. */
static int64_t find_sleepy(Sleepers *s, double now)
{
    empty(s->some, s->words);
    for (int64_t index = 0; index < s->groups && tick_after(s->since[index] + s->after) <= now; index++)
        join(s->some, s->group + index * s->words, s->words);
    take_out(s->some, s->wanted, s->words);
    return count_hosts(s->some, s->words);
}

/* Return when further hosts will have been idle for long enough, s, or infinity. */
static double next_sleepy(const Sleepers *s, double now)
{
    for (int64_t index = 0; index < s->groups; index++)
        if (tick_after(s->since[index] + s->after) > now)
            return tick_after(s->since[index] + s->after);
    return INFINITY;
}

/* Let the highest hosts of `some` sleep, so many of them. */
static void put_to_sleep(State *state, int64_t spared, int64_t chosen)
{
    Sleepers *s = state->sleepers;
    for (int64_t index = 0; spared > 0; index++)
        for (; spared > 0 && s->some[index]; spared--)
            s->some[index] &= s->some[index] - 1;
    s->put_to_sleep += chosen;
    begin_switches(state, DOWN, s->some, s->others);
    s->slept = state->waiting > 0;
    take_out(s->idle, s->some, s->words);
    see(s, s->idle, state->now);
}

/* Ask for a call at a time, unless one comes by then anyhow. */
static void call_by(State *state, double time)
{
    Sleepers *s = state->sleepers;
    if (time < s->last_moment && !(state->now < s->called && s->called <= time))
        s->called = call_at(state, time);
}

void let_sleep(State *state)
{
    Sleepers *s = state->sleepers;
    double now = state->now;
    copy(s->wanted, s->some, s->words);
    meet(s->some, s->asleep, s->words);
    begin_switches(state, UP, s->some, s->others);
    s->slept = 0;
    see(s, s->idle, now);
    int64_t may = find_sleepy(s, now), most = count_hosts(s->idle, s->words) - s->keep;
    bool asked = !(s->if_nobody_waits && state->waiting);
    int64_t chosen = most < may ? most : may;
    chosen = asked && chosen > 0 ? chosen : 0;
    if (chosen)
        put_to_sleep(state, may - chosen, chosen);
    s->next = asked ? fmin(s->due, next_sleepy(s, now)) : s->due;
    if (state->waiting || holding(state) || state->submissions < state->jobs) {
        call_by(state, s->next);
        s->next = s->called > now ? fmin(s->next, s->called) : s->next;
    }
    s->news = s->woken = 0;
}
