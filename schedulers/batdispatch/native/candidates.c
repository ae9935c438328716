#include "candidates.h"

void enter_candidate(const State *state, Plan *plan, int64_t job)
{
    int64_t place = state->place[job];
    enter(plan->candidates, place);
    enter(plan->candidate_words, place / WORD);
}

static Hope both(Hope one, Hope other)
{
    return (Hope){one.from < other.from ? one.from : other.from, one.until > other.until ? one.until : other.until};
}

void enter_hope(const State *state, Plan *plan, int64_t job, Hope hope)
{
    Hope *hopes = plan->hopes + job * plan->most_hopes;
    int64_t count = plan->hopes_of[job], at = 0;
    while (at < count && (hope.from > hopes[at].until || hope.until < hopes[at].from))
        at++;
    /* Where there is no room for another one, the last one grows. */
    at -= at == plan->most_hopes;
    if (at < count)
        hope = both(hope, hopes[at]);
    else
        plan->hopes_of[job]++;
    for (; at > 0 && hope.from < hopes[at - 1].from; at--)
        hopes[at] = hopes[at - 1];
    hopes[at] = hope;
    enter_candidate(state, plan, job);
}

void drop_candidate(const State *state, Plan *plan, int64_t job)
{
    int64_t place = state->place[job];
    plan->hopes_of[job] = 0;
    clear(plan->candidates, place);
    if (!plan->candidates[place / WORD])
        clear(plan->candidate_words, place / WORD);
}

/* Return the first number of a set at or above `number`, or UNKNOWN. */
static int64_t next_in(const uint64_t *mask, int64_t words, int64_t number)
{
    for (int64_t index = number / WORD; index < words; index++) {
        uint64_t word = mask[index];
        if (index == number / WORD)
            word &= ~(uint64_t)0 << (number % WORD);
        if (word)
            return index * WORD + lowest_place(word);
    }
    return UNKNOWN;
}

int64_t next_candidate(const State *state, const Plan *plan, int64_t place)
{
    int64_t index = place / WORD, words = (state->jobs + WORD - 1) / WORD;
    if (index >= words)
        return UNKNOWN;
    int64_t found = next_in(plan->candidates, index + 1, place);
    if (found == UNKNOWN) {
        index = next_in(plan->candidate_words, (words + WORD - 1) / WORD, index + 1);
        found = index == UNKNOWN ? UNKNOWN : next_in(plan->candidates, words, index * WORD);
    }
    return found == UNKNOWN ? UNKNOWN : state->of_place[found];
}
