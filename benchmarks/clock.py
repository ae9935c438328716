"""How much a schedule depends on when the dispatcher hears of what happens: the three clocks of the embedded engine.

Usage: ``python benchmarks/clock.py [--slices 3] [--jobs 1000] [--lublin 4] [--out results] LOG.swf.xz ...``

Of each log (SWF) so many slices of consecutive jobs are taken, spread evenly over the log, on as many equal hosts as
the log has processors. Further workloads are drawn from Lublin's model on 128 hosts at a load of 0.9. All times are
whole seconds, so that ends and submissions coincide. Each workload is simulated with each dispatcher and each clock
(``batsim`` needs SimGrid) on a platform as ``batdispatch platform generate flat`` makes it. Printed are the mean waits,
how far the mean wait of another clock is from that of ``together``, in percent of it, and how many percent of the jobs
start at another second.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import msgspec
import numpy as np
import pandas as pd

from batdispatch.engines.choices import Clock
from batdispatch.inputs.files import write_whole
from batdispatch.inputs.platforms.generate.flat import flat
from batdispatch.inputs.workloads import Workload
from batdispatch.inputs.workloads.importers import read_log
from batdispatch.inputs.workloads.lublin import lublin
from batdispatch.inputs.workloads.writer import write_workload
from batdispatch.results.frame import read_jobs
from batdispatch.runs.run import execute
from batdispatch.runs.spec import RunSpec

DISPATCHERS = ("fcfs", "filler", "easy", "conservative")
CLOCKS: tuple[Clock, ...] = ("together", "apart", "batsim")
HOSTS = 128


def slices(log: Path, count: int, jobs: int) -> Iterator[tuple[str, Workload, int]]:
    """Yield name, workload and number of hosts of `count` slices of a log, each of so many consecutive jobs."""
    whole, *_ = read_log(log)
    hosts = whole.nb_res or max(job.units for job in whole.jobs)
    for number, begin in enumerate(np.linspace(0, len(whole.jobs) - jobs, count).astype(int).tolist(), 1):
        part = whole.jobs[begin : begin + jobs]
        first = part[0].submission
        part = [msgspec.structs.replace(job, submission=job.submission - first) for job in part]
        name = f"{log.name.split('.')[0][:8]} {number}"
        yield name, msgspec.structs.replace(whole, jobs=part), hosts


def drawn(count: int, jobs: int) -> Iterator[tuple[str, Workload, int]]:
    """Yield name, workload and number of hosts of workloads of Lublin's model, in whole seconds."""
    for seed in range(1, count + 1):
        made = lublin(np.random.default_rng(seed), jobs=jobs, hosts=HOSTS, load=0.9)
        rounded = [msgspec.structs.replace(job, submission=float(round(job.submission))) for job in made.jobs]
        profiles = {
            name: profile | {"delay": float(max(round(profile["delay"]), 1))} for name, profile in made.profiles.items()
        }
        yield f"Lublin {seed}", msgspec.structs.replace(made, jobs=rounded, profiles=profiles), HOSTS


def waits(folder: Path, workload: Workload, hosts: int, dispatcher: str, clock: Clock) -> pd.DataFrame:
    """Simulate; return start and wait by job."""
    platform, jobs = folder / "p.xml", folder / "w.json"
    write_whole(platform, flat(hosts))
    write_workload(workload, jobs)
    spec = RunSpec(platform=str(platform), workload=str(jobs), dispatcher=dispatcher, clock=clock, record=False)
    execute(spec, folder / "run")
    frame = read_jobs(folder / "run" / "jobs.csv").set_index("job_id")
    return frame[["starting_time", "waiting_time"]]


def measure(name: str, workload: Workload, hosts: int) -> Iterator[dict[str, object]]:
    """Yield a row a dispatcher."""
    for dispatcher in DISPATCHERS:
        with tempfile.TemporaryDirectory() as folder:
            found = {clock: waits(Path(folder), workload, hosts, dispatcher, clock) for clock in CLOCKS}
        usual = found["together"]
        row: dict[str, object] = {"workload": name, "dispatcher": dispatcher}
        for clock in CLOCKS:
            row[f"mean wait, {clock}"] = found[clock]["waiting_time"].mean()
        for clock in CLOCKS[1:]:
            moved = (found[clock]["starting_time"] - usual["starting_time"]).abs() > 0.5
            row[f"moved, {clock}"] = 100 * moved.mean()
            mean = usual["waiting_time"].mean()
            row[f"off, {clock}"] = 100 * (found[clock]["waiting_time"].mean() / mean - 1) if mean else 0.0
        yield row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("logs", nargs="*", type=Path, metavar="LOG")
    parser.add_argument("--slices", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=1000)
    parser.add_argument("--lublin", type=int, default=4)
    parser.add_argument("--out", type=Path, help="Write the rows there, as CSV.")
    given = parser.parse_args()
    sources = [*(one for log in given.logs for one in slices(log, given.slices, given.jobs))]
    sources += drawn(given.lublin, given.jobs)
    rows = []
    for source in sources:
        print(source[0], file=sys.stderr)
        rows += measure(*source)
    table = pd.DataFrame(rows)
    if given.out is not None:
        table.to_csv(given.out, index=False)
    print(table.round(1).to_string(index=False))
    for clock in CLOCKS[1:]:
        summary = table.groupby("dispatcher", sort=False).agg(
            off=(f"off, {clock}", lambda off: off.abs().mean()),
            least=(f"off, {clock}", "min"),
            most=(f"off, {clock}", "max"),
            moved=(f"moved, {clock}", "mean"),
        )
        print(f"\n{clock} against together\n{summary.round(2).to_string()}")


if __name__ == "__main__":
    main()
