#include "plan.h"

#include <math.h>
#include <string.h>

#include "extremes.h"
#include "rounding.h"

bool has_room_for(const Plan *plan, int64_t jobs)
{
    /* Each job may cut a block, and there are no more blocks than hosts. */
    int64_t blocks = plan->blocks + jobs < plan->hosts ? plan->blocks + jobs : plan->hosts;
    return 2 * jobs + 6 <= plan->most_steps && jobs + 2 <= plan->most_kept && blocks <= plan->most_blocks;
}

int64_t first_at(const Plan *plan, double time)
{
    return count_before(plan->times, plan->steps, time);
}

int64_t step_of(const Plan *plan, double time)
{
    return step_during(plan->times, plan->steps, time);
}

/* Let the steps from `from` on stand from `to` on. */
static void move_steps(Plan *plan, int64_t from, int64_t to)
{
    size_t count = (size_t)(plan->steps - from);
    memmove(plan->times + to, plan->times + from, count * sizeof *plan->times);
    memmove(plan->row + to, plan->row + from, count * sizeof *plan->row);
    memmove(plan->free + to, plan->free + from, count * sizeof *plan->free);
    plan->steps += to - from;
}

/* Make `time` the beginning of a step, and return the step. */
static int64_t cut_step(Plan *plan, double time)
{
    int64_t at = first_at(plan, time);
    if (at < plan->steps && plan->times[at] == time)
        return at;
    move_steps(plan, at, at + 1);
    plan->times[at] = time;
    plan->row[at] = plan->spare[--plan->spare_rows];
    plan->free[at] = plan->free[at - 1];
    copy(step_set(plan, at - 1), step_set(plan, at), used_words(plan));
    return at;
}

/* Remove the steps from one to the one before another. */
static void drop_steps(Plan *plan, int64_t at, int64_t behind)
{
    for (int64_t index = at; index < behind; index++)
        plan->spare[plan->spare_rows++] = plan->row[index];
    move_steps(plan, behind, at);
}

/* Remove the beginning of a step at `time` if nothing changes there. */
static void join_steps(Plan *plan, double time)
{
    int64_t at = first_at(plan, time);
    if (at == 0 || at >= plan->steps || plan->free[at] != plan->free[at - 1])
        return;
    if (same_sets(step_set(plan, at), step_set(plan, at - 1), used_words(plan)))
        drop_steps(plan, at, at + 1);
}

void forget_past(Plan *plan, double now)
{
    int64_t at = step_of(plan, now);
    if (at > 0)
        drop_steps(plan, 0, at);
    plan->times[0] = larger_of(plan->times[0], now);
}

void shift(Plan *plan, const uint64_t *mask, int64_t units, double start, double end, bool give)
{
    start = larger_of(start, plan->times[0]);
    if (end <= start)
        return;
    int64_t first = cut_step(plan, start), behind = end == INFINITY ? plan->steps : cut_step(plan, end);
    int64_t used = used_words(plan);
    for (int64_t index = first; index < behind; index++) {
        if (give)
            join(step_set(plan, index), mask, used);
        else
            take_out(step_set(plan, index), mask, used);
        plan->free[index] += (int32_t)(give ? units : -units);
    }
    join_steps(plan, end);
    join_steps(plan, start);
}

double free_until(const Plan *plan, const uint64_t *mask, double start, double end)
{
    for (int64_t at = step_of(plan, start); at < plan->steps && plan->times[at] < end; at++)
        if (!within(mask, step_set(plan, at), used_words(plan)))
            return larger_of(plan->times[at], start);
    return end;
}

double earliest_there(const Plan *plan, const uint64_t *mask, double seconds, double after)
{
    for (int64_t at = step_of(plan, after); at < plan->steps; at++) {
        if (!within(mask, step_set(plan, at), used_words(plan)))
            continue;
        double start = larger_of(plan->times[at], after), end = round_six(start + seconds);
        while (at < plan->steps && plan->times[at] < end && within(mask, step_set(plan, at), used_words(plan)))
            at++;
        if (at == plan->steps || plan->times[at] >= end)
            return start;
    }
    return NAN;
}

void renew(Plan *plan, double now)
{
    drop_steps(plan, 1, plan->steps);
    plan->times[0] = now, plan->free[0] = (int32_t)plan->hosts;
    for (int64_t block = 0; block < plan->blocks; block++)
        enter(step_set(plan, 0), block);
}
