/* The kernel of the dispatchers that make no plan beyond the first of the queue. */
#include "decisions.h"
#include "export.h"
#include "hosts.h"
#include "running_jobs.h"

enum { FCFS, FILLER, EASY_COUNT, EASY_HOSTS };

/* Simulate so many moments more, and return ALL_OVER, AT_PAUSE or FULL. */
EXPORT int64_t run_queue(State *state, int64_t dispatcher, int64_t moments);

int64_t run_queue(State *state, int64_t dispatcher, int64_t moments)
{
    for (; moments > 0; moments--) {
        if (!state->decides && !advance(state))
            return ALL_OVER;
        if (!has_room(state))
            return FULL;
        state->decides = 0;
        if (dispatcher == FCFS)
            decide_fcfs(state);
        else if (dispatcher == FILLER)
            decide_filler(state);
        else
            decide_easy(state, dispatcher == EASY_HOSTS);
    }
    return AT_PAUSE;
}
