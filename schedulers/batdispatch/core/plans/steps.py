"""What is free in each step of a timeline, and how the room that a job has all along some steps is looked for.

There are several ways to keep the free capacities; `Timeline` is written once for all, and chooses by their type:

- `Values`: a list of values, for counts and for capacities with licences. A change makes a new value for each step that
  it covers.
- `Masks`: the same for host masks, with the few operations of integers written out: each costs as much as a call.
- `Block`: one array, for free capacities that are arrays themselves. A change of many steps is one operation in place,
  and the least capacity over many steps is one reduction. With 64 nodes of 4 resources this is several times as fast.

Below, ``s`` is a number of steps, ``w`` the number of steps that a job covers, and ``F`` the size of a free capacity.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from functools import reduce
from operator import and_
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from batdispatch.core.capacity.space import Space
from batdispatch.core.hosts.allocation import Allocation
from batdispatch.core.jobs.job import Job
from batdispatch.core.plans.windows import SumWindow, SumWindows

F = TypeVar("F")

#: Most steps whose rooms are worked out at a time: one alone costs almost as much as a few, but the first may end the
#: window.
_AT_ONCE = 32


class Steps(ABC, Generic[F]):
    """Free capacities, one for each step, in order of time. What is returned never changes later."""

    space: Space[F]

    @abstractmethod
    def head(self, count: int) -> Steps[F]:
        """Return steps of their own that are like the first `count`. Time: O(s) for values, O(s F) for a block."""

    def given(self, first: int, last: int, allocation: Allocation, job: Job) -> Steps[F]:
        """Return steps like the first `last`, with what a job uses on an allocation given back from step `first` on."""
        made = self.head(last)
        made.shift(first, last, job, allocation, 1)
        return made

    @abstractmethod
    def values(self) -> list[F]:
        """Return what is free in each step."""

    @abstractmethod
    def at(self, index: int) -> F:
        """Return what is free in a step."""

    @abstractmethod
    def meet(self, first: int, last: int) -> F:
        """Return what is free all along the steps ``first..last - 1``."""

    @abstractmethod
    def rooms(self, first: int, last: int, job: Job) -> list[Any]:
        """Return a job's room in each of the steps ``first..last - 1``, None where it does not fit."""

    @abstractmethod
    def repeated(self, index: int) -> bool:
        """Return whether step `index` has the same free capacity as the one before it."""

    @abstractmethod
    def repeat(self, index: int) -> None:
        """Insert a step at `index` that is like the one before it."""

    @abstractmethod
    def remove(self, first: int, last: int) -> None:
        """Remove the steps ``first..last - 1``."""

    @abstractmethod
    def shift(self, first: int, last: int, job: Job, allocation: Allocation, sign: int) -> None:
        """Give (1) or take (-1) what a job uses on an allocation in the steps ``first..last - 1``."""

    @abstractmethod
    def restrict(self, hosts: int, first: int, last: int) -> None:
        """Leave nothing free outside the mask `hosts` in the steps ``first..last - 1``."""

    def search(self, job: Job, first: int) -> RoomSearch[F]:
        """Return a search for the room of a job from step `first` on, valid until the next change."""
        return RoomSearch(self, job, first)


