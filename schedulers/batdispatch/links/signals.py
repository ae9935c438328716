"""SIGINT and SIGTERM as something a poller can wait for: a loop then stops between two messages, not within one."""

from __future__ import annotations

import signal
import socket
from types import FrameType, TracebackType
from typing import Any


class StopSignals:
    """A context manager that turns SIGINT and SIGTERM into `received` and a readable file descriptor.

    A second signal raises KeyboardInterrupt at once, for a dispatcher that does not come to an end. Only the main
    thread may receive signals: elsewhere enter nothing and pass None to whoever wants one.

    Attributes:
        received: the first signal, or None.
    """

    def __init__(self) -> None:
        self.received: signal.Signals | None = None
        self._reader, self._writer = socket.socketpair()
        self._reader.setblocking(False)
        self._writer.setblocking(False)
        self._old: dict[signal.Signals, Any] = {}

    def fileno(self) -> int:
        """Return what becomes readable when a signal arrives."""
        return self._reader.fileno()

    def __enter__(self) -> StopSignals:
        for number in (signal.SIGINT, signal.SIGTERM):
            self._old[number] = signal.signal(number, self._handle)
        self._old_wakeup = signal.set_wakeup_fd(self._writer.fileno(), warn_on_full_buffer=False)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        signal.set_wakeup_fd(self._old_wakeup)
        for number, handler in self._old.items():
            signal.signal(number, handler)
        self._reader.close()
        self._writer.close()

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if self.received is not None:
            raise KeyboardInterrupt
        self.received = signal.Signals(number)
