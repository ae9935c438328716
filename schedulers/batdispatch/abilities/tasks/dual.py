"""One batch of independent tasks on two classes of resources: the dual approximation with affinity, DADA(alpha).

A guess lambda of the makespan is either rejected, or answered with a schedule of at most (2 + alpha) lambda. Bisection
finds a small accepted guess. Numbers may be of any ordered kind (floats, fractions); times are seconds.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

#: A number: float in a run, `Fraction` where a test wants to be exact.
Number = Any


class Pair(NamedTuple):
    """A task and a resource that already has some of its data."""

    affinity: Number
    task: int
    resource: int


@dataclass(frozen=True)
class Batch:
    """The tasks to place.

    Attributes:
        times: run time of each task on each resource, [task][resource]; infinite where it cannot run.
        gpu: for each resource whether it is a GPU, [resource]; the others are CPUs.
        affinity: pairs of positive affinity, in any order.
        loads: work that each resource still has before it, [resource]; empty: none.
    """

    times: Sequence[Sequence[Number]]
    gpu: Sequence[bool]
    affinity: Sequence[Pair] = ()
    loads: Sequence[Number] = field(default=())

    @cached_property
    def cpus(self) -> list[int]:
        """The CPUs, ascending."""
        return [index for index, gpu in enumerate(self.gpu) if not gpu]

    @cached_property
    def gpus(self) -> list[int]:
        """The GPUs, ascending."""
        return [index for index, gpu in enumerate(self.gpu) if gpu]

    @cached_property
    def pairs(self) -> list[Pair]:
        """`affinity` by decreasing affinity; ties by task, then by resource."""
        return sorted(self.affinity, key=lambda pair: (-pair.affinity, pair.task, pair.resource))

    @cached_property
    def on_cpu(self) -> list[Number]:
        """Least time of each task on a CPU, [task]."""
        return [min((times[index] for index in self.cpus), default=math.inf) for times in self.times]

    @cached_property
    def on_gpu(self) -> list[Number]:
        """Least time of each task on a GPU, [task]."""
        return [min((times[index] for index in self.gpus), default=math.inf) for times in self.times]

    @cached_property
    def longest(self) -> Number:
        """Time of the task that takes longest where it is fastest."""
        return max(map(min, self.on_cpu, self.on_gpu))

    @cached_property
    def by_gain(self) -> list[int]:
        """The tasks that both classes can run, by decreasing CPU time over GPU time; ties by task."""
        both = [task for task in range(len(self.times)) if max(self.on_cpu[task], self.on_gpu[task]) < math.inf]
        return sorted(both, key=lambda task: (-(self.on_cpu[task] / self.on_gpu[task]), task))


class Guess(NamedTuple):
    """What came of a guess.

    Attributes:
        rejected: why there is no schedule of this length; empty if the guess is accepted.
        placement: resource of each task, [task]; empty where a task is too long everywhere.
        loads: work of each resource with what it had before, [resource].
    """

    rejected: str
    placement: list[int]
    loads: list[Number]


TOO_LONG = "a task longer than lambda everywhere"
TOO_MUCH = "a load above (2 + alpha) lambda"


def attempt(batch: Batch, guess: Number, alpha: Number) -> Guess:
    """Place the tasks for a guess of the makespan.

    1. Pairs by decreasing affinity: the task goes to the resource if its time there is at most the guess and the
       resource's load stays at most alpha times the guess.
    2. Tasks that no CPU finishes within the guess go to GPUs, those that no GPU does to CPUs. The others, by
       decreasing gain from a GPU, go to GPUs as long as the work given to GPUs in this step is below the number of
       GPUs times the guess (the last one may overshoot), then to CPUs. Within a class a task goes where the load
       becomes least, which is the least loaded resource where all of a class are equally fast; ties by number.
    3. The guess is accepted if every load is at most 2 + alpha times the guess.
    """
    loads = list(batch.loads) or [0] * len(batch.gpu)
    times, on_cpu, on_gpu = batch.times, batch.on_cpu, batch.on_gpu
    place = [-1] * len(times)
    if batch.longest > guess:
        return Guess(TOO_LONG, [], loads)
    cap = alpha * guess
    if cap > 0:
        for _, task, resource in batch.pairs:
            time = times[task][resource]
            if place[task] < 0 and time <= guess and loads[resource] + time <= cap:
                place[task] = resource
                loads[resource] += time

    def give(task: int, resources: list[int]) -> Number:
        own, best, least = times[task], -1, math.inf
        for resource in resources:
            # This is most of what a batch costs.
            time = own[resource]
            if time <= guess and loads[resource] + time < least:
                best, least = resource, loads[resource] + time
        place[task] = best
        loads[best] = least
        return own[best]

    # What GPUs are busy with is part of the work that fits into the guess.
    given: Number = sum((min(batch.loads[index], guess) for index in batch.gpus), start=0) if batch.loads else 0
    for task, resource in enumerate(place):
        if resource < 0 and on_cpu[task] > guess:
            given += give(task, batch.gpus)
    for task, resource in enumerate(place):
        if resource < 0 and on_gpu[task] > guess:
            give(task, batch.cpus)
    room = len(batch.gpus) * guess
    for task in batch.by_gain:
        if place[task] < 0:
            if given < room:
                given += give(task, batch.gpus)
            else:
                give(task, batch.cpus)
    most = max(loads)
    return Guess(TOO_MUCH if most > (2 + alpha) * guess else "", place, loads)


def search(batch: Batch, alpha: Number, precision: float) -> Guess:
    """Return the shortest schedule among those of the accepted guesses of a bisection.

    The smallest accepted guess need not be the one with the shortest schedule: all that are accepted on the way count.
    A guess is rejected only below the least makespan, so the schedule is at most (2 + alpha) / (1 - precision) times
    as long. (Below the least makespan a smaller guess may be accepted and a larger one rejected.)

    Args:
        batch: at least one task; each can run somewhere.
        alpha: 0 or more.
        precision: the bisection ends when its bounds are this close, relative to the upper one.

    Time: O(log(n / precision) (n (m + k) + n log n)) for n tasks on m CPUs and k GPUs.
    """
    finite = [[time for time in times if time < math.inf] for times in batch.times]
    low = batch.longest
    high = max(batch.loads, default=0) + sum(map(max, finite))
    # With so much time nothing can be rejected.
    best = attempt(batch, high, alpha)
    least = max(best.loads)
    while high - low > precision * high:
        middle = (low + high) / 2
        found = attempt(batch, middle, alpha)
        if found.rejected:
            low = middle
        else:
            high = middle
            if max(found.loads) < least:
                best, least = found, max(found.loads)
    return best
