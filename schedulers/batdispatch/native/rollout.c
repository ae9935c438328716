/* Rollouts: see batdispatch.parts.rollouts.kernel, which says what each function means, and does the same. */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "export.h"

/* A job that has outlived its expected end is expected to end in so many seconds. */
#define LATE 1.0
/* Bounded slowdown: shorter jobs count as this long, s. */
#define THRESHOLD 10.0

typedef struct {
    double end;
    int64_t runner;
} Expectation;

typedef struct {
    int64_t resources;
    int64_t jobs;
    int64_t waiting;
    double now;
    /* By resource: capacity; what is free; what the head leaves spare. */
    const int64_t *total;
    int64_t *free;
    int64_t *spare;
    /* Of the running jobs: how many; what each uses, when it ends and when it is expected to end; room to sort them. */
    int64_t running;
    int64_t *used;
    double *ends;
    double *hoped;
    Expectation *order;
    /* By job: what the Python function is given. */
    const int64_t *needs;
    const double *expected;
    const double *lasts;
    const double *comes;
    const double *limits;
    const int64_t *places;
    /* Jobs that wait, in order. */
    int64_t *queue;
    int64_t queued;
    double time;
    double cost;
    int64_t head;
    double shadow;
    /* Futures: policies x samples of them. What is free and who runs at their beginning, and what each of them costs.
       What is given by job is given for each sample, and the last two for each policy and sample. */
    int64_t policies;
    int64_t samples;
    const int64_t *first_free;
    const int64_t *run_needs;
    const double *run_ends;
    const double *run_expected;
    double *costs;
} Rollout;

static void enter(Rollout *r, int64_t job)
{
    int64_t at = r->queued++;
    for (; at > 0 && r->places[r->queue[at - 1]] > r->places[job]; at--)
        r->queue[at] = r->queue[at - 1];
    r->queue[at] = job;
}

/* Return whether a job needs no more of any resource than there is. */
static bool fits(const Rollout *r, int64_t job, const int64_t *amounts)
{
    for (int64_t resource = 0; resource < r->resources; resource++)
        if (r->needs[job * r->resources + resource] > amounts[resource])
            return false;
    return true;
}

static bool leaves_room(const Rollout *r, int64_t job)
{
    for (int64_t resource = 0; resource < r->resources && r->limits[job] < 1.0; resource++) {
        int64_t need = r->needs[job * r->resources + resource], total = r->total[resource];
        double limit = r->limits[job] * (double)total;
        if (need > 0 && (double)need <= limit && (double)(total - r->free[resource] + need) > limit)
            return false;
    }
    return true;
}

static void start(Rollout *r, int64_t job, bool spends)
{
    for (int64_t resource = 0; resource < r->resources; resource++) {
        int64_t need = r->needs[job * r->resources + resource];
        r->free[resource] -= need;
        r->spare[resource] -= spends ? need : 0;
        r->used[r->running * r->resources + resource] = need;
    }
    r->ends[r->running] = r->time + r->lasts[job];
    r->hoped[r->running++] = r->time + r->expected[job];
    double since = job < r->waiting ? r->now : r->comes[job];
    r->cost += (r->time - since) / (r->lasts[job] > THRESHOLD ? r->lasts[job] : THRESHOLD);
}

static int compare(const void *one, const void *other)
{
    double a = ((const Expectation *)one)->end, b = ((const Expectation *)other)->end;
    return (a > b) - (a < b);
}

/* Let a job be the head: find its shadow time, and what it leaves spare then. */
static void reserve(Rollout *r, int64_t job)
{
    r->head = job;
    for (int64_t resource = 0; resource < r->resources; resource++)
        r->spare[resource] = r->free[resource];
    for (int64_t runner = 0; runner < r->running; runner++)
        r->order[runner] = (Expectation){r->hoped[runner], runner};
    qsort(r->order, (size_t)r->running, sizeof *r->order, compare);
    for (int64_t place = 0; place < r->running && r->order[place].end <= r->shadow; place++) {
        for (int64_t resource = 0; resource < r->resources; resource++)
            r->spare[resource] += r->used[r->order[place].runner * r->resources + resource];
        if (r->shadow == INFINITY && fits(r, job, r->spare))
            r->shadow = r->order[place].end;
    }
    for (int64_t resource = 0; resource < r->resources; resource++)
        r->spare[resource] -= r->needs[job * r->resources + resource];
}

