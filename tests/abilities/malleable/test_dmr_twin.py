"""`resizing` and DMR's policy against a simulation that shares no code with them: node counts, and a list of events.

The twin is what a reader of the paper writes down: first come first served, EASY or no reservation at all, the policy
of section 4, and what a resize costs. It knows no ids of nodes, no messages and no segments. Each job must start, be
resized and end at the same times, on as many nodes. One thing does depend on ids: which nodes are kept for a job that
another one is shrunk for. Where a placement takes more of the free nodes for it and fewer of the freed ones, more are
kept for a moment. In about one of fifty workloads of flexible sleeps a job then expands a moment later than the twin's.
"""

import math
from typing import Any

import numpy as np
import pytest

from batdispatch.core.machine.machine import Machine
from batdispatch.inputs.workloads import Workload
from batdispatch_papers.dmr.workload import REAL, Times, dmr
from malleable import units_of
from simulating import Result, Task, simulate
from stochastic import attempts_of

BANDWIDTH = 5e9
#: Seconds: a check, an expansion, a shrink (table 1, synchronous).
CHECK, EXPAND, SHRINK = 0.0094, 0.423, 0.425
#: Seconds by which times may differ: points are rounded up to milliseconds, and messages take microseconds.
NEAR = 0.05

#: What a job did: (time, nodes that it has from then on), the last one with 0.
Story = list[tuple[float, int]]


def up(seconds: float) -> float:
    """The next full millisecond."""
    return math.ceil(seconds * 1000 - 1e-6) / 1000


class TwinJob:
    """A job as the twin sees it; what is done is a share of its work."""

    def __init__(self, job: Any, runtime: float) -> None:
        self.id, self.arrival, self.asks, self.runtime = job.id, job.submission, job.units, runtime
        self.walltime, self.sizes = job.walltime, job.extra.get("sizes")
        self.units, self.done, self.since, self.owed = 0, 0.0, 0.0, 0.0
        self.checked: float | None = None
        self.due = math.inf
        self.story: Story = []

    def length(self, units: int) -> float:
        """Seconds of all its work on some nodes."""
        text = self.sizes["scalability"] if self.sizes and "scalability" in self.sizes else "linear"
        exponent = float(text.partition(":")[2] or 1)
        return float(self.runtime * (self.asks / units) ** exponent)

    def end(self) -> float:
        return self.since + (1 - self.done) * self.length(self.units)

    def resizes_to(self) -> tuple[list[int], list[int]]:
        """Sizes above and below, nearest first."""
        above, below, units = [], [], self.units
        while units * 2 <= self.sizes["most"]:
            units *= 2
            above.append(units)
        units = self.units
        while units % 2 == 0 and units // 2 >= self.sizes["least"]:
            units //= 2
            below.append(units)
        return above, below

    def look_again(self, now: float) -> None:
        """Find the next point between two steps that is not within the period after the last check."""
        if not self.sizes:
            return
        length, steps = self.length(self.units), self.sizes["steps"]
        not_before = now if self.checked is None else max(now, self.checked + self.sizes.get("period", 0))
        step = max(math.ceil((self.done + max(not_before - self.since, 0) / length) * steps - 1e-5), 1)
        if step / steps <= self.done + max(now - self.since, 0) / length + 1e-8:
            step += 1
        self.due = up(self.since + (step / steps - self.done) * length) if step < steps else math.inf


