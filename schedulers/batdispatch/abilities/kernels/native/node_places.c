#include "node_places.h"

#include "node_fits.h"

/* The hosts in the order in which a job takes them, and what it asks for. */
typedef struct {
    const int64_t *hosts;
    int64_t count;
    int64_t units;
    int64_t least;
    int64_t most;
} Filling;

static void put(Nodes *nodes, int64_t host, int64_t units)
{
    enter(nodes->place, host);
    nodes->on[host] = units;
}

/* Return on how many hosts the units are if each is filled before the next one; 0: they do not fit. */
static int64_t filled(const Nodes *nodes, const Filling *filling)
{
    int64_t left = filling->units;
    for (int64_t at = 0; at < filling->count; at++) {
        left -= nodes->room[filling->hosts[at]];
        if (left <= 0)
            return at + 1;
    }
    return 0;
}

static void fill_in_order(Nodes *nodes, const Filling *filling)
{
    int64_t left = filling->units;
    for (int64_t at = 0; left > 0; at++) {
        int64_t host = filling->hosts[at], here = nodes->room[host] < left ? nodes->room[host] : left;
        put(nodes, host, here);
        left -= here;
    }
}

/* Choose at most so many hosts, in order, that hold the units together: the first ones, else the roomiest; false: none. */
static bool choose_roomiest(Nodes *nodes, const Filling *filling, int64_t *chosen)
{
    int64_t most = *chosen = filling->count < filling->most ? filling->count : filling->most, first = 0, best = 0;
    for (int64_t at = 0; at < filling->count; at++)
        nodes->roomy[at] = (Roomy){nodes->room[filling->hosts[at]], at};
    for (int64_t at = 0; at < most; at++)
        first += nodes->roomy[at].room;
    if (first >= filling->units)
        return true;
    sort_roomy(nodes->roomy, filling->count);
    for (int64_t at = 0; at < most; at++) {
        best += nodes->roomy[at].room;
        /* They are put in order again. */
        nodes->roomy[at].room = 0;
    }
    sort_roomy(nodes->roomy, most);
    return best >= filling->units;
}

/* Put a unit on each of the least number of hosts, and fill them up in order; false: the units do not fit. */
static bool spread(Nodes *nodes, const Filling *filling)
{
    int64_t chosen, left = filling->units - filling->least;
    if (filling->count < filling->least || !choose_roomiest(nodes, filling, &chosen))
        return false;
    for (int64_t at = 0; at < chosen; at++) {
        int64_t host = filling->hosts[nodes->roomy[at].at], least = at < filling->least;
        int64_t more = nodes->room[host] - least < left ? nodes->room[host] - least : left;
        if (least + more > 0)
            put(nodes, host, least + more);
        left -= more;
    }
    return true;
}

static bool fill(Nodes *nodes, const Filling *filling)
{
    int64_t used = filled(nodes, filling);
    empty(nodes->place, nodes->words);
    if (!used)
        return false;
    if (used < filling->least || used > filling->most)
        return spread(nodes, filling);
    fill_in_order(nodes, filling);
    return true;
}

/* Find the sets of neighbours among the hosts with room, and return how many there are. */
static int64_t find_sets(const Nodes *nodes)
{
    int64_t found = 0;
    for (int64_t at = 0; at < nodes->able; at++) {
        int64_t host = nodes->able_host[at];
        bool joins = at && nodes->able_host[at - 1] == host - 1 && nodes->weight[host - 1] == nodes->weight[host];
        if (!joins)
            nodes->sets[found++] = (Neighbours){.weight = nodes->weight[host], .first = at};
        nodes->sets[found - 1].units += nodes->room[host];
        nodes->sets[found - 1].behind = at + 1;
    }
    return found;
}

/* Return whether a set fits what is left of a job better than another one. */
static bool fits_better(const Neighbours *one, const Neighbours *other, int64_t units, int64_t hosts)
{
    bool enough = one->units >= units && one->behind - one->first >= hosts;
    bool other_enough = other->units >= units && other->behind - other->first >= hosts;
    if (one->weight != other->weight)
        return one->weight < other->weight;
    if (enough != other_enough)
        return enough;
    return enough ? one->units < other->units : one->units > other->units;
}

/* Return which of the sets that were not taken fits best; -1: there is none. */
static int64_t best_set(const Neighbours *sets, int64_t count, int64_t units, int64_t hosts)
{
    int64_t best = -1;
    for (int64_t index = 0; index < count; index++)
        if (sets[index].behind && (best < 0 || fits_better(sets + index, sets + best, units, hosts)))
            best = index;
    return best;
}

/* Of a set, leave the host with the least room that holds so many units, if there is one. */
static void leave_tightest(const Nodes *nodes, Neighbours *set, int64_t units)
{
    int64_t best = -1;
    for (int64_t at = set->first; at < set->behind; at++) {
        int64_t room = nodes->room[nodes->able_host[at]];
        if (room >= units && (best < 0 || room < nodes->room[nodes->able_host[best]]))
            best = at;
    }
    if (best >= 0)
        *set = (Neighbours){set->weight, nodes->room[nodes->able_host[best]], best, best + 1};
}

/* Put the hosts with room in the order in which consecutive takes them, and return how many it takes. */
static int64_t order_sets(Nodes *nodes, int64_t units, int64_t hosts)
{
    int64_t count = find_sets(nodes), taken = 0;
    while (units > 0 || hosts > 0) {
        int64_t best = best_set(nodes->sets, count, units, hosts);
        if (best < 0)
            break;
        Neighbours set = nodes->sets[best];
        nodes->sets[best].behind = 0;
        if (hosts <= 1)
            leave_tightest(nodes, &set, units);
        for (int64_t at = set.first; at < set.behind; at++)
            nodes->order[taken++] = nodes->able_host[at];
        units -= set.units;
        hosts -= set.behind - set.first;
    }
    return taken;
}

/* Leave out the hosts with the least room. */
static void drop_tightest(Nodes *nodes)
{
    int64_t least = INT64_MAX, left = 0;
    for (int64_t at = 0; at < nodes->able; at++)
        least = nodes->room[nodes->able_host[at]] < least ? nodes->room[nodes->able_host[at]] : least;
    for (int64_t at = 0; at < nodes->able; at++)
        if (nodes->room[nodes->able_host[at]] > least)
            nodes->able_host[left++] = nodes->able_host[at];
    nodes->able = left;
}

/* Fill the hosts with room as consecutive does, as long as it finds something by leaving out some; false: it does not. */
static bool fill_sets(Nodes *nodes, Filling filling)
{
    filling.hosts = nodes->order;
    for (; nodes->able; drop_tightest(nodes)) {
        filling.count = order_sets(nodes, filling.units, filling.least);
        if (fill(nodes, &filling))
            return true;
    }
    return false;
}

bool place_on(Nodes *nodes, int64_t job, const int64_t *free, const uint64_t *set, bool consecutive)
{
    int64_t kind = nodes->kind[job];
    if (!fits_on(nodes, job, free, set))
        return false;
    Filling filling = {nodes->able_host, nodes->able, nodes->units[kind], nodes->least[kind], nodes->most[kind]};
    if (consecutive) {
        if (fill_sets(nodes, filling))
            return true;
        fits_on(nodes, job, free, set);
    }
    return fill(nodes, &filling);
}

bool place_lowest(Nodes *nodes, int64_t job, const int64_t *free)
{
    return place_on(nodes, job, free, nodes->may + nodes->kind[job] * nodes->words, false);
}
