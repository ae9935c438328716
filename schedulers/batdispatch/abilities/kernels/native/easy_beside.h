/* EASY in order of arrival, simulated beside a real queue as far as it is certain, and what it says of late jobs: see
 * batdispatch.parts.ordering.easy_beside and batdispatch.parts.ordering.guard. batdispatch.abilities.kernels.queue_order
 * makes the structure. */
#ifndef BATDISPATCH_EASY_BESIDE_H
#define BATDISPATCH_EASY_BESIDE_H

#include "state.h"

typedef struct {
    /* Options of guarded. */
    double share;
    double slack;
    double floor;
    double memory;
    /* Until when everything is known there; the longest wait there that is remembered, and that since the beginning; when
     * it was looked at. */
    double clock;
    double longest;
    double ever;
    double looked;
    /* Jobs that started there within the memory, from first_wait on. A start that a later one with as long a wait followed
     * is left out, so that the waits fall: the first one is the longest. */
    int64_t first_wait;
    int64_t last_wait;
    int64_t *wait_job;
    /* [resource of the whole machine]: what is free there, and what the first of the queue leaves spare. [job, resource]:
     * what jobs take of it. Without nodes, hosts are all there is. */
    int64_t resources;
    int64_t *free;
    int64_t *spare;
    const int64_t *needs;
    /* Jobs that came there; lines of the real log that were read. */
    int64_t came;
    int64_t lines;
    /* By rank, nan for not yet: when each job starts there; when it is known to have started, and for how long to have
     * run, in reality. */
    double *begun;
    double *real;
    double *runtime;
    /* Jobs that wait there, in order of arrival. */
    int64_t queued;
    int64_t *queue;
    /* Jobs that run there, by their expected ends. */
    int64_t running;
    double *expected;
    int64_t *expected_job;
    /* Those of them that have ended in reality: a heap by their ends there. */
    int64_t ending;
    double *end_at;
    int64_t *end_job;
    /* Those that still wait in reality: they stop the clock. */
    int64_t overdue;
    int64_t *overdue_job;
    /* Jobs that run here and there: a heap by how much earlier they started there. */
    int64_t delays;
    double *delay;
    int64_t *delay_job;
} Beside;

/* Let EASY beside go on as far as is certain now. */
void look_beside(Beside *beside, const State *state);
/* Return whether a waiting job is late, and whether room may be reserved for it. */
bool is_late(const Beside *beside, const State *state, int64_t job);
bool may_reserve(const Beside *beside, const State *state, int64_t job);

#endif
