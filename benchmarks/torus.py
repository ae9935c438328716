"""Communication-heavy jobs on a 24 x 24 x 24 torus with two hosts a router (27,648 hosts): where time and memory go.

    python benchmarks/torus.py [--jobs 2000] [--dims 24,24,24] [--scattered] [--shared] [--every SECONDS] [--sweep]

Jobs of 16 hosts compute 10 Gflop each and exchange 1 GB all to all. Each measurement has a process of its own; all
seconds are CPU seconds of that process. "read" is our reading of the platform and "load" SimGrid's; "start" and "solve"
are SimGrid's: routes and variables of a new task, and sharing links among tasks while time passes; "decisions" is the
dispatcher with its ledger, "engine" the rest. `--sweep` varies one thing at a time, to see how the time grows.
"""

from __future__ import annotations

import argparse
import math
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from batdispatch.abilities.simgrid.library import SimGrid
from batdispatch.abilities.simgrid.timer import SimGridTimer
from batdispatch.abilities.topology.generate.torus import torus
from batdispatch.core.hosts import hostset
from batdispatch.core.hosts.allocation import Allocation
from batdispatch.core.jobs.job import Job
from batdispatch.core.jobs.request import Request
from batdispatch.core.line.dispatcher import Dispatcher
from batdispatch.core.line.ledger import Ledger
from batdispatch.core.line.messages import Message, Reply
from batdispatch.core.line.session import Session
from batdispatch.dispatchers.backfilling.fcfs import Fcfs
from batdispatch.engines.embedded import EmbeddedEngine
from batdispatch.engines.outputs import Outputs
from batdispatch.inputs.platforms import read_platform
from batdispatch.inputs.workloads import Workload
from batdispatch.runs.workers import call_isolated

HEAD = ("jobs", "hosts", "at once", "read", "load", "start", "solve", "decisions", "engine", "all", "MiB")
COLUMNS = ("jobs", "hosts", "at_once", "read", "load", "start", "solve", "decisions", "engine", "total", "memory")


class Scattered(Dispatcher):
    """First come, first served on any free hosts, which makes routes long and shared."""

    def decide(self, cluster: Ledger) -> None:
        for job in list(cluster.queue.values()):
            free = hostset.ids(cluster.free)
            if len(free) < job.units:
                return
            cluster.start(job, Allocation.of(int(host) for host in self.rng.choice(free, job.units, replace=False)))


class Clocked:
    """Adds up the CPU time of calls, and how many activities ran."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.calls = 0

    def wrap(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def timed(*arguments: Any) -> Any:
            began = time.process_time()
            try:
                return function(*arguments)
            finally:
                self.seconds += time.process_time() - began
                self.calls += 1

        return timed


class Watched:
    """Passes messages on and clocks the answers."""

    def __init__(self, session: Session, clock: Clocked) -> None:
        self.answer = clock.wrap(session.handle)

    def handle(self, message: Message) -> Reply:
        reply: Reply = self.answer(message)
        return reply


def workload(jobs: int, size: int, every: float) -> Workload:
    """Return jobs that arrive at random, `every` seconds on average."""
    arrivals = np.random.default_rng(1).exponential(every, jobs).cumsum()
    listed = [
        Job(id=str(number), request=Request(units=size), submission=float(at), walltime=math.inf, profile="p")
        for number, at in enumerate(arrivals)
    ]
    listed.sort(key=lambda job: (job.submission, job.id))
    profiles = {"p": {"type": "parallel_homogeneous", "cpu": 1e10, "com": 1e9}}
    return Workload(path=Path("made.json"), name="made", jobs=listed, profiles=profiles)


def measure(
    dims: list[int], jobs: int, size: int, every: float, scattered: bool, shared: bool, progress: object = None
) -> dict[str, float]:
    """Simulate once in this process."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        content = torus(dims, hosts_per_router=2, router_links="shared" if shared else "split")
        (folder / "torus.xml").write_bytes(content)
        began = time.process_time()
        platform = read_platform(folder / "torus.xml")
        read = time.process_time()
        timer = SimGridTimer(platform)
        loaded = time.process_time()
        starting, solving, deciding = Clocked(), Clocked(), Clocked()
        library: SimGrid = timer._simgrid
        for method, clock in (("start", starting), ("cancel", starting), ("first", solving), ("sleep", solving)):
            setattr(library, method, clock.wrap(getattr(library, method)))
        most = 0
        started = timer.start

        def start(*arguments: Any) -> int:
            nonlocal most
            handle = started(*arguments)
            most = max(most, timer.running)
            return handle

        timer.start = start  # type: ignore[method-assign]
        session = Session(Scattered() if scattered else Fcfs())
        engine = EmbeddedEngine(
            platform.machine, workload(jobs, size, every), Outputs(folder, platform.machine.size), timer=timer
        )
        simulating = time.process_time()
        engine.run(Watched(session, deciding))
        ended = time.process_time()
    simulation = ended - simulating
    return {
        "jobs": jobs,
        "hosts": platform.machine.size,
        "at_once": most,
        "read": read - began,
        "load": loaded - read,
        "start": starting.seconds,
        "solve": solving.seconds,
        "decisions": deciding.seconds,
        "engine": simulation - starting.seconds - solving.seconds - deciding.seconds,
        "total": ended - began,
        "memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "makespan": engine.now,
    }


def show(label: str, found: dict[str, float]) -> None:
    whole = ("jobs", "hosts", "at_once", "memory")
    cells = [f"{found[name]:.0f}" if name in whole else f"{found[name]:.2f}" for name in COLUMNS]
    print(f"{label:34}" + "".join(f"{cell:>10}" for cell in cells), flush=True)


def main() -> None:
    # A worker imports this file, which as a script has no name.
    by_name = import_module("torus")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=2000)
    parser.add_argument("--size", type=int, default=16, help="hosts of a job")
    parser.add_argument("--dims", default="24,24,24")
    parser.add_argument("--every", type=float, default=2.0, help="mean seconds between arrivals")
    parser.add_argument("--scattered", action="store_true", help="hosts at random, not the lowest free ones")
    parser.add_argument("--shared", action="store_true", help="the hosts of a router share its links (to 16,16,16)")
    parser.add_argument("--sweep", action="store_true")
    chosen = parser.parse_args()
    base = {
        "dims": [int(size) for size in chosen.dims.split(",")],
        "jobs": chosen.jobs,
        "size": chosen.size,
        "every": chosen.every,
        "scattered": chosen.scattered,
        "shared": chosen.shared,
    }
    cases: list[tuple[str, dict[str, Any]]] = [("as asked", {})]
    if chosen.sweep:
        cases += [(f"{count} jobs", {"jobs": count}) for count in (chosen.jobs // 4, chosen.jobs // 2, chosen.jobs * 2)]
        cases += [(f"an arrival every {base['every'] / k:g} s", {"every": base["every"] / k}) for k in (2, 4, 8, 16)]
        cases += [(f"jobs of {size} hosts", {"size": size}) for size in (4, 8, 32)]
        cases += [(f"torus {d} x {d} x {d}", {"dims": [d, d, d]}) for d in (8, 12, 16)]
    sys.path.insert(0, str(Path(__file__).parent))
    print(f"{'':34}" + "".join(f"{name:>10}" for name in HEAD))
    for label, change in cases:
        show(label, call_isolated(partial(by_name.measure, **{**base, **change})))


if __name__ == "__main__":
    main()
