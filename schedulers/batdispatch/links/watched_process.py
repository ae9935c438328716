"""Another program beside this one, a simulator or a scheduler: started, watched, and never left behind."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import tempfile
from collections import deque
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import IO

from batdispatch.core.errors import InputError, SimulationError, printable
from batdispatch.links import with_parent

#: Lines of its own messages that are shown when it fails, the last ones,
_LAST_WORDS = 6
#: and before them the lines in which SimGrid's log says why it gives up. A backtrace of any length may follow these.
_REASONS = 3
_REASON = re.compile(r"\[[^\]\s]*/CRITICAL\]\s*(?:Uncaught exception \S+(?: by \S+)?: )?(.*)")
#: Characters of a line that are shown, and bytes after which one counts as ended.
_SHOWN = 500
_LONGEST = 65536


class WatchedProcess:
    """A running program; a context manager, started by `start`. Whatever happens, the process is gone afterwards.

    On Linux the process also ends when this one is killed; the thread that calls `start` must leave the context as well
    (see `batdispatch.links.with_parent`).
    """

    def __init__(self, command: Sequence[str], what: str) -> None:
        """Take the command, with the path of its program, and how messages call it."""
        self.command = list(command)
        self._what = what
        self._process: subprocess.Popen[bytes] | None = None
        self._words: IO[bytes] | None = None

    def __enter__(self) -> WatchedProcess:
        self._words = tempfile.TemporaryFile()
        return self

    def __exit__(self, *problem: object) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.kill()
            self._process.wait()
        if self._words is not None:
            self._words.close()

    def start(self) -> None:
        """Start it.

        Raises:
            InputError: it cannot be started.
        """
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", with_parent.__file__, str(os.getpid()), *self.command],
                stdin=subprocess.DEVNULL,
                stdout=self._words,
                stderr=subprocess.STDOUT,
            )
        except OSError as problem:
            raise InputError(f"{self.command[0]} cannot be started: {problem.strerror}") from None

    def watch(self) -> None:
        """Raise SimulationError if it has ended, which it must not before its simulation has."""
        if self._process is not None and self._process.poll() is not None:
            raise SimulationError(
                f"{self._what} ended {how_ended(self._process)} before the end of the simulation{self.last_words()}"
            )

    def settle(self, seconds: float) -> None:
        """Wait for its end for so long, and no longer."""
        if self._process is not None:
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(seconds)

    def finish(self, seconds: float) -> None:
        """Wait for its end after the last reply.

        Raises:
            SimulationError: it does not end, or not well.
        """
        assert self._process is not None
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            raise SimulationError(
                f"{self._what} has not ended {seconds:g} s after the simulation{self.last_words()}"
            ) from None
        if self._process.returncode != 0:
            raise SimulationError(
                f"{self._what} ended {how_ended(self._process)} after the simulation{self.last_words()}"
            )

    def last_words(self) -> str:
        """Return why it gave up and what it printed last, as the end of an error message; empty if it was silent."""
        assert self._words is not None
        self._words.seek(0)
        words = self._words
        shown = telling_lines(iter(lambda: words.readline(_LONGEST), b""))
        return "; it said:\n  " + "\n  ".join(shown) if shown else ""


def how_ended(process: subprocess.Popen[bytes]) -> str:
    """Return how a process that has ended came to that: ``with status 1``, ``by SIGKILL``."""
    code = process.returncode
    if code >= 0:
        return f"with status {code}"
    try:
        return f"by {signal.Signals(-code).name}"
    except ValueError:
        return f"by signal {-code}"


def reason_in(words: str) -> str:
    """Return the first reason why a SimGrid program gave up, without its place in SimGrid; empty: there is none."""
    found = _REASON.search(words)
    return found[1].strip() if found else ""


def telling_lines(output: Iterable[bytes]) -> list[str]:
    """Return the lines of a SimGrid program's output that tell why it failed: the critical ones, then the last ones."""
    reasons: list[tuple[int, str]] = []
    last: deque[tuple[int, str]] = deque(maxlen=_LAST_WORDS)
    for number, raw in enumerate(output):
        line = printable(raw.decode("utf-8", "replace").strip()[:_SHOWN])
        if line:
            last.append((number, line))
            if len(reasons) < _REASONS and _REASON.search(line):
                reasons.append((number, line))
    before = [line for number, line in reasons if number < last[0][0]]
    between = last[0][0] - 1 > reasons[len(before) - 1][0] if before else False
    return before + ["..."] * between + [line for _, line in last]
