/* The queue as a binary tree over its places: the first job that may start is found without a look at the others.
 *
 * Each node knows the least units and the shortest booked time of the jobs that wait below it, so that a search passes by
 * what has nobody small or short enough. To add or to remove a job takes O(log n), as does a search for a job that is
 * small enough; a search for one that must be short as well comes by nodes where one is small and another one short. */
#ifndef BATDISPATCH_QUEUE_TREE_H
#define BATDISPATCH_QUEUE_TREE_H

#include "state.h"

/* Let a job wait, and take out one that starts. */
void enter_queue(State *state, int64_t job);
void leave_queue(State *state, int64_t job);
/* Return the first job of the queue, or UNKNOWN. */
int64_t first_waiting(const State *state);
/* Return the first job at or behind a place that may start, or UNKNOWN: one of at most `small` units may start however
 * long it takes, one of at most `units` if it is booked for at most so many seconds. */
int64_t first_from(const State *state, int64_t place, int64_t small, int64_t units, double seconds);

#endif
