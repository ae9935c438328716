"""The embedded engine with EASY, as a ratio to the least that EASY takes in plain Python.

Usage: ``python benchmarks/easy.py [--log LOG.swf.xz --hosts N [--first N]] [--load 1.2] [--jobs 10000 30000]
[--dispatchers easy,filler]``

Jobs of a log, of the Lublin-Feitelson model, and of seven sizes as `benchmarks/engine.py` draws them are simulated
without a recording. What is timed is the CPU time from the loaded workload to the last output file; the yardstick
(`benchmarks/yardstick.py`) is timed on the same jobs right before and after. Each is timed twice, and the faster time
counts.
All start times of `easy` must equal the yardstick's. Where several numbers of jobs are given, the exponent is printed
with which the CPU time grows from each to the next.
"""

from __future__ import annotations

import argparse
import csv
import math
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
from engine import HOSTS, random_workload
from timing import timed
from yardstick import Rigid, easy

from batdispatch.core.line.dispatcher import create
from batdispatch.core.line.options import split_list
from batdispatch.core.line.session import Session
from batdispatch.core.machine.machine import Machine
from batdispatch.engines.embedded import EmbeddedEngine
from batdispatch.engines.outputs import Outputs
from batdispatch.inputs.workloads import Workload
from batdispatch.inputs.workloads.importers import read_log
from batdispatch.inputs.workloads.logs import Selection
from batdispatch.inputs.workloads.lublin import lublin

#: Jobs by the number of them and the load, on `HOSTS` hosts.
MODELS: dict[str, Callable[[int, float], Workload]] = {
    "lublin": lambda count, load: lublin(np.random.default_rng(1), jobs=count, hosts=HOSTS, load=load),
    "random": random_workload,
}


def rigid(workload: Workload) -> list[Rigid]:
    """Return the jobs of a workload as the yardstick takes them."""
    jobs = []
    for job in workload.jobs:
        walltime = round(job.walltime, 6) if job.walltime < math.inf else math.inf
        runtime = min(float(workload.profiles[job.profile]["delay"]), walltime)
        jobs.append(Rigid(round(job.submission, 6), job.units, runtime, walltime))
    return jobs


def compare(workload: Workload, hosts: int, dispatcher: str) -> float:
    """Print what a simulation costs beside the yardstick, and return its CPU seconds."""
    jobs = rigid(workload)
    least = timed(lambda: easy(jobs, hosts))[0]
    with tempfile.TemporaryDirectory() as name:
        engine = EmbeddedEngine(Machine.flat(hosts), workload, Outputs(Path(name), hosts))
        ours = timed(lambda: engine.run(Session(create(dispatcher))))[0]
        engine = EmbeddedEngine(Machine.flat(hosts), workload, Outputs(Path(name), hosts))
        ours = min(ours, timed(lambda: engine.run(Session(create(dispatcher))))[0])
        if dispatcher == "easy":
            with (Path(name) / "jobs.csv").open(newline="") as rows:
                found = {row["job_id"]: float(row["starting_time"]) for row in csv.DictReader(rows)}
            expected = dict(zip((job.id for job in workload.jobs), easy(jobs, hosts), strict=True))
            wrong = [job for job, start in expected.items() if abs(found[job] - start) > 1e-6]
            if wrong:
                raise SystemExit(f"{len(wrong)} jobs start at another time than the yardstick's, first {wrong[0]}")
    least = min(least, timed(lambda: easy(jobs, hosts))[0])
    count = len(jobs)
    print(
        f"{dispatcher}, {workload.name}, {count:,} jobs, {hosts:,} hosts: {ours:.2f} CPU-s, "
        f"{count / ours:,.0f} jobs per CPU-second, {ours / count * 1e6:.0f} us per job; "
        f"yardstick {least:.2f} CPU-s, {count / least:,.0f} jobs per CPU-second; ratio {ours / least:.1f}"
    )
    return ours


def main() -> None:
    """Print the ratios."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--log", type=Path, help="Log in the Standard Workload Format, beside the generated jobs.")
    parser.add_argument("--hosts", type=int, default=100, help="Hosts for the log.")
    parser.add_argument("--first", type=int, help="Only the log's first jobs.")
    parser.add_argument("--load", type=float, default=1.2)
    parser.add_argument("--jobs", type=int, nargs="*", default=[10_000, 30_000])
    parser.add_argument("--dispatchers", default="easy,filler")
    given = parser.parse_args()
    for dispatcher in split_list(given.dispatchers):
        if given.log is not None:
            compare(read_log(given.log, selection=Selection(first=given.first))[0], given.hosts, dispatcher)
        for model in MODELS.values():
            before: tuple[int, float] | None = None
            for count in given.jobs:
                seconds = compare(model(count, given.load), HOSTS, dispatcher)
                if before is not None:
                    exponent = math.log(seconds / before[1]) / math.log(count / before[0])
                    print(f"    from {before[0]:,} to {count:,} jobs the time grows with exponent {exponent:.2f}")
                before = count, seconds


if __name__ == "__main__":
    main()
