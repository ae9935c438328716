#include "plan.h"

#include <math.h>
#include <string.h>

#include "export.h"
#include "rounding.h"

/* Steps that are looked at together. */
enum { MANY = 16 };
/* Seconds by which times differ that are not the same after rounding. */
#define SURELY 1e-5

static double later_of(double a, double b)
{
    return a > b ? a : b;
}

uint64_t *step_set(const Plan *plan, int64_t step)
{
    return plan->rows + plan->row[step] * plan->words;
}

uint64_t *job_set(const Plan *plan, int64_t job)
{
    return plan->kept + plan->kept_row[job] * plan->words;
}

int64_t used_words(const Plan *plan)
{
    return (plan->blocks + WORD - 1) / WORD;
}

bool has_room_for(const Plan *plan, int64_t jobs)
{
    /* Each job may cut a block, and there are no more blocks than hosts. */
    int64_t blocks = plan->blocks + jobs < plan->hosts ? plan->blocks + jobs : plan->hosts;
    return 2 * jobs + 6 <= plan->most_steps && jobs + 2 <= plan->most_kept && blocks <= plan->most_blocks;
}

/* Return the first step that begins at `time` or later. */
static int64_t first_at(const Plan *plan, double time)
{
    int64_t low = 0, high = plan->steps;
    while (low < high) {
        int64_t middle = (low + high) / 2;
        if (plan->times[middle] < time)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Return the step during which a time is. */
static int64_t step_of(const Plan *plan, double time)
{
    int64_t at = first_at(plan, time);
    return at == plan->steps || plan->times[at] > time ? at - 1 : at;
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
    plan->times[0] = later_of(plan->times[0], now);
}

void shift(Plan *plan, const uint64_t *mask, int64_t units, double start, double end, bool give)
{
    start = later_of(start, plan->times[0]);
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

void note_return(Plan *plan, double start, double end)
{
    if (end <= start)
        return;
    if (plan->returns == plan->most_returns) {
        plan->returns = 0;
        plan->round++;
    }
    plan->back_start[plan->returns] = start, plan->back_end[plan->returns++] = end;
}

/* A window of steps in which `common` is free: the first of them, how many more hosts it has than the job needs, and
 * when the job would end. */
typedef struct {
    int64_t begin;
    int64_t more;
    double end;
} Window;

/* Return when a job starts that is to start at a step. */
static double start_at(const Plan *plan, int64_t step, double now)
{
    return later_of(plan->times[step], now);
}

/* As `meet`. */
WIDE static void meet_sets(uint64_t *target, const uint64_t *other, int64_t words)
{
    meet(target, other, words);
}

/* Leave in the window only what a step has as well, and return true; or leave it, as there would be too little. */
static bool narrow(Plan *plan, Window *window, int64_t step)
{
    const uint64_t *free = step_set(plan, step);
    int64_t used = used_words(plan);
    int64_t lost = count_missing(plan, plan->common, free, used, window->more);
    if (lost > window->more)
        return false;
    window->more -= lost;
    meet_sets(plan->common, free, used);
    return true;
}

/* Begin a window that includes a step, as far before it as the job fits and not before another step. */
static void open_window(Plan *plan, Window *window, int64_t step, int64_t least, int64_t units)
{
    copy(step_set(plan, step), plan->common, used_words(plan));
    window->begin = step;
    window->more = plan->free[step] - units;
    while (window->begin > least && narrow(plan, window, window->begin - 1))
        window->begin--;
}

/* Return the first step, from `at` on and before `limit`, in which at least so many hosts are free; `limit` for none. */
WIDE static int64_t next_wide(const int32_t *free, int64_t at, int64_t limit, int32_t units)
{
    /* Many steps at once, as the steps before a job's start have too few hosts as a rule. */
    for (; at + MANY <= limit; at += MANY) {
        int32_t any = 0;
        for (int64_t index = 0; index < MANY; index++)
            any |= free[at + index] >= units;
        if (any)
            break;
    }
    while (at < limit && free[at] < units)
        at++;
    return at;
}

/* Return whether `from` and so many seconds are over at `time`. */
static bool is_over_at(double time, double from, double seconds)
{
    double left = time - (from + seconds);
    /* What is rounded differs by less. */
    return fabs(left) > SURELY ? left > 0 : time >= round_six(from + seconds);
}

/* Return the first step, from `at` on and before `limit`, at which so many hosts begin to be free, whichever they are, for
 * as long as the job needs them or up to `limit`; `limit`, if there is none. `behind` becomes the step at which they
 * cease to be. */
static int64_t next_stretch(const Plan *plan, int64_t at, int64_t limit, int64_t units, double seconds, double now,
                            int64_t *behind)
{
    const int32_t *free = plan->free;
    while ((at = next_wide(free, at, limit, (int32_t)units)) < limit) {
        for (*behind = at + 1; *behind < limit && free[*behind] >= units;)
            ++*behind;
        if (*behind == limit || is_over_at(plan->times[*behind], start_at(plan, at, now), seconds))
            break;
        at = *behind;
    }
    return at;
}

double earliest(Plan *plan, int64_t from, int64_t units, double seconds, double now)
{
    const double *times = plan->times;
    int64_t steps = plan->steps, behind = from;
    for (int64_t at; (at = next_stretch(plan, behind, steps, units, seconds, now, &behind)) < steps;) {
        Window window = {at, 0, 0.0};
        double close = behind < steps ? times[behind] : INFINITY;
        for (bool is_open = false; at < behind && (!is_open || times[at] < window.end); at++) {
            if (is_open && narrow(plan, &window, at))
                continue;
            /* The next window overlaps this one, and begins behind its beginning. */
            open_window(plan, &window, at, window.begin, units);
            window.end = round_six(start_at(plan, window.begin, now) + seconds);
            is_open = true;
            if (window.end > close)
                break;
        }
        if (window.end <= close)
            return start_at(plan, window.begin, now);
    }
    return NAN;
}

int64_t first_chance(const Plan *plan, int64_t job, int64_t units, double seconds, double now)
{
    /* From its start on, the job has its own hosts. */
    int64_t start = first_at(plan, plan->start[job]), behind;
    int64_t at = next_stretch(plan, 0, start, units, seconds, now, &behind);
    return at < start ? at : NO_STEP;
}

double free_until(const Plan *plan, const uint64_t *mask, double start, double end)
{
    for (int64_t at = step_of(plan, start); at < plan->steps && plan->times[at] < end; at++)
        if (!within(mask, step_set(plan, at), used_words(plan)))
            return start_at(plan, at, start);
    return end;
}

double earliest_there(const Plan *plan, const uint64_t *mask, double seconds, double after)
{
    for (int64_t at = step_of(plan, after); at < plan->steps; at++) {
        if (!within(mask, step_set(plan, at), used_words(plan)))
            continue;
        double start = start_at(plan, at, after), end = round_six(start + seconds);
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
    plan->returns = 0, plan->round++;
}
