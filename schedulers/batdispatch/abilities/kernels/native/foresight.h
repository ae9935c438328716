/* What is expected of jobs that may outlive it: predictions, and jobs without a walltime. Python predicts; see
 * batdispatch.abilities.kernels.foresight, which makes the structure. */
#ifndef BATDISPATCH_FORESIGHT_H
#define BATDISPATCH_FORESIGHT_H

#include "state.h"

/* What is expected of a job that has outlived what was expected of it, see batdispatch.core.plans.correction. */
enum { WALLTIME, STEPS, DOUBLING };

typedef struct {
    int64_t rule;
    /* Seconds that plans add to what is expected. */
    double delay;
    /* By rank: how long each job is expected to run, as predicted; and for how long its hosts are kept. */
    const double *predicted;
    double *booked;
    /* Jobs of which Python has predicted that, or that were rejected. */
    int64_t told;
} Foresight;

/* Let running jobs that have outlived their expected ends have later ones, and return whether any has. */
bool correct_ends(State *state, Foresight *foresight);
/* Ask for a call as soon as an end that was expected at `time` is overdue; there must be room for one. */
void call_if_missed(State *state, double time);

#endif
