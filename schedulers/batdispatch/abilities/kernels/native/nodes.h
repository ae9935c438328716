/* Nodes that several jobs share: what is free on each of them, what jobs need of them, and where a job's units go. See
 * batdispatch.core.capacity and the placements first-fit and consecutive; whole hosts of partitions are nodes as well, of
 * one unit each. batdispatch.abilities.kernels.nodes makes the structure.
 *
 * Jobs that ask alike are of one kind. Sets of hosts are as in host_sets.h. */
#ifndef BATDISPATCH_NODES_H
#define BATDISPATCH_NODES_H

#include "foresight.h"
#include "host_sets.h"
#include "queue_order.h"
#include "openings.h"

/* A host with room for a job, and where it stands in some order. */
typedef struct {
    int64_t room;
    int64_t at;
} Roomy;

/* Neighbouring hosts with room for a job and equal weights: from the `first`-th of those with room to the one before
 * `behind`. */
typedef struct {
    int64_t weight;
    int64_t units;
    int64_t first;
    int64_t behind;
} Neighbours;

typedef struct Nodes {
    int64_t hosts;
    int64_t resources;
    int64_t words;
    int64_t licences;
    /* [host, resource], and behind that [licence]: all there is, what is free, and what will be free at some time. */
    const int64_t *capacity;
    int64_t *free;
    int64_t *then;
    int64_t *both;
    const int64_t *weight;
    /* By rank: what each job asks for. */
    const int32_t *kind;
    /* Of each kind: units; least and most hosts; units on each host, or 0 for any number; most units of a host, apart
     * from what they take; whether its hosts are shared with nobody, and whether they must be idle for that; whether it
     * names its hosts, and licences. */
    const int64_t *units;
    const int64_t *least;
    const int64_t *most;
    const int64_t *each;
    const int64_t *bound;
    const int64_t *alone;
    const int64_t *idle;
    const int64_t *named;
    const int64_t *licensed;
    /* [kind, resource]: what each unit takes, and what each host used gives once. [kind, licence]: what the job takes of
     * each. [kind, word]: the hosts it may use. */
    const int64_t *amounts;
    const int64_t *once;
    const int64_t *held;
    const uint64_t *may;
    /* How often something was given back, and how often it had been when a kind last did not fit what was free. */
    int64_t returns;
    int64_t *unfit;
    /* Of a search: how many hosts have room, which, and how many units each; and where the job goes: its hosts, and how
     * many units are on each, by host. */
    int64_t able;
    int64_t *able_host;
    int64_t *room;
    int64_t *order;
    Roomy *roomy;
    Neighbours *sets;
    uint64_t *place;
    int64_t *on;
    /* Units on the hosts of each started job, in order of the hosts: where they begin, and how many there are in all. */
    int64_t *counts_at;
    int64_t *counts;
    int64_t counted;
    /* Jobs that may run ahead of the head of the queue. */
    Entry *ahead;
    /* Advance reservations; null: there are none. */
    Openings *openings;
} Nodes;

/* Sort hosts, those with the most room first, and the first ones in their order of equal ones. */
void sort_roomy(Roomy *roomy, int64_t count);
/* Return how many numbers say what is free. */
int64_t free_size(const Nodes *nodes);
/* Return whether fewer licences are free than a job takes. */
bool lacks_licence(const Nodes *nodes, int64_t job, const int64_t *free);
/* Return whether a job fits on the hosts of a set where so much is free. */
bool fits_on(Nodes *nodes, int64_t job, const int64_t *free, const uint64_t *set);
/* The same, wherever; and where so much is free as now. */
bool fits_anywhere(Nodes *nodes, int64_t job, const int64_t *free);
bool fits_now(Nodes *nodes, int64_t job);
/* Let `place` be where a job goes among the hosts of a set, the lowest ones or as consecutive has it; false: nowhere. And
 * the lowest ones, wherever. */
bool place_on(Nodes *nodes, int64_t job, const int64_t *free, const uint64_t *set, bool consecutive);
bool place_lowest(Nodes *nodes, int64_t job, const int64_t *free);
/* Start a job on `place`. */
void start_on_nodes(State *state, Nodes *nodes, int64_t job);
/* Take what a job needs on `place` (-1), or give it back (1); or give back what a job that was started has. */
void shift_place(const Nodes *nodes, int64_t job, int64_t *free, int64_t sign);
void give_back_nodes(const State *state, const Nodes *nodes, int64_t job, int64_t *free);
/* Return how much of a resource a job has that was started. */
int64_t amount_of(const State *state, const Nodes *nodes, int64_t job, int64_t axis);
/* Let everything happen that happens next, as the engine tells it in one message; false: all is over. */
bool advance_nodes(State *state, Nodes *nodes);
/* Return whether there is room for the hosts of all jobs that may start now, and for calls. */
bool has_room_on_nodes(const State *state, const Nodes *nodes, const Order *order);
/* Decide as fcfs, filler or easy do: see decisions.h. */
void decide_on_nodes(State *state, Nodes *nodes, Order *order, Beside *beside, Foresight *foresight, int64_t rule);

/* Return the hosts that a job may use now, and where it is noted that it does not fit what is free. */
const uint64_t *hosts_of(const Nodes *nodes, int64_t job);
int64_t *unfit_of(const Nodes *nodes, int64_t job);
/* Return the hosts that a job may use if it starts at a time; and when that changes next, 0 if no reservation is in the
 * way. */
const uint64_t *hosts_at(const Nodes *nodes, int64_t job, double time, double *change);
/* Look at what reservations leave to the waiting jobs: to those that came as the `first`-th or later, and to those for
 * which that changes. Those that get other hosts count as freed. */
void turn_jobs(State *state, Nodes *nodes, Order *order, int64_t first);
/* Ask for a call when a reservation starts or ends for which a job may wait. */
void call_for_openings(State *state, const Nodes *nodes);

#endif
