"""Simulations with power states, at random."""

import random
from pathlib import Path
from typing import Any

from batdispatch.abilities.simgrid.timer import SimGridTimer
from batdispatch.core.hosts.allocation import Allocation
from batdispatch.core.line import decisions as d
from batdispatch.core.line import events as e
from batdispatch.core.line.messages import Message, Reply
from batdispatch.engines.choices import CountEnergy
from batdispatch.engines.embedded import EmbeddedEngine
from batdispatch.engines.outputs import Outputs
from batdispatch.engines.records import EngineOptions
from batdispatch.inputs.platforms import read_platform
from batdispatch.inputs.workloads import read_workload
from recorded_energy import ENERGY

HETERO = ENERGY / "platforms" / "hetero12.xml"


class Random:
    """Starts jobs on random hosts; either they share these, or the hosts change their speed while jobs run."""

    def __init__(self, seed: int, sizes: dict[str, int], *, share: bool) -> None:
        self.random, self.sizes, self.share = random.Random(seed), sizes, share
        self.free = set(range(8))
        self.waiting: list[str] = []
        #: Hosts that sleep, or fall asleep.
        self.asleep: set[int] = set()

    def handle(self, message: Message) -> Reply:
        found: list[d.Decision] = []
        now = message.now
        for event in message.events:
            if isinstance(event, e.JobSubmitted):
                self.waiting.append(event.job.id)
                sleeper = self.random.randrange(8, 12)
                if sleeper not in self.asleep:
                    self.asleep.add(sleeper)
                    found.append(d.SetResourceState(now, Allocation.of([sleeper]), "3"))
            elif isinstance(event, e.JobCompleted) and event.allocation is not None and not self.share:
                self.free |= set(event.allocation.ids)
        while self.waiting and self.sizes[self.waiting[0]] <= len(self.free):
            job_id = self.waiting.pop(0)
            hosts = self.random.sample(sorted(self.free), self.sizes[job_id])
            found.append(d.Execute(now, job_id, Allocation.of(hosts)))
            if not self.share:
                self.free -= set(hosts)
                host = Allocation.of([self.random.randrange(8)])
                found.append(d.SetResourceState(now, host, str(self.random.randrange(3))))
        return Reply(now, found)


def case(seed: int) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Return jobs and profiles that only compute or wait."""
    chance = random.Random(seed)
    profiles: dict[str, Any] = {"wait": {"type": "delay", "delay": 41}}
    jobs = []
    for number in range(20):
        size = chance.choice([1, 1, 2, 3])
        kind = chance.choice(["parallel", "parallel_homogeneous", "composed", "wait"])
        name = f"{kind}{size}.{number}"
        flops = chance.choice([1e9, 3e9, 7e9])
        alike = {"type": "parallel_homogeneous", "cpu": flops, "com": 0}
        if kind == "parallel":
            profiles[name] = {"type": kind, "cpu": [flops * (1 + rank) for rank in range(size)], "com": [0] * size**2}
        elif kind == "composed":
            profiles |= {f"{name}p": alike, name: {"type": kind, "seq": ["wait", f"{name}p"], "repeat": 2}}
        else:
            profiles[name] = alike
        jobs.append({"id": str(number), "subtime": chance.randrange(300), "walltime": 400, "res": size})
        jobs[-1]["profile"] = "wait" if kind == "wait" else name
    return jobs, profiles


def simulate(seed: int, folder: str, count: CountEnergy, simgrid: bool, share: bool, progress: object) -> None:
    platform = read_platform(HETERO)
    workload = read_workload(Path(folder) / "w.json")
    EmbeddedEngine(
        platform.machine,
        workload,
        Outputs(Path(folder) / ("theirs" if simgrid else "ours"), 12),
        options=EngineOptions(energy=count, compute_sharing=True),
        timer=SimGridTimer(platform, energy=True) if simgrid else None,
    ).run(Random(seed, {f"w0!{job.id}": job.units for job in workload.jobs}, share=share))
