/* Where the units of a job go on nodes: see batdispatch.core.capacity.filling, and the placement consecutive. */
#ifndef BATDISPATCH_NODE_PLACES_H
#define BATDISPATCH_NODE_PLACES_H

#include "nodes.h"

/* Let `place` be where a job goes among the hosts of a set, the lowest ones or as consecutive has it; false: nowhere. And
 * the lowest ones, wherever. */
bool place_on(Nodes *nodes, int64_t job, const int64_t *free, const uint64_t *set, bool consecutive);
bool place_lowest(Nodes *nodes, int64_t job, const int64_t *free);

#endif
