/* How the dispatchers that make no plan beyond the first of the queue decide: fcfs, filler and easy, see
 * batdispatch.dispatchers.backfilling. In an order that does not change over time, the tree of the queue finds who may
 * start; in any other one, jobs are sorted by key at each decision. */
#ifndef BATDISPATCH_DECISIONS_H
#define BATDISPATCH_DECISIONS_H

#include "foresight.h"
#include "nodes.h"
#include "queue_order.h"

/* Which dispatcher decides; EASY reserves a number of hosts, or particular ones. */
enum { FCFS, FILLER, EASY_COUNT, EASY_HOSTS };

/* Start jobs in order until one does not fit. */
void decide_fcfs(State *state);
/* Go through the queue in order and start every job that fits. */
void decide_filler(State *state);
/* Start jobs in order, and then those that do not delay the first one that is left. */
void decide_easy(State *state, bool by_hosts);
/* Decide as one of these does, in an order by key; `beside`: of guarded, or null; `foresight`: where jobs may outlive what
 * is expected of them, else null. */
void decide_by_key(State *state, Order *order, Beside *beside, Foresight *foresight, int64_t rule);

/* Decide as one of these does, on nodes. */
void decide_on_nodes(State *state, Nodes *nodes, Order *order, Beside *beside, Foresight *foresight, int64_t rule);

/* EASY: find the shadow time of a job, and how many hosts it leaves spare then. */
void reserve(State *state, int64_t head);
/* EASY: want the hosts on which the first of the queue is to start, under a layer that lets hosts sleep. */
void want_head(State *state);
/* EASY: start a job that fits if it ends by the shadow time of the head, or uses what the head leaves spare then. */
void start_ahead(State *state, int64_t job, int64_t head, bool by_hosts);

#endif
