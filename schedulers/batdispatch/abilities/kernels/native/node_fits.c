#include "node_fits.h"

#include <stdlib.h>

#include "open_hosts.h"

static int compare_roomy(const void *one, const void *other)
{
    const Roomy *a = one, *b = other;
    if (a->room != b->room)
        return a->room > b->room ? -1 : 1;
    return a->at < b->at ? -1 : 1;
}

void sort_roomy(Roomy *roomy, int64_t count)
{
    qsort(roomy, (size_t)count, sizeof *roomy, compare_roomy);
}

/* Return how many units of a kind a host can take that has so much free. */
static int64_t room_on(const Nodes *nodes, int64_t kind, int64_t host, const int64_t *free)
{
    int64_t width = nodes->resources, room = nodes->bound[kind], any = 0;
    const int64_t *amounts = nodes->amounts + kind * width, *once = nodes->once + kind * width;
    const int64_t *capacity = nodes->capacity + host * width;
    for (int64_t axis = 0; axis < width; axis++) {
        if (free[axis] < once[axis] || (nodes->idle[kind] && free[axis] != capacity[axis]))
            return 0;
        any |= free[axis];
        if (amounts[axis]) {
            int64_t left = free[axis] - once[axis], units = amounts[axis] == 1 ? left : left / amounts[axis];
            room = units < room ? units : room;
        }
    }
    if (nodes->each[kind])
        room = room >= nodes->each[kind] ? nodes->each[kind] : 0;
    return any ? room : 0;
}

/* Find the hosts with room for a job, and return how many units they can take in all. */
static int64_t find_room(Nodes *nodes, int64_t job, const int64_t *free, const uint64_t *set)
{
    int64_t total = 0, kind = nodes->kind[job];
    const uint64_t *hosts = hosts_of(nodes, job);
    nodes->able = 0;
    for (int64_t index = 0; index < nodes->words; index++) {
        uint64_t word = set[index] & hosts[index];
        for (; word; word &= word - 1) {
            int64_t host = index * WORD + lowest_place(word);
            int64_t room = room_on(nodes, kind, host, free + host * nodes->resources);
            if (!room)
                continue;
            nodes->able_host[nodes->able++] = host;
            nodes->room[host] = room;
            total += room;
        }
    }
    return total;
}

/* Return how many units the roomiest hosts can take, of so many of those with room. */
static int64_t room_of_roomiest(Nodes *nodes, int64_t most)
{
    int64_t total = 0;
    for (int64_t at = 0; at < nodes->able; at++)
        nodes->roomy[at] = (Roomy){nodes->room[nodes->able_host[at]], at};
    sort_roomy(nodes->roomy, nodes->able);
    for (int64_t at = 0; at < most; at++)
        total += nodes->roomy[at].room;
    return total;
}

bool lacks_licence(const Nodes *nodes, int64_t job, const int64_t *free)
{
    const int64_t *held = nodes->held + nodes->kind[job] * nodes->licences;
    for (int64_t licence = 0; licence < nodes->licences; licence++)
        if (free[nodes->hosts * nodes->resources + licence] < held[licence])
            return true;
    return false;
}

bool fits_on(Nodes *nodes, int64_t job, const int64_t *free, const uint64_t *set)
{
    if (lacks_licence(nodes, job, free))
        return false;
    int64_t kind = nodes->kind[job], total = find_room(nodes, job, free, set);
    if (nodes->able < nodes->least[kind] || total < nodes->units[kind])
        return false;
    return nodes->able <= nodes->most[kind] || room_of_roomiest(nodes, nodes->most[kind]) >= nodes->units[kind];
}

bool fits_anywhere(Nodes *nodes, int64_t job, const int64_t *free)
{
    return fits_on(nodes, job, free, nodes->may + nodes->kind[job] * nodes->words);
}

bool fits_now(Nodes *nodes, int64_t job)
{
    int64_t *unfit = unfit_of(nodes, job);
    if (*unfit == nodes->returns)
        return false;
    if (fits_anywhere(nodes, job, nodes->free))
        return true;
    *unfit = nodes->returns;
    return false;
}
