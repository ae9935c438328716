#include "plan_search.h"

#include <math.h>
#include <stddef.h>

#include "export.h"
#include "extremes.h"
#include "rounding.h"

/* Steps that are looked at together. */
enum { MANY = 16 };

/* A window of steps: the first of them, what is free in all of them, how many hosts more than the job needs, and when the
 * job would end; and a set to work with. */
typedef struct {
    int64_t begin;
    uint64_t *common;
    int64_t more;
    double end;
    uint64_t *work;
} Window;

Search search_all(const Plan *plan, int64_t units, double seconds, double now)
{
    int64_t steps = plan->steps;
    return (Search){units, seconds, now, 0, steps, steps, steps, NULL};
}

Search search_before(const Plan *plan, int64_t job, int64_t units, double seconds, double now, Hope hope)
{
    int64_t from = hope.from > now ? first_at(plan, hope.from) : 0, own = first_at(plan, plan->start[job]);
    int64_t until = first_at(plan, hope.until), end = first_at(plan, hope.until + seconds + SURELY);
    return (Search){units, seconds, now, from, least_of(until, own), least_of(end, own), own, job_set(plan, job)};
}

/* Return when a job starts that is to start at a step. */
static double start_at(const Plan *plan, int64_t step, double now)
{
    return plan->times[step] > now ? plan->times[step] : now;
}

/* Return what is free to the job in a step. */
static const uint64_t *free_in(const Plan *plan, const Search *search, int64_t step)
{
    const uint64_t *free = step_set(plan, step);
    if (step < search->own)
        return free;
    copy(free, plan->step_free, used_words(plan));
    join(plan->step_free, search->hosts, used_words(plan));
    return plan->step_free;
}

/* Let a set be what two others have in common, and return how many numbers it has. */
WIDE static int64_t meet_and_count(uint64_t *target, const uint64_t *one, const uint64_t *other, int64_t words)
{
    int64_t count = 0;
    for (int64_t index = 0; index < words; index++) {
        uint64_t word = one[index] & other[index];
        target[index] = word;
        count += bits(word);
    }
    return count;
}

/* Leave in the window only what a step has as well, and return true; or leave it, as there would be too little. */
static bool narrow(Plan *plan, const Search *search, Window *window, int64_t step)
{
    const uint64_t *free = free_in(plan, search, step);
    int64_t used = used_words(plan);
    if (!plan->single) {
        int64_t lost = count_missing(plan, window->common, free, used, window->more);
        if (lost > window->more)
            return false;
        meet(window->common, free, used);
        window->more -= lost;
        return true;
    }
    int64_t more = meet_and_count(window->work, window->common, free, used) - search->units;
    if (more < 0)
        return false;
    uint64_t *before = window->common;
    window->common = window->work, window->work = before, window->more = more;
    return true;
}

/* Begin a window that includes a step, as far before it as the job fits and not before another step. */
static void open_window(Plan *plan, const Search *search, Window *window, int64_t step, int64_t least)
{
    copy(free_in(plan, search, step), window->common, used_words(plan));
    window->begin = step;
    window->more = plan->free[step] - (step < search->own ? search->units : 0);
    while (window->begin > least && narrow(plan, search, window, window->begin - 1))
        window->begin--;
    window->end = round_six(start_at(plan, window->begin, search->now) + search->seconds);
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

/* Return the first step, from `at` on, at which enough hosts begin to be free, whichever they are, for as long as the job
 * needs them or up to the last step that is counted; `until` or more, if there is none. `behind` becomes the step at
 * which they cease to be. */
static int64_t next_stretch(const Plan *plan, const Search *search, int64_t at, int64_t *behind)
{
    const int32_t *free = plan->free;
    int64_t limit = search->counted;
    while ((at = next_wide(free, at, search->until, (int32_t)search->units)) < search->until) {
        for (*behind = at + 1; *behind < limit && free[*behind] >= search->units;)
            ++*behind;
        if (*behind >= limit || is_over_at(plan->times[*behind], start_at(plan, at, search->now), search->seconds))
            break;
        at = *behind;
    }
    return at;
}

double earliest(Plan *plan, const Search *search)
{
    const double *times = plan->times;
    int64_t behind = search->from;
    for (int64_t at; (at = next_stretch(plan, search, behind, &behind)) < search->until;) {
        Window window = {at, plan->common, 0, 0.0, plan->live};
        int64_t last = behind < search->counted ? behind : plan->steps;
        double close = last < plan->steps ? times[last] : INFINITY;
        for (bool is_open = false; at < last && (!is_open || times[at] < window.end); at++) {
            if (is_open && narrow(plan, search, &window, at))
                continue;
            /* The next window overlaps this one, and begins behind its beginning. */
            open_window(plan, search, &window, at, window.begin);
            is_open = true;
            if (window.begin >= search->until)
                return NAN;
            if (window.end > close)
                break;
        }
        if (window.end <= close) {
            copy(window.common, plan->common, used_words(plan));
            return start_at(plan, window.begin, search->now);
        }
    }
    return NAN;
}

bool has_others(Plan *plan, int64_t job, double seconds)
{
    double start = plan->start[job], end = round_six(start + seconds);
    int64_t at = step_of(plan, start), used = used_words(plan);
    copy(step_set(plan, at), plan->common, used);
    bool any = plan->free[at] > 0;
    while (any && ++at < plan->steps && plan->times[at] < end)
        any = meet_any(plan->common, step_set(plan, at), used);
    return any;
}
