// FCFS and EASY over numbers of hosts, with hosts by first fit: what the kernels of the package do, in C++.
//
// It is no part of the package: benchmarks/compiled.py builds it where g++ is there, and times both on the same jobs.
// Usage: easy_counts fcfs|easy HOSTS < JOBS > STARTS, where JOBS is binary: int64 n, then n times four doubles:
// submission, hosts, run time, walltime, in order of submission and in whole seconds. STARTS is n doubles.
// CPU seconds of the simulation alone are written to standard error.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <functional>
#include <limits>
#include <map>
#include <queue>
#include <set>
#include <vector>

struct Job {
    double submission, hosts, runtime, walltime;
};

int main(int argc, char **argv) {
    if (argc != 3) return 2;
    const bool easy = std::strcmp(argv[1], "easy") == 0;
    const std::int64_t hosts = std::atoll(argv[2]);
    std::int64_t n = 0;
    if (std::fread(&n, sizeof n, 1, stdin) != 1) return 1;
    std::vector<Job> jobs(n);
    if (std::fread(jobs.data(), sizeof(Job), n, stdin) != static_cast<std::size_t>(n)) return 1;
    const std::clock_t began = std::clock();
    const double never = std::numeric_limits<double>::infinity();
    std::vector<double> start(n, -1.0);
    using End = std::pair<double, std::int64_t>;
    std::priority_queue<End, std::vector<End>, std::greater<End>> ends;
    std::set<End> expected;
    std::map<std::int64_t, std::int64_t> free_runs{{0, hosts - 1}};
    std::vector<std::vector<std::pair<std::int64_t, std::int64_t>>> held(n);
    std::vector<std::int64_t> queue;
    std::int64_t free = hosts, coming = 0;
    double now = 0.0;

    auto begin = [&](std::int64_t job) {
        start[job] = now;
        std::int64_t missing = static_cast<std::int64_t>(jobs[job].hosts);
        free -= missing;
        while (missing > 0) {
            auto run = free_runs.begin();
            const auto [first, last] = *run;
            const std::int64_t here = std::min(missing, last - first + 1);
            held[job].emplace_back(first, first + here - 1);
            free_runs.erase(run);
            if (first + here <= last) free_runs.emplace(first + here, last);
            missing -= here;
        }
        ends.emplace(now + std::min(jobs[job].runtime, jobs[job].walltime), job);
        expected.emplace(now + jobs[job].walltime, job);
    };
    auto finish = [&](std::int64_t job) {
        free += static_cast<std::int64_t>(jobs[job].hosts);
        expected.erase({start[job] + jobs[job].walltime, job});
        for (auto [first, last] : held[job]) {
            auto above = free_runs.lower_bound(first);
            if (above != free_runs.end() && above->first == last + 1) {
                last = above->second;
                above = free_runs.erase(above);
            }
            if (above != free_runs.begin()) {
                auto below = std::prev(above);
                if (below->second == first - 1) {
                    below->second = last;
                    continue;
                }
            }
            free_runs.emplace(first, last);
        }
        held[job].shrink_to_fit();
    };

    while (coming < n || !ends.empty()) {
        now = std::min(coming < n ? jobs[coming].submission : never, ends.empty() ? never : ends.top().first);
        while (!ends.empty() && ends.top().first <= now) {
            finish(ends.top().second);
            ends.pop();
        }
        while (coming < n && jobs[coming].submission <= now) queue.push_back(coming++);
        std::size_t head = 0;
        while (head < queue.size() && jobs[queue[head]].hosts <= free) begin(queue[head++]);
        queue.erase(queue.begin(), queue.begin() + head);
        if (!easy || queue.size() < 2 || free == 0) continue;
        double shadow = never;
        std::int64_t then = free;
        for (const auto &[end, job] : expected) {
            if (end > shadow) break;
            then += static_cast<std::int64_t>(jobs[job].hosts);
            if (shadow == never && then >= jobs[queue[0]].hosts) shadow = end;
        }
        std::int64_t spare = then - static_cast<std::int64_t>(jobs[queue[0]].hosts);
        std::size_t left = 1;
        for (std::size_t at = 1; at < queue.size(); ++at) {
            const std::int64_t job = queue[at];
            const bool outlives = now + jobs[job].walltime > shadow;
            if (jobs[job].hosts <= free && (!outlives || jobs[job].hosts <= spare)) {
                if (outlives) spare -= static_cast<std::int64_t>(jobs[job].hosts);
                begin(job);
            } else {
                queue[left++] = job;
            }
        }
        queue.resize(left);
    }
    std::fprintf(stderr, "%.6f\n", static_cast<double>(std::clock() - began) / CLOCKS_PER_SEC);
    std::fwrite(start.data(), sizeof(double), n, stdout);
    return 0;
}
