/* Calls of the dispatcher that are to come. */
#ifndef BATDISPATCH_CALLS_H
#define BATDISPATCH_CALLS_H

#include "state.h"

/* Shortest time to a call, s. */
#define SOONEST 1e-3

/* Ask for a call at a time, once for each; there must be room for it. */
double call_at(State *state, double time);
/* Forget the calls that come now. */
void take_calls(State *state);

#endif
