#include "calls.h"

#include <string.h>

#include "rounding.h"

double call_at(State *state, double time)
{
    double soonest = round_six(state->now + SOONEST), after = tick_after(time), at = after > soonest ? after : soonest;
    int64_t index = state->calls;
    for (; index > 0 && state->call[index - 1] > at; index--)
        ;
    if (index > 0 && state->call[index - 1] == at)
        return at;
    memmove(state->call + index + 1, state->call + index, (size_t)(state->calls++ - index) * sizeof *state->call);
    state->call[index] = at;
    return at;
}

void take_calls(State *state)
{
    int64_t past = 0;
    while (past < state->calls && state->call[past] <= state->now)
        past++;
    if (past) {
        state->calls -= past;
        memmove(state->call, state->call + past, (size_t)state->calls * sizeof *state->call);
    }
}
