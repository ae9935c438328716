/* Sums and products are those of Python, in the same order, so that the last digit is Python's. */
#include "multifactor.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "extremes.h"
#include "node_use.h"
#include "rounding.h"

/* The natural logarithm of 2, and the largest priority. */
#define LOG_2 0.6931471805599453
#define TOP 4294901760.0

/* Return what is left of an amount of 1 that was held for the last seconds. */
static double lasting(const Factors *factors, double seconds)
{
    double half_life = factors->half_life;
    return isinf(half_life) ? seconds : -expm1(-seconds / half_life * LOG_2) * half_life / LOG_2;
}

/* Return what jobs of an owner that have ended used, as it counts at a time. */
static double of_ended(const Factors *factors, int64_t owner, double time)
{
    return factors->ended[owner] * exp2((factors->since[owner] - time) / factors->half_life);
}

static void note_start(Factors *factors, const State *state, int64_t job)
{
    int64_t at = factors->running++, *running = factors->running_job;
    factors->cores[job] = (double)(factors->nodes ? amount_of(state, factors->nodes, job, factors->axis) : state->units[job]);
    for (; at > 0 && state->start[running[at - 1]] == state->start[job] && running[at - 1] > job; at--)
        running[at] = running[at - 1];
    running[at] = job;
}

static void note_end(Factors *factors, const State *state, int64_t job)
{
    int64_t owner = factors->owner[job], at = 0;
    double used = factors->cores[job] * lasting(factors, state->end[job] - state->start[job]);
    if (isnan(factors->since[owner]))
        factors->user[factors->enders++] = (int32_t)owner;
    else
        used = of_ended(factors, owner, state->end[job]) + used;
    factors->ended[owner] = used, factors->since[owner] = state->end[job];
    while (factors->running_job[at] != job)
        at++;
    memmove(factors->running_job + at, factors->running_job + at + 1,
            (size_t)(--factors->running - at) * sizeof *factors->running_job);
}

/* Take note of what happened up to a moment. */
static void read_log(Factors *factors, const State *state, double moment)
{
    for (; factors->came < state->submissions && state->submission[factors->came] <= moment; factors->came++)
        factors->came_by[factors->owner[factors->came]]++;
    for (; factors->lines < state->lines; factors->lines++) {
        int64_t job = state->log[factors->lines] / KINDS, kind = state->log[factors->lines] % KINDS;
        const double *times = kind == STARTS ? state->start : kind == ENDS ? state->end : state->submission;
        if (times[job] > moment)
            break;
        if (kind == STARTS)
            note_start(factors, state, job);
        else if (kind == ENDS)
            note_end(factors, state, job);
        else
            factors->came_by[factors->owner[job]]--;
    }
}

/* Where there are reservations, only those jobs count that the dispatcher sees. */
static void count_shown(Factors *factors)
{
    const Openings *openings = factors->nodes ? factors->nodes->openings : NULL;
    if (!openings)
        return;
    memset(factors->came_by, 0, (size_t)factors->owners * sizeof *factors->came_by);
    for (int64_t at = 0; at < openings->waiting; at++) {
        int64_t job = openings->waiting_job[at];
        factors->came_by[factors->owner[job]] += openings->shown[job];
    }
}

/* Find who has used how much at a moment, as DecayedUsage.at has it, and who waits. */
static void find_used(Factors *factors, const State *state, double moment)
{
    for (int64_t owner = 0; owner < factors->owners; owner++)
        factors->used[owner] = NAN;
    factors->users = factors->enders;
    for (int64_t at = 0; at < factors->enders; at++)
        factors->used[factors->user[at]] = of_ended(factors, factors->user[at], moment);
    for (int64_t at = 0; at < factors->running; at++) {
        int64_t job = factors->running_job[at], owner = factors->owner[job];
        double more = factors->cores[job] * lasting(factors, moment - state->start[job]);
        if (isnan(factors->used[owner]))
            factors->user[factors->users++] = (int32_t)owner, factors->used[owner] = more;
        else
            factors->used[owner] += more;
    }
    count_shown(factors);
    for (int64_t owner = 0; owner < factors->owners; owner++)
        if (factors->came_by[owner] && isnan(factors->used[owner]))
            factors->user[factors->users++] = (int32_t)owner, factors->used[owner] = 0.0;
}

