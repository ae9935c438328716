/* A heap of jobs by a number each, smallest first and the smaller job of equal ones, in arrays that the caller has. */
#ifndef BATDISPATCH_HEAP_H
#define BATDISPATCH_HEAP_H

#include <stdbool.h>
#include <stdint.h>

static inline bool is_before(const double *at, const int64_t *job, int64_t a, int64_t b)
{
    return at[a] < at[b] || (at[a] == at[b] && job[a] < job[b]);
}

static inline void swap_entries(double *at, int64_t *job, int64_t a, int64_t b)
{
    double time = at[a];
    int64_t other = job[a];
    at[a] = at[b], job[a] = job[b];
    at[b] = time, job[b] = other;
}

/* Enter a job into a heap of `index` jobs. */
static inline void push_entry(double *at, int64_t *job, int64_t index, double new_at, int64_t new_job)
{
    at[index] = new_at, job[index] = new_job;
    for (; index > 0 && is_before(at, job, index, (index - 1) / 2); index = (index - 1) / 2)
        swap_entries(at, job, index, (index - 1) / 2);
}

/* Take the first job out of a heap in which `count` jobs are left then, and return it. */
static inline int64_t pop_entry(double *at, int64_t *job, int64_t count)
{
    int64_t found = job[0], index = 0;
    at[0] = at[count], job[0] = job[count];
    for (int64_t child = 1; child < count; child = 2 * index + 1) {
        child += child + 1 < count && is_before(at, job, child + 1, child);
        if (!is_before(at, job, child, index))
            break;
        swap_entries(at, job, index, child);
        index = child;
    }
    return found;
}

#endif
