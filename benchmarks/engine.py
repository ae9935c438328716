"""Jobs simulated per CPU-second: the embedded engine with EASY, and AccaSim's simulator with its EASY.

Usage: ``python benchmarks/engine.py [--jobs 100000] [--load 0.9] [--accasim /path/to/venv/bin/python]``

The workload is random (sizes of 1 to 64 of 128 hosts in powers of two, log-normal run times, walltimes of one to four
times the run time, `load` times the machine on average). What is timed is the CPU time from the loaded workload to the
last output file. AccaSim (1.1.3 on the package index; install it into an environment of its own) simulates the first
`--accasim-jobs` jobs of the same workload, read as SWF, on the same machine with first fit; ours is timed on the same
jobs again, so that the ratio is of like with like.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
from pathlib import Path

import numpy as np
from timing import timed

from batdispatch.batsim import protocol
from batdispatch.core.jobs.job import Job
from batdispatch.core.jobs.request import Request
from batdispatch.core.line.dispatcher import create
from batdispatch.core.line.messages import Peer
from batdispatch.core.line.session import Session
from batdispatch.core.machine.machine import Machine
from batdispatch.engines.embedded import EmbeddedEngine
from batdispatch.engines.outputs import Outputs
from batdispatch.inputs.workloads import Workload
from batdispatch.links.recorder import RecordedPeer, Recorder

HOSTS = 128

#: AccaSim 1.1.3 was written for Python before 3.10, hence the names put back into `collections`.
ACCASIM = """
import collections, collections.abc, sys, time
for name in ("Mapping", "MutableMapping", "Iterable", "Callable", "Sequence"):
    setattr(collections, name, getattr(collections.abc, name))
from accasim.base.simulator_class import Simulator
from accasim.base.scheduler_class import EASYBackfilling
from accasim.base.allocator_class import FirstFit
workload, system, results = sys.argv[1:4]
dispatcher = EASYBackfilling(FirstFit())
simulator = Simulator(workload, system, dispatcher, statistics_output=False, show_statistics=False,
                      RESULTS_FOLDER_PATH=results, RESULTS_FOLDER_NAME=results)
began = time.process_time()
simulator.start_simulation()
print("seconds", time.process_time() - began)
"""


def random_workload(count: int, load: float, seed: int = 1) -> Workload:
    """Return `count` jobs that ask for `load` times the machine on average."""
    rng = np.random.default_rng(seed)
    units = 2 ** rng.integers(0, 7, count)
    runtimes = np.exp(rng.normal(5.5, 1.6, count)).clip(5, 86_400).round()
    walltimes = np.ceil(runtimes * rng.uniform(1, 4, count) / 60) * 60
    span = float((units * runtimes).sum()) / HOSTS / load
    submissions = np.sort(rng.uniform(0, span, count).round())
    jobs = [
        Job(id=str(i), request=Request(units=int(n)), submission=float(at), walltime=float(limit), profile=f"d{run:g}")
        for i, (n, at, limit, run) in enumerate(zip(units, submissions, walltimes, runtimes, strict=True))
    ]
    profiles = {f"d{run:g}": {"type": "delay", "delay": float(run)} for run in np.unique(runtimes)}
    workload = Workload(path=Path("random"), name="random", nb_res=HOSTS, jobs=jobs, profiles=profiles)
    workload.sort()
    return workload


def ours(workload: Workload, folder: Path, *, record: bool = False) -> float:
    """Return the CPU seconds that a simulation takes."""
    machine = Machine.flat(HOSTS)
    peer: Peer = Session(create("easy"))
    engine = EmbeddedEngine(machine, workload, Outputs(folder, HOSTS))
    if not record:
        return timed(lambda: engine.run(peer))[0]
    with Recorder(folder / "decisions.jsonl") as recorder:
        return timed(lambda: engine.run(RecordedPeer(peer, recorder, protocol("4"))))[0]


def write_swf(workload: Workload, path: Path) -> None:
    """Write a workload in the Standard Workload Format."""
    lines = [f"; MaxProcs: {HOSTS}", "; UnixStartTime: 0"]
    for number, job in enumerate(workload.jobs, 1):
        run = workload.profiles[job.profile]["delay"]
        size, limit = job.units, int(job.walltime)
        lines.append(f"{number} {int(job.submission)} -1 {int(run)} {size} -1 -1 {size} {limit} -1 1 1 1 1 1 1 -1 -1")
    path.write_text("\n".join(lines) + "\n")


def accasim(python: str, workload: Workload, folder: Path) -> float:
    """Return the CPU seconds that AccaSim takes."""
    swf, system, script = folder / "w.swf", folder / "system.json", folder / "accasim_run.py"
    write_swf(workload, swf)
    system.write_text(json.dumps({"groups": {"g0": {"core": 1}}, "resources": {"g0": HOSTS}, "start_time": 0}))
    script.write_text(ACCASIM)
    words = [python, str(script), str(swf), str(system), str(folder / "results")]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
    for line in done.stdout.splitlines():
        if line.startswith("seconds"):
            return float(line.split()[1])
    raise SystemExit(f"AccaSim failed:\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=100_000)
    parser.add_argument("--load", type=float, default=0.9)
    parser.add_argument("--accasim", metavar="PYTHON", help="Python of an environment that has AccaSim.")
    parser.add_argument("--accasim-jobs", type=int, default=10_000)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        workload = random_workload(given.jobs, given.load)
        for record in (False, True):
            seconds = ours(workload, folder / f"ours{record}", record=record)
            rate = given.jobs / seconds
            what = f"{given.jobs} jobs, load {given.load}, recording {record}"
            print(f"embedded engine + easy, {what}: {rate:.0f} jobs/CPU-s")
        if given.accasim:
            part = random_workload(given.accasim_jobs, given.load)
            mine = given.accasim_jobs / ours(part, folder / "part")
            theirs = given.accasim_jobs / accasim(given.accasim, part, folder)
            rates = f"ours {mine:.0f}, AccaSim {theirs:.0f} jobs/CPU-s, ratio {mine / theirs:.1f}"
            print(f"{given.accasim_jobs} jobs: {rates}")


if __name__ == "__main__":
    main()
