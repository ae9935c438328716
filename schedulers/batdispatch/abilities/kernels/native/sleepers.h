/* Hosts that sleep under the layer `powered`, as batdispatch.abilities.power has it (power_saving, concerns.boots,
 * machine.host_states, engine.flops_timer), where hosts are taken whole, jobs only wait, and all hosts are awake at
 * first. batdispatch.abilities.kernels.sleepers makes the structure.
 *
 * A switch is a number: hosts of one kind that fall asleep or wake up together. Sets of hosts are words of bits, by id. */
#ifndef BATDISPATCH_SLEEPERS_H
#define BATDISPATCH_SLEEPERS_H

#include "entries.h"
#include "state.h"

/* What is noted of a switch: switch * PHASES + phase. It is decided; its hosts begin and end to compute; they are in their
 * new power state; nothing is left of what they computed. */
enum { DECISION, LOADING, LOOK, ARRIVAL, UNLOADING, PHASES };
/* Ways of a switch, whose turn is kind * WAYS + way. */
enum { DOWN, UP, WAYS };

typedef struct Sleepers {
    /* Words of a set. By kind of hosts that can sleep: which these are, and seconds to fall asleep and to wake up. */
    int64_t words;
    int64_t sorts;
    const uint64_t *members;
    const double *seconds;
    /* The most seconds to fall asleep and to wake up again. */
    double longest;
    /* Options of the layer: seconds; hosts; whether hosts sleep only while nobody waits; whether they are woken for what is
     * planned. */
    double after;
    int64_t keep;
    int64_t if_nobody_waits;
    int64_t ahead;
    /* When simulated time ends, s: MAX_MOMENT of batdispatch.core.jobs.fields. */
    double last_moment;
    /* As the ledger and the layer have them; some room for sets. */
    uint64_t *free;
    uint64_t *falling;
    uint64_t *asleep;
    uint64_t *rising;
    uint64_t *wanted;
    uint64_t *idle;
    uint64_t *planned_hosts;
    uint64_t *some;
    uint64_t *others;
    /* Groups of hosts that became idle together, since when, and room for them. */
    int64_t groups;
    int64_t most_groups;
    double *since;
    uint64_t *group;
    /* The layer's memory, see there; whether it looks at the hosts in this decision. */
    int64_t acts;
    int64_t news;
    int64_t woken;
    int64_t slept;
    double due;
    double next;
    double called;
    int64_t put_to_sleep;
    int64_t booted;
    /* Jobs that wait for their hosts; when each job is expected to begin that does or did, else nan. */
    int64_t booting;
    int64_t *booting_job;
    double *foreseen;
    /* Under conservative: room to sort the jobs that wait. */
    Entry *planned;
    /* Switches: the turn, first run of hosts and number of runs, when the ledger expects the end and when it comes (nan:
     * not known yet). */
    int64_t switches;
    int64_t most_switches;
    int64_t *turn;
    int64_t *at;
    int64_t *pieces;
    double *expected;
    double *end;
    int64_t runs;
    int64_t room;
    int32_t *first;
    int32_t *last;
    /* Time of what computes; switches that go on, whose end no load follows yet, and of which the layer has yet to hear. */
    double clock;
    int64_t active;
    int64_t *active_switch;
    int64_t leaving;
    int64_t *leaving_switch;
    int64_t told;
    int64_t *told_switch;
    /* What was noted: phases of switches, when, and behind how many lines of the log. */
    int64_t events;
    int64_t most_events;
    int64_t *event;
    double *event_at;
    int64_t *event_line;
} Sleepers;

/* Return how many jobs hold hosts: those that run, and those whose hosts wake up. */
static inline int64_t holding(const State *state)
{
    return state->running + (state->sleepers ? state->sleepers->booting : 0);
}

#endif
