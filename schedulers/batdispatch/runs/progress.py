"""How far work is, told by whoever works to whoever listens, in the same process or another."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

#: Called, in a worker, with what is to be told to the process that started it.
Tell = Callable[[Any], None]
#: Called with (jobs ended so far, jobs in all).
Progress = Callable[[int, int], None]


def sparse_progress(tell: Tell) -> Progress:
    """Return what tells of progress at most some 200 times: an engine reports every job, and a kernel now and then."""
    told = 0

    def progress(done: int, total: int) -> None:
        nonlocal told
        if done == total or done - told >= max(total // 200, 1):
            told = done
            tell((done, total))

    return progress