class Twin:
    """The cluster, its queue, and one loop over events."""

    def __init__(self, workload: Workload, hosts: int, unit_cost: float = 0.0, acknowledge_cost: float = 0.0) -> None:
        self.unit_cost, self.acknowledge_cost = unit_cost, acknowledge_cost
        self.jobs = [TwinJob(job, float(workload.profiles[job.profile]["delay"])) for job in workload.jobs]
        self.free, self.now = hosts, 0.0
        self.waiting: list[TwinJob] = []
        self.running: list[TwinJob] = []
        #: Jobs that others were shrunk for.
        self.favoured: list[TwinJob] = []
        #: (time, nodes that come back then).
        self.leaving: list[tuple[float, int]] = []

    def run(self) -> dict[str, Story]:
        coming = sorted(self.jobs, key=lambda job: job.arrival)
        while coming or self.waiting or self.running:
            times = [job.arrival for job in coming[:1]] + [time for time, _ in self.leaving]
            self.now = min(times + [min(job.end(), job.due) for job in self.running])
            for entry in [entry for entry in self.leaving if entry[0] <= self.now + 1e-9]:
                self.leaving.remove(entry)
                self.free += entry[1]
            for job in [job for job in self.running if job.end() <= self.now + 1e-9]:
                self.running.remove(job)
                self.free += job.units
                job.story.append((self.now, 0))
            while coming and coming[0].arrival <= self.now:
                self.waiting.append(coming.pop(0))
            self.schedule()
            for job in sorted(self.running, key=lambda job: (job.due, job.id)):
                if job.due <= self.now + 1e-9:
                    self.check(job)
            self.schedule()
        return {job.id: job.story for job in self.jobs}

    def start(self, job: TwinJob) -> None:
        self.free -= job.asks
        job.units, job.since = job.asks, self.now
        job.story.append((self.now, job.units))
        self.running.append(job)
        job.look_again(self.now)

    def schedule(self) -> None:
        """First come first served; then others, if they leave the first one its nodes at the time that walltimes say.

        Nodes that a shrunk job has not left yet are counted nowhere.
        """
        for job in list(self.favoured):
            if job.asks <= self.free:
                self.favoured.remove(job)
                self.start(job)
        while self.waiting and self.waiting[0].asks <= self.free:
            self.start(self.waiting.pop(0))
        if not self.waiting:
            return
        shadow, there = math.inf, self.free
        for end, units in sorted((job.story[0][0] + job.walltime, job.units) for job in self.running):
            if end > shadow:
                break
            there += units
            if there >= self.waiting[0].asks:
                shadow = end
        spare = there - self.waiting[0].asks if shadow < math.inf else math.inf
        for job in self.waiting[1:]:
            ends_before = self.now + job.walltime <= shadow
            if job.asks <= self.free and (ends_before or job.asks <= spare):
                spare -= 0 if ends_before else job.asks
                self.waiting.remove(job)
                self.start(job)

    def check(self, job: TwinJob) -> None:
        job.checked = self.now
        job.owed += CHECK
        size, favoured = self.policy(job)
        if size != job.units:
            self.resize(job, size, favoured)
        job.look_again(self.now)

    def policy(self, job: TwinJob) -> tuple[int, TwinJob | None]:
        """Sections 4.2 and 4.3: the size, and the waiting job that a shrink is for."""
        above, below = job.resizes_to()
        most = max([size for size in above if size - job.units <= self.free], default=job.units)
        preferred = job.sizes.get("preferred")
        if preferred:
            if not self.waiting:
                return most, None
            if job.units > preferred:
                return min((size for size in below if size >= preferred), default=job.units), None
            towards = [size for size in above if size <= preferred and size - job.units <= self.free]
            return max(towards, default=job.units), None
        if any(other.asks <= self.free for other in self.waiting):
            return job.units, None
        for other in self.waiting:
            for size in below:
                if other.asks <= self.free + job.units - size:
                    return size, other
        return most, None

    def resize(self, job: TwinJob, size: int, favoured: TwinJob | None) -> None:
        before = job.units
        transfer = job.sizes["data"] * abs(1 / before - 1 / size) / BANDWIDTH
        # Figure 3: all nodes are scheduled, and those of a shrinking job wait for one another.
        growing = EXPAND + self.unit_cost * size
        shrinking = SHRINK + (self.unit_cost + self.acknowledge_cost) * before
        cost = job.owed + transfer + (growing if size > before else shrinking)
        job.done += max(self.now - job.since, 0) / job.length(before)
        job.units, job.since, job.owed = size, self.now + cost, 0.0
        job.story.append((self.now, size))
        if size > before:
            self.free -= size - before
            return
        beside = max(favoured.asks - (before - size), 0) if favoured else 0
        self.free -= beside
        if favoured:
            self.waiting.remove(favoured)
            self.favoured.append(favoured)
        self.leaving.append((up(self.now + cost), before - size + beside))


def stories(result: Result) -> dict[str, Story]:
    """What each logical job did by the run's files."""
    found = {}
    for root, rows in attempts_of(result).items():
        found[root] = [(row.start / 1e6, units_of(row)) for row in rows] + [(rows[-1].end / 1e6, 0)]
    return found


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    ("applications", "hosts", "options"),
    [
        (REAL, 64, {}),
        (REAL, 64, {"walltime_factor": 1.5}),
        (REAL, 64, {"share": 0.5, "walltime_factor": 3.0, "gap": 40.0}),
        (("fs",), 20, {"times": Times(fs_runtime=100.0)}),
    ],
    ids=["no walltimes", "walltimes", "half of them rigid", "flexible sleep"],
)
def test_every_start_and_resize_is_the_twins(
    seed: int, applications: tuple[str, ...], hosts: int, options: dict[str, Any]
) -> None:
    compare(seed, applications, hosts, options, {})


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize(("applications", "hosts"), [(REAL, 64), (("fs",), 20)], ids=["applications", "flexible sleep"])
def test_costs_that_grow_with_the_nodes_are_the_twins(seed: int, applications: tuple[str, ...], hosts: int) -> None:
    options = {"times": Times(fs_runtime=100.0)} if hosts == 20 else {}
    compare(seed, applications, hosts, options, {"unit_cost": 0.05, "acknowledge_cost": 0.1})


def compare(
    seed: int, applications: tuple[str, ...], hosts: int, options: dict[str, Any], costs: dict[str, float]
) -> None:
    """Compare a run of 60 jobs with the twin's."""
    workload = dmr(np.random.default_rng(seed), jobs=60, hosts=hosts, applications=applications, **options)
    twin = Twin(workload, hosts, **costs).run()
    tasks = [
        Task(job.id, job.submission, job.units, workload.profiles[job.profile]["delay"], job.walltime, extra=job.extra)
        for job in workload.jobs
    ]
    ours = stories(simulate(Machine.flat(hosts), tasks, "resizing", options=costs))
    assert ours.keys() == twin.keys()
    for name, story in twin.items():
        assert [units for _, units in ours[name]] == [units for _, units in story], name
        assert [time for time, _ in ours[name]] == pytest.approx([time for time, _ in story], abs=NEAR), name
    assert sum(len(story) > 2 for story in twin.values()) > 15, "few jobs were resized"
