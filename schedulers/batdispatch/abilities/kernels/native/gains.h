/* Who may gain by what a plan gets back: so a decision looks at those alone, and only where they may gain. */
#ifndef BATDISPATCH_GAINS_H
#define BATDISPATCH_GAINS_H

#include "plan.h"
#include "state.h"

/* Enter a waiting job that has a reservation, and take it out again. */
void enter_planned(const State *state, Plan *plan, int64_t job);
void drop_planned(Plan *plan, int64_t job);
/* Let those be candidates who may gain by a set of hosts that is free from `start` to `end` and was not. Places may be too
 * short for their jobs by `slack` seconds. */
void offer(const State *state, Plan *plan, const uint64_t *hosts, double start, double end, double slack);

#endif
