/* What jobs take of nodes and give back. */
#ifndef BATDISPATCH_NODE_USE_H
#define BATDISPATCH_NODE_USE_H

#include "nodes.h"
#include "state.h"

/* Return how many numbers say what is free. */
int64_t free_size(const Nodes *nodes);
/* Take what a job needs on `place` (-1), or give it back (1); or give back what a job that was started has. */
void shift_place(const Nodes *nodes, int64_t job, int64_t *free, int64_t sign);
void give_back_nodes(const State *state, const Nodes *nodes, int64_t job, int64_t *free);
/* Return how much of a resource a job has that was started. */
int64_t amount_of(const State *state, const Nodes *nodes, int64_t job, int64_t axis);

#endif
