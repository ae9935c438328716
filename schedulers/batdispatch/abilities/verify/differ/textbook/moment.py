"""What is known when a policy decides: who waits, who runs, and how many processors are free."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Callable, Sequence
from typing import Any

from batdispatch.abilities.verify.differ.textbook.jobs import RigidJob
from batdispatch.abilities.verify.differ.textbook.rules import Rules


class Moment:
    """The machine and the queue at one moment; a policy decides by calling `start`.

    Attributes:
        now: microseconds.
        jobs: all jobs, by index.
        queue: indices of the waiting jobs, in the order of `Rules.order`.
        running: (requested end, index) of the running jobs, sorted.
        ended: whether a job ended since the last decision.
        surprised: whether one ended at another moment than the requested one.
    """

    def __init__(self, jobs: Sequence[RigidJob], rules: Rules, started: Callable[[int], None]) -> None:
        self.jobs, self.rules = jobs, rules
        self.now = 0
        self.queue: list[int] = []
        self.running: list[tuple[int, int]] = []
        self.ended = self.surprised = False
        self._requested_end: dict[int, int] = {}
        self._held = 0
        self._started = started
        self._key = _KEYS[rules.order](jobs)

    @property
    def free(self) -> int:
        """Processors that nobody holds."""
        free = self.rules.hosts - self._held
        if self.rules.freed == "requested-end":
            for end, index in self.running:
                if end > self.now:
                    break
                free += self.jobs[index].units
        return free

    def submit(self, index: int) -> None:
        """Let a job wait, unless it can never start."""
        if self.jobs[index].units <= self.rules.hosts:
            insort(self.queue, index, key=self._key)

    def end(self, index: int) -> None:
        """Let a running job end."""
        requested = self._requested_end.pop(index)
        del self.running[bisect_left(self.running, (requested, index))]
        self._held -= self.jobs[index].units
        self.ended = True
        self.surprised |= requested != self.now

    def start(self, index: int) -> None:
        """Start a waiting job now."""
        self.queue.remove(index)
        requested = self._requested_end[index] = self.now + self.jobs[index].walltime
        insort(self.running, (requested, index))
        self._held += self.jobs[index].units
        self._started(index)

    def start_from_head(self) -> bool:
        """Start jobs in order until one does not fit; return whether any was started."""
        any_started = False
        free = self.free
        while self.queue and self.jobs[self.queue[0]].units <= free:
            free -= self.jobs[self.queue[0]].units
            self.start(self.queue[0])
            any_started = True
        return any_started


def number_of(name: str) -> tuple[int, int, str]:
    """Return what sorts names as numbers, and those that are none behind them."""
    digits = name.rpartition("!")[2]
    return (0, int(digits), name) if digits.isascii() and digits.isdigit() else (1, 0, name)


#: Order -> jobs by index -> index -> what the queue is sorted by. Indices are in order of arrival.
_KEYS: dict[str, Callable[[Sequence[RigidJob]], Callable[[int], Any]]] = {
    "submission": lambda jobs: lambda index: index,
    "shortest": lambda jobs: lambda index: (jobs[index].walltime, index),
    "number": lambda jobs: lambda index: (number_of(jobs[index].id), index),
}
