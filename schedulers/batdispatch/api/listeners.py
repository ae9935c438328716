"""Who hears of a call in Python: a notebook shows how far the work is, and warnings become Python's."""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Sequence
from importlib import import_module
from typing import Any

from batdispatch.runs.listener import Listener

#: Seconds between two pictures of the same progress.
_PAUSE = 0.2


class PythonListener(Listener):
    """Turns what is remarkable, and runs that failed, into Python's warnings."""

    def warn(self, text: str) -> None:
        # Whoever called the package is above it.
        warnings.warn(text, stacklevel=_depth())

    def failed(self, label: str, why: str) -> None:
        self.warn(f"{label} failed: {why}")


def _depth() -> int:
    """Return how many frames above its caller's the first one outside this package is."""
    frame, depth = sys._getframe(1), 1
    while frame.f_back is not None and str(frame.f_globals.get("__name__", "")).startswith("batdispatch."):
        frame, depth = frame.f_back, depth + 1
    return depth


class NotebookListener(PythonListener):
    """Shows below the cell, in one place, how far each piece of work is, until it is done."""

    def __init__(self, display: Any) -> None:
        """Take IPython's function `display`."""
        self._display = display
        self._handle: Any = None
        self._shown = 0.0
        self._work: dict[str, tuple[int, int]] = {}

    def progress(self, label: str, done: int, total: int) -> None:
        if done >= total:
            self._work.pop(label, None)
        else:
            self._work[label] = done, total
        now = time.monotonic()
        if now >= self._shown + _PAUSE or not self._work:
            self._shown = now
            self._show()

    def _show(self) -> None:
        lines = [f"{label}: {100 * done // total} % done" for label, (done, total) in self._work.items()]
        content = {"text/plain": "\n".join(lines)}
        if self._handle is not None:
            self._handle.update(content, raw=True)
        elif lines:
            self._handle = self._display(content, raw=True, display_id=True)


class NoteKeeper(Listener):
    """Passes everything on, and keeps the notes."""

    def __init__(self, listener: Listener) -> None:
        self.notes: list[str] = []
        self._listener = listener

    def progress(self, label: str, done: int, total: int) -> None:
        self._listener.progress(label, done, total)

    def note(self, text: str) -> None:
        self.notes.append(text)
        self._listener.note(text)

    def warn(self, text: str) -> None:
        self._listener.warn(text)

    def failed(self, label: str, why: str) -> None:
        self._listener.failed(label, why)

    def kept(self, labels: Sequence[str]) -> None:
        self._listener.kept(labels)


def default_listener() -> Listener:
    """Return who hears of a call that names nobody: the notebook that this is, or a Python program."""
    shell = sys.modules.get("IPython")
    kernel = None if shell is None else shell.get_ipython()
    if kernel is None or type(kernel).__name__ != "ZMQInteractiveShell":
        return PythonListener()
    return NotebookListener(import_module("IPython.display").display)
