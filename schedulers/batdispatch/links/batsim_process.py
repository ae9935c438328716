"""A real Batsim: found, asked for its version, started, watched, and never left behind."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import deque
from collections.abc import Iterable, Sequence
from types import TracebackType
from typing import IO, NamedTuple

from batdispatch.core.errors import InputError, SimulationError
from batdispatch.links import with_parent

_VERSION = re.compile(r"\bv?(\d+)\.(\d+\S*)")
#: Seconds within which Batsim must say its version.
_ASK = 20.0
#: Lines of Batsim's own messages that are shown when it fails, the last ones,
_LAST_WORDS = 6
#: and before them the lines in which SimGrid's log says why it gives up. A backtrace of any length may follow these.
_REASONS = 3
_REASON = re.compile(r"\[[^\]\s]*/CRITICAL\]")
#: Characters of a line that are shown, and bytes after which one counts as ended.
_SHOWN = 500
_LONGEST = 65536


class Found(NamedTuple):
    """A Batsim: its path and the version that it states, such as ``4.2.0``."""

    path: str
    version: str


def find_batsim(major: int, given: str | None = None) -> Found:
    """Return a Batsim of a major version: the one given, or ``batsimMAJOR`` or ``batsim`` on PATH.

    Raises:
        InputError: there is none, it does not run, or it is of another version.
    """
    names = [given] if given is not None else [f"batsim{major}", "batsim"]
    paths = [path for path in map(shutil.which, names) if path is not None]
    source = "option --batsim" if given is not None else f"engine batsim{major}"
    if not paths:
        where = f"{given!r} is no program that can be run" if given is not None else "there is no batsim on PATH"
        raise InputError(
            f"{where}; install Batsim {major} (with Nix: nix develop .#batsim{major}) or name the program with "
            "--batsim PATH",
            source=source,
        )
    others: list[Found] = []
    for path in paths:
        found = Found(path, _version_of(path))
        if found.version.partition(".")[0] == str(major):
            return found
        others.append(found)
    listed = ", ".join(f"{found.path} is Batsim {found.version}" for found in others)
    raise InputError(f"{listed}, expected Batsim {major}", source=source)


def _version_of(path: str) -> str:
    try:
        asked = subprocess.run(
            [path, "--version"], stdin=subprocess.DEVNULL, capture_output=True, timeout=_ASK, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as problem:
        reason = "it does not answer" if isinstance(problem, subprocess.TimeoutExpired) else problem.strerror
        raise InputError(f"{path} --version: {reason}") from None
    said = asked.stdout[:4096].decode("utf-8", "replace").strip()
    match = _VERSION.search(said)
    if match is None:
        raise InputError(f"{path} --version: found {said[:60]!r}, expected the version of a Batsim")
    return match[0].lstrip("v")


class BatsimProcess:
    """A running Batsim; a context manager, started by `start`. Whatever happens, the process is gone afterwards.

    On Linux the process also ends when this one is killed; the thread that calls `start` must leave the context as well
    (see `batdispatch.links.with_parent`).
    """

    def __init__(self, command: Sequence[str]) -> None:
        self.command = list(command)
        self._process: subprocess.Popen[bytes] | None = None
        self._words: IO[bytes] | None = None

    def __enter__(self) -> BatsimProcess:
        self._words = tempfile.TemporaryFile()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
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
            raise SimulationError(f"Batsim ended {self._how()} before the end of the simulation{self.last_words()}")

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
                f"Batsim has not ended {seconds:g} s after the simulation{self.last_words()}"
            ) from None
        if self._process.returncode != 0:
            raise SimulationError(f"Batsim ended {self._how()} after the simulation{self.last_words()}")

    def _how(self) -> str:
        assert self._process is not None
        code = self._process.returncode
        if code >= 0:
            return f"with status {code}"
        try:
            return f"by {signal.Signals(-code).name}"
        except ValueError:
            return f"by signal {-code}"

    def last_words(self) -> str:
        """Return why it gave up and what it printed last, as the end of an error message; empty if it was silent."""
        assert self._words is not None
        self._words.seek(0)
        words = self._words
        shown = telling(iter(lambda: words.readline(_LONGEST), b""))
        return "; it said:\n  " + "\n  ".join(shown) if shown else ""


def telling(output: Iterable[bytes]) -> list[str]:
    """Return the lines of a SimGrid program's output that tell why it failed: the critical ones, then the last ones."""
    reasons: list[tuple[int, str]] = []
    last: deque[tuple[int, str]] = deque(maxlen=_LAST_WORDS)
    for number, raw in enumerate(output):
        line = "".join(char if char.isprintable() else "?" for char in raw.decode("utf-8", "replace").strip()[:_SHOWN])
        if line:
            last.append((number, line))
            if len(reasons) < _REASONS and _REASON.search(line):
                reasons.append((number, line))
    before = [line for number, line in reasons if number < last[0][0]]
    between = last[0][0] - 1 > reasons[len(before) - 1][0] if before else False
    return before + ["..."] * between + [line for _, line in last]
