/* Nodes that several jobs share: what is free on each of them, what jobs need of them, and where a job's units go. See
 * batdispatch.core.capacity and the placements first-fit and consecutive; whole hosts of partitions are nodes as well, of
 * one unit each. batdispatch.abilities.kernels.nodes makes the structure.
 *
 * Jobs that ask alike are of one kind. Sets of hosts are as in host_sets.h. */
#ifndef BATDISPATCH_NODES_H
#define BATDISPATCH_NODES_H

#include "entries.h"
#include "host_sets.h"
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

#endif
