/* Advance reservations: which hosts they leave to each job that waits, as time goes by. See
 * batdispatch.core.machine.openings. batdispatch.abilities.kernels.openings makes the structure.
 *
 * A closure says that a job must not run on some hosts after one time, nor start there before another one. */
#ifndef BATDISPATCH_OPENINGS_H
#define BATDISPATCH_OPENINGS_H

#include <stdint.h>

/* How far a job may reach into a reservation, s. */
#define TICK 1e-6

typedef struct {
    /* Of each closure: the two times, and its hosts, [closure, word]. */
    const double *before;
    const double *end;
    const uint64_t *closed;
    /* By rank: the first closure of each job, and the one behind its last; and the place of its id among all ids. */
    const int64_t *first;
    const int64_t *behind;
    const double *walltime;
    const int64_t *by_id;
    /* [kind, word]: the hosts to which queues admit the jobs of a kind, whatever else these ask for. */
    const uint64_t *reach;
    /* When reservations start and end, ascending, and for which of these moments a call was asked last. */
    int64_t moments;
    const double *moment;
    double called;
    /* Whether the dispatcher also sees jobs to which nothing is open now. */
    int64_t plans;
    /* Whether a start later than now is looked at, and the sets that are asked about say what is open then. */
    int64_t looks_later;
    /* By rank: when it was looked at last what is open to a job, when that changes next, whether anything is closed to it,
     * how often something had been given back when it did not fit, and whether the dispatcher sees it. */
    double *looked;
    double *change;
    int32_t *shut;
    int64_t *unfit;
    int32_t *shown;
    /* Jobs that may wait, and a time by which nothing changes for them. */
    int64_t waiting;
    int64_t *waiting_job;
    double quiet;
    /* Hosts that are open to a job, that were, and that will be. */
    uint64_t *open;
    uint64_t *past;
    uint64_t *later;
} Openings;

#endif
