/* What is free on nodes at which time: the plan of conservative backfilling where jobs share nodes or have partitions, as
 * batdispatch.core.plans.timeline keeps it. batdispatch.abilities.kernels.node_plan makes it, and makes room in it.
 *
 * A step is a time and a row of `rows`, which says as `free` of nodes.h does what is free from then on to the next step. */
#ifndef BATDISPATCH_NODE_PLAN_H
#define BATDISPATCH_NODE_PLAN_H

#include "nodes.h"

typedef struct {
    /* Whether a job that cannot start earlier keeps its place. */
    int64_t keeps_places;
    /* Steps, and room for them; the time of each; and its row: behind those of the steps stand the rows not in use. */
    int64_t steps;
    int64_t most_steps;
    double *times;
    int32_t *row;
    /* By row: what is free, and of each resource the sum over the hosts. */
    int64_t *rows;
    int64_t *sums;
    /* By rank: from when to when something is kept for a job (nan: nothing is), the row that holds where, and the latest end
     * of what was given back since the job was placed. */
    double *start;
    double *end;
    double *until;
    int32_t *kept_row;
    /* By that row: `place` and `on` of nodes.h; and the rows that are not in use. */
    int64_t most_kept;
    int64_t spare_kept;
    int32_t *spare;
    uint64_t *sets;
    int64_t *units;
    /* As much as a row, to work with. */
    int64_t *work;
} NodePlan;

/* Return whether there is room for the reservations of so many jobs. */
bool has_room_in_plan(const NodePlan *plan, int64_t jobs);
/* Keep `place` in a row that is not in use, and return the row; and let it be `place` again. */
int32_t keep_place(const Nodes *nodes, NodePlan *plan);
void recall_place(Nodes *nodes, const NodePlan *plan, int64_t row);
/* Return whether two rows hold the same hosts. */
bool same_hosts(const Nodes *nodes, const NodePlan *plan, int64_t one, int64_t other);
/* Forget what lies before `now`. */
void forget_past_steps(NodePlan *plan, double now);
/* Give back what a job has on `place` from `start` to `end` (1), or take it (-1). */
void shift_steps(const Nodes *nodes, NodePlan *plan, int64_t job, double start, double end, int64_t sign);
/* Return whether what a job needs on `place` is free from `start` to `end`. */
bool stays_free(const Nodes *nodes, const NodePlan *plan, int64_t job, double start, double end);
/* Return the earliest start from `after` on and before `before` at which a job has a place for so many seconds, and let
 * `place` be that; nan for none. From step `own` on, the job has what is on `place`, and must start before. */
double earliest_on_nodes(Nodes *nodes, const NodePlan *plan, int64_t job, double seconds, double after, double before,
                         int64_t own);
/* Let `place` be where a job goes that has what is on `place` from `start` to `end`, if it may choose anew. */
void place_again(Nodes *nodes, const NodePlan *plan, int64_t job, double start, double end);

#endif
