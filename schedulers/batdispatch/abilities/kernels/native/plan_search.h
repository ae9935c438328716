/* Searches of a plan for the earliest start of a job. */
#ifndef BATDISPATCH_PLAN_SEARCH_H
#define BATDISPATCH_PLAN_SEARCH_H

#include "plan.h"

typedef struct {
    /* What the job needs, for how long, and the time before which it cannot start. */
    int64_t units;
    double seconds;
    double now;
    /* It is to start in a step from `from` on and before `until`. Steps from `counted` on need not be counted: no start
     * that is looked for lasts so long, or the job has its own hosts there. */
    int64_t from;
    int64_t until;
    int64_t counted;
    /* From step `own` on, the hosts of its reservation are free to it. */
    int64_t own;
    const uint64_t *hosts;
} Search;

/* Return the search of a job that has no reservation, in the whole plan. */
Search search_all(const Plan *plan, int64_t units, double seconds, double now);
/* Return the search of a job for a start that it hopes for, before that of its reservation. */
Search search_before(const Plan *plan, int64_t job, int64_t units, double seconds, double now, Hope hope);
/* Return the earliest start, nan for none; `common`: what is free. */
double earliest(Plan *plan, const Search *search);
/* Return whether other hosts than those of a job are free for so many seconds from its start on; `common`: which. */
bool has_others(Plan *plan, int64_t job, double seconds);

#endif
