/* The kernel of the dispatchers that make no plan beyond the first of the queue. */
#include "decisions.h"
#include "export.h"
#include "node_jobs.h"
#include "nodes.h"
#include "power_saving.h"
#include "running_jobs.h"
#include "shown_jobs.h"

static void decide(State *state, Nodes *nodes, Order *order, Beside *beside, Foresight *foresight, int64_t rule)
{
    if (nodes)
        decide_on_nodes(state, nodes, order, beside, foresight, rule);
    else if (order)
        decide_by_key(state, order, beside, foresight, rule);
    else if (rule == FCFS)
        decide_fcfs(state);
    else if (rule == FILLER)
        decide_filler(state);
    else
        decide_easy(state, rule == EASY_HOSTS);
}

static void switch_hosts(State *state, int64_t rule)
{
    find_free(state);
    if (looks_ahead(state) && (rule == EASY_COUNT || rule == EASY_HOSTS))
        want_head(state);
    if (state->sleepers->acts)
        let_sleep(state);
}

/* Simulate so many moments more, and return ALL_OVER, AT_PAUSE, FULL or ASKS; `nodes`: that jobs share, or null; `order`:
 * of the queue, or null if it does not change over time and there are no nodes; `beside`: of guarded, or null;
 * `foresight`: where jobs may outlive what is expected, or null. */
EXPORT int64_t run_queue(State *state, Nodes *nodes, Order *order, Beside *beside, int64_t rule, Foresight *foresight,
                         int64_t moments)
{
    for (; moments > 0; moments--) {
        if (!state->decides && !(nodes ? advance_nodes(state, nodes) : advance(state)))
            return ALL_OVER;
        if (foresight && foresight->told < state->submissions)
            return ASKS;
        if (!(nodes ? has_room_on_nodes(state, nodes, order) : has_room(state)))
            return FULL;
        state->decides = 0;
        if (!state->sleepers || hear_of_switches(state))
            decide(state, nodes, order, beside, foresight, rule);
        if (state->sleepers)
            switch_hosts(state, rule);
        call_for_openings(state, nodes);
    }
    return AT_PAUSE;
}
