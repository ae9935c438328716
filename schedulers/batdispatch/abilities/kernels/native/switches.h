/* Hosts that fall asleep and wake up, as the engine has it, and jobs whose hosts are to wake up. */
#ifndef BATDISPATCH_SWITCHES_H
#define BATDISPATCH_SWITCHES_H

#include "masks.h"
#include "sleepers.h"

/* Return a word of the set of those that sleep or switch. */
static inline uint64_t away(const Sleepers *s, int64_t index)
{
    return s->falling[index] | s->asleep[index] | s->rising[index];
}

/* Make a set that of the hosts of a job, or of a switch. */
void read_job(const State *state, int64_t job, uint64_t *mask);
void read_switch(const Sleepers *s, int64_t number, uint64_t *mask);
/* Return whether any host of a set sleeps or switches. */
bool is_away(const Sleepers *s, const uint64_t *mask);
/* Return whether there is room for what may switch in a moment. */
bool has_room_for_switches(const State *state);
/* Let hosts switch, those of each kind together. */
void begin_switches(State *state, int64_t way, const uint64_t *hosts, uint64_t *part);
/* Let hosts switch, at most until a time; return the time that it is then. */
double go_on_switching(State *state, double until);
/* Note that the hosts are in their new states that have switched at this moment. */
void arrive(State *state);
/* Return how long the slowest of some hosts takes to wake up, s. */
double seconds_up(const Sleepers *s, const uint64_t *hosts);
/* Return when hosts can be awake, s. */
double awake_at(const State *state, const uint64_t *hosts, uint64_t *some);
/* Return false if the hosts of a job that is started are awake; else wake them, and let it begin when they are. */
bool boot(State *state, int64_t job);

#endif
