/* Sets of hosts as bits, by host id, and which hosts of a set a job takes. Hosts that run no jobs are in no set. */
#ifndef BATDISPATCH_HOST_SETS_H
#define BATDISPATCH_HOST_SETS_H

#include "masks.h"

/* A run of hosts with consecutive ids. */
typedef struct {
    int64_t first;
    int64_t hosts;
} Run;

/* Return how many hosts a set has. */
int64_t count_hosts(const uint64_t *set, int64_t words);
/* Return whether a set has any host. */
bool has_some(const uint64_t *set, int64_t words);
/* Add the hosts from `first` to `last`, or take them out. */
void enter_run(uint64_t *set, int64_t first, int64_t last);
void clear_run(uint64_t *set, int64_t first, int64_t last);
/* Return whether a set has any of the hosts from `first` to `last`. */
bool has_any(const uint64_t *set, int64_t first, int64_t last);
/* Write the longest runs of consecutive hosts of a set, ascending, and return how many there are. */
int64_t runs_of_set(const uint64_t *set, int64_t words, Run *runs);
/* Leave in a set only so many hosts, as batdispatch.parts.placement.consecutive chooses them on hosts that are alike; it
 * has as many. There is room for all of its runs in `runs`. */
void keep_tightest(uint64_t *set, int64_t words, int64_t units, Run *runs);

#endif
