"""Progress of long work, on standard error: bars on a terminal, elsewhere a line every half minute."""

from __future__ import annotations

import math
import sys
import threading
import time
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING

from batdispatch.cli.messages import is_quiet
from batdispatch.core.errors import printable

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress, Task, TaskID

#: Seconds between two lines where there is no terminal: a log of hours stays readable.
EVERY = 30.0
#: Seconds between two updates of a bar; an engine tells of every job.
_PAUSE = 0.1
#: Seconds for which nothing is drawn where there is no terminal: most runs are over by then, and the library that
#: estimates the time left takes long to import beside them.
_SILENT = 3.0


class ProgressDisplay:
    """A context manager that shows how far named pieces of work have come.

    The time left is estimated from the speed of the last half minute, so that neither starting up nor a slow
    beginning counts. Nothing is estimated before there is a speed. A command that was given --quiet shows nothing.
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
        self._quiet = is_quiet()
        self._given = console
        self._every = every
        self._clock = clock
        self._silent_until = clock() + _SILENT if console is None and not sys.stderr.isatty() else -math.inf
        #: What was told in that time: label -> done and total.
        self._unseen: dict[str, tuple[int, int]] = {}
        self._lock = threading.Lock()
        self._known: dict[str, TaskID] = {}
        self._updated: dict[str, float] = {}
        self._left = threading.Event()
        self._writer = threading.Thread(target=self._write_lines, daemon=True)

    @cached_property
    def _console(self) -> Console:
        from rich.console import Console

        return self._given or Console(stderr=True)

    @cached_property
    def _bars(self) -> Progress:
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn
        from rich.table import Column

        return Progress(
            TextColumn("{task.description}", markup=False, table_column=Column(no_wrap=True, overflow="ellipsis")),
            BarColumn(bar_width=30),
            TaskProgressColumn(),
            TimeRemainingColumn(),
            console=self._console,
            transient=True,
            get_time=self._clock,
            disable=not self._console.is_terminal,
        )

    def __enter__(self) -> ProgressDisplay:
        if self._quiet:
            return self
        if self._silent_until > -math.inf:
            self._writer.start()
            return self
        self._bars.start()
        if not self._console.is_terminal:
            self._writer.start()
        return self

    def __exit__(self, *problem: object) -> None:
        self._left.set()
        if "_bars" in self.__dict__:
            self._bars.stop()

    def tell(self, label: str, done: int, total: int) -> None:
        """Say that so much of a piece of work is done.

        Args:
            label: which piece; a bar appears with its first word and goes when all of it is done.
            done: so far, from 0, in any unit.
            total: in all.
        """
        if self._quiet:
            return
        now = self._clock()
        if done < total and now < self._updated.get(label, -_PAUSE) + _PAUSE:
            return
        self._updated[label] = now
        with self._lock:
            self._unseen[label] = done, total
            if now >= self._silent_until:
                self._show()

    def _show(self) -> None:
        """Hand what was told to the bars."""
        for label, (done, total) in self._unseen.items():
            if label not in self._known:
                self._known[label] = self._bars.add_task(printable(label), total=total)
            self._bars.update(self._known[label], completed=done, total=total, visible=done < total)
        self._unseen.clear()

    def _write_lines(self) -> None:
        while not self._left.wait(self._every):
            with self._lock:
                self._show()
            for task in self._bars.tasks:
                if not task.finished:
                    self._console.print(_line(task), markup=False, highlight=False, soft_wrap=True)


def _line(task: Task) -> str:
    """Return how far one piece of work is, in words."""
    left = task.time_remaining
    remaining = "" if left is None else f", about {duration(left)} left"
    return f"{task.description}: {task.percentage:.0f} % done{remaining}"


def duration(seconds: float) -> str:
    """Return a time in words."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 90 * 60:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"
