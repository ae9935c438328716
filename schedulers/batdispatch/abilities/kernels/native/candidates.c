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

int64_t next_candidate(const State *state, const Plan *plan, int64_t place)
{
    int64_t words = (state->jobs + WORD - 1) / WORD, behind = place / WORD + 1;
    if (behind > words)
        return UNKNOWN;
    int64_t found = next_in(plan->candidates, behind, place, 0);
    if (found == behind * WORD) {
        int64_t index = next_in(plan->candidate_words, (words + WORD - 1) / WORD, behind, 0);
        found = index < words ? next_in(plan->candidates, words, index * WORD, 0) : words * WORD;
    }
    return found < words * WORD ? state->of_place[found] : UNKNOWN;
}
