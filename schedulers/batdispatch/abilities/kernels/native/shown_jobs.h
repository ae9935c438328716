/* Waiting jobs as reservations start and end: which of them the dispatcher sees. See batdispatch.core.machine.openings. */
#ifndef BATDISPATCH_SHOWN_JOBS_H
#define BATDISPATCH_SHOWN_JOBS_H

#include "nodes.h"
#include "queue_order.h"
#include "state.h"

/* Look at what reservations leave to the waiting jobs: to those that came as the `first`-th or later, and to those for
 * which that changes. Those that get other hosts count as freed. */
void turn_jobs(State *state, Nodes *nodes, Order *order, int64_t first);
/* Ask for a call when a reservation starts or ends for which a job may wait. */
void call_for_openings(State *state, const Nodes *nodes);

#endif
