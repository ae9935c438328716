"""The size of PCP'20's model against the size of the machine, as a table: the queue is the same on all machines.

Usage: ``python benchmarks/model_size.py [--jobs N] [--filled SHARE] [--seed S]``

Nodes of 20 cores and 64 GB, as on KIT's ForHLR II, a share of them filled by jobs that run, one to four nodes each,
and each for another time. The queue is the same for every machine. Boxes are those of running jobs that the model has;
before a model knew which of them its window can meet, it had one for each running job, node and resource. Deterministic
seconds are those to build the model and to take the first branches. CPU time is that of one process.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from batdispatch.abilities.solvers.constraint.instance import Instance
from batdispatch.abilities.solvers.constraint.lists import Planner, first_solution
from batdispatch.abilities.solvers.constraint.models.lines import join_boxes
from batdispatch.abilities.solvers.constraint.models.positions import Positions
from batdispatch.abilities.solvers.doors.files import read_instances
from batdispatch.parts.placement import make_placement

NODES = (120, 300, 1_200, 3_000, 12_000)
CORES, MEMORY = 20, 65_536


class Size(NamedTuple):
    """The size of one model: numbers of what it has, deterministic seconds, and s of CPU time to build it."""

    nodes: int
    running: int
    variables: int
    constraints: int
    boxes: int
    work: float
    seconds: float


def instance_on(nodes: int, jobs: int, filled: float, seed: int) -> Instance:
    """Return an instance of `jobs` queued jobs, the same for all `nodes`; `filled` is the share of nodes in use."""
    rng = np.random.default_rng(seed)
    queue: list[dict[str, Any]] = [
        {
            "id": f"w0!q{job}",
            "duration": int(rng.integers(60, 20_000)),
            "wait": 0.0,
            "res": int(rng.integers(1, 17)),
            "asks": {"demand": {"core": int(rng.integers(1, 5)), "memory": 1024 * int(rng.integers(1, 17))}},
        }
        for job in range(jobs)
    ]
    running: list[dict[str, Any]] = []
    node = 0
    while node < nodes * filled:
        count = min(int(rng.integers(1, 5)), nodes - node)
        hosts = f"{node}-{node + count - 1}" if count > 1 else f"{node}"
        running.append(
            {
                "id": f"w0!r{len(running)}",
                "remaining": int(rng.integers(60, 40_000)),
                "res": count,
                "hosts": hosts,
                "asks": {"demand": {"core": CORES, "memory": MEMORY}},
            }
        )
        node += count
    hosts_of = [{"count": nodes, "capacity": f"core={CORES} memory={MEMORY}"}]
    line = {"now": 0.0, "hosts": hosts_of, "jobs": queue, "running": running}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "instance.jsonl")
        path.write_text(json.dumps(line) + "\n")
        return next(instance for _, instance in read_instances(path))


def size_on(nodes: int, jobs: int, filled: float, seed: int) -> Size:
    """Build the model of an instance, and return its size."""
    instance = instance_on(nodes, jobs, filled, seed)
    placement = make_placement("last-fit")
    placement.begin(instance.ledger.machine)
    plan = first_solution(Planner(instance, placement))
    began = time.process_time()
    model = Positions(instance, plan)
    seconds = time.process_time() - began
    boxes = sum(len(join_boxes(model.fixed_boxes(axis))) for axis in range(2))
    return Size(nodes, len(instance.running), *model.size(), boxes, model.build_work(), seconds)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=20, help="queued jobs (%(default)s)")
    parser.add_argument("--filled", type=float, default=0.9, help="share of the nodes that is in use (%(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="of jobs and times (%(default)s)")
    asked = parser.parse_args()
    print("| nodes | running jobs | variables | constraints | boxes of running jobs | work (s) | CPU ms to build |")
    print("| ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for nodes in NODES:
        one = size_on(nodes, asked.jobs, asked.filled, asked.seed)
        print(
            f"| {one.nodes:,} | {one.running:,} | {one.variables:,} | {one.constraints:,} | {one.boxes:,} "
            f"| {one.work:.3f} | {1000 * one.seconds:,.0f} |"
        )


if __name__ == "__main__":
    main()
