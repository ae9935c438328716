"""Which memories hold valid copies of which data, and what is on its way: one account for all dispatchers of tasks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable
from typing import NamedTuple

from batdispatch.abilities.tasks.tasks import Node, Task

#: The main memory, as a set of memories.
_MAIN = 1


class Copy(NamedTuple):
    """A datum to be copied."""

    name: str
    #: Bytes.
    size: int
    #: Positions of the memories in `Node.memories`.
    source: int
    target: int


class Copies:
    """A directory of data, as a runtime system keeps it.

    All data are in the main memory at the start. A copy to another memory leaves the source valid; a task that writes
    leaves only its own memory valid. A copy is valid once it has arrived. Memories are taken to be large enough for
    everything: nothing is evicted.

    Attributes:
        moved: bytes that were copied, by (source, target).
        transfers: number of data that were copied.
    """

    def __init__(self, node: Node) -> None:
        self._node = node
        #: Datum -> set of the memories (bit mask) that hold it; those left out are in the main memory alone.
        self._valid: dict[str, int] = {}
        #: (datum, memory) -> key of the transfer that brings it.
        self._coming: dict[tuple[str, int], str] = {}
        #: Key of a transfer -> (when it is expected to end, what it brings).
        self._transfers: dict[str, tuple[float, list[Copy]]] = {}
        self.moved: Counter[tuple[int, int]] = Counter()
        self.transfers = 0

    # ------------------------------------------------------------------ questions

    def valid_bytes(self, data: Iterable[tuple[str, int]], memory: int) -> int:
        """Return how many bytes of some data a memory holds: the affinity of a task with what computes there."""
        valid, held = self._valid, 0
        for name, size in data:
            if valid.get(name, _MAIN) >> memory & 1:
                held += size
        return held

    def missing(self, task: Task, memory: int, apart: Container[str] = ()) -> list[Copy]:
        """Return what has to be copied for a task to compute in a memory.

        Left out are what is on its way there, and the data named in `apart`. A datum comes from the main memory if that
        holds it, else from the first memory that does.
        """
        return [
            Copy(name, size, (where & -where).bit_length() - 1, memory)
            for name, size in task.reads.items()
            if not (where := self._valid.get(name, _MAIN)) >> memory & 1
            and name not in apart
            and (name, memory) not in self._coming
        ]

    def awaited(self, task: Task, memory: int) -> set[str]:
        """Return the keys of the transfers under way that bring data of a task to a memory."""
        return {key for name in task.reads if (key := self._coming.get((name, memory))) is not None}

    def seconds(self, copies: Iterable[Copy]) -> float:
        """Return how long copies to one memory take one after another if nothing else is copied."""
        return sum(self._node.seconds(copy.size, copy.source, copy.target) for copy in copies)

    def seconds_to(self, task: Task) -> list[float]:
        """Return how long `missing` takes for a task, by `seconds`, for each memory, [memory]."""
        node, coming = self._node, self._coming
        totals = [0.0] * len(node.memories)
        for name, size in task.reads.items():
            where = self._valid.get(name, _MAIN)
            source = (where & -where).bit_length() - 1
            for memory in range(len(totals)):
                if not where >> memory & 1 and (name, memory) not in coming:
                    totals[memory] += node.seconds(size, source, memory)
        return totals

    def expected(self, key: str) -> float:
        """Return when a transfer under way is expected to end, s."""
        return self._transfers[key][0]

    def under_way(self, key: str) -> list[Copy]:
        """Return what a transfer under way brings."""
        return self._transfers[key][1]

    # ------------------------------------------------------------------ what happens

    def begin(self, key: str, copies: list[Copy], until: float) -> None:
        """Note a transfer that has begun, and when it is expected to end; count its bytes."""
        self._transfers[key] = (until, copies)
        for copy in copies:
            self._coming[copy.name, copy.target] = key
            self.moved[copy.source, copy.target] += copy.size
        self.transfers += len(copies)

    def arrive(self, key: str) -> None:
        """Note that a transfer has ended."""
        for copy in self._transfers.pop(key)[1]:
            del self._coming[copy.name, copy.target]
            self._valid[copy.name] = self._valid.get(copy.name, _MAIN) | 1 << copy.target

    def arrive_until(self, time: float) -> None:
        """Note that the transfers that were expected to end by a time have ended."""
        for key in [key for key, (until, _) in self._transfers.items() if until <= time]:
            self.arrive(key)

    def write(self, task: Task, memory: int) -> None:
        """Note that a task has ended that computed in a memory."""
        self._valid.update(dict.fromkeys(task.writes, 1 << memory))

    def moved_bytes(self, target: int | None = None) -> int:
        """Return how many bytes were copied in all, or to one memory."""
        return sum(size for (_, to), size in self.moved.items() if target in (None, to))
