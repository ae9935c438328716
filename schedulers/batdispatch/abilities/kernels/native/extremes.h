#ifndef BATDISPATCH_EXTREMES_H
#define BATDISPATCH_EXTREMES_H

#include <stdint.h>

/* Without the care of fmax and fmin for what is no number. */
static inline double larger_of(double a, double b)
{
    return a > b ? a : b;
}

static inline double sooner_of(double a, double b)
{
    return a < b ? a : b;
}

static inline int64_t least_of(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

#endif
