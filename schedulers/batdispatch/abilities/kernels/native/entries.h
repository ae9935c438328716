/* Jobs that are put in order. */
#ifndef BATDISPATCH_ENTRIES_H
#define BATDISPATCH_ENTRIES_H

#include <stdint.h>

/* A job in play: late jobs are of tier 0, and the smallest key goes first, ties by arrival. */
typedef struct {
    int64_t tier;
    double key;
    int64_t job;
} Entry;

/* Return less than 0 if an entry goes before another one, more than 0 if behind it; as qsort has it. */
int compare_entries(const void *one, const void *other);

#endif
