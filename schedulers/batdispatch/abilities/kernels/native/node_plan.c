/* Steps of time with what is free on nodes, and the search for the earliest place in them. */
#include "node_plan.h"

#include <math.h>
#include <string.h>

#include "node_fits.h"
#include "node_places.h"
#include "node_use.h"
#include "plan.h"
#include "rounding.h"

/* A search for windows in which a job has room. In `then` is what is free all along the steps from `index` to the one before
 * `at`, where it fits; up to the step before `known`, the sums suffice. */
typedef struct {
    int64_t job;
    int64_t own;
    int64_t index;
    int64_t at;
    int64_t known;
} Windows;

static int64_t *row_of(const Nodes *nodes, const NodePlan *plan, int64_t step)
{
    return plan->rows + plan->row[step] * free_size(nodes);
}

static size_t row_bytes(const Nodes *nodes)
{
    return (size_t)free_size(nodes) * sizeof(int64_t);
}

bool has_room_in_plan(const NodePlan *plan, int64_t jobs)
{
    return 2 * jobs + 6 <= plan->most_steps && jobs + 2 <= plan->most_kept;
}

int32_t keep_place(const Nodes *nodes, NodePlan *plan)
{
    int32_t row = plan->spare[--plan->spare_kept];
    memcpy(plan->sets + row * nodes->words, nodes->place, (size_t)nodes->words * sizeof *nodes->place);
    memcpy(plan->units + row * nodes->hosts, nodes->on, (size_t)nodes->hosts * sizeof *nodes->on);
    return row;
}

void recall_place(Nodes *nodes, const NodePlan *plan, int64_t row)
{
    memcpy(nodes->place, plan->sets + row * nodes->words, (size_t)nodes->words * sizeof *nodes->place);
    memcpy(nodes->on, plan->units + row * nodes->hosts, (size_t)nodes->hosts * sizeof *nodes->on);
}

bool same_hosts(const Nodes *nodes, const NodePlan *plan, int64_t one, int64_t other)
{
    uint64_t differ = 0;
    for (int64_t index = 0; index < nodes->words; index++)
        differ |= plan->sets[one * nodes->words + index] ^ plan->sets[other * nodes->words + index];
    for (int64_t host = 0; !differ && host < nodes->hosts; host++)
        if (has(plan->sets + one * nodes->words, host))
            differ = plan->units[one * nodes->hosts + host] != plan->units[other * nodes->hosts + host];
    return !differ;
}

/* Add up what is free on the hosts in a step. */
static void sum_up(const Nodes *nodes, const NodePlan *plan, int64_t step)
{
    int64_t width = nodes->resources, *sums = plan->sums + plan->row[step] * width;
    const int64_t *row = row_of(nodes, plan, step);
    memset(sums, 0, (size_t)width * sizeof *sums);
    for (int64_t host = 0; host < nodes->hosts; host++)
        for (int64_t axis = 0; axis < width; axis++)
            sums[axis] += *row++;
}

/* Let the steps from `from` on stand from `to` on, one further or one less. */
static void move_steps(NodePlan *plan, int64_t from, int64_t to)
{
    size_t count = (size_t)(plan->steps - from);
    memmove(plan->times + to, plan->times + from, count * sizeof *plan->times);
    memmove(plan->row + to, plan->row + from, count * sizeof *plan->row);
    plan->steps += to - from;
}

/* Make `time` the beginning of a step, and return the step. */
static int64_t cut_step(const Nodes *nodes, NodePlan *plan, double time)
{
    int64_t at = count_before(plan->times, plan->steps, time), width = nodes->resources;
    if (at < plan->steps && plan->times[at] == time)
        return at;
    int32_t row = plan->row[plan->steps];
    move_steps(plan, at, at + 1);
    plan->times[at] = time, plan->row[at] = row;
    memcpy(row_of(nodes, plan, at), row_of(nodes, plan, at - 1), row_bytes(nodes));
    memcpy(plan->sums + row * width, plan->sums + plan->row[at - 1] * width, (size_t)width * sizeof *plan->sums);
    return at;
}

static void drop_step(NodePlan *plan, int64_t at)
{
    int32_t row = plan->row[at];
    move_steps(plan, at + 1, at);
    plan->row[plan->steps] = row;
}

/* Drop a step if it is as the one before. */
static void join_step(const Nodes *nodes, NodePlan *plan, int64_t at)
{
    if (at > 0 && at < plan->steps && !memcmp(row_of(nodes, plan, at), row_of(nodes, plan, at - 1), row_bytes(nodes)))
        drop_step(plan, at);
}

void forget_past_steps(NodePlan *plan, double now)
{
    for (int64_t past = step_during(plan->times, plan->steps, now); past > 0; past--)
        drop_step(plan, 0);
    plan->times[0] = now;
}

void shift_steps(const Nodes *nodes, NodePlan *plan, int64_t job, double start, double end, int64_t sign)
{
    if (start < plan->times[0])
        start = plan->times[0];
    if (end <= start)
        return;
    int64_t first = cut_step(nodes, plan, start), behind = end == INFINITY ? plan->steps : cut_step(nodes, plan, end);
    for (int64_t step = first; step < behind; step++) {
        shift_place(nodes, job, row_of(nodes, plan, step), sign);
        sum_up(nodes, plan, step);
    }
    join_step(nodes, plan, behind);
    join_step(nodes, plan, first);
}

