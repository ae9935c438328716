/* The layer that lets hosts sleep, as batdispatch.abilities.power.power_saving decides. */
#ifndef BATDISPATCH_POWER_SAVING_H
#define BATDISPATCH_POWER_SAVING_H

#include "sleepers.h"

/* Hear of the hosts that have switched, and let the jobs run whose hosts are awake; return whether the dispatcher inside
 * is to decide. */
bool hear_of_switches(State *state);
/* Make `free` the set of free hosts. */
void find_free(const State *state);
/* Return whether to look at what is planned, and forget what was wanted; `free` has been found. */
bool looks_ahead(State *state);
/* Want hosts for a start that is planned. */
void want(State *state, double start, const uint64_t *hosts);
/* Wake hosts that are wanted, and let others sleep that are free; the end of a decision in which the layer `acts`. */
void let_sleep(State *state);

#endif