/* Start a job if it may start now, and return whether it did. */
static bool has_started(Rollout *r, int64_t job, bool roomy)
{
    bool outlives = r->head >= 0 && r->time + r->expected[job] > r->shadow;
    if (!roomy || !fits(r, job, r->free) || (outlives && !fits(r, job, r->spare)))
        return false;
    start(r, job, outlives);
    return true;
}

static void decide(Rollout *r)
{
    int64_t left = 0;
    r->head = -1, r->shadow = INFINITY;
    for (int64_t index = 0; index < r->queued; index++) {
        int64_t job = r->queue[index];
        bool roomy = leaves_room(r, job);
        if (has_started(r, job, roomy))
            continue;
        r->queue[left++] = job;
        if (roomy && r->head < 0)
            reserve(r, job);
    }
    r->queued = left;
}

/* Let a running job be gone; the last one takes its number. */
static void end(Rollout *r, int64_t runner)
{
    r->running--;
    for (int64_t resource = 0; resource < r->resources; resource++) {
        r->free[resource] += r->used[runner * r->resources + resource];
        r->used[runner * r->resources + resource] = r->used[r->running * r->resources + resource];
    }
    r->ends[runner] = r->ends[r->running];
    r->hoped[runner] = r->hoped[r->running];
}

static void end_until_now(Rollout *r)
{
    for (int64_t runner = 0; runner < r->running;) {
        if (r->ends[runner] <= r->time) {
            end(r, runner);
            continue;
        }
        if (r->hoped[runner] <= r->time)
            r->hoped[runner] = r->time + LATE;
        runner++;
    }
}

/* Return when something happens next; infinite for never. */
static double next_time(const Rollout *r, int64_t coming)
{
    double following = coming < r->jobs ? r->comes[coming] : INFINITY;
    for (int64_t runner = 0; runner < r->running; runner++)
        following = r->ends[runner] < following ? r->ends[runner] : following;
    return following;
}

static double rollout_cost(Rollout *r)
{
    int64_t coming = r->waiting;
    for (int64_t job = 0; job < r->waiting; job++)
        enter(r, job);
    r->time = r->now;
    for (;;) {
        decide(r);
        double following = next_time(r, coming);
        /* What is left fits nothing where hosts are away. */
        if ((coming == r->jobs && r->queued == 0) || following == INFINITY)
            return r->cost;
        r->time = following > r->time ? following : r->time;
        end_until_now(r);
        for (; coming < r->jobs && r->comes[coming] <= r->time; coming++)
            enter(r, coming);
    }
}

/* Return a future, before anything has happened in it. */
static Rollout future_of(const Rollout *all, int64_t policy, int64_t sample)
{
    Rollout one = *all;
    int64_t of_sample = sample * all->jobs, of_policy = (policy * all->samples + sample) * all->jobs;
    size_t running = (size_t)all->running, resources = (size_t)all->resources;
    one.needs += of_sample * all->resources;
    one.expected += of_sample, one.lasts += of_sample, one.comes += of_sample;
    one.limits += of_policy, one.places += of_policy;
    memcpy(one.free, all->first_free, resources * sizeof *one.free);
    memcpy(one.used, all->run_needs, running * resources * sizeof *one.used);
    memcpy(one.ends, all->run_ends + sample * all->running, running * sizeof *one.ends);
    memcpy(one.hoped, all->run_expected, running * sizeof *one.hoped);
    return one;
}

EXPORT void rollout_costs(const Rollout *all)
{
    for (int64_t policy = 0; policy < all->policies; policy++)
        for (int64_t sample = 0; sample < all->samples; sample++) {
            Rollout one = future_of(all, policy, sample);
            all->costs[policy * all->samples + sample] = rollout_cost(&one);
        }
}
