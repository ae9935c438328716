/* See batdispatch.abilities.sites.slurm.reserved_nodes. */
#include <math.h>
#include <string.h>

#include "export.h"
#include "extremes.h"
#include "open_hosts.h"
#include "rounding.h"
#include "slurm.h"

static uint64_t *row_of(const Slurm *slurm, int64_t record)
{
    return slurm->rows + slurm->row[record] * slurm->words;
}

double rounded(const Slurm *slurm, double time)
{
    double step = slurm->resolution;
    return step > 0 && time < INFINITY ? whole_part(time + slurm->clock, step) * step - slurm->clock : time;
}

void begin_records(Slurm *slurm, double now)
{
    slurm->begin = rounded(slurm, now);
    slurm->records = 1;
    slurm->ends[0] = larger_of(rounded(slurm, now + slurm->window), slurm->begin + slurm->resolution);
    slurm->row[0] = 0;
    copy(slurm->hosts, row_of(slurm, 0), slurm->words);
}

/* Return the first record that ends after a time. */
static int64_t record_at(const Slurm *slurm, double time)
{
    int64_t low = 0, high = slurm->records;
    while (low < high) {
        int64_t middle = (low + high) / 2;
        if (slurm->ends[middle] <= time)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Let a record begin at a time, if that lies within the table, and return the record. */
static int64_t cut_record(Slurm *slurm, double time)
{
    int64_t at = record_at(slurm, time), behind = slurm->records - at;
    double begin = at ? slurm->ends[at - 1] : slurm->begin;
    if (behind == 0 || !(begin < time))
        return at;
    memmove(slurm->ends + at + 1, slurm->ends + at, (size_t)behind * sizeof *slurm->ends);
    memmove(slurm->row + at + 1, slurm->row + at, (size_t)behind * sizeof *slurm->row);
    slurm->ends[at] = time;
    slurm->row[at] = (int32_t)slurm->records++;
    copy(row_of(slurm, at + 1), row_of(slurm, at), slurm->words);
    return at + 1;
}

void reserve_hosts(Slurm *slurm, const uint64_t *hosts, double start, double end)
{
    start = larger_of(rounded(slurm, start), slurm->begin);
    end = larger_of(rounded(slurm, end), start + slurm->resolution);
    int64_t first = cut_record(slurm, start), behind = cut_record(slurm, end);
    for (int64_t record = first; record < behind; record++)
        take_out(row_of(slurm, record), hosts, slurm->words);
    slurm->changes++;
}

/* Return whether a record has some of those hosts that are not in both of two other sets. */
WIDE static bool has_more(const uint64_t *record, const uint64_t *hosts, const uint64_t *one, const uint64_t *other,
                          int64_t words)
{
    uint64_t more = 0;
    for (int64_t index = 0; index < words; index++)
        more |= record[index] & hosts[index] & ~(one[index] & other[index]);
    return more != 0;
}

/* As `meet`. */
WIDE static void meet_sets(uint64_t *target, const uint64_t *other, int64_t words)
{
    meet(target, other, words);
}

double find_allowed(Slurm *slurm, int64_t job, double start, double end)
{
    double later = 0.0, change = 0.0;
    uint64_t *left = slurm->allowed;
    int64_t words = slurm->words;
    const uint64_t *hosts = slurm->nodes ? hosts_at(slurm->nodes, job, start, &change) : slurm->hosts;
    copy(hosts, left, words);
    for (int64_t at = record_at(slurm, start); at < slurm->records; at++) {
        const uint64_t *free = row_of(slurm, at);
        if (later == 0.0 && at + 1 < slurm->records && has_more(row_of(slurm, at + 1), hosts, left, free, words))
            later = slurm->ends[at];
        if (at && slurm->ends[at - 1] > end)
            break;
        meet_sets(left, free, words);
    }
    double missing = licences_missing_until(slurm, job, start, end);
    if (missing != 0.0) {
        later = missing;
        take_out(left, hosts, words);
    }
    return change == 0.0 || (later != 0.0 && later < change) ? later : change;
}

bool are_reserved(const Slurm *slurm, const uint64_t *hosts, double start, double end)
{
    start = rounded(slurm, start), end = rounded(slurm, end);
    double begin = slurm->begin;
    for (int64_t at = 0; at < slurm->records && begin < end; at++) {
        if (slurm->ends[at] > start && !within(hosts, row_of(slurm, at), slurm->words))
            return true;
        begin = slurm->ends[at];
    }
    return false;
}
