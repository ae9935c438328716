// EASY over numbers of hosts, as fast as plain C++ does it: no host ids, no rows, no checks.
//
// It is no part of the package: benchmarks/table.py builds it where g++ is there, and times whole processes of both. All
// starts equal those of easy_counts.cpp, which also chooses hosts; tests/house/test_yardsticks.py checks this.
// Usage: easy_fastest HOSTS < JOBS > STARTS, where JOBS is binary: int64 n, then n times four doubles: submission,
// hosts, run time, walltime, in order of submission and in whole seconds. STARTS is n doubles.
//
// What makes it fast:
// - Running jobs stand in an array by expected end. A walk from the front finds the reservation, once for each head of
//   the queue: a job that is backfilled never moves it. When a job ends, it can only become earlier, so a second walk is
//   needed only then.
// - A waiting job that did not fit fits no earlier than the next end of a job: between ends, only new jobs are tried.
// - A waiting job is its size, walltime and number, side by side, so that looking through the queue reads one array.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <vector>

struct Job {
    double submission, hosts, runtime, walltime;
};
struct Waiting {
    double hosts, walltime;
    std::int64_t job;
};
struct End {
    double time, hosts;
    bool operator<(const End &other) const { return time > other.time; }
};

int main(int argc, char **argv) {
    std::int64_t n = 0;
    if (argc != 2 || std::fread(&n, sizeof n, 1, stdin) != 1) return 2;
    std::vector<Job> jobs(n);
    if (std::fread(jobs.data(), sizeof(Job), n, stdin) != static_cast<std::size_t>(n)) return 1;
    const double never = std::numeric_limits<double>::infinity();
    struct Running : End {
        double expected;
    };
    std::vector<double> start(n);
    std::vector<Running> ends;       // A heap: the job that ends first is in front.
    std::vector<End> expected;       // By expected end, the last one in front: those that end soon move least.
    std::vector<Waiting> queue;
    double free = std::atof(argv[1]), now = 0.0, shadow = never, spare = 0.0;
    std::int64_t coming = 0;
    bool reserved = false;

    auto begin = [&](const Waiting &one) {
        start[one.job] = now;
        free -= one.hosts;
        const double end = now + one.walltime;
        ends.push_back({{now + std::min(jobs[one.job].runtime, one.walltime), one.hosts}, end});
        std::push_heap(ends.begin(), ends.end());
        const End last{end, one.hosts};
        expected.insert(std::upper_bound(expected.begin(), expected.end(), last), last);
    };
    auto fits = [&](const Waiting &one) {
        if (one.hosts > free) return false;
        if (now + one.walltime <= shadow) return true;
        if (one.hosts > spare) return false;
        spare -= one.hosts;
        return true;
    };
    while (coming < n || !ends.empty()) {
        now = std::min(coming < n ? jobs[coming].submission : never, ends.empty() ? never : ends.front().time);
        bool ended = false;
        for (; !ends.empty() && ends.front().time <= now; ended = true) {
            const Running done = ends.front();
            std::pop_heap(ends.begin(), ends.end());
            ends.pop_back();
            free += done.hosts;
            auto at = std::lower_bound(expected.begin(), expected.end(), End{done.expected, 0.0});
            while (at->hosts != done.hosts) ++at;
            expected.erase(at);
        }
        std::size_t tried = queue.size();
        for (; coming < n && jobs[coming].submission <= now; ++coming)
            queue.push_back({jobs[coming].hosts, jobs[coming].walltime, coming});
        if (ended || !reserved) {
            std::size_t head = 0;
            while (head < queue.size() && queue[head].hosts <= free) begin(queue[head++]);
            queue.erase(queue.begin(), queue.begin() + static_cast<std::ptrdiff_t>(head));
            if (!(reserved = !queue.empty())) continue;
            double then = free;
            auto at = expected.rbegin();
            for (shadow = never; at != expected.rend() && at->time <= shadow; ++at)
                if ((then += at->hosts) >= queue[0].hosts) shadow = at->time;
            spare = then - queue[0].hosts;
            tried = 1;
        }
        if (free == 0) continue;
        std::size_t left = tried;
        for (std::size_t at = tried; at < queue.size(); ++at)
            if (fits(queue[at]))
                begin(queue[at]);
            else
                queue[left++] = queue[at];
        queue.resize(left);
    }
    std::fwrite(start.data(), sizeof(double), n, stdout);
    return 0;
}
