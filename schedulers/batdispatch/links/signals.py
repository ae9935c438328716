"""SIGINT and SIGTERM as a flag, so that a loop stops between two messages and not within one."""

from __future__ import annotations

import signal
from types import FrameType
from typing import Any


class StopSignals:
    """A context manager that turns SIGINT and SIGTERM into `received`.

    A second signal raises KeyboardInterrupt at once, for a dispatcher that does not come to an end. Only the main
    thread may receive signals: elsewhere enter nothing and pass None to whoever wants one.

    Attributes:
        received: the first signal, or None.
    """

    def __init__(self) -> None:
        self.received: signal.Signals | None = None
        self._old: dict[signal.Signals, Any] = {}

    def __enter__(self) -> StopSignals:
        for number in (signal.SIGINT, signal.SIGTERM):
            self._old[number] = signal.signal(number, self._handle)
        return self

    def __exit__(self, *problem: object) -> None:
        for number, handler in self._old.items():
            signal.signal(number, handler)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if self.received is not None:
            raise KeyboardInterrupt
        self.received = signal.Signals(number)
