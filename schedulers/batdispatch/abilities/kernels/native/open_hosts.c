#include "open_hosts.h"

#include <math.h>

double close_hosts(const Nodes *nodes, int64_t job, double time, uint64_t *set)
{
    const Openings *openings = nodes->openings;
    double change = INFINITY;
    for (int64_t at = openings->first[job]; at < openings->behind[job]; at++) {
        double begin = openings->before[at] - openings->walltime[job] + TICK, end = openings->end[at];
        if (begin <= time && time < end)
            take_out(set, openings->closed + at * nodes->words, nodes->words);
        change = begin > time && begin < change ? begin : change;
        change = end > time && end < change ? end : change;
    }
    return change;
}

static bool is_shut(const Nodes *nodes, int64_t job)
{
    return nodes->openings && !nodes->openings->looks_later && nodes->openings->shut[job];
}

int64_t *unfit_of(const Nodes *nodes, int64_t job)
{
    return is_shut(nodes, job) ? nodes->openings->unfit + job : nodes->unfit + nodes->kind[job];
}

const uint64_t *hosts_of(const Nodes *nodes, int64_t job)
{
    const uint64_t *may = nodes->may + nodes->kind[job] * nodes->words;
    if (!is_shut(nodes, job))
        return may;
    copy(may, nodes->openings->open, nodes->words);
    close_hosts(nodes, job, nodes->openings->looked[job], nodes->openings->open);
    return nodes->openings->open;
}

const uint64_t *hosts_at(const Nodes *nodes, int64_t job, double time, double *change)
{
    int64_t row = nodes->kind[job] * nodes->words;
    *change = 0.0;
    if (!nodes->openings)
        return nodes->may + row;
    uint64_t *later = nodes->openings->later;
    copy(nodes->openings->reach + row, later, nodes->words);
    double next = close_hosts(nodes, job, time, later);
    if (!same_sets(nodes->openings->reach + row, later, nodes->words))
        *change = next;
    meet(later, nodes->may + row, nodes->words);
    return later;
}
