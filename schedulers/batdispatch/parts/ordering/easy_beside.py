"""EASY in order of arrival, simulated beside a real queue as far as it is certain."""

from __future__ import annotations

import heapq
import math
from bisect import bisect_left, insort
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count


@dataclass(eq=False, slots=True)
class Twin:
    """A job as EASY beside has it.

    Attributes:
        name: id of the job.
        came: when the job was submitted, s.
        needs: what it takes of the sums over the machine, [resource].
        walltime: for how long EASY expects it to run, s.
        runtime: how long it ran in reality, s; None: it has not ended.
        real: when it started in reality, s; None: it waits.
        begun: when EASY starts it, s; None: it waits there.
        place: its expected end there in s, and a number that no other job has; of no meaning while it waits.
    """

    name: str
    came: float
    needs: Sequence[int]
    walltime: float
    runtime: float | None = None
    real: float | None = None
    begun: float | None = None
    place: tuple[float, int] = (math.inf, 0)


class EasyBeside:
    """What EASY would have done with the same jobs, up to the last moment at which this is known for certain.

    How long a job runs is known once it has ended in reality. Before, it is known that it runs for longer than it has
    run until now. So the clock of EASY beside stands at the start of a job that still waits in reality, and runs on
    with a job that runs in reality. What is said of EASY is true of it, and never guessed.

    Hosts are pooled: EASY beside sees sums over the machine.

    Time: O(r + q) for each start or end beside, for r jobs that run there and q that wait there.

    Args:
        total: the whole machine, [resource].
        memory: for how many seconds a wait is remembered after it has ended.

    Attributes:
        clock: until when everything is known, s.
        longest: longest wait there, s: of the jobs that wait at the clock, and of those that started within `memory`
            before it.
        ever: longest wait there since the beginning, s.
        overdue: jobs that run there and still wait in reality, by id: they stop the clock.
    """

    def __init__(self, total: Sequence[int], memory: float = math.inf) -> None:
        self.clock = self.longest = self.ever = 0.0
        self._memory = memory
        #: Starts within the memory, as when, s, and after which wait, s. A start that a later one with as long a wait
        #: followed is left out, so that the waits fall: the first one is the longest.
        self._waits: deque[tuple[float, float]] = deque()
        self._free = list(total)
        self._coming: deque[Twin] = deque()
        self._queue: list[Twin] = []
        self._numbers = count()
        #: Jobs that run there and have ended in reality, by their ends there.
        self._ends: list[tuple[float, int, Twin]] = []
        #: All jobs that run there by their expected ends.
        self._expected: list[tuple[float, int, Twin]] = []
        self.overdue: dict[str, Twin] = {}
        #: Jobs that run here and there: how much later they started here, largest first.
        self._delays: list[tuple[float, int, Twin]] = []

    def submit(self, twin: Twin) -> None:
        """Let a job come, at a time that is not before those of the jobs that came."""
        self._coming.append(twin)

    def start(self, twin: Twin, now: float) -> None:
        """Learn that a job started in reality at `now`, in seconds; it may be said twice."""
        if twin.real is not None:
            return
        twin.real = now
        if twin.begun is not None:
            self.overdue.pop(twin.name, None)
            heapq.heappush(self._delays, (twin.begun - now, next(self._numbers), twin))

    def end(self, twin: Twin, runtime: float) -> None:
        """Learn for how many seconds a job ran in reality; 0 if it was withdrawn."""
        twin.runtime = runtime
        if twin.begun is not None:
            self.overdue.pop(twin.name, None)
            self._will_end(twin)

    def advance(self, now: float) -> None:
        """Simulate as far as is certain at `now`, in seconds."""
        while not self.overdue:
            limit = min(now, now + self._slowest())
            came = self._coming[0].came if self._coming else math.inf
            following = min(came, self._ends[0][0] if self._ends else math.inf)
            if following > limit or following == math.inf:
                self._reach(limit)
                return
            self._reach(following)
            while self._ends and self._ends[0][0] <= following:
                self._leave(heapq.heappop(self._ends)[2])
            while self._coming and self._coming[0].came <= following:
                self._queue.append(self._coming.popleft())
            self._decide()

    def _reach(self, time: float) -> None:
        self.clock = max(self.clock, time)
        while self._waits and self._waits[0][0] < self.clock - self._memory:
            self._waits.popleft()
        self._look_at_waits()

    def _look_at_waits(self) -> None:
        """Work out the longest wait; the first of the queue came before all others of it."""
        of_waiting = self.clock - self._queue[0].came if self._queue else 0.0
        self.longest = max(of_waiting, self._waits[0][1] if self._waits else 0.0)
        self.ever = max(self.ever, self.longest)

    def _remember(self, wait: float) -> None:
        while self._waits and self._waits[-1][1] <= wait:
            self._waits.pop()
        self._waits.append((self.clock, wait))

    def _slowest(self) -> float:
        """Return minus the largest delay of a job that runs here and there, s."""
        while self._delays and self._delays[0][2].runtime is not None:
            heapq.heappop(self._delays)
        return self._delays[0][0] if self._delays else 0.0

    def _decide(self) -> None:
        """Start jobs as EASY does at the clock."""
        queue = self._queue
        started = 0
        while started < len(queue) and _fits(queue[started].needs, self._free):
            self._begin(queue[started])
            started += 1
        del queue[:started]
        if len(queue) < 2 or not any(self._free):
            return
        shadow, spare = self._reservation(queue[0].needs)
        for twin in queue[1:]:
            # The first resource alone keeps out most.
            if twin.needs[0] > self._free[0] or not _fits(twin.needs, self._free):
                continue
            if self.clock + twin.walltime > shadow:
                if not _fits(twin.needs, spare):
                    continue
                spare = _without(spare, twin.needs)
            self._begin(twin)
        self._queue = [twin for twin in queue if twin.begun is None]

    def _reservation(self, needs: Sequence[int]) -> tuple[float, list[int]]:
        """Return the shadow time of the first job in s, and what it leaves spare then, [resource]."""
        free = self._free
        shadow = math.inf
        for end, _, twin in self._expected:
            if end > shadow:
                break
            free = _with(free, twin.needs)
            if shadow == math.inf and _fits(needs, free):
                shadow = end
        return shadow, _without(free, needs)

    def _begin(self, twin: Twin) -> None:
        twin.begun = self.clock
        self._free = _without(self._free, twin.needs)
        twin.place = (self.clock + twin.walltime, next(self._numbers))
        insort(self._expected, (*twin.place, twin))
        self._remember(self.clock - twin.came)
        if twin.runtime is not None:
            self._will_end(twin)
        elif twin.real is None:
            self.overdue[twin.name] = twin
        else:
            heapq.heappush(self._delays, (twin.begun - twin.real, next(self._numbers), twin))

    def _will_end(self, twin: Twin) -> None:
        assert twin.begun is not None
        assert twin.runtime is not None
        heapq.heappush(self._ends, (max(self.clock, twin.begun + twin.runtime), next(self._numbers), twin))

    def _leave(self, twin: Twin) -> None:
        self._free = _with(self._free, twin.needs)
        del self._expected[bisect_left(self._expected, twin.place)]


def _fits(needs: Sequence[int], free: Sequence[int]) -> bool:
    return all(map(int.__le__, needs, free))


def _without(free: Sequence[int], needs: Sequence[int]) -> list[int]:
    return list(map(int.__sub__, free, needs))


def _with(free: Sequence[int], needs: Sequence[int]) -> list[int]:
    return list(map(int.__add__, free, needs))