/* The classic formula. */
static void weigh_users(Factors *factors)
{
    double total = 0.0;
    for (int64_t at = 0; at < factors->users; at++)
        total += factors->used[factors->user[at]];
    for (int64_t owner = 0; owner < factors->owners; owner++) {
        double part = factors->used[owner];
        factors->factor[owner] = part > 0 ? exp2(-part / total * (double)factors->users) : 1.0;
    }
}

/* Return share over part of the use, for one of so many siblings with equal shares. */
static double level_of(double used, double total, int64_t siblings)
{
    return used > 0 ? total / (used * (double)siblings) : INFINITY;
}

/* Put larger levels first; as qsort has it. */
static int compare_levels(const void *one, const void *other)
{
    const Level *a = one, *b = other;
    if (a->of_account != b->of_account)
        return a->of_account > b->of_account ? -1 : 1;
    return (a->of_owner < b->of_owner) - (a->of_owner > b->of_owner);
}

/* Sum up what the users of each account have used; return the sum of all accounts, and how many there are. */
static double sum_accounts(Factors *factors, int64_t *count)
{
    double total = 0.0;
    *count = 0;
    memset(factors->account_users, 0, (size_t)factors->accounts * sizeof *factors->account_users);
    for (int64_t at = 0; at < factors->users; at++) {
        int64_t owner = factors->user[at], account = factors->account[owner];
        if (!factors->account_users[account]++)
            factors->present[(*count)++] = (int32_t)account, factors->account_used[account] = 0.0;
        factors->account_used[account] += factors->used[owner];
    }
    for (int64_t at = 0; at < *count; at++)
        total += factors->account_used[factors->present[at]];
    return total;
}

/* Fair Tree: see batdispatch.parts.ordering.fair_tree. */
static void rank_users(Factors *factors)
{
    int64_t accounts, ahead = 0, users = factors->users;
    double total = sum_accounts(factors, &accounts);
    for (int64_t owner = 0; owner < factors->owners; owner++)
        factors->factor[owner] = 1.0;
    for (int64_t at = 0; at < users; at++) {
        int64_t owner = factors->user[at], account = factors->account[owner];
        double used = factors->account_used[account];
        factors->levels[at] = (Level){level_of(used, total, accounts),
                                      level_of(factors->used[owner], used, factors->account_users[account]), owner};
    }
    qsort(factors->levels, (size_t)users, sizeof *factors->levels, compare_levels);
    for (int64_t at = 0; at < users; at++) {
        if (compare_levels(factors->levels + ahead, factors->levels + at))
            ahead = at;
        factors->factor[factors->levels[at].owner] = (double)(users - ahead) / (double)users;
    }
}

/* Work out the factors of the fair share as of a moment, unless they are known. */
static void share_fairly(Factors *factors, const State *state, double moment)
{
    bool is_over = factors->period > 0 || (factors->seen == state->lines && factors->came == state->submissions);
    if (moment == factors->moment && is_over)
        return;
    factors->moment = moment, factors->seen = state->lines;
    read_log(factors, state, moment);
    find_used(factors, state, moment);
    if (factors->fair_tree)
        rank_users(factors);
    else
        weigh_users(factors);
}

double priority_of(Factors *factors, const State *state, int64_t job)
{
    double now = state->now, total = factors->base[job];
    if (factors->period > 0)
        now = whole_part(now, factors->period) * factors->period;
    double age = larger_of(now - state->submission[job], 0.0) / factors->max_age;
    total += factors->age * (age < 1.0 ? age : 1.0);
    bool is_untried = factors->period > 0 && now < state->submission[job];
    total += (is_untried ? factors->first_size : factors->size)[job];
    if (factors->fairshare > 0) {
        share_fairly(factors, state, now);
        total += factors->fairshare * factors->factor[factors->owner[job]];
    }
    total = larger_of(floor(total + factors->queue[job]), 1.0);
    return total < TOP ? total : TOP;
}
