#include "host_sets.h"

#include "export.h"

/* As `bits` for many words. */
WIDE int64_t count_hosts(const uint64_t *set, int64_t words)
{
    int64_t found = 0;
    for (int64_t index = 0; index < words; index++)
        found += bits(set[index]);
    return found;
}

bool has_some(const uint64_t *set, int64_t words)
{
    for (int64_t index = 0; index < words; index++)
        if (set[index])
            return true;
    return false;
}

/* Return the bits of the word `index` that stand for hosts from `first` to `last`, of which it has one at least. */
static uint64_t part_of_run(int64_t index, int64_t first, int64_t last)
{
    uint64_t part = ~(uint64_t)0;
    if (first > index * WORD)
        part &= ~(uint64_t)0 << (first % WORD);
    if (last < index * WORD + WORD - 1)
        part &= ~(uint64_t)0 >> (WORD - 1 - last % WORD);
    return part;
}

void enter_run(uint64_t *set, int64_t first, int64_t last)
{
    for (int64_t index = first / WORD; index <= last / WORD; index++)
        set[index] |= part_of_run(index, first, last);
}

void enter_runs(uint64_t *set, const int32_t *first, const int32_t *last, int64_t runs)
{
    for (int64_t run = 0; run < runs; run++)
        enter_run(set, first[run], last[run]);
}

bool has_any(const uint64_t *set, int64_t first, int64_t last)
{
    for (int64_t index = first / WORD; index <= last / WORD; index++)
        if (set[index] & part_of_run(index, first, last))
            return true;
    return false;
}

/* Write the longest runs of consecutive hosts of a set, ascending, and return how many there are. */
static int64_t runs_of_set(const uint64_t *set, int64_t words, Run *runs)
{
    int64_t found = 0, first = next_in(set, words, 0, 0);
    while (first < words * WORD) {
        int64_t behind = next_in(set, words, first, ~(uint64_t)0);
        runs[found++] = (Run){first, behind - first};
        first = next_in(set, words, behind, 0);
    }
    return found;
}

int64_t write_set(const uint64_t *set, int64_t words, int32_t *first, int32_t *last, int64_t at)
{
    for (int64_t host = next_in(set, words, 0, 0); host < words * WORD; at++) {
        int64_t behind = next_in(set, words, host, ~(uint64_t)0);
        first[at] = (int32_t)host, last[at] = (int32_t)(behind - 1);
        host = next_in(set, words, behind, 0);
    }
    return at;
}

/* Return which of the runs fits so many hosts best: the shortest one that holds them, else the longest one. */
static int64_t tightest(const Run *runs, int64_t count, int64_t units)
{
    int64_t best = 0;
    for (int64_t index = 1; index < count; index++) {
        int64_t hosts = runs[index].hosts, least = runs[best].hosts;
        if (least >= units ? hosts >= units && hosts < least : hosts > least)
            best = index;
    }
    return best;
}

void keep_tightest(uint64_t *set, int64_t words, int64_t units, Run *runs)
{
    int64_t count = runs_of_set(set, words, runs);
    empty(set, words);
    while (units > 0) {
        Run *best = runs + tightest(runs, count, units);
        int64_t taken = best->hosts < units ? best->hosts : units;
        enter_run(set, best->first, best->first + taken - 1);
        units -= taken;
        /* It is no longer the longest one, nor does it hold anything. */
        best->hosts = 0;
    }
}
