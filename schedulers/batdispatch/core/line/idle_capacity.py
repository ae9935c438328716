"""What of a machine's capacity is idle, and what of that is free."""

from __future__ import annotations

from typing import Any

from batdispatch.core.capacity.books import Snapshot, books_of
from batdispatch.core.capacity.space import Space


class IdleCapacity:
    """The account of a ledger. Who changes `entry` calls `refresh` or `change` afterwards.

    Attributes:
        books: how capacity is written down, see `core.capacity.books`.
        entry: what neither jobs use nor concerns keep, an entry of the books.
        there: what of it is on hosts on which something may start.
        away: mask of the hosts that are away.
        unavailable: mask of the hosts on which nothing may start: they are away, or a concern closes them.
        epoch: counts the events that changed capacity, starts excepted.
    """

    def __init__(self, space: Space[Any]) -> None:
        self.away = self.unavailable = self.epoch = 0
        self.entry: Any
        self.there: Any
        #: What is free as a value of the space; None: not worked out yet.
        self._free: Any
        self.recount(space)

    def recount(self, space: Space[Any]) -> None:
        """Count in another space from now on, before any job has come."""
        self.books = books_of(space)
        self.entry = self.books.whole()
        self.refresh()

    @property
    def free(self) -> Any:
        """What is free as a value of the space; worked out once after each change."""
        if self._free is None:
            self._free = self.books.value(self.there)
        return self._free

    def snapshot(self) -> Snapshot:
        """Return what is free now for who may look at it later."""
        return Snapshot(self.books, self.there)

    def refresh(self) -> None:
        """Recompute what derives from the idle capacity."""
        self.there = self.books.only(self.entry, ~self.unavailable) if self.unavailable else self.entry
        self._free = None

    def change(self) -> None:
        """Record that capacity came or went for another reason than a start: no plan holds that was made before."""
        self.refresh()
        self.epoch += 1

    def shut(self, hosts: int) -> None:
        """Let nothing start on some hosts, a mask, which takes the place of the last one."""
        self.unavailable = hosts
        self.change()
