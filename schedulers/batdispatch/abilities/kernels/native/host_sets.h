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
/* Add the hosts from `first` to `last`. */
void enter_run(uint64_t *set, int64_t first, int64_t last);
/* Add the hosts of so many runs. */
void enter_runs(uint64_t *set, const int32_t *first, const int32_t *last, int64_t runs);
/* Return whether a set has any of the hosts from `first` to `last`. */
bool has_any(const uint64_t *set, int64_t first, int64_t last);
/* Write the longest runs of consecutive hosts of a set from `at` on, ascending, and return where they end. */
int64_t write_set(const uint64_t *set, int64_t words, int32_t *first, int32_t *last, int64_t at);
/* Leave in a set only so many hosts, as batdispatch.parts.placement.consecutive chooses them on hosts that are alike; it
 * has as many. There is room for all of its runs in `runs`. */
void keep_tightest(uint64_t *set, int64_t words, int64_t units, Run *runs);

#endif
