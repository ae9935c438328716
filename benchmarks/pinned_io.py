"""How long pinned-io takes to plan a batch, and how that grows with jobs and nodes.

    python benchmarks/pinned_io.py [--jobs 10000] [--nodes 1000] [--rounds 1] [--sizes powers,127,999]

Jobs are drawn as in expe/pinned_io: an I/O node for each 25 compute nodes; sizes uniform on a logarithmic scale, powers
of two up to 64 nodes or any number up to 127 and 999; lognormal durations. All seconds are CPU seconds, the least of
the rounds. The first table halves the number of jobs three times, the second one the number of nodes with ten jobs for
each. The exponent is the slope of log(time) over log(jobs), or nodes, by least squares.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "expe" / "pinned_io"))

from draw import Drawn, draw

from batdispatch.abilities.solvers.pinned_io.job_ranges import dedicate
from batdispatch.abilities.solvers.pinned_io.pillars import schedule
from batdispatch.abilities.solvers.solving import Limits

LIMITS = Limits(work=1_000_000, wall=3600.0)


def seconds(case: Drawn, rounds: int) -> tuple[float, float, str]:
    """Return the CPU seconds of phases 1 and 2, and what came of them in words."""
    held = np.zeros(case.nodes)
    first, second = [], []
    for _ in range(rounds):
        began = time.process_time()
        found = dedicate(held, case.ranges, case.durations, LIMITS)
        between = time.process_time()
        timed = schedule(held, found.starts, found.stops, case.durations)
        first.append(between - began)
        second.append(time.process_time() - between)
    load, bound = found.load.max(), found.shares.bound
    if not (found.shares.optimal and load <= 2 * bound and timed.makespan <= 3 * load):
        raise SystemExit("a plan does not keep its bounds")
    shares = found.shares
    told = f"{shares.rounds} programs, the last with {shares.variables:,} variables and {shares.constraints:,} rows; "
    return (
        min(first),
        min(second),
        told + f"load {load / bound:.3f} x bound, makespan {timed.makespan / load:.3f} x load",
    )


def exponent(sizes: list[int], times: list[float]) -> float:
    """Return the slope of log(time) over log(size)."""
    return float(np.polyfit(np.log(sizes), np.log(times), 1)[0])


def table(what: str, cases: list[tuple[int, Drawn]], rounds: int) -> None:
    """Print the times of cases of growing size."""
    sizes, times = [], []
    print(f"\n{what:>8}  phase 1  phase 2      all")
    for size, case in cases:
        first, second, told = seconds(case, rounds)
        sizes.append(size)
        times.append(first + second)
        print(f"{size:8,} {first:8.2f} {second:8.2f} {first + second:8.2f}   {told}", flush=True)
    print(f"exponent {exponent(sizes, times):.2f}")


def main() -> None:
    """Print both tables for each kind of sizes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=10_000)
    parser.add_argument("--nodes", type=int, default=1_000)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--sizes", default="powers,127,999")
    asked = parser.parse_args()
    for sizes in asked.sizes.split(","):
        powers = sizes == "powers"
        largest = 64 if powers else int(sizes)
        print(f"\nSizes: {'powers of two up to 64' if powers else f'1 to {largest}'}")

        def drawn(jobs: int, nodes: int, largest: int = largest, powers: bool = powers) -> Drawn:
            rng = np.random.default_rng(1)
            return draw(rng, jobs=jobs, largest=min(largest, nodes - 1), nodes=nodes, powers=powers)

        halves = (8, 4, 2, 1)
        table("jobs", [(asked.jobs // by, drawn(asked.jobs // by, asked.nodes)) for by in halves], asked.rounds)
        table(
            "nodes",
            [(asked.nodes // by, drawn(asked.nodes * 10 // by, asked.nodes // by)) for by in halves],
            asked.rounds,
        )


if __name__ == "__main__":
    main()
