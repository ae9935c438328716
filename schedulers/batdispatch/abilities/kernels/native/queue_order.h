/* An order of the queue that is looked for at each decision. batdispatch.abilities.kernels.queue_order
 * makes the structure. */
#ifndef BATDISPATCH_QUEUE_ORDER_H
#define BATDISPATCH_QUEUE_ORDER_H

#include "easy_beside.h"
#include "entries.h"
#include "multifactor.h"

/* What a key is made of the seconds that a job has waited and the column of the ordering: the column; or as in
 * batdispatch.parts.ordering.aging, where the column is what Python divides by; or minus a priority. */
enum { NO_KEY, COLUMN, SLOWDOWN, WFP3, UNICEF, AGED_AREA, MULTIFACTOR };

typedef struct {
    int64_t formula;
    const double *column;
    /* Of AGED_AREA: seconds that are added to the wait of each job, and to which power it is taken then. */
    double head_start;
    double power;
    /* Of MULTIFACTOR. */
    Factors *factors;
} Key;

typedef struct {
    /* The key of the queue, and of the jobs that run ahead of its head, NO_KEY for the same. */
    Key key;
    Key ahead;
    /* Jobs that wait, by arrival; and how many jobs came until the last decision. */
    int64_t queued;
    int64_t *queue;
    int64_t came;
    /* The jobs in play, in order. */
    int64_t in_play;
    Entry *entries;
    /* By rank: jobs of a smaller tier go first; null: all are alike. Only for the functions below. */
    const int64_t *tier;
} Order;

/* Return the key of a waiting job. */
double key_of(const Key *key, const State *state, int64_t job);

/* Return the entry of a waiting job; `beside`: of guarded, or null. */
Entry waiting_entry(const State *state, const Order *order, const Beside *beside, int64_t job);

/* For kernels that keep all waiting jobs in `entries`, in order. Let the jobs wait that came since the last decision, and
 * return whether any did. */
bool let_wait(const State *state, Order *order);
/* Put the waiting jobs in order, if that changes over time; `beside`: of guarded, or null. */
void sort_waiting(const State *state, Order *order, const Beside *beside);
/* Drop the jobs that have started. */
void forget_started(const State *state, Order *order);

#endif