class RoomSearch(Generic[F]):
    """Finds where a job has room all along a window of steps; the window only moves to later steps.

    Time: nearly O(1) meets of rooms for each step that the window comes across; O(w) at worst.
    """

    def __init__(self, steps: Steps[F], job: Job, first: int) -> None:
        self._steps, self._job, self._first = steps, job, first
        self._space = steps.space
        self._rooms: list[Any] = []
        #: The room all along the steps ``_index.._later - 1``, which is enough; without meaning where there are none.
        self._window: Any = None
        self._index = self._later = first

    def begin(self, index: int, later: int) -> int:
        """Return a step from which the job may have room up to step `later`: no step in ``index..`` before it has.

        If it is `index`, the job has room all along the steps ``index..later - 1``.
        """
        meet, enough, job = self._space.meet, self._space.enough, self._job
        rooms, first = self._rooms, self._first
        at, window = self._later, self._window
        if index != self._index:
            self._index = at = index
        while at < later:
            if at - first >= len(rooms):
                done = first + len(rooms)
                rooms += self._steps.rooms(done, min(later, done + _AT_ONCE), job)
            room = rooms[at - first]
            if room is None:
                self._index = self._later = at + 1
                return at + 1
            if at > index:
                longer = meet(window, room)
                if not enough(longer, job):
                    # Step `at` has too little room to extend the window. Start a new window there and grow it backwards
                    # for as long as the job still fits.
                    index = at
                    while enough(longer := meet(room, rooms[index - 1 - first]), job):
                        room = longer
                        index -= 1
                    self._index, self._later, self._window = index, at + 1, room
                    return index
                room = longer
            window = room
            at += 1
        self._later, self._window = at, window
        return index

    def free(self, index: int, later: int) -> F:
        """Return what is free all along the steps ``index..later - 1``, where the job has room."""
        return self._steps.meet(index, later)


class Values(Steps[F]):
    """A list of values, which nobody changes."""

    def __init__(self, space: Space[F], frees: list[F]) -> None:
        self.space = space
        self._frees = frees

    def head(self, count: int) -> Values[F]:
        return type(self)(self.space, self._frees[:count])

    def values(self) -> list[F]:
        return self._frees.copy()

    def at(self, index: int) -> F:
        return self._frees[index]

    def meet(self, first: int, last: int) -> F:
        return self._frees[first] if last == first + 1 else reduce(self.space.meet, self._frees[first:last])

    def rooms(self, first: int, last: int, job: Job) -> list[Any]:
        return self.space.rooms(self._frees[first:last], job)

    def repeated(self, index: int) -> bool:
        return self.space.same(self._frees[index - 1], self._frees[index])

    def repeat(self, index: int) -> None:
        self._frees.insert(index, self._frees[index - 1])

    def remove(self, first: int, last: int) -> None:
        del self._frees[first:last]

    def shift(self, first: int, last: int, job: Job, allocation: Allocation, sign: int) -> None:
        change, frees = self.space.give if sign > 0 else self.space.take, self._frees
        for index in range(first, last):
            frees[index] = change(frees[index], job, allocation)

    def restrict(self, hosts: int, first: int, last: int) -> None:
        self._frees[first:last] = [self.space.only(free, hosts) for free in self._frees[first:last]]


class Masks(Values[int]):
    """A list of host masks."""

    def shift(self, first: int, last: int, job: Job, allocation: Allocation, sign: int) -> None:
        mask, frees = allocation.mask, self._frees
        if sign > 0:
            frees[first:last] = [free | mask for free in frees[first:last]]
        else:
            frees[first:last] = [free & ~mask for free in frees[first:last]]

    def meet(self, first: int, last: int) -> int:
        met: int = reduce(and_, self._frees[first:last])
        return met

    def repeated(self, index: int) -> bool:
        return self._frees[index - 1] == self._frees[index]

    def free_along(
        self, first: SumWindow, allowed: SumWindows, units: int, own: int, held: int
    ) -> Iterator[tuple[int, float, float]]:
        """Yield (hosts free all along, start, end) of the windows with room for a job that may have any hosts.

        This is what `RoomSearch` does for all kinds of steps, with the operations of integers: a plan asks it several
        times for each job.

        Time: nearly O(1) intersections of masks for each step that the window comes across; O(w) at worst.

        Args:
            first: the first window in which as many hosts are free in each step.
            allowed: the windows after it.
            units: how many hosts the job needs.
            own: first step in which the hosts `held` are the job's own; it has room up to the end of any window.
            held: the mask of these hosts, `units` of them.
        """
        frees = self._frees
        # The hosts `common` are free all along the steps ``base..at - 1``.
        base = at = common = -1
        index, later, start, end = first
        try:
            while True:
                if base != index:
                    base, at, common = index, index, -1
                while at < later:
                    free = frees[at] | held if at >= own else frees[at]
                    longer = common & free
                    if longer.bit_count() < units:
                        # Grow a window backwards from step `at`.
                        index = at
                        while True:
                            longer = free & (frees[index - 1] | held if index > own else frees[index - 1])
                            if longer.bit_count() < units:
                                break
                            free = longer
                            index -= 1
                        base, common = index, free
                        at += 1
                        break
                    common = longer
                    at += 1
                else:
                    yield common, start, end
                    index += 1
                index, later, start, end = allowed.send(index)
        except StopIteration:
            return


