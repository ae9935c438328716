/* See batdispatch.abilities.sites.slurm.will_run. */
#include <math.h>
#include <string.h>

#include "hosts.h"
#include "node_fits.h"
#include "node_places.h"
#include "node_use.h"
#include "rounding.h"
#include "slurm.h"

/* Seconds after which a job that has outlived its walltime is taken for ended. */
#define KILL_WAIT 30.0

/* Of the windows in which running jobs end: how wide the next one is, where the first one ends, how many jobs were given
 * back by now, and how many end by the window's end, the last of them at `last`. */
typedef struct {
    double width;
    double edge;
    int64_t given;
    int64_t ended;
    double last;
} Windows;

bool may_fit_now(const State *state, const Slurm *slurm, int64_t job)
{
    return slurm->nodes ? fits_now(slurm->nodes, job) : state->units[job] <= state->free;
}

bool choose_hosts(const State *state, Slurm *slurm, int64_t job, int64_t when)
{
    int64_t words = slurm->words;
    Nodes *nodes = slurm->nodes;
    if (nodes)
        return place_on(nodes, job, when == NOW ? nodes->free : nodes->then, slurm->allowed, slurm->consecutive);
    const uint64_t *set = when == NOW ? slurm->idle : slurm->given;
    for (int64_t index = 0; index < words; index++)
        slurm->place[index] = set[index] & slurm->allowed[index];
    if (count_hosts(slurm->place, words) < state->units[job])
        return false;
    if (slurm->consecutive)
        keep_tightest(slurm->place, words, state->units[job], slurm->runs);
    else
        leave_lowest_bits(slurm->place, words, state->units[job]);
    return true;
}

bool shares_hosts(const State *state, int64_t job, const uint64_t *set)
{
    int64_t at = state->hosts_at[job], behind = at + state->hosts_runs[job];
    for (; at < behind; at++)
        if (has_any(set, state->first[at], state->last[at]))
            return true;
    return false;
}

/* Give back what a running job has. */
static void give_back(const State *state, Slurm *slurm, int64_t job)
{
    if (slurm->nodes)
        give_back_nodes(state, slurm->nodes, job, slurm->nodes->then);
    else
        enter_job(state, job, slurm->given);
}

/* Begin with what is free now. */
static void begin_search(Slurm *slurm)
{
    Nodes *nodes = slurm->nodes;
    if (nodes)
        memcpy(nodes->then, nodes->free, (size_t)free_size(nodes) * sizeof *nodes->free);
    else
        copy(slurm->idle, slurm->given, slurm->words);
}

/* Give back what the running jobs have that end by the window's end, and return whether the job fits then. */
static bool fits_then(const State *state, Slurm *slurm, int64_t job, Windows *windows)
{
    for (; windows->given < windows->ended; windows->given++)
        give_back(state, slurm, state->expected_job[windows->given]);
    windows->ended = 0;
    return choose_hosts(state, slurm, job, THEN);
}

/* Let the next window reach so far; at once if nothing comes then. */
static void widen(const Slurm *slurm, Windows *windows, double reach)
{
    double linear = slurm->window_linear;
    do
        windows->width += linear > 0 ? linear : windows->width;
    while (windows->width > 0 && windows->width < reach && reach < INFINITY);
}

/* Return whether a window ends with a running job, by when the next one ends. */
static bool closes(const Slurm *slurm, Windows *windows, double following)
{
    if (windows->edge == 0.0)
        windows->edge = windows->width > 0 ? (whole_part(windows->last + slurm->clock, windows->width) + 1.0) *
                                                     windows->width - slurm->clock
                                           : windows->last;
    if (following <= (windows->width > 0 ? windows->edge + windows->width : windows->last))
        return false;
    widen(slurm, windows, following - windows->edge);
    return true;
}

/* Find the window with which a job fits; false: there is none. */
static bool find_window(const State *state, Slurm *slurm, int64_t job, Windows *windows)
{
    for (int64_t index = 0; index < state->running && state->expected[index] < INFINITY; index++) {
        if (!shares_hosts(state, state->expected_job[index], slurm->allowed))
            continue;
        windows->last = state->expected[index];
        windows->ended = index + 1;
        double following = index + 1 < state->running ? state->expected[index + 1] : INFINITY;
        if (closes(slurm, windows, following) && fits_then(state, slurm, job, windows))
            return true;
    }
    return windows->ended && fits_then(state, slurm, job, windows);
}

bool will_run(State *state, Slurm *slurm, int64_t job, bool now_only, double *begin)
{
    *begin = state->now;
    if (choose_hosts(state, slurm, job, NOW))
        return true;
    if (now_only)
        return false;
    Windows windows = {.width = slurm->end_window};
    begin_search(slurm);
    if (!find_window(state, slurm, job, &windows))
        return false;
    double end = windows.last, soon = state->now + 1.0;
    if (end > state->now)
        *begin = end;
    else
        *begin = end + KILL_WAIT > soon ? end + KILL_WAIT : soon;
    return true;
}
