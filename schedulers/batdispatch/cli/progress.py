"""Progress of long work, on standard error: bars on a terminal, elsewhere a line every half minute."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, Progress, Task, TaskID, TaskProgressColumn, TextColumn, TimeRemainingColumn
from rich.table import Column

#: Seconds between two lines where there is no terminal: a log of hours stays readable.
EVERY = 30.0
#: Seconds between two updates of a bar; an engine tells of every job.
_PAUSE = 0.1


class Following:
    """A context manager that shows how far named pieces of work have come.

    The time left is estimated from the speed of the last half minute, so that neither starting up nor a slow
    beginning counts. Nothing is estimated before there is a speed.
    """

    def __init__(
        self, *, console: Console | None = None, every: float = EVERY, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Set up.

        Args:
            console: where to write; None: standard error.
            every: seconds between two lines where `console` is no terminal.
            clock: seconds that only grow.
        """
        self._console = console or Console(stderr=True)
        self._every = every
        self._clock = clock
        self._bars = Progress(
            TextColumn("{task.description}", markup=False, table_column=Column(no_wrap=True, overflow="ellipsis")),
            BarColumn(bar_width=30),
            TaskProgressColumn(),
            TimeRemainingColumn(),
            console=self._console,
            transient=True,
            get_time=clock,
            disable=not self._console.is_terminal,
        )
        self._known: dict[str, TaskID] = {}
        self._updated: dict[str, float] = {}
        self._left = threading.Event()
        self._writer = threading.Thread(target=self._write_lines, daemon=True)

    def __enter__(self) -> Following:
        self._bars.start()
        if not self._console.is_terminal:
            self._writer.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._left.set()
        self._bars.stop()

    def tell(self, label: str, done: int, total: int) -> None:
        """Say that so much of a piece of work is done.

        Args:
            label: which piece; a bar appears with its first word and goes when all of it is done.
            done: so far, from 0, in any unit.
            total: in all.
        """
        now = self._clock()
        if done < total and now < self._updated.get(label, -_PAUSE) + _PAUSE:
            return
        self._updated[label] = now
        if label not in self._known:
            self._known[label] = self._bars.add_task(label, total=total)
        self._bars.update(self._known[label], completed=done, total=total, visible=done < total)

    def _write_lines(self) -> None:
        while not self._left.wait(self._every):
            for task in self._bars.tasks:
                if not task.finished:
                    self._console.print(_line(task), markup=False, highlight=False, soft_wrap=True)


def _line(task: Task) -> str:
    """Return how far one piece of work is, in words."""
    left = task.time_remaining
    remaining = "" if left is None else f", about {_duration(left)} left"
    return f"{task.description}: {task.percentage:.0f} % done{remaining}"


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 90 * 60:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"
