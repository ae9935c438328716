"""Measures what placements do for jobs that communicate: how much jobs slow each other down, and what it costs.

Use: python expe/interference/run.py [--seeds 10] [--jobs 400] [--rows "first fit,convex"] [--out FOLDER] [--write].
One process. Runs stay in `--out` (expe/interference/runs), which is not under version control, and are taken as they
are when they are there. Each is audited, and each of its jobs is simulated once more, alone on its hosts. With --write
the tables go into results.md beside this file, and the pictures too.
"""

from __future__ import annotations

import argparse
import math
import resource
import sys
from collections.abc import Collection, Mapping
from pathlib import Path

import numpy as np
from grid import BANDWIDTH, DIMS, IO_NODES, JOBS, LARGEST, PLACEMENTS, WORKLOADS, rows
from numpy.typing import NDArray
from show import Found, Measured, price_table, shape_table, stretch_picture, stretch_table, summary, wait_picture

from batdispatch.core.errors import SimulationError
from batdispatch.core.job import Job
from batdispatch.inputs.files import write_whole
from batdispatch.inputs.platforms import generate, read_platform
from batdispatch.inputs.platforms.units import quantity
from batdispatch.inputs.workloads import Workload, read_workload
from batdispatch.inputs.workloads.communicating import COMPUTING, Traffic, communicating
from batdispatch.inputs.workloads.writer import write_workload
from batdispatch.results.columns import RunColumns
from batdispatch.results.jobs_file import read_columns
from batdispatch.results.runs import read_result
from batdispatch.runs.alone import runtimes_alone
from batdispatch.runs.grid import publish, run_grid

HERE = Path(__file__).parent


def measure(seeds: int, jobs: int, only: Collection[str], out: Path) -> Found:
    """Return what each row did with the workload of each seed from 1.

    Args:
        seeds: how many.
        jobs: of a workload.
        only: rows that are run.
        out: where runs are kept.

    Raises:
        SimulationError: the audit found something wrong with a run, or a job did not end by itself.
    """
    out.mkdir(parents=True, exist_ok=True)
    path = out / "torus.xml"
    links = generate.Links(bw=BANDWIDTH, lat="1us")
    write_whole(path, generate.torus(DIMS, io=IO_NODES, links=links, router_links="shared"))
    machine = read_platform(path).machine
    found: Found = {}
    for kind, (load, options) in WORKLOADS.items():
        cells = {row: cell for row, cell in rows(kind).items() if row in only}
        found[kind] = {row: [] for row in cells}
        for seed in range(1, seeds + 1):
            file = out / f"{kind.replace(' ', '-').replace('/', '')}-{jobs}-{seed}.json"
            traffic = Traffic(bandwidth=quantity(BANDWIDTH, "bandwidth"), **options)
            rng = np.random.default_rng(seed)
            write_workload(communicating(rng, machine, jobs=jobs, load=load, largest=LARGEST, traffic=traffic), file)
            workload = read_workload(file)
            ran = run_grid(path, machine, [file], list(cells.values()), out, say=lambda text: print(text, flush=True))
            for row, one in zip(cells, ran, strict=True):
                folder = one.folders[0]
                metrics = read_result(folder).metrics
                if one.violations or metrics["nb_jobs_success"] != jobs:
                    raise SimulationError(f"{folder}: {one.violations} findings of the audit, or a job did not end")
                columns = read_columns(folder / "jobs.csv")
                alone = runtimes_alone(path, file, folder / "jobs.csv")
                found[kind][row].append(measured(metrics, workload, traffic, columns, alone))
    return found


def measured(
    metrics: Mapping[str, float | None],
    workload: Workload,
    traffic: Traffic,
    columns: RunColumns,
    alone: NDArray[np.float64],
) -> Measured:
    """Return what came of one run.

    Args:
        metrics: of the run.
        workload: whose jobs state their nominal run times.
        traffic: that the workload was made with.
        columns: of the run's jobs file.
        alone: run time of each row's job alone on its hosts, s.
    """
    jobs = {job.id: job for job in workload.jobs}
    least = np.array([least_runtime(jobs[str(name)], traffic) for name in columns.job_id])
    work = columns.requested_number_of_resources
    known = {name: math.nan if value is None else float(value) for name, value in metrics.items()}
    return Measured(
        stretches=columns.execution_time / alone,
        runtime=float(np.mean(columns.execution_time / least)),
        utilisation=known["utilisation"],
        useful=known["utilisation"] * float(work @ least) / float(work @ columns.execution_time),
        wait=known["mean_waiting_time"],
        turnaround=known["mean_turnaround_time"],
        slowdown=float(np.mean(np.maximum(columns.turnaround_time / np.maximum(least, 10.0), 1.0))),
        makespan=known["makespan"],
        gamma=known["mean_compactness"],
        rho=known["mean_proximity"],
        locality=known["mean_locality_factor"],
        shared=known["mean_shared_time"],
    )


def least_runtime(job: Job, traffic: Traffic) -> float:
    """Return the time that a job needs of its cores, its hosts' own links and its I/O node, in seconds."""
    parts = max(COMPUTING, traffic.intensity) + (traffic.io_load if job.request.io_nodes else 0.0)
    return float(job.extra["nominal_runtime"]) * parts


def main() -> None:
    """Run what was asked for, and print or write what came of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=JOBS, help="of a workload (%(default)s)")
    parser.add_argument("--rows", default=",".join(PLACEMENTS), help="run these rows (%(default)s)")
    parser.add_argument("--out", type=Path, default=HERE / "runs")
    parser.add_argument("--write", action="store_true")
    asked = parser.parse_args()
    found = measure(asked.seeds, asked.jobs, asked.rows.split(","), asked.out)
    sections = {
        "summary": summary(found),
        "stretch": stretch_table(found),
        "price": price_table(found),
        "shape": shape_table(found),
    }
    publish(HERE / "results.md", sections, write=asked.write)
    spent = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    print(f"\nCPU seconds of this call: {sum(usage.ru_utime + usage.ru_stime for usage in spent):,.0f}")
    if asked.write:
        stretch_picture(HERE / "stretch.svg", found)
        wait_picture(HERE / "wait.svg", found)


if __name__ == "__main__":
    sys.exit(main())
