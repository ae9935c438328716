/* How the dispatchers that make no plan beyond the first of the queue decide: fcfs, filler and easy, see
 * batdispatch.dispatchers.backfilling. */
#ifndef BATDISPATCH_DECISIONS_H
#define BATDISPATCH_DECISIONS_H

#include "state.h"

/* Start jobs in order until one does not fit. */
void decide_fcfs(State *state);
/* Go through the queue in order and start every job that fits. */
void decide_filler(State *state);
/* Start jobs in order, and then those that do not delay the first one that is left; `by_hosts`: particular hosts are
 * reserved for it, and not a number of them. */
void decide_easy(State *state, bool by_hosts);

#endif
