#include "calendar.h"

static bool before(const State *state, int64_t a, int64_t b)
{
    double left = state->due[a], right = state->due[b];
    return left < right || (left == right && state->due_turn[a] < state->due_turn[b]);
}

static void swap(State *state, int64_t a, int64_t b)
{
    double due = state->due[a];
    int64_t turn = state->due_turn[a], job = state->due_job[a];
    state->due[a] = state->due[b], state->due_turn[a] = state->due_turn[b], state->due_job[a] = state->due_job[b];
    state->due[b] = due, state->due_turn[b] = turn, state->due_job[b] = job;
}

void enter_end(State *state, int64_t job, double at)
{
    int64_t index = state->running++;
    state->due[index] = at, state->due_turn[index] = state->starts++, state->due_job[index] = job;
    while (index > 0 && before(state, index, (index - 1) / 2)) {
        swap(state, index, (index - 1) / 2);
        index = (index - 1) / 2;
    }
}

int64_t take_end(State *state)
{
    int64_t found = state->due_job[0], count = --state->running, index = 0;
    swap(state, 0, count);
    for (int64_t child = 1; child < count; child = 2 * index + 1) {
        if (child + 1 < count && before(state, child + 1, child))
            child++;
        if (!before(state, child, index))
            break;
        swap(state, index, child);
        index = child;
    }
    return found;
}
