"""CPU time of conservative backfilling, here and in another checkout, and how it grows with jobs, hosts and queue.

Usage: ``python benchmarks/conservative.py [--against FOLDER] [--jobs 1500] [LOG --first 8000]``

FOLDER is another checkout of this repository (``git worktree add FOLDER REVISION``). Each case runs in a process of its
own, with this checkout's package and then with the other one's. Printed are the CPU seconds from the loaded workload to
the last output file, their ratio, and whether the two wrote the same jobs.csv; and the exponents with which the time
grows when jobs, hosts or the queue double. The random workloads are those of ``benchmarks/engine.py``, on as many
times more hosts per job as the machine is larger, or on nodes with cores and memory that jobs share; a load above 1
makes the queue grow with the number of jobs.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
from timing import ROOT, process, timed


def run(case: dict[str, Any]) -> dict[str, Any]:
    """Return CPU seconds and the digest of jobs.csv of one case, with whatever package is imported."""
    from engine import HOSTS, random_workload

    from batdispatch.core.jobs.request import Request, amounts
    from batdispatch.core.line.dispatcher import create
    from batdispatch.core.line.session import Session
    from batdispatch.core.machine.machine import Machine
    from batdispatch.engines.embedded import EmbeddedEngine
    from batdispatch.engines.outputs import Outputs
    from batdispatch.inputs.workloads.importers import LogOptions, read_log

    if "log" in case:
        options = LogOptions(units="hosts", processors_per_host=case["processors"])
        workload, *_ = read_log(Path(case["log"]), options=options)
        hosts = workload.nb_res or max(job.units for job in workload.jobs)
        workload = msgspec.structs.replace(workload, jobs=workload.jobs[: case["jobs"]])
        machine = Machine.flat(hosts)
    else:
        hosts = case["hosts"]
        drawn = random_workload(case["jobs"], case["load"])
        if case.get("resources"):
            # As many cores as `random_workload` has hosts, and some memory with each.
            machine = Machine.flat(hosts, f"core={HOSTS // hosts} mem={4 * HOSTS // hosts}")
            asked = [amounts({"core": 1, "mem": 2 + number % 3}) for number in range(case["jobs"])]
            wider = [
                msgspec.structs.replace(job, request=Request(units=job.units, per_unit=each))
                for job, each in zip(drawn.jobs, asked, strict=True)
            ]
        else:
            machine = Machine.flat(hosts)
            wider = [
                msgspec.structs.replace(job, request=Request(units=job.units * hosts // HOSTS)) for job in drawn.jobs
            ]
        workload = msgspec.structs.replace(drawn, nb_res=hosts, jobs=wider)
    with tempfile.TemporaryDirectory() as folder:
        engine = EmbeddedEngine(machine, workload, Outputs(Path(folder), hosts))
        seconds, _ = timed(lambda: engine.run(Session(create("conservative"))))
        digest = hashlib.sha256((Path(folder) / "jobs.csv").read_bytes()).hexdigest()
    return {"seconds": seconds, "digest": digest}


def measured(case: dict[str, Any], checkout: Path) -> dict[str, Any]:
    """Return what `run` says in a process with a checkout's package."""
    used = process([sys.executable, __file__, "--case", json.dumps(case)], checkout=checkout)
    found: dict[str, Any] = json.loads(used.output)
    return found


def cases(jobs: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield (what doubles twice, case)."""
    for factor in (1, 2, 4):
        yield "jobs, load 0.8", {"jobs": jobs * factor, "load": 0.8, "hosts": 128}
    for factor in (1, 2, 4):
        yield "hosts, load 0.8", {"jobs": jobs, "load": 0.8, "hosts": 1024 * factor}
    for factor in (1, 2, 4):
        yield "shared nodes, load 0.8", {"jobs": jobs * factor, "load": 0.8, "hosts": 16, "resources": True}
    for factor in (1, 2, 4):
        yield "queue, load 1.2", {"jobs": jobs * factor, "load": 1.2, "hosts": 1024}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("logs", nargs="*", metavar="LOG")
    parser.add_argument("--first", type=int, default=8000, help="Jobs of each log.")
    parser.add_argument("--processors-per-host", type=int, default=1, help="Of the logs; KIT ForHLR II has 20.")
    parser.add_argument("--jobs", type=int, default=1500, help="Jobs of the smallest random workload; 0: none.")
    parser.add_argument("--against", type=Path, metavar="FOLDER", help="Another checkout.")
    parser.add_argument("--case", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.case:
        print(json.dumps(run(json.loads(given.case))))
        return
    read = {"jobs": given.first, "processors": given.processors_per_host}
    listed = [(Path(log).name, {"log": log, **read}) for log in given.logs]
    listed += cases(given.jobs) if given.jobs else ()
    by_group: dict[str, list[float]] = {}
    for group, case in listed:
        here = measured(case, ROOT)
        by_group.setdefault(group, []).append(here["seconds"])
        line = f"{group:24} {case['jobs']:7} jobs {case.get('hosts', ''):>6} hosts {here['seconds']:8.2f} CPU-s"
        if given.against:
            there = measured(case, given.against)
            same = "same schedule" if there["digest"] == here["digest"] else "ANOTHER SCHEDULE"
            line += f", there {there['seconds']:8.2f}, ratio {there['seconds'] / here['seconds']:5.2f}, {same}"
        print(line, flush=True)
    for group, seconds in by_group.items():
        if len(seconds) > 1:
            print(f"{group:24} exponent {math.log2(seconds[-1] / seconds[0]) / (len(seconds) - 1):5.2f}")


if __name__ == "__main__":
    main()
