"""Compiled kernels beside the same algorithm in C++; `table.py` times whole runs.

Usage: ``python benchmarks/compiled.py [--log LOG.swf.xz ...] [--check] [--reading] [--plans]
[--conservative JOBS] [--overloaded JOBS] [--large JOBS]``

For each log and each of fcfs and easy, with both reservations and two orderings that change over time: CPU-seconds of
the kernel; and of `benchmarks/easy_counts.cpp` (built with g++ -O2 where there is one; it writes no files and checks
nothing), which must start all jobs at the same times. ``--check`` compares jobs.csv byte for byte with that of the
dispatcher in Python. ``--reading`` times the reading of the log as a workload in JSON, and adds it to the kernel's
time. ``--plans`` times conservative on the logs as well. ``--conservative``, ``--overloaded`` and ``--large`` draw
workloads: so many jobs for conservative at load 0.9 on 240 hosts and at load 1.2 on 1,024, and for easy at load 0.9 on
158,976.

All CPU times are also given as on a machine where the loop of `benchmarks/yardstick.py` does 140,000 jobs of the first
log per CPU-second, which is timed before and after: absolute times differ from hour to hour.
"""

from __future__ import annotations

import argparse
import math
import shutil
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from easy import rigid
from timing import command, least, timed
from yardstick import easy as least_easy

from batdispatch.abilities.kernels import columns, engine
from batdispatch.abilities.kernels.simulate import Schedule, schedule_of
from batdispatch.core.jobs.job import Job
from batdispatch.core.jobs.request import Request
from batdispatch.core.line.dispatcher import create
from batdispatch.core.line.session import Session
from batdispatch.core.machine.machine import Machine
from batdispatch.engines.embedded import EmbeddedEngine
from batdispatch.engines.outputs import Outputs
from batdispatch.inputs.workloads import Workload, write_workload
from batdispatch.inputs.workloads.columns import JobColumns, columns_of
from batdispatch.inputs.workloads.importers import read_log

#: Jobs per CPU-second of the yardstick on the machine that figures are given for.
STANDARD = 140_000
ORDERS = [
    *[("fcfs", {}), ("easy", {}), ("easy", {"reservation": "hosts"})],
    *(("easy", {"ordering": ordering}) for ordering in ("unicef", "guarded")),
]
PLANS: tuple[str, dict[str, str]] = ("conservative", {})


def seconds_of(
    kernel: tuple[str, dict[str, str]], workload: Workload, hosts: int, times: int = 3
) -> tuple[float, Schedule]:
    """Return the CPU-seconds of a kernel, the best of so many times, and what came out."""
    dispatcher = create(*kernel)
    jobs, runs = columns.jobs_of(jobs_in_columns(workload), dispatcher), columns.runs_of(Machine.flat(hosts))
    return least(lambda: schedule_of(jobs, runs, dispatcher), times)


def jobs_in_columns(workload: Workload) -> JobColumns:
    """Return the jobs of a workload of mere delays as columns."""
    jobs = columns_of(workload)
    assert isinstance(jobs, JobColumns)
    return jobs


def seconds_to_read(path: Path) -> float:
    """Return the CPU-seconds that a workload's file takes, the best of three, in a process of its own."""
    program = (
        "import sys, time; from batdispatch.inputs.workloads.workload_file import WorkloadFile\n"
        "now = time.process_time\n"
        "def once():\n    began = now(); WorkloadFile(sys.argv[1]).columns(); return now() - began\n"
        "print(min(once() for _ in range(3)))"
    )
    done = subprocess.run([sys.executable, "-c", program, str(path)], capture_output=True, text=True, check=True)
    return float(done.stdout)


def built(folder: Path, name: str = "easy_counts") -> Path | None:
    """Build a program in C++ of this folder, where there is a compiler."""
    if shutil.which("g++") is None:
        return None
    source, program = Path(__file__).with_name(f"{name}.cpp"), folder / name
    subprocess.run(["g++", "-O2", "-std=c++17", "-o", str(program), str(source)], check=True)
    return program


def in_cpp(program: Path, name: str, workload: Workload, hosts: int) -> tuple[float, np.ndarray]:
    """Return the CPU-seconds of the simulation in C++, the best of three, and all start times."""
    jobs = rigid(workload)
    data = struct.pack("<q", len(jobs)) + np.array(jobs, dtype=np.float64).tobytes()
    best = math.inf
    for _ in range(3):
        done = subprocess.run([str(program), name, str(hosts)], input=data, capture_output=True, check=True)
        best = min(best, float(done.stderr))
    return best, np.frombuffer(done.stdout)


def rate(workload: Workload, hosts: int) -> float:
    """Return how many jobs per CPU-second the yardstick does."""
    jobs = rigid(workload)
    return len(jobs) / timed(lambda: least_easy(jobs, hosts))[0]


