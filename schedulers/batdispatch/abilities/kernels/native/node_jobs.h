/* Jobs that start and end on nodes. */
#ifndef BATDISPATCH_NODE_JOBS_H
#define BATDISPATCH_NODE_JOBS_H

#include "nodes.h"
#include "queue_order.h"
#include "state.h"

/* Start a job on `place`. */
void start_on_nodes(State *state, Nodes *nodes, int64_t job);
/* Let everything happen that happens next, as the engine tells it in one message; false: all is over. */
bool advance_nodes(State *state, Nodes *nodes);
/* Return whether there is room for the hosts of all jobs that may start now, and for calls. */
bool has_room_on_nodes(const State *state, const Nodes *nodes, const Order *order);

#endif
