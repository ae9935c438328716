"""Naive models of how published schedulers decide what they call EASY, after their public sources; no line is theirs.

Jobs ask for hosts by number. A model is a function that decides at one moment. All ends and submissions of a moment
are known before it decides, unless it says otherwise. Times are whole seconds.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple


class Asked(NamedTuple):
    """A job: when it comes, how many hosts it asks for, how long it runs and how long it asks for, s."""

    submission: int
    units: int
    runtime: int
    walltime: int


@dataclass
class World:
    """What a model sees and changes."""

    jobs: Sequence[Asked]
    hosts: int
    now: int = 0
    #: Indices of the waiting jobs, by arrival; those that came at this moment stand in `fresh` as well.
    queue: list[int] = field(default_factory=list)
    fresh: list[int] = field(default_factory=list)
    #: Whether a job ended at this moment.
    ended: bool = False
    #: Index of each running job -> its hosts.
    running: dict[int, list[int]] = field(default_factory=dict)
    starts: dict[int, int] = field(default_factory=dict)
    #: Index of each job that was started -> its hosts.
    places: dict[int, list[int]] = field(default_factory=dict)
    #: (end, index) of the running jobs.
    ends: list[tuple[int, int]] = field(default_factory=list)
    #: The promise of a model that keeps one: (index of the job, time, hosts).
    promise: tuple[int, int, list[int]] | None = None

    @property
    def free(self) -> list[int]:
        """Idle hosts, by number."""
        held = {host for hosts in self.running.values() for host in hosts}
        return [host for host in range(self.hosts) if host not in held]

    def requested_end(self, index: int) -> int:
        """When a running job is to end by what it asked for."""
        return self.starts[index] + self.jobs[index].walltime

    def start(self, index: int, among: Sequence[int]) -> None:
        """Start a job on the first of some hosts."""
        job = self.jobs[index]
        self.queue.remove(index)
        self.starts[index] = self.now
        self.running[index] = self.places[index] = list(among[: job.units])
        heapq.heappush(self.ends, (self.now + min(job.runtime, job.walltime), index))

    def shadow(self, index: int) -> tuple[int, list[int]]:
        """When a waiting job fits by the requested ends, and the hosts that are free then."""
        for shadow in sorted({self.requested_end(one) for one in self.running}):
            ended = [one for one in self.running if self.requested_end(one) <= shadow]
            free = sorted([*self.free, *(host for one in ended for host in self.running[one])])
            if len(free) >= self.jobs[index].units:
                return shadow, free
        raise AssertionError("no job asks for more than the machine")

    def start_in_order(self) -> None:
        """Start jobs from the head of the queue until one does not fit."""
        while self.queue and self.jobs[self.queue[0]].units <= len(self.free):
            self.start(self.queue[0], self.free)


def on_hosts(world: World) -> None:
    """batsched's easy_bf: the head is promised particular hosts, and who outlives the shadow time stays off them."""
    world.start_in_order()
    if not world.queue:
        return
    head, *behind = world.queue
    shadow, free = world.shadow(head)
    promised = free[: world.jobs[head].units]
    for index in behind:
        _run_ahead(world, index, shadow, promised)


def at_once_or_never(world: World) -> None:
    """batsched's easy_bf_fast: no job runs beside the promise, which is found once, and who has to wait waits for it.

    A job that does not start when it comes is looked at again when the head of the queue has started.
    """
    before = world.promise
    if before is not None and world.ended and world.jobs[before[0]].units <= len(world.free):
        world.start(before[0], world.free)
        world.promise = None
        for index in [one for one in world.queue if one not in world.fresh]:
            _by_the_promise(world, index)
    for index in list(world.fresh):
        _by_the_promise(world, index)


def _by_the_promise(world: World, index: int) -> None:
    """Start a job that fits and ends by the promise, if there is one; who does not fit has the promise from then on."""
    job = world.jobs[index]
    if job.units <= len(world.free):
        if world.promise is None or world.now + job.walltime <= world.promise[1]:
            world.start(index, world.free)
    elif world.promise is None:
        world.promise = (index, world.shadow(index)[0], [])


def not_before_the_promise(world: World) -> None:
    """AccaSim's EASY: time and hosts of the promise are found once, and the head does not start before that time."""
    if world.promise is not None and world.now >= world.promise[1]:
        head = world.promise[0]
        if world.jobs[head].units <= len(world.free):
            world.start(head, world.free)
            world.promise = None
    if world.promise is None:
        world.start_in_order()
        if not world.queue:
            return
        head = world.queue[0]
        shadow, free = world.shadow(head)
        world.promise = (head, shadow, free[: world.jobs[head].units])
    head, shadow, promised = world.promise
    for index in [one for one in world.queue if one != head]:
        _run_ahead(world, index, shadow, promised)


def _run_ahead(world: World, index: int, shadow: int, promised: Sequence[int]) -> None:
    """Start a job that fits; if it outlives the shadow time, on hosts that are not promised."""
    job, free = world.jobs[index], world.free
    if world.now + job.walltime > shadow:
        free = [host for host in free if host not in promised]
    if job.units <= len(free):
        world.start(index, free)


def simulate(jobs: Sequence[Asked], hosts: int, decide: Callable[[World], None]) -> World:
    """Return the world when all jobs have ended. Models decide at submissions, at ends, and when a promise is due."""
    world = World(jobs, hosts)
    coming = sorted((job.submission, index) for index, job in enumerate(jobs))
    while coming or world.ends or world.queue:
        due = [world.promise[1]] if world.promise is not None and world.promise[1] > world.now else []
        world.now = min([*due, *(time for time, _ in coming[:1]), *(time for time, _ in world.ends[:1])])
        world.ended, world.fresh = False, []
        while world.ends and world.ends[0][0] == world.now:
            del world.running[heapq.heappop(world.ends)[1]]
            world.ended = True
        while coming and coming[0][0] == world.now:
            world.fresh.append(coming.pop(0)[1])
        world.queue += world.fresh
        decide(world)
    return world
