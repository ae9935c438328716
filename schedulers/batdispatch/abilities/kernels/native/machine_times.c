/* How long hosts computed and were idle, as batdispatch.engines.machine_times sums it up. */
#include <stdint.h>

#include "export.h"

/* Return the first host from `host` on that no job had. */
static int64_t next_host(int64_t *following, int64_t host)
{
    /* Two steps at a time, which shortens the way for whoever comes later. */
    while (following[host] != host) {
        following[host] = following[following[host]];
        host = following[host];
    }
    return host;
}

/* Return how many hosts from `first` to `last` no job had; now one has. */
static int64_t take_run(int64_t *following, int64_t first, int64_t last)
{
    int64_t taken = 0;
    for (int64_t host = next_host(following, first); host <= last; host = next_host(following, host)) {
        following[host] = host + 1;
        taken++;
    }
    return taken;
}

/* Count for each of these jobs how many hosts no later one had, in nearly linear time in the runs of hosts of all jobs.
 * `jobs` stand in order of their end; the hosts of each are `runs` runs from `at` on. `following` is 0, 1, 2, ... up to
 * `hosts`, a number above all hosts, and becomes the next host that none of these jobs had; `found` is 0. */
EXPORT void left_last(const int64_t *jobs, int64_t count, const int64_t *at, const int32_t *runs, const int32_t *first,
                      const int32_t *last, int64_t *following, int64_t hosts, int64_t *found)
{
    int64_t known = 0;
    for (int64_t index = count - 1; index >= 0 && known < hosts; index--) {
        int64_t begin = at[jobs[index]], behind = begin + runs[jobs[index]];
        for (int64_t run = begin; run < behind; run++)
            found[index] += take_run(following, first[run], last[run]);
        known += found[index];
    }
}
