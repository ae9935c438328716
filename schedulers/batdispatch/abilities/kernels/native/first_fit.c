#include "decisions.h"
#include "queue_tree.h"
#include "running_jobs.h"

void decide_fcfs(State *state)
{
    int64_t job = first_waiting(state);
    for (; job != UNKNOWN && state->units[job] <= state->free; job = first_waiting(state))
        start_job(state, job, UNKNOWN);
}

void decide_filler(State *state)
{
    int64_t job = first_from(state, 0, state->free, 0, 0.0);
    while (job != UNKNOWN) {
        start_job(state, job, UNKNOWN);
        job = first_from(state, state->place[job] + 1, state->free, 0, 0.0);
    }
}
