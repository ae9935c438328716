/* Free hosts as runs of consecutive ids: what a start takes and an end gives back costs as much as there are runs.
 *
 * Runs are kept in descending order, so that first-fit takes from the end of the arrays. */
#ifndef BATDISPATCH_HOSTS_H
#define BATDISPATCH_HOSTS_H

#include "state.h"

/* Give a job the lowest free hosts above the host `above`; there must be enough. */
void take_hosts(State *state, int64_t job, int64_t above);
/* Let the hosts of a job be free again. */
void give_back_hosts(State *state, int64_t job);
/* Add the hosts of a job to a set. */
void enter_job(const State *state, int64_t job, uint64_t *set);
/* Give a job the hosts of a set, whether they are free or not. */
void give_set(State *state, int64_t job, const uint64_t *set, int64_t words);
/* Return how many free hosts have an id above a host's. */
int64_t free_above(const State *state, int64_t host);

#endif
