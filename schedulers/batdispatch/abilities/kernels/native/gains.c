/* A waiting job has the best place that there was when it was placed. It can only gain by what was given back since: by a
 * window of time in which it fits now, which meets the span in which hosts were given back, and in all of which one of
 * these hosts is free, or becomes the job's own. So what is known of the steps around that span tells who may gain:
 *
 * - A job that starts later than that. It is to fit by the number of hosts that are free (the stairs).
 * - A job whose reservation begins around the span. Its window may end on its own hosts. So it is to start on as many
 *   hosts as are free there, and one that was given back is to be its own, or free for as long as it lasts.
 * - A job whose reservation overlaps the span, on lower hosts, if these are free for as long as it lasts.
 *
 * Seconds are compared as whole numbers: rounded down, what was at most something else still is. */
#include "gains.h"

#include <math.h>
#include <string.h>

#include "candidates.h"
#include "export.h"

/* Stairs that are told apart; planned jobs that are looked at together (compilers unroll fewer, and use no wide
 * registers then). */
enum { MOST_STAIRS = 6, MANY = 32 };

/* For so many seconds so many hosts are free. */
typedef struct {
    int32_t units;
    int32_t seconds;
} Stair;

/* A span of time in which hosts were given back, and one around it in which some of them may be free; and who fits
 * there: jobs of no more units and seconds than one of the stairs. */
typedef struct {
    double start;
    double end;
    double open;
    double close;
    int64_t stairs;
    Stair stair[MOST_STAIRS];
} Span;

static int32_t whole_seconds(double seconds)
{
    return seconds < INT32_MAX ? (int32_t)seconds : INT32_MAX;
}

/* Return how many jobs are planned to start before a time. */
static int64_t planned_before(const Plan *plan, double time)
{
    return count_before(plan->planned_start, plan->planned, time);
}

/* Let the planned jobs from `from` on stand from `to` on. */
static void move_planned(Plan *plan, int64_t from, int64_t to)
{
    size_t count = (size_t)(plan->planned - from);
    memmove(plan->planned_start + to, plan->planned_start + from, count * sizeof *plan->planned_start);
    memmove(plan->planned_job + to, plan->planned_job + from, count * sizeof *plan->planned_job);
    memmove(plan->planned_units + to, plan->planned_units + from, count * sizeof *plan->planned_units);
    memmove(plan->planned_seconds + to, plan->planned_seconds + from, count * sizeof *plan->planned_seconds);
    plan->planned += to - from;
}

void enter_planned(const State *state, Plan *plan, int64_t job)
{
    int64_t at = planned_before(plan, plan->start[job]);
    move_planned(plan, at, at + 1);
    plan->planned_start[at] = plan->start[job], plan->planned_job[at] = (int32_t)job;
    plan->planned_units[at] = (int32_t)state->units[job];
    plan->planned_seconds[at] = whole_seconds(state->booked[job]);
}

void drop_planned(Plan *plan, int64_t job)
{
    int64_t at = planned_before(plan, plan->start[job]);
    while (plan->planned_job[at] != job)
        at++;
    move_planned(plan, at + 1, at);
}

/* Return the first step of those up to `at` in all of which one of a set of hosts is free; `at` in any case. */
static int64_t free_since(Plan *plan, const uint64_t *hosts, int64_t at)
{
    int64_t used = used_words(plan);
    copy(hosts, plan->live, used);
    bool any = meet_any(plan->live, step_set(plan, at), used);
    while (any && at > 0 && meet_any(plan->live, step_set(plan, at - 1), used))
        at--;
    return at;
}

/* Return the step behind those from `at - 1` on in all of which one of a set of hosts is free; `at` in any case. */
static int64_t free_up_to(Plan *plan, const uint64_t *hosts, int64_t at)
{
    int64_t used = used_words(plan);
    copy(hosts, plan->live, used);
    bool any = meet_any(plan->live, step_set(plan, at - 1), used);
    while (any && at < plan->steps && meet_any(plan->live, step_set(plan, at), used))
        at++;
    return at;
}

static bool is_under(const Stair *one, const Stair *other)
{
    return one->units <= other->units && one->seconds <= other->seconds;
}

/* Return whether a job of so many units and seconds fits below one of the stairs. */
static bool fits(const Span *span, Stair needed)
{
    for (int64_t index = 0; index < span->stairs; index++)
        if (is_under(&needed, &span->stair[index]))
            return true;
    return false;
}

static Stair both(const Stair *one, const Stair *other)
{
    return (Stair){one->units > other->units ? one->units : other->units,
                   one->seconds > other->seconds ? one->seconds : other->seconds};
}

