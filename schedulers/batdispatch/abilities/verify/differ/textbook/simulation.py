"""Lets a policy decide over time."""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, NamedTuple, Protocol

from batdispatch.abilities.verify.differ.textbook.conservative import Conservative
from batdispatch.abilities.verify.differ.textbook.easy import Easy
from batdispatch.abilities.verify.differ.textbook.jobs import RigidJob
from batdispatch.abilities.verify.differ.textbook.moment import Moment, number_of
from batdispatch.abilities.verify.differ.textbook.policies import Fcfs, Filling
from batdispatch.abilities.verify.differ.textbook.rules import Rules


class _Policy(Protocol):
    def decide(self, moment: Moment) -> None:
        """Start what may start now."""


_POLICIES: dict[str, type[_Policy]] = {
    "fcfs": Fcfs,
    "easy": Easy,
    "conservative": Conservative,
    "filling": Filling,
}


class Departure(NamedTuple):
    """Where a simulation parted from the starts that it was to reproduce."""

    #: Index of the job whose start differs, in the order given.
    job: int
    #: Its start in the simulation, microseconds; None: it never starts there.
    start: int | None
    #: Jobs that had started by then as they should.
    alike: int


class _Stop(Exception):
    """A simulation parted."""


def simulate(
    jobs: Sequence[RigidJob], rules: Rules, like: Sequence[int | None] | None = None, tolerance: int = 0
) -> list[int | None] | Departure:
    """Return when each job starts, microseconds, in the order given; None: it is larger than the machine.

    Args:
        jobs: in the order of the file.
        rules: what decides.
        like: starts to reproduce, microseconds; None for a job that did not start. The simulation stops at the first
            start that is another one, and says where.
        tolerance: up to how many microseconds times count as equal there.
    """
    order = sorted(range(len(jobs)), key=_ARRIVALS[rules.among_equal](jobs))
    simulation = _Simulation(
        [jobs[index] for index in order],
        rules,
        None if like is None else [like[index] for index in order],
        tolerance,
    )
    with suppress(_Stop):
        simulation.run()
    if simulation.parted is not None:
        parted = simulation.parted
        return Departure(order[parted.job], parted.start, parted.alike)
    starts: list[int | None] = [None] * len(jobs)
    for index, start in zip(order, simulation.starts, strict=True):
        starts[index] = start
    return starts


class _Simulation:
    """One simulation; indices are in order of arrival."""

    def __init__(self, jobs: list[RigidJob], rules: Rules, like: list[int | None] | None, tolerance: int) -> None:
        self._jobs, self._rules, self._like, self._tolerance = jobs, rules, like, tolerance
        self.starts: list[int | None] = [None] * len(jobs)
        self.parted: Departure | None = None
        self._alike = 0
        #: (end, number of the start, index): ends of one moment come in the order of the starts.
        self._ends: list[tuple[int, int, int]] = []
        self._next = 0
        self._begun = 0
        self._moment = Moment(jobs, rules, self._started)
        self._policy = _POLICIES[rules.policy]()

    def run(self) -> None:
        """Let time pass until nothing is left to happen.

        Raises:
            _Stop: a start is not the one to be reproduced.
        """
        moment, jobs = self._moment, self._jobs
        together, ends_first = self._rules.told == "together", self._rules.told == "ends-first"
        while self._ends or self._next < len(jobs) or moment.queue:
            submission = jobs[self._next].submission if self._next < len(jobs) else math.inf
            end = self._ends[0][0] if self._ends else math.inf
            now = min(submission, end, self._due())
            if now == math.inf:
                break
            moment.now = int(now)
            if together:
                while self._ends and self._ends[0][0] == now:
                    moment.end(heapq.heappop(self._ends)[2])
                while self._next < len(jobs) and jobs[self._next].submission == now:
                    moment.submit(self._next)
                    self._next += 1
            elif end == now and (ends_first or submission > now):
                moment.end(heapq.heappop(self._ends)[2])
            elif submission == now:
                moment.submit(self._next)
                self._next += 1
            self._policy.decide(moment)
        if self._like is not None:
            for index, wanted in enumerate(self._like):
                if wanted is not None and self.starts[index] is None:
                    self.parted = Departure(index, None, self._alike)
                    return

    def _due(self) -> float:
        """Return when a promise is due at which nothing else happens, microseconds."""
        promised = self._policy.due(self._moment) if isinstance(self._policy, Conservative) else None
        return math.inf if promised is None else promised

    def _started(self, index: int) -> None:
        now, job = self._moment.now, self._jobs[index]
        self.starts[index] = now
        takes = job.runtime if self._rules.overrun == "extend" else min(job.runtime, job.walltime)
        heapq.heappush(self._ends, (now + takes, self._begun, index))
        self._begun += 1
        if self._like is not None:
            wanted = self._like[index]
            if wanted is None or abs(wanted - now) > self._tolerance:
                self.parted = Departure(index, now, self._alike)
                raise _Stop
        self._alike += 1


#: How equal submissions are told apart -> jobs -> index -> what arrivals are sorted by.
_ARRIVALS: dict[str, Callable[[Sequence[RigidJob]], Callable[[int], Any]]] = {
    "number": lambda jobs: lambda index: (jobs[index].submission, number_of(jobs[index].id), index),
    "text": lambda jobs: lambda index: (jobs[index].submission, jobs[index].id, index),
    "file": lambda jobs: lambda index: (jobs[index].submission, index),
}
