/* Jobs that start and end, and when those that run are expected to end. */
#ifndef BATDISPATCH_RUNNING_JOBS_H
#define BATDISPATCH_RUNNING_JOBS_H

#include "state.h"

/* Start a waiting job on the lowest free hosts above the host `above`; there must be enough. */
void start_job(State *state, int64_t job, int64_t above);
/* Let a job run from now on, and enter when it ends: by itself, or at its walltime. */
void enter_running(State *state, int64_t job);
/* Return whether a job that has not started is rejected now: it is larger than the machine, or too late. */
bool is_refused(const State *state, int64_t job);
/* Reject a job that waits. */
void reject(State *state, int64_t job);
/* Enter when a job that runs is expected to end, and take that out when it has ended. */
void expect_end(State *state, int64_t job);
void expect_no_longer(State *state, int64_t job);
/* Let the time come at which something happens next; false: all is over. */
bool begin_moment(State *state);
/* Let a job end that is due now, and return it, or UNKNOWN. */
int64_t end_next(State *state);
/* Let the jobs come that come at this time: the engine tells the dispatcher of all that has happened. */
void end_moment(State *state);
/* Return whether there is room for the runs of all jobs that may start now, and for calls. */
bool has_room(const State *state);
/* Let everything happen that happens next, as the engine tells it in one message; false: all is over. */
bool advance(State *state);

#endif
