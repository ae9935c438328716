#include "node_jobs.h"

#include "hosts.h"
#include "node_use.h"
#include "queue_tree.h"
#include "running_jobs.h"

void start_on_nodes(State *state, Nodes *nodes, int64_t job)
{
    give_set(state, job, nodes->place, nodes->words);
    nodes->counts_at[job] = nodes->counted;
    for (int64_t index = 0; index < nodes->words; index++)
        for (uint64_t word = nodes->place[index]; word; word &= word - 1)
            nodes->counts[nodes->counted++] = nodes->on[index * WORD + lowest_place(word)];
    shift_place(nodes, job, nodes->free, -1);
    leave_queue(state, job);
    enter_running(state, job);
    expect_end(state, job);
}

bool advance_nodes(State *state, Nodes *nodes)
{
    if (!begin_moment(state))
        return false;
    for (int64_t job = end_next(state); job != UNKNOWN; job = end_next(state)) {
        give_back_nodes(state, nodes, job, nodes->free);
        nodes->returns++;
        expect_no_longer(state, job);
    }
    end_moment(state);
    return true;
}

/* Return on how many hosts a job may be at most. */
static int64_t most_hosts(const Nodes *nodes, int64_t job)
{
    int64_t most = nodes->most[nodes->kind[job]];
    return most < nodes->hosts ? most : nodes->hosts;
}

bool has_room_on_nodes(const State *state, const Nodes *nodes, const Order *order)
{
    const Openings *openings = nodes->openings;
    int64_t most = 0;
    for (int64_t at = 0; at < order->in_play; at++)
        most += most_hosts(nodes, order->entries[at].job);
    for (int64_t at = 0; openings && openings->quiet <= state->now && at < openings->waiting; at++)
        most += most_hosts(nodes, openings->waiting_job[at]);
    for (int64_t job = order->came; job < state->submissions; job++)
        if (!is_refused(state, job))
            most += most_hosts(nodes, job);
    /* A job has as many runs as hosts at most. */
    return nodes->counted + most <= state->room && state->calls + MOST_ASKED <= state->most_calls;
}