/* Let those fit who need no more than a stair. */
static void add_stair(Span *span, Stair stair)
{
    int64_t kept = 0;
    for (int64_t index = 0; index < span->stairs; index++)
        if (!is_under(&span->stair[index], &stair))
            span->stair[kept++] = span->stair[index];
    if (kept == MOST_STAIRS) {
        kept--;
        stair = both(&stair, &span->stair[kept]);
    }
    span->stair[kept++] = stair;
    span->stairs = kept;
}

static double time_of(const Plan *plan, int64_t step)
{
    return step < plan->steps ? plan->times[step] : INFINITY;
}

/* Find the stairs of the windows that begin with a step, end behind step `first`, and end by step `close`. */
static void add_stairs(const Plan *plan, Span *span, int64_t begin, int64_t first, int64_t close, double slack)
{
    double start = plan->times[begin] - slack - SURELY;
    int32_t units = plan->free[begin], longest = whole_seconds(span->close - start);
    for (int64_t at = begin + 1; units > 0 && !fits(span, (Stair){units, longest}); at++) {
        int32_t next = at < close ? plan->free[at] : 0;
        Stair stair = {units, whole_seconds(time_of(plan, at) - start)};
        if (next < units && at > first && !fits(span, stair))
            add_stair(span, stair);
        units = next < units ? next : units;
    }
}

static void hope_for(const State *state, Plan *plan, int64_t job, const Span *span)
{
    double from = span->start - state->booked[job] - SURELY;
    enter_hope(state, plan, job, (Hope){from > span->open ? from : span->open, span->end});
}

/* Return the first planned job from `at` on that fits. */
WIDE static int64_t next_fitting(const Plan *plan, const Span *span, int64_t at)
{
    const int32_t *units = plan->planned_units, *seconds = plan->planned_seconds;
    for (; at + MANY <= plan->planned; at += MANY) {
        /* Less than 0 for who needs more than each of the stairs. */
        int32_t left[MANY], any = -1;
        for (int64_t index = 0; index < MANY; index++)
            left[index] = -1;
        for (int64_t stair = 0; stair < span->stairs; stair++) {
            int32_t most = span->stair[stair].units, longest = span->stair[stair].seconds;
            for (int64_t index = 0; index < MANY; index++)
                left[index] &= (most - units[at + index]) | (longest - seconds[at + index]);
        }
        for (int64_t index = 0; index < MANY; index++)
            any &= left[index];
        for (int64_t index = 0; any >= 0 && index < MANY; index++)
            if (left[index] >= 0)
                return at + index;
    }
    while (at < plan->planned && !fits(span, (Stair){units[at], seconds[at]}))
        at++;
    return at;
}

/* Let those hope who fit, from the `at`-th planned job on. */
static void offer_later(const State *state, Plan *plan, const Span *span, int64_t at)
{
    for (; (at = next_fitting(plan, span, at)) < plan->planned; at++)
        hope_for(state, plan, plan->planned_job[at], span);
}

/* Let those hope whose reservations begin around the span, or overlap it, and return how many planned jobs start by then;
 * `most`: the most units and seconds that the stairs have. */
static int64_t offer_around(const State *state, Plan *plan, const Span *span, const uint64_t *hosts, Stair most)
{
    int64_t at = planned_before(plan, span->open);
    for (; at < plan->planned && plan->planned_start[at] <= span->close; at++) {
        int64_t job = plan->planned_job[at];
        bool lasts = plan->planned_seconds[at] <= most.seconds, gains;
        if (plan->planned_start[at] < span->end)
            gains = lasts && plan->end[job] > span->start;
        else
            gains = plan->planned_units[at] <= most.units && (lasts || touch(job_set(plan, job), hosts, used_words(plan)));
        if (gains)
            hope_for(state, plan, job, span);
    }
    return at;
}

void offer(const State *state, Plan *plan, const uint64_t *hosts, double start, double end, double slack)
{
    start = start > plan->times[0] ? start : plan->times[0];
    if (end <= start)
        return;
    int64_t first = step_of(plan, start), behind = first_at(plan, end);
    int64_t open = free_since(plan, hosts, first), close = free_up_to(plan, hosts, behind);
    Span span = {.start = start, .end = end, .open = plan->times[open], .close = time_of(plan, close), .stairs = 0};
    for (int64_t at = open; at < behind; at++)
        add_stairs(plan, &span, at, first, close, slack);
    Stair most = {0, 0};
    for (int64_t index = 0; index < span.stairs; index++)
        most = both(&most, &span.stair[index]);
    offer_later(state, plan, &span, offer_around(state, plan, &span, hosts, most));
}