class Block(Steps[NDArray[np.int64]]):
    """One array, changed in place: int64 [step, ...], longer than there are steps."""

    def __init__(self, space: Space[NDArray[np.int64]], free: NDArray[np.int64]) -> None:
        self.space = space
        self._count = 1
        self._rows = np.empty((16, *free.shape), dtype=np.int64)
        self._rows[0] = free

    def head(self, count: int) -> Block:
        made = Block.__new__(Block)
        made.space, made._count = self.space, count
        made._rows = np.empty((2 * count + 16, *self._rows.shape[1:]), dtype=np.int64)
        made._rows[:count] = self._rows[:count]
        return made

    def values(self) -> list[NDArray[np.int64]]:
        return list(self._rows[: self._count].copy())

    def at(self, index: int) -> NDArray[np.int64]:
        return np.array(self._rows[index])

    def meet(self, first: int, last: int) -> NDArray[np.int64]:
        return self.at(first) if last == first + 1 else np.minimum.reduce(self._rows[first:last])

    def rooms(self, first: int, last: int, job: Job) -> list[Any]:
        return self.space.rooms(self._rows[first:last], job)  # type: ignore[arg-type]

    def table(self, first: int, last: int, job: Job) -> NDArray[np.int64]:
        """Return how many units of a job each node can take in the steps ``first..last - 1``, int64 [step, node]."""
        return self.space.room(self._rows[first:last], job)

    def repeated(self, index: int) -> bool:
        return bool((self._rows[index - 1] == self._rows[index]).all())

    def repeat(self, index: int) -> None:
        count, rows = self._count, self._rows
        if count == len(rows):
            rows = self._rows = np.concatenate((rows, np.empty_like(rows)))
        rows[index + 1 : count + 1] = rows[index:count]
        rows[index] = rows[index - 1]
        self._count += 1

    def remove(self, first: int, last: int) -> None:
        self._rows[first : first + self._count - last] = self._rows[last : self._count]
        self._count -= last - first

    def shift(self, first: int, last: int, job: Job, allocation: Allocation, sign: int) -> None:
        self.space.shift(self._rows[first:last], job, allocation, sign)

    def restrict(self, hosts: int, first: int, last: int) -> None:
        # One product for all steps: what stays is multiplied by 1.
        self._rows[first:last] *= self.space.only(np.ones_like(self._rows[0]), hosts)

    def search(self, job: Job, first: int) -> RoomSearch[NDArray[np.int64]]:
        return (BlockSearch if job.request.plain else RoomSearch)(self, job, first)


class BlockSearch(RoomSearch[NDArray[np.int64]]):
    """Finds room in a block for a job whose units and amounts are all that restricts it: whole windows at once.

    Time: O(w F) for each window, in one numpy operation.
    """

    _steps: Block

    def begin(self, index: int, later: int) -> int:
        self._free = self._steps.meet(index, later)
        if self._space.fits(self._free, self._job):
            return index
        if later == index + 1:
            return later
        # From which step on is the least room up to `later` enough?
        least = np.minimum.accumulate(self._steps.table(index, later, self._job)[::-1])
        enough = np.add.reduce(least, axis=1) >= self._job.request.units
        return later - int(enough.sum())

    def free(self, index: int, later: int) -> NDArray[np.int64]:
        return self._free
