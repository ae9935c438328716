/* What is free at which time: the plan of conservative backfilling, as batdispatch.core.plans.timeline and
 * batdispatch.core.plans.reservations keep it. batdispatch.engines.compiled.plan makes it, makes room in it, and has the
 * same fields in the same order.
 *
 * A step is a time and a row of `rows`, which holds the hosts that are free from then on to the next step. So a new step
 * moves numbers, and no sets of hosts. A set of hosts is a set of blocks: consecutive hosts that have been in the same
 * sets ever since. A block has a number, which is that of its bit; bits that no block has are 0 everywhere. */
#ifndef BATDISPATCH_PLAN_H
#define BATDISPATCH_PLAN_H

#include "masks.h"

/* No step. */
enum { NO_STEP = -1 };

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
    /* From when to when something was given back, and how often all that was forgotten. */
    int64_t returns;
    int64_t most_returns;
    int64_t round;
    double *back_start;
    double *back_end;
    /* By rank: returns that the job is known to withstand, and in which round. */
    int64_t *known;
    int64_t *known_round;
    /* What is free now; for a search: what is free all along. */
    uint64_t *now_free;
    uint64_t *common;
} Plan;

/* Return the set of a step, or what is kept for a job. */
uint64_t *step_set(const Plan *plan, int64_t step);
uint64_t *job_set(const Plan *plan, int64_t job);
/* Return how many words of each set are in use. */
int64_t used_words(const Plan *plan);
/* Return whether there is room for the reservations of so many jobs, and for the blocks that they may cut. */
bool has_room_for(const Plan *plan, int64_t jobs);
/* Forget what lies before `now`. */
void forget_past(Plan *plan, double now);
/* Give hosts back, or take them, from `start` to `end`. */
void shift(Plan *plan, const uint64_t *mask, int64_t units, double start, double end, bool give);
/* Note that something is free from `start` to `end` that was not. */
void note_return(Plan *plan, double start, double end);
/* Return the earliest start from `now` on of a job of so many units, nan for none; `common`: what is free. No step before
 * `from` is looked at. */
double earliest(Plan *plan, int64_t from, int64_t units, double seconds, double now);
/* Leave in `common` only so many of its lowest hosts; it has as many. A block may be cut for that. */
void leave_lowest(Plan *plan, int64_t units);
/* Return the first step at which a job may start before its reservation, by numbers of hosts alone, or NO_STEP. */
int64_t first_chance(const Plan *plan, int64_t job, int64_t units, double seconds, double now);
/* Return until when hosts stay free from `start` on, at most `end`. */
double free_until(const Plan *plan, const uint64_t *mask, double start, double end);
/* Return the earliest start from `after` on at which all of a set is free for so many seconds, nan for none. */
double earliest_there(const Plan *plan, const uint64_t *mask, double seconds, double after);
/* Let all hosts be free from `now` on, and forget what was given back. */
void renew(Plan *plan, double now);
/* Add the hosts of a set of blocks to a set of hosts. */
void enter_hosts(const Plan *plan, const uint64_t *mask, uint64_t *hosts);
/* Write the runs of consecutive hosts of a set from `at` on, ascending; return where they end. */
int64_t write_runs(const Plan *plan, const uint64_t *mask, int32_t *first, int32_t *last, int64_t at);
/* Return how many hosts of a set another one lacks in so many words; above `most`, perhaps a smaller number. */
int64_t count_missing(const Plan *plan, const uint64_t *mask, const uint64_t *other, int64_t words, int64_t most);

#endif
