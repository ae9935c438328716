"""Writes the exchange of a run, one frame a line: ``{"dir": "batsim->sched" | "sched->batsim", "raw": frame}``.

The names of the directions and the form of a frame are the protocol's, see `batdispatch.batsim.Wire`.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import msgspec

from batdispatch.batsim import Wire, protocol
from batdispatch.core.errors import BatdispatchError
from batdispatch.core.line.messages import Message, Peer, Reply
from batdispatch.inputs.whole import Whole

_BUFFER = 1 << 18
_quote = msgspec.json.Encoder().encode


class Recorder:
    """A context manager that writes `path`; frames go to a partial file, which gets its name when the block ends well.

    After an error the file is called ``path.partial``, complete up to the last frame, so that the failure can be looked
    at. So it is after `abort`, which is for a run that was interrupted without an error.

    Raises:
        OSError: the file cannot be written.
    """

    def __init__(self, path: Path, wire: Wire | None = None) -> None:
        """Prepare to write `path`, in the form that Batsim 4's recordings have unless `wire` says otherwise."""
        self.path = path
        self._wire = protocol("4") if wire is None else wire
        self._file: Whole | None = None
        self._aborted = False

    def __enter__(self) -> Recorder:
        self._file = Whole(self.path, buffering=_BUFFER)
        return self

    def __exit__(self, kind: object, *problem: object) -> None:
        assert self._file is not None
        if kind is None and not self._aborted:
            self._file.finish()
        else:
            self._file.keep_partial()
        self._file = None

    def abort(self) -> None:
        """Keep the partial name when the block ends."""
        self._aborted = True

    def message(self, frame: bytes) -> None:
        """Record a frame from the simulator, whatever its bytes are."""
        self._write(self._wire.DIRECTIONS[0], frame)

    def reply(self, frame: bytes) -> None:
        """Record a frame from the dispatcher."""
        self._write(self._wire.DIRECTIONS[1], frame)

    def _write(self, direction: str, frame: bytes) -> None:
        if self._file is None:
            raise BatdispatchError(f"{self.path}: the recording is not open")
        text = _quote(self._wire.record(frame))
        # One write a line: whatever interrupts the process, the file ends with a whole frame or with none of it.
        self._file.stream.write(b'{"dir": "%b", "raw": %b}\n' % (direction.encode(), text))


class RecordedPeer:
    """A peer whose exchange is recorded as the frames that would have travelled; for runs without a socket."""

    def __init__(self, peer: Peer, recorder: Recorder, wire: Wire) -> None:
        self._peer = peer
        self._recorder = recorder
        self._wire = wire

    def handle(self, message: Message) -> Reply:
        """Answer a message and record both."""
        self._recorder.message(self._wire.encode_message(message))
        reply = self._peer.handle(message)
        self._recorder.reply(self._wire.encode_reply(reply))
        return reply


def record_exchange(path: Path, exchange: Iterable[tuple[Message, Reply]]) -> None:
    """Write an exchange of which each message and its answer are known, in Batsim 4's form."""
    wire = protocol("4")
    with Recorder(path, wire) as recorder:
        for message, reply in exchange:
            recorder.message(wire.encode_message(message))
            recorder.reply(wire.encode_reply(reply))
