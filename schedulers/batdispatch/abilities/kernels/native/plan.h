/* What is free at which time: the plan of conservative backfilling, as batdispatch.core.plans.timeline and
 * batdispatch.core.plans.reservations keep it. batdispatch.abilities.kernels.plan makes it, and makes room in it.
 *
 * A step is a time and a row of `rows`, which holds the hosts that are free from then on to the next step. So a new step
 * moves numbers, and no sets of hosts. A set of hosts is a set of blocks: consecutive hosts that have been in the same
 * sets ever since. A block has a number, which is that of its bit; bits that no block has are 0 everywhere. */
#ifndef BATDISPATCH_PLAN_H
#define BATDISPATCH_PLAN_H

#include "masks.h"

/* Seconds by which times differ that are not the same after rounding. */
#define SURELY 1e-5

/* A job may start from a time on, and before another one. */
typedef struct {
    double from;
    double until;
} Hope;

typedef struct {
    /* Number of hosts; whether each is a block of its own, from the first on; the blocks, and room for them. */
    int64_t hosts;
    int64_t single;
    int64_t blocks;
    int64_t most_blocks;
    /* By number: first host of each block, and how many there are; and the numbers in the order of their hosts. */
    int32_t *block_first;
    int32_t *block_size;
    int32_t *order;
    /* Words of each set; steps, and room for them; rows of `rows` and of `kept` that are not in use. */
    int64_t words;
    int64_t steps;
    int64_t most_steps;
    int64_t spare_rows;
    int64_t most_kept;
    int64_t spare_kept;
    /* Time, row, and number of free hosts of each step. */
    double *times;
    int32_t *row;
    int32_t *free;
    uint64_t *rows;
    int32_t *spare;
    /* By rank: from when to when hosts are kept (nan: not), and the row of `kept` that holds which. */
    double *start;
    double *end;
    int32_t *kept_row;
    uint64_t *kept;
    int32_t *spare_kept_rows;
    /* The waiting jobs that have a reservation, in the order of their starts: the start, the job, how many hosts it needs,
     * and for how many whole seconds. */
    int64_t planned;
    double *planned_start;
    int32_t *planned_job;
    int32_t *planned_units;
    int32_t *planned_seconds;
    /* By place in the queue: whether the job is a candidate; by word of these, whether one is. By rank: how many hopes a
     * candidate has, and these, in the order of their begins; there is room for `most_hopes` each. */
    uint64_t *candidates;
    uint64_t *candidate_words;
    int64_t most_hopes;
    int32_t *hopes_of;
    Hope *hopes;
    /* What is free now; for a search, what is free all along; and sets to work with: what is free to a job in a step, what
     * it gave back, and what is left of a set. */
    uint64_t *now_free;
    uint64_t *common;
    uint64_t *step_free;
    uint64_t *returned;
    uint64_t *live;
} Plan;

/* Return how many of so many times, which ascend, are before a time. */
static inline int64_t count_before(const double *times, int64_t count, double time)
{
    int64_t low = 0;
    /* Without a branch: which half it is cannot be guessed. */
    for (; count > 1; count -= count / 2)
        low += times[low + count / 2 - 1] < time ? count / 2 : 0;
    return low + (count == 1 && times[low] < time);
}

/* Return the step during which a time is, of so many that begin at these times. */
static inline int64_t step_during(const double *times, int64_t count, double time)
{
    int64_t at = count_before(times, count, time);
    return at < count && times[at] == time ? at : at - 1;
}

/* Return how many words of each set are in use. */
static inline int64_t used_words(const Plan *plan)
{
    return (plan->blocks + WORD - 1) / WORD;
}

/* Return the set of a step, or what is kept for a job. */
static inline uint64_t *step_set(const Plan *plan, int64_t step)
{
    return plan->rows + plan->row[step] * plan->words;
}

static inline uint64_t *job_set(const Plan *plan, int64_t job)
{
    return plan->kept + plan->kept_row[job] * plan->words;
}

/* Return whether there is room for the reservations of so many jobs, and for the blocks that they may cut. */
bool has_room_for(const Plan *plan, int64_t jobs);
/* Return the first step that begins at a time or later, and the step during which a time is. */
int64_t first_at(const Plan *plan, double time);
int64_t step_of(const Plan *plan, double time);
/* Forget what lies before `now`. */
void forget_past(Plan *plan, double now);
/* Give hosts back, or take them, from `start` to `end`. */
void shift(Plan *plan, const uint64_t *mask, int64_t units, double start, double end, bool give);
/* Leave in `common` only so many of its lowest hosts; it has as many. A block may be cut for that. */
void leave_lowest(Plan *plan, int64_t units);
/* Return until when hosts stay free from `start` on, at most `end`. */
double free_until(const Plan *plan, const uint64_t *mask, double start, double end);
/* Return the earliest start from `after` on at which all of a set is free for so many seconds, nan for none. */
double earliest_there(const Plan *plan, const uint64_t *mask, double seconds, double after);
/* Let all hosts be free from `now` on. */
void renew(Plan *plan, double now);
/* Add the hosts of a set of blocks to a set of hosts. */
void enter_hosts(const Plan *plan, const uint64_t *mask, uint64_t *hosts);
/* Write the runs of consecutive hosts of a set from `at` on, ascending; return where they end. */
int64_t write_runs(const Plan *plan, const uint64_t *mask, int32_t *first, int32_t *last, int64_t at);
/* Return how many hosts of a set another one lacks in so many words; above `most`, perhaps a smaller number. */
int64_t count_missing(const Plan *plan, const uint64_t *mask, const uint64_t *other, int64_t words, int64_t most);

#endif