def check(kernel: tuple[str, dict[str, str]], workload: Workload, hosts: int) -> None:
    """Compare jobs.csv of the kernel with that of the dispatcher in Python, and say what that takes."""
    machine, name = Machine.flat(hosts), "jobs.csv"
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as other:
        jobs, outputs = jobs_in_columns(workload), Outputs(Path(one), hosts)
        ours, _ = timed(lambda: engine.run(machine, jobs, create(*kernel), outputs))
        slow = EmbeddedEngine(machine, workload, Outputs(Path(other), hosts))
        python, _ = timed(lambda: slow.run(Session(create(*kernel))))
        if (Path(one) / name).read_bytes() != (Path(other) / name).read_bytes():
            raise SystemExit(f"{kernel}: {name} differs")
        print(
            f"  {name} is the same; with files {ours:.2f} CPU-s compiled, {python:.2f} in Python: {python / ours:.1f}x"
        )


def drawn(count: int, hosts: int, load: float) -> Workload:
    """Return random jobs: sizes and run times over orders of magnitude, walltimes of one to five times those."""
    random = np.random.default_rng(1)
    units = np.minimum(np.exp2(random.uniform(0, math.log2(hosts) * 0.75, count)).astype(np.int64), hosts)
    runtime = np.ceil(np.exp(random.uniform(math.log(60), math.log(36_000), count)))
    walltime = np.ceil(runtime * random.uniform(1, 5, count))
    gaps = random.exponential((units * runtime).sum() / (hosts * load) / count, count)
    submission = np.floor(np.cumsum(gaps))
    requests = {size: Request(units=size) for size in set(units.tolist())}
    profiles = {f"d{length:.0f}": {"type": "delay", "delay": length} for length in set(runtime.tolist())}
    made = Workload(
        path=Path("drawn.json"),
        name=f"drawn, load {load}",
        nb_res=hosts,
        jobs=[
            Job(id=f"{n:08}", request=requests[size], submission=come, walltime=limit, profile=f"d{length:.0f}")
            for n, (size, come, limit, length) in enumerate(
                zip(units.tolist(), submission.tolist(), walltime.tolist(), runtime.tolist(), strict=True)
            )
        ],
        profiles=profiles,
    )
    made.sort()
    return made


def platform_of(hosts: int, folder: Path) -> Path:
    """Write a flat platform."""
    path = folder / f"flat{hosts}.xml"
    command("platform", "generate", "flat", "--hosts", str(hosts), "-o", str(path))
    return path


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--log", type=Path, nargs="*", default=[])
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--reading", action="store_true")
    parser.add_argument("--plans", action="store_true")
    parser.add_argument("--conservative", type=int, default=0)
    parser.add_argument("--overloaded", type=int, default=0)
    parser.add_argument("--large", type=int, default=0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        program = built(folder)
        loads = [read_log(log)[0] for log in options.log] or [drawn(28_000, 100, 0.9)]
        least = rate(loads[0], loads[0].nb_res or 1)
        slower = STANDARD / least
        print(f"yardstick: {least:,.0f} jobs per CPU-second on {loads[0].name}")
        for workload in loads:
            hosts = workload.nb_res or 1
            print(f"{workload.name}: {len(workload.jobs):,} jobs, {hosts:,} hosts")
            path, reading = folder / "w.json", 0.0
            if options.reading:
                write_workload(workload, path)
                reading = seconds_to_read(path)
                print(f"  reading JSON: {reading:.3f} CPU-s, scaled {reading / slower:.3f}")
            for kernel in [*ORDERS, PLANS] if options.plans else ORDERS:
                ours, schedule = seconds_of(kernel, workload, hosts)
                line = f"  {kernel[0]} {kernel[1] or ''}: {ours:.3f} CPU-s, scaled {ours / slower:.3f}"
                if program is not None and kernel in ORDERS[:2]:
                    theirs, starts = in_cpp(program, kernel[0], workload, hosts)
                    if not np.array_equal(starts, schedule.start):
                        raise SystemExit(
                            f"{kernel}: {np.count_nonzero(starts != schedule.start)} starts differ from C++"
                        )
                    line += f"; C++ {theirs:.3f}: {ours / theirs:.2f} times its time, all starts the same"
                if options.reading:
                    line += f"; with reading scaled {(reading + ours) / slower:.3f}"
                print(line, flush=True)
                if options.check:
                    check(kernel, workload, hosts)
        for count, hosts, load in ((options.conservative, 240, 0.9), (options.overloaded, 1024, 1.2)):
            if count:
                taken, _ = seconds_of(PLANS, drawn(count, hosts, load), hosts, 1)
                print(f"conservative, {count:,} jobs, load {load}, {hosts:,} hosts: {taken:.1f} CPU-s", end="")
                print(f", scaled {taken / slower:.1f}", flush=True)
        if options.large:
            workload = drawn(options.large, 158_976, 0.9)
            taken, _ = seconds_of(("easy", {}), workload, 158_976)
            print(f"easy, {len(workload.jobs):,} jobs, 158,976 hosts: {taken:.2f} CPU-s, scaled {taken / slower:.2f}")
        print(f"yardstick again: {rate(loads[0], loads[0].nb_res or 1):,.0f} jobs per CPU-second")


if __name__ == "__main__":
    main()
