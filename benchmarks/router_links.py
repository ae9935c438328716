"""How much weaker contention is where each host of a router has links of its own to the neighbours.

    python benchmarks/router_links.py [--dims 6,4,4] [--seeds 5]      simulated times of patterns, on four platforms
    python benchmarks/router_links.py --sizes 4,8,12,16               what SimGrid takes to load a torus of shared links

The platforms have two hosts a router, and the same bandwidth B of a link between routers:

- shared: the hosts of a router share its links; a host's own link has the bandwidth B.
- shared, wide hosts: the same, but a host's own link never limits.
- split: SimGrid's torus; each host of a router has links of its own, of bandwidth B.
- split, half: the same with links of bandwidth B/2, so that a router's links are together as wide as on the machine.

A pattern is a set of parallel tasks that start together. The table tells the mean time at which its tasks end on the
platform `shared`, and the means on the other platforms divided by it. Each simulation has a process of its own.
"""

from __future__ import annotations

import argparse
import itertools
import math
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from batdispatch.abilities.simgrid.timer import SimGridTimer
from batdispatch.abilities.topology import generate as topologies
from batdispatch.engines.activities import Activity
from batdispatch.inputs.platforms import generate, read_platform
from batdispatch.runs.workers import call_isolated

#: Bytes that a host sends to each it sends to.
SENT = 1e9
LINKS = generate.Links(bw="1GBps", lat="1us")
HALF = generate.Links(bw="500MBps", lat="1us")
PLATFORMS: dict[str, Callable[[Sequence[int]], bytes]] = {
    "shared": lambda dims: topologies.torus(dims, links=LINKS, router_links="shared"),
    "shared, wide hosts": lambda dims: topologies.torus(
        dims, links=LINKS, router_links="shared", widths=topologies.Widths((), "1TBps")
    ),
    "split": lambda dims: topologies.torus(dims, links=LINKS, router_links="split"),
    "split, half": lambda dims: topologies.torus(dims, links=HALF, router_links="split"),
}
Tasks = list[tuple[list[int], list[list[float]]]]


def all_to_all(hosts: Sequence[int]) -> tuple[list[int], list[list[float]]]:
    size = len(hosts)
    return list(hosts), (SENT * (1 - np.eye(size))).tolist()


def ring(hosts: Sequence[int]) -> tuple[list[int], list[list[float]]]:
    size = len(hosts)
    return list(hosts), (SENT * np.roll(np.eye(size), 1, axis=1)).tolist()


def patterns(dims: Sequence[int], seeds: int) -> dict[str, list[Tasks]]:
    """Return what is simulated: name -> cases, each with its tasks; times are means over the cases."""
    routers = math.prod(dims)
    hosts = 2 * routers
    row = range(2 * dims[0])
    box = [2 * (x + dims[0] * (y + dims[1] * z)) + h for z in (0, 1) for y in (0, 1) for x in (0, 1) for h in (0, 1)]

    def scattered(seed: int, jobs: int, kind: Callable[[Sequence[int]], Any]) -> Tasks:
        drawn = np.random.default_rng(seed).permutation(hosts)[: jobs * 16].reshape(jobs, 16)
        return [kind([int(host) for host in part]) for part in drawn]

    return {
        "both hosts of a router send to their neighbours": [
            [([0, 2], [[0, SENT], [0, 0]]), ([1, 3], [[0, SENT], [0, 0]])]
        ],
        "one host sends to its neighbour": [[([0, 2], [[0, SENT], [0, 0]])]],
        "two jobs in a row of routers, a host of each router each, all to all": [
            [all_to_all(row[::2]), all_to_all(row[1::2])]
        ],
        "a job on a row of routers, all to all": [[all_to_all(row)]],
        "a job on a row of routers, ring of its hosts": [[ring(row)]],
        "a job on 2 x 2 x 2 routers, all to all": [[all_to_all(box)]],
        "six jobs of 16 hosts at random, all to all": [[*scattered(seed, 6, all_to_all)] for seed in range(seeds)],
        "six jobs of 16 hosts at random, rings": [[*scattered(seed, 6, ring)] for seed in range(seeds)],
        "16 hosts at random send to one": [
            [(part[0], [[SENT if row and not column else 0.0 for column in range(16)] for row in range(16)])]
            for seed in range(seeds)
            for part in scattered(seed, 1, all_to_all)
        ],
    }


def simulate(platform: str, dims: list[int], tasks: Tasks, progress: object = None) -> list[float]:
    """Return when each task ends."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "torus.xml"
        path.write_bytes(PLATFORMS[platform](dims))
        timer = SimGridTimer(read_platform(path))
    ends = [0.0] * len(tasks)

    def loop() -> None:
        for number, (hosts, traffic) in enumerate(tasks):
            timer.start(Activity(tuple(hosts), np.zeros(len(hosts)), np.array(traffic)), number, 0.0)
        while timer.running:
            for number in timer.advance(math.inf):
                ends[number] = timer.clock

    timer.run(loop)
    return ends


def load(side: int, progress: object = None) -> list[float]:
    """Return what a cube of routers takes: hosts, kB, CPU seconds to read, to load and to begin, and MiB."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "torus.xml"
        path.write_bytes(topologies.torus([side] * 3, router_links="shared"))
        size = path.stat().st_size / 1000
        marks = [time.process_time()]
        platform = read_platform(path)
        marks.append(time.process_time())
        timer = SimGridTimer(platform)
        marks.append(time.process_time())
    timer.run(lambda: marks.append(time.process_time()))
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return [
        len(platform.hosts),
        size,
        *(after - before for before, after in itertools.pairwise(marks)),
        memory,
    ]


def main() -> None:
    # A worker imports this file, which as a script has no name.
    by_name = import_module("router_links")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dims", default="6,4,4")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--sizes", help="sides of cubes to load, instead of the patterns")
    chosen = parser.parse_args()
    sys.path.insert(0, str(Path(__file__).parent))
    if chosen.sizes:
        print("| routers | hosts | file (kB) | read (s) | load (s) | begin (s) | memory (MiB) |\n" + "|---:" * 7 + "|")
        for side in (int(text) for text in chosen.sizes.split(",")):
            hosts, size, read, loaded, begun, memory = call_isolated(partial(by_name.load, side=side))
            cells = [f"{hosts:,.0f}", f"{size:,.0f}", f"{read:.2f}", f"{loaded:.2f}", f"{begun:.2f}", f"{memory:,.0f}"]
            print(f"| {side} x {side} x {side} | " + " | ".join(cells) + " |", flush=True)
        return
    dims = [int(size) for size in chosen.dims.split(",")]
    print("| pattern | " + " | ".join(PLATFORMS) + " |\n|---" + "|---:" * len(PLATFORMS) + "|")
    for name, cases in patterns(dims, chosen.seeds).items():
        found = []
        for platform in PLATFORMS:
            ends = [
                np.mean(call_isolated(partial(by_name.simulate, platform=platform, dims=dims, tasks=tasks)))
                for tasks in cases
            ]
            found.append(np.array(ends))
        ratios = [float(np.mean(values / found[0])) for values in found]
        print(
            f"| {name} | {np.mean(found[0]):.2f} s | " + " | ".join(f"{ratio:.2f}" for ratio in ratios[1:]) + " |",
            flush=True,
        )


if __name__ == "__main__":
    main()
