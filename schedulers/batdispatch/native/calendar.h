/* The ends of the running jobs that are to come: a heap by (time, order of start), as the engine's calendar. */
#ifndef BATDISPATCH_CALENDAR_H
#define BATDISPATCH_CALENDAR_H

#include "state.h"

/* Enter that a job which starts now ends at `at`. */
void enter_end(State *state, int64_t job, double at);
/* Take out and return the job that ends first. */
int64_t take_end(State *state);

#endif
