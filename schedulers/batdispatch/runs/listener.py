"""What hears of long work while it goes on, in the same process or in another one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

#: Called, in a worker, with what is to be told to the process that started it.
Tell = Callable[[Any], None]
#: Called with (jobs ended so far, jobs in all).
Progress = Callable[[int, int], None]


class Listener:
    """Hears of a call while it works, and does nothing about it; a subclass shows what it wants to."""

    def progress(self, label: str, done: int, total: int) -> None:
        """Hear that so much of a piece of work is done, in any unit; it is over when all of it is."""

    def note(self, text: str) -> None:
        """Hear what was done and why, such as which platform was made."""

    def warn(self, text: str) -> None:
        """Hear of what is remarkable and no error."""

    def failed(self, label: str, why: str) -> None:
        """Hear that one run of several failed; the others go on."""

    def kept(self, labels: Sequence[str]) -> None:
        """Hear which runs were there already, made from the same inputs by the same code."""


#: Nobody hears.
SILENT = Listener()


def sparse_progress(tell: Tell) -> Progress:
    """Return what tells of progress at most some 200 times: an engine reports every job, and a kernel now and then."""
    told = 0

    def progress(done: int, total: int) -> None:
        nonlocal told
        if done == total or done - told >= max(total // 200, 1):
            told = done
            tell((done, total))

    return progress