bool stays_free(const Nodes *nodes, const NodePlan *plan, int64_t job, double start, double end)
{
    for (int64_t step = step_during(plan->times, plan->steps, start); step < plan->steps && plan->times[step] < end; step++) {
        memcpy(plan->work, row_of(nodes, plan, step), row_bytes(nodes));
        shift_place(nodes, job, plan->work, -1);
        for (int64_t index = 0; index < free_size(nodes); index++)
            if (plan->work[index] < 0)
                return false;
    }
    return true;
}

/* Return whether no sum is below what a job needs in a step. */
static bool suffices(const Nodes *nodes, const NodePlan *plan, const Windows *windows, int64_t step)
{
    int64_t width = nodes->resources, kind = nodes->kind[windows->job];
    if (step >= windows->own || nodes->idle[kind])
        return true;
    const int64_t *sums = plan->sums + plan->row[step] * width, *amounts = nodes->amounts + kind * width;
    for (int64_t axis = 0; axis < width; axis++)
        if (sums[axis] < nodes->units[kind] * amounts[axis])
            return false;
    return true;
}

/* Return what is free to a job in a step. */
static const int64_t *free_to(const Nodes *nodes, const NodePlan *plan, const Windows *windows, int64_t step)
{
    if (step < windows->own)
        return row_of(nodes, plan, step);
    memcpy(nodes->both, row_of(nodes, plan, step), row_bytes(nodes));
    shift_place(nodes, windows->job, nodes->both, 1);
    return nodes->both;
}

/* Let `met` be what is free both in `one` and in `other`. */
static void meet_free(const Nodes *nodes, const int64_t *one, const int64_t *other, int64_t *met)
{
    for (int64_t index = 0; index < free_size(nodes); index++)
        met[index] = one[index] < other[index] ? one[index] : other[index];
}

/* A window cannot last beyond step `at`: let it begin as early as it can last through that, behind `index`. */
static void begin_later(Nodes *nodes, const NodePlan *plan, Windows *windows)
{
    int64_t step = windows->at++;
    memcpy(nodes->then, free_to(nodes, plan, windows, step), row_bytes(nodes));
    if (!fits_anywhere(nodes, windows->job, nodes->then)) {
        windows->index = step + 1;
        return;
    }
    for (; step - 1 > windows->index; step--) {
        meet_free(nodes, nodes->then, free_to(nodes, plan, windows, step - 1), plan->work);
        if (!fits_anywhere(nodes, windows->job, plan->work))
            break;
        memcpy(nodes->then, plan->work, row_bytes(nodes));
    }
    windows->index = step;
}

/* Return whether a job has room all along the window; if not, let the window begin later. */
static bool has_room_along(Nodes *nodes, const NodePlan *plan, Windows *windows)
{
    for (; windows->at < windows->known; windows->at++) {
        const int64_t *free = free_to(nodes, plan, windows, windows->at);
        meet_free(nodes, windows->at == windows->index ? free : nodes->then, free, nodes->then);
        if (!fits_anywhere(nodes, windows->job, nodes->then)) {
            begin_later(nodes, plan, windows);
            return false;
        }
    }
    return true;
}

/* Return whether the sums suffice up to `end`; if not, let the window begin behind where they do not. */
static bool has_sums_along(const Nodes *nodes, const NodePlan *plan, Windows *windows, double end)
{
    int64_t known = windows->known;
    while (known < plan->steps && plan->times[known] < end && suffices(nodes, plan, windows, known))
        known++;
    windows->known = known;
    if (known == plan->steps || plan->times[known] >= end)
        return true;
    windows->index = windows->at = windows->known = known + 1;
    return false;
}

double earliest_on_nodes(Nodes *nodes, const NodePlan *plan, int64_t job, double seconds, double after, double before,
                         int64_t own)
{
    int64_t index = step_during(plan->times, plan->steps, after);
    Windows windows = {job, own, index, index, index};
    while (windows.index < own) {
        double start = plan->times[windows.index] > after ? plan->times[windows.index] : after;
        if (start >= before)
            break;
        if (!has_sums_along(nodes, plan, &windows, round_six(start + seconds)) || !has_room_along(nodes, plan, &windows))
            continue;
        place_lowest(nodes, job, nodes->then);
        return start;
    }
    return NAN;
}

void place_again(Nodes *nodes, const NodePlan *plan, int64_t job, double start, double end)
{
    int64_t step = step_during(plan->times, plan->steps, start);
    memcpy(nodes->then, row_of(nodes, plan, step), row_bytes(nodes));
    for (step++; step < plan->steps && plan->times[step] < end; step++)
        meet_free(nodes, nodes->then, row_of(nodes, plan, step), nodes->then);
    shift_place(nodes, job, nodes->then, 1);
    place_lowest(nodes, job, nodes->then);
}
