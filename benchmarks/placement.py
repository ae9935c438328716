"""Placements by shape under EASY on a 24 x 24 x 24 torus with two hosts a router, and how many places are missed.

    python benchmarks/placement.py [--dims 24,24,24] [--jobs 3000] [--load 0.85] [--placements convex,local,...]
    python benchmarks/placement.py --missed [--states 60]

The first form simulates a workload with heavy-tailed sizes (Pareto, index 0.6, up to 8,192 hosts) and times each call
of the placement by CPU time, in a process of its own for each placement. Jobs arrive at random, so that the load
offered is the one asked for; run times are lognormal, and requests are up to five times as long. I/O nodes are spread
evenly, and each job is pinned to one or two of them. "busy" is the share of the hosts in use, by time, in the second
half of the arrivals.

The second form makes states of small tori at random: jobs of heavy-tailed sizes placed by `convex`, `contiguous` or
`first-fit`, up to 85 % of the hosts. In each state it asks for convex sets of several sizes twice: as on a large
machine (boxes and growth), and exhaustively. A place is missed if only the second finds one. Searches that end without
an answer after their largest number of steps are counted; they prove nothing.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Iterator
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from batdispatch.abilities.topology.networks import Grid
from batdispatch.abilities.topology.placement.geometry import network, search
from batdispatch.abilities.topology.placement.geometry.cliques import CliqueSearch
from batdispatch.core.jobs.job import Job, JobState
from batdispatch.core.jobs.request import Request
from batdispatch.core.line import events as e
from batdispatch.core.line.dispatcher import create
from batdispatch.core.line.ledger import Ledger
from batdispatch.core.line.options import split_list
from batdispatch.core.line.scene import Scene
from batdispatch.core.line.session import Session
from batdispatch.core.machine.machine import Host, Machine
from batdispatch.dispatchers.backfilling.queue import QueueDispatcher
from batdispatch.engines.embedded import EmbeddedEngine
from batdispatch.engines.outputs import Outputs
from batdispatch.inputs.workloads import Workload
from batdispatch.parts.placement import make_placement
from batdispatch.runs.workers import call_isolated

PLACEMENTS = "first-fit,contiguous[order=hilbert],connected,convex,convex[rule=routers],local,convex+local,compact"
PER_ROUTER = 2


def machine_of(dims: list[int], per_router: int, io: int) -> Machine:
    """A torus of whole hosts; `io` of its hosts, spread evenly, are I/O nodes."""
    count = int(np.prod(dims)) * per_router
    disks = set((np.arange(io) * count // max(io, 1)).tolist())
    hosts = [Host(id=host, name=f"n{host}", storage=host in disks) for host in range(count)]
    return Machine(hosts, Grid(np.arange(count) // per_router, dims))


def jobs_of(machine: Machine, count: int, load: float, largest: int, seed: int) -> tuple[list[Job], dict[str, Any]]:
    """Jobs with heavy-tailed sizes, in order of arrival, and their profiles."""
    rng = np.random.default_rng(seed)
    sizes = np.minimum(rng.pareto(0.6, count) * 2 + 1, largest).astype(int)
    runtimes = np.maximum(rng.lognormal(7.0, 1.0, count), 30.0).round()
    walltimes = (runtimes * rng.uniform(1.0, 5.0, count)).round()
    every = float((sizes * runtimes).mean()) / (load * machine.size)
    arrivals = rng.exponential(every, count).cumsum()
    names = [host.name for host in machine.storage]
    jobs, profiles = [], {}
    for number in range(count):
        pinned = tuple(rng.choice(names, int(rng.integers(1, 3)), replace=False).tolist())
        request = Request(units=int(sizes[number]), io_nodes=pinned)
        profiles[f"p{number}"] = {"type": "delay", "delay": float(runtimes[number])}
        jobs.append(
            Job(
                id=str(number),
                request=request,
                submission=float(arrivals[number]),
                walltime=float(walltimes[number]) + 1,
                profile=f"p{number}",
            )
        )
    return jobs, profiles


def measure(placement: str, dims: list[int], jobs: int, load: float, progress: object = None) -> dict[str, Any]:
    """Simulate once in this process, and return what the placement took, in CPU milliseconds, and what came of it."""
    machine = machine_of(dims, PER_ROUTER, int(np.prod(dims)) * PER_ROUTER * 672 // 27648)
    listed, profiles = jobs_of(machine, jobs, load, largest=int(np.prod(dims)) * PER_ROUTER * 8192 // 27648, seed=1)
    dispatcher = create("easy", {"placement": placement})
    assert isinstance(dispatcher, QueueDispatcher)
    spent: list[float] = []
    found: list[bool] = []
    place = dispatcher.placement.place

    def timed(scene: Scene, job: Job) -> Any:
        began = time.process_time()
        answer = place(scene, job)
        spent.append(1e3 * (time.process_time() - began))
        found.append(answer is not None)
        return answer

    dispatcher.placement.place = timed  # type: ignore[method-assign]
    session = Session(dispatcher)
    began = time.process_time()
    with tempfile.TemporaryDirectory() as folder:
        workload = Workload(path=Path("made.json"), name="made", jobs=listed, profiles=profiles)
        engine = EmbeddedEngine(machine, workload, Outputs(Path(folder), machine.size))
        engine.run(session)
        seconds = time.process_time() - began
        rows = [line.split(",") for line in (Path(folder) / "jobs.csv").read_text().splitlines()]
    head = rows[0]
    table = {name: [row[index] for row in rows[1:]] for index, name in enumerate(head)}
    waits = np.array([float(text) for text in table["waiting_time"] if text])
    started, ended = (
        np.array([float(text or "nan") for text in table[name]]) for name in ("starting_time", "finish_time")
    )
    hosts = np.array([int(text) for text in table["requested_number_of_resources"]])
    since, until = listed[-1].submission / 2, listed[-1].submission
    inside = np.clip(ended, since, until) - np.clip(started, since, until)
    times = np.array(spent)
    return {
        "asked": len(times),
        "found": float(np.mean(found)),
        "mean": float(times.mean()),
        "p50": float(np.percentile(times, 50)),
        "p99": float(np.percentile(times, 99)),
        "most": float(times.max()),
        "rejected": int(sum(state == "REJECTED" for state in table["final_state"])),
        "busy": float(np.nansum(inside * hosts) / ((until - since) * machine.size)),
        "wait": float(np.nanmean(waits)),
        "seconds": seconds,
    }


# ---------------------------------------------------------------------- places that are missed


def states(dims: list[int], per_router: int, filled_by: str, count: int, seed: int) -> Iterator[Ledger]:
    """Yield a cluster in states that random jobs leave, up to 85 % of the hosts: always the same cluster."""
    rng = np.random.default_rng(seed)
    machine = machine_of(dims, per_router, 0)
    ledger = Ledger(e.SimulationBegins(0.0, machine))
    placement = make_placement(filled_by)
    placement.begin(machine)
    for number in range(60 + 3 * count):
        units = int(min(machine.size // 4, rng.pareto(0.8) * 1.5 + 1))
        job = Job(id=f"w!{number}", request=Request(units=units))
        ledger.apply_submitted(e.JobSubmitted(0.0, job))
        while ledger.running and ledger.free_hosts - units < 0.15 * machine.size:
            stay = list(ledger.running.values())[int(rng.integers(len(ledger.running)))]
            ledger.apply_completed(e.JobCompleted(time=0.0, job_id=stay.job.id, state=JobState.COMPLETED_SUCCESSFULLY))
        place = placement.place(Scene(ledger), job)
        if place is None:
            ledger.reject(job, "")
        else:
            ledger.start(job, place)
        if number >= 60 and number % 3 == 0:
            yield ledger


def missed(dims: list[int], per_router: int, filled_by: str, count: int, progress: object = None) -> dict[str, Any]:
    """Count convex sets that there are, and those that boxes and growth miss."""
    network.SMALL = 10**6
    unanswered = 0

    class Counted(CliqueSearch):
        def find(self) -> list[int] | None:
            nonlocal unanswered
            cells = super().find()
            unanswered += self.exhausted
            return cells

    class Never(CliqueSearch):
        def find(self) -> list[int] | None:
            return None

    placement = make_placement("convex")
    asked = there = lost = 0
    busy: list[float] = []
    for ledger in states(dims, per_router, filled_by, count, seed=1):
        if not asked:
            placement.begin(ledger.machine)
        busy.append(1 - ledger.free_hosts / ledger.machine.size)
        for units in (2, 3, 4, 6, 8, 12, 16, 24, 32):
            if units > ledger.free_hosts:
                continue
            job = Job(id="w!asked", request=Request(units=units))
            search.CliqueSearch = Never  # type: ignore[misc]
            quick = placement.place(Scene(ledger), job)
            search.CliqueSearch = Counted  # type: ignore[misc]
            exact = placement.place(Scene(ledger), job)
            asked += 1
            there += exact is not None
            lost += exact is not None and quick is None
    return {"busy": float(np.mean(busy)), "asked": asked, "there": there, "lost": lost, "unanswered": unanswered}


def main() -> None:
    # A worker imports this file, which as a script has no name.
    by_name = import_module("placement")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dims", default="24,24,24")
    parser.add_argument("--jobs", type=int, default=3000)
    parser.add_argument("--load", type=float, default=0.85)
    parser.add_argument("--placements", default=PLACEMENTS)
    parser.add_argument("--missed", action="store_true", help="count places that are missed on small tori")
    parser.add_argument("--states", type=int, default=60, help="states of each small torus")
    chosen = parser.parse_args()
    sys.path.insert(0, str(Path(__file__).parent))
    if chosen.missed:
        head = ("torus", "hosts", "filled by", "busy", "asked", "there", "missed", "unknown")
        print("".join(f"{name:>12}" for name in head))
        for dims, per_router in (([4, 4, 4], 1), ([4, 4, 4], 2), ([8, 8], 2), ([5, 5, 5], 1), ([6, 6, 6], 1)):
            for filled_by in ("convex", "contiguous", "first-fit"):
                arguments = {"dims": dims, "per_router": per_router, "filled_by": filled_by, "count": chosen.states}
                row = call_isolated(partial(by_name.missed, **arguments))
                name, hosts = "x".join(map(str, dims)), per_router * int(np.prod(dims))
                counts = [row[key] for key in ("asked", "there", "lost", "unanswered")]
                cells = [name, hosts, filled_by, round(row["busy"], 2), *counts]
                print("".join(f"{cell:>12}" for cell in cells), flush=True)
        return
    columns = ("asked", "found", "mean", "p50", "p99", "most", "rejected", "busy", "wait", "seconds")
    print(f"{'ms of CPU per placement asked for':34}" + "".join(f"{name:>12}" for name in columns))
    for placement in split_list(chosen.placements):
        dims = [int(size) for size in chosen.dims.split(",")]
        arguments = {"placement": placement, "dims": dims, "jobs": chosen.jobs, "load": chosen.load}
        row = call_isolated(partial(by_name.measure, **arguments))
        cells = [f"{row[name]:>12.2f}" if isinstance(row[name], float) else f"{row[name]:>12}" for name in columns]
        print(f"{placement:34}" + "".join(cells), flush=True)


if __name__ == "__main__":
    main()
