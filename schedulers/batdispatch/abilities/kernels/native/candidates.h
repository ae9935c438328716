/* The jobs that a plan looks at in a decision: those that have no place, are new or due, or may gain a better place. */
#ifndef BATDISPATCH_CANDIDATES_H
#define BATDISPATCH_CANDIDATES_H

#include "plan.h"
#include "state.h"

/* Let a job be a candidate, and let it be one because of a span of time in which it may start now. */
void enter_candidate(const State *state, Plan *plan, int64_t job);
void enter_hope(const State *state, Plan *plan, int64_t job, Hope hope);
/* Let a job be no candidate any more. */
void drop_candidate(const State *state, Plan *plan, int64_t job);
/* Return the first candidate at or behind a place in the queue, or UNKNOWN. */
int64_t next_candidate(const State *state, const Plan *plan, int64_t place);

#endif
