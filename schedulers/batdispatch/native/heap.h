/* A heap of jobs by a number each, smallest first and the smaller job of equal ones, in arrays that the caller has. */
#ifndef BATDISPATCH_HEAP_H
#define BATDISPATCH_HEAP_H

#include <stdbool.h>
#include <stdint.h>

static inline bool is_before(double one_at, int64_t one, double other_at, int64_t other)
{
    return one_at < other_at || (one_at == other_at && one < other);
}

/* Enter a job into a heap of `index` jobs. */
static inline void push_entry(double *at, int64_t *job, int64_t index, double new_at, int64_t new_job)
{
    for (int64_t above; index > 0; index = above) {
        above = (index - 1) / 2;
        if (!is_before(new_at, new_job, at[above], job[above]))
            break;
        at[index] = at[above], job[index] = job[above];
    }
    at[index] = new_at, job[index] = new_job;
}

/* Take the first job out of a heap in which `count` jobs are left then, and return it. */
static inline int64_t pop_entry(double *at, int64_t *job, int64_t count)
{
    double last_at = at[count];
    int64_t found = job[0], last = job[count], index = 0;
    for (int64_t child = 1; child < count; child = 2 * index + 1) {
        child += child + 1 < count && is_before(at[child + 1], job[child + 1], at[child], job[child]);
        if (!is_before(at[child], job[child], last_at, last))
            break;
        at[index] = at[child], job[index] = job[child];
        index = child;
    }
    at[index] = last_at, job[index] = last;
    return found;
}

#endif
