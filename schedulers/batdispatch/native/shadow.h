/* When the head of a queue may start under EASY. */
#ifndef BATDISPATCH_SHADOW_H
#define BATDISPATCH_SHADOW_H

#include <math.h>
#include <stdint.h>

/* Return the shadow time of a job, by the running jobs in order of their expected ends. `spare` is how many hosts more
 * than it needs are free, below 0 before, and becomes how many it leaves spare then. */
static inline double shadow_time(const double *expected, const int64_t *job, int64_t running, const int64_t *units,
                                 int64_t *spare)
{
    double shadow = INFINITY;
    /* The loop goes on through the jobs that end at the very same time. */
    for (int64_t index = 0; index < running && expected[index] <= shadow; index++) {
        *spare += units[job[index]];
        if (shadow == INFINITY && *spare >= 0)
            shadow = expected[index];
    }
    return shadow;
}

#endif
