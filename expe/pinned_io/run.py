"""Measures pinned-io: how far plans are from their bounds, and what pinned jobs wait for on a torus.

Use: python expe/pinned_io/run.py [--seeds 10] [--parts plans,once,runs] [--out expe/pinned_io/runs] [--write].
One process. Runs stay in `--out`, which is not under version control, and are taken as they are when they are there.
Each is audited. With --write the tables go into results.md beside this file, and the pictures too.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping
from pathlib import Path

import msgspec
import numpy as np
from draw import draw
from grid import CELLS, COUNT, DIMS, IO, JOBS, LARGEST, LOADS, NODES, ONCE
from show import Planned, Served, once_table, plans_picture, plans_table, runs_picture, runs_table

from batdispatch.core.errors import SimulationError
from batdispatch.core.jobfields import read_request
from batdispatch.core.machine import Machine
from batdispatch.dispatchers.topology.planning import plan
from batdispatch.inputs.files import write_whole
from batdispatch.inputs.platforms import read_platform
from batdispatch.inputs.platforms.generate.torus import torus
from batdispatch.inputs.workloads import Workload
from batdispatch.inputs.workloads.lublin import lublin
from batdispatch.inputs.workloads.writer import write_workload
from batdispatch.parts.solving import Limits
from batdispatch.results.runs import read_result
from batdispatch.runs.grid import Cell, publish, run_grid

HERE = Path(__file__).parent
PARTS = ("plans", "once", "runs")
LIMITS = Limits(work=1_000_000, wall=3600.0)
HOUR = 3600.0


def plans(seeds: int) -> dict[tuple[int, int], list[Planned]]:
    """Return what came of a batch of each number of jobs and each largest size, for each seed.

    Raises:
        SimulationError: a plan does not keep its bounds.
    """
    found: dict[tuple[int, int], list[Planned]] = {}
    for largest in LARGEST:
        for jobs in JOBS:
            for seed in range(seeds):
                case = draw(np.random.default_rng(seed), jobs=jobs, largest=largest, nodes=NODES)
                made, plain = (
                    plan(np.zeros(NODES), case.ranges, case.durations, LIMITS, level=level) for level in (True, False)
                )
                for one in (made, plain):
                    bounds = (one.largest_load / one.lp_bound / 2, one.makespan / one.largest_load / 3)
                    if not one.shares.optimal or max(bounds) > 1 + 1e-6:
                        raise SimulationError(f"{jobs} jobs of up to {largest} nodes, seed {seed}: beyond its bounds")
                found.setdefault((largest, jobs), []).append(
                    Planned(
                        rounded=plain.largest_load / plain.lp_bound,
                        levelled=made.largest_load / made.lp_bound,
                        coloured=made.stacked / made.largest_load,
                        packed=made.makespan / made.largest_load,
                        whole=made.makespan / made.bound,
                        bound=made.lp_bound / HOUR,
                    )
                )
            print(f"{jobs} jobs of up to {largest} nodes: {found[largest, jobs][-1]}", flush=True)
    return found


def workload_of(rng: np.random.Generator, machine: Machine, load: float | None) -> Workload:
    """Return jobs of Lublin's model, each pinned to an I/O node drawn at random.

    Without a load all of them are there at time 0, and ask for exactly the time that they take.
    """
    made = lublin(rng, jobs=COUNT, hosts=machine.size, load=load, walltimes="modal" if load else "exact")
    names = [disk.name for disk in machine.storage]
    jobs = []
    for job in made.jobs:
        extra = {**job.extra, "io_node": names[int(rng.integers(len(names)))]}
        submission = job.submission if load else 0.0
        request = read_request(job.units, extra)
        jobs.append(msgspec.structs.replace(job, request=request, extra=extra, submission=submission))
    return msgspec.structs.replace(made, jobs=jobs)


def runs(cells: Mapping[str, Cell], seeds: int, out: Path, load: float | None) -> dict[str, list[Served]]:
    """Return what each cell did with the workload of each seed.

    Raises:
        SimulationError: the audit found something wrong with a run, or a job was rejected.
    """
    out.mkdir(parents=True, exist_ok=True)
    path = out / "torus.xml"
    write_whole(path, torus(DIMS, hosts_per_router=1, io=IO))
    machine = read_platform(path).machine
    found: dict[str, list[Served]] = {label: [] for label in cells}
    for seed in range(seeds):
        workload = out / f"pinned-{load or 'once'}-{seed}.json"
        write_workload(workload_of(np.random.default_rng(seed), machine, load), workload)
        rows = run_grid(path, machine, [workload], list(cells.values()), out, say=lambda text: print(text, flush=True))
        for label, row in zip(cells, rows, strict=True):
            folder = row.folders[0]
            result = read_result(folder)
            if row.violations or len(row.waits) != COUNT:
                raise SimulationError(f"{folder}: {row.violations} findings of the audit, or a job was rejected")
            metrics, means = result.metrics, result.report.get("means", {})
            notes = folder / "solver.jsonl"
            plans = [json.loads(line) for line in notes.read_text().splitlines()] if notes.exists() else []
            found[label].append(
                Served(
                    wait=float(np.mean(row.waits)) / HOUR,
                    slowdown=float(metrics["mean_bounded_slowdown"] or 0),
                    utilisation=float(metrics["utilisation"] or 0),
                    makespan=float(metrics["makespan"] or 0) / HOUR,
                    plans=len(plans),
                    load_ratio=float(means.get("load_ratio", 0)),
                    length_ratio=float(means.get("length_ratio", 0)),
                    bound=plans[0]["bound"] / HOUR if plans else 0.0,
                    cpu=row.cpu_seconds,
                )
            )
    return found


def main() -> None:
    """Run what was asked for, and print or write what came of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--parts", default=",".join(PARTS))
    parser.add_argument("--out", type=Path, default=HERE / "runs")
    parser.add_argument("--write", action="store_true")
    asked = parser.parse_args()
    sections: dict[str, str] = {}
    if "plans" in asked.parts:
        planned = plans(asked.seeds)
        sections["plans"] = plans_table(planned)
        if asked.write:
            plans_picture(HERE / "ratio.svg", planned)
    if "once" in asked.parts:
        sections["once"] = once_table(runs(ONCE, asked.seeds, asked.out, None))
    if "runs" in asked.parts:
        served = {load: runs(CELLS, asked.seeds, asked.out, load) for load in LOADS}
        sections["runs"] = runs_table(served)
        if asked.write:
            runs_picture(HERE / "wait.svg", served)
    publish(HERE / "results.md", sections, write=asked.write)


if __name__ == "__main__":
    sys.exit(main())
