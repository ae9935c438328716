/* The best limits of a request sequence: see batdispatch.abilities.stochastic.requests.toptimal, whose `fill_best` does the same. */
#include <stdint.h>

#include "export.h"

EXPORT void best_limits(int64_t points, const double *left, const double *used, const double *reserved, double *rest,
                        int64_t *best)
{
    for (int64_t point = points - 1; point >= 0; point--) {
        best[point] = point;
        double least = left[point] * reserved[point] + rest[point];
        for (int64_t limit = point + 1; limit < points; limit++) {
            double cost = left[point] * reserved[limit] + rest[limit];
            if (cost < least)
                least = cost, best[point] = limit;
        }
        if (point)
            rest[point - 1] += least - used[point];
    }
}
