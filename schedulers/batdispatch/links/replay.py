"""Reruns a recorded exchange: against a dispatcher, comparing its decisions, or through the wire only."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from batdispatch.batsim import PROTOCOLS, Features, Wire, protocol
from batdispatch.batsim.bounds import check_bounds
from batdispatch.core.errors import ImpossibleDecision, InputError
from batdispatch.core.line.decisions import CallEvery, CreateProbe, Execute, StopCalls, StopProbe, StopSimulation
from batdispatch.core.line.events import ProbeData
from batdispatch.core.line.messages import Message, Peer, Reply

#: Bytes of the longest line of a recording: a frame of serve's default bound, with room for what is escaped.
MAX_LINE = 320 * 2**20
#: Times that differ by less are the same: Batsim prints microseconds.
_SAME_TIME = 1.5e-6


class Line(msgspec.Struct, frozen=True):
    """One line of a recording."""

    dir: str
    raw: str | dict[str, str | int]


class Exchange(msgspec.Struct, frozen=True):
    """A message and the recorded answer to it, as frames; `line` is the message's line number, from 1."""

    line: int
    message: bytes
    #: None when the recording ends with the message.
    reply: bytes | None


class Difference(msgspec.Struct, frozen=True):
    """Where a replay first parts from its recording.

    Attributes:
        line: line of the message that was answered differently, from 1.
        now: its time in seconds.
        events: what it said, for the reader: event types with jobs.
        index: position of the decision in the reply.
        job: the decision's job, if it has one.
        expected: the recorded decision; None: none was recorded there.
        got: the dispatcher's; None: it decided nothing more.
    """

    line: int
    now: float
    events: list[str]
    index: int
    job: str
    expected: dict[str, Any] | None
    got: dict[str, Any] | None

    def __str__(self) -> str:
        """Return the difference in words."""
        texts = [
            "no further decision" if decision is None else msgspec.json.encode(decision).decode()
            for decision in (self.expected, self.got)
        ]
        about = f", job {self.job}" if self.job else ""
        shown = ", ".join(self.events[:6]) + (", ..." if len(self.events) > 6 else "")
        return (
            f"line {self.line}, at {self.now:.6f} s, after {shown or 'no event'}: decision {self.index}{about}: "
            f"expected {texts[0]}, got {texts[1]}"
        )


class ReplayResult(msgspec.Struct, frozen=True):
    """What a replay found: numbers of messages and decisions compared, and the first difference."""

    messages: int
    decisions: int
    difference: Difference | None = None


def read_recording(
    path: Path, wire: Wire | None = None, *, wants: Callable[[int], bool] | None = None
) -> Iterator[Exchange]:
    """Yield the exchanges of a recording, one at a time.

    Args:
        path: the recording.
        wire: its protocol; default: Batsim 4's.
        wants: whether a line is read, by its number from 1; of an exchange both are, or neither. None: all are.

    Raises:
        InputError: a line is no frame, or messages and replies do not alternate.
        OSError: the file cannot be read.
    """
    wire = protocol("4") if wire is None else wire
    to_peer, to_batsim = wire.DIRECTIONS
    decode = msgspec.json.Decoder(Line).decode
    #: At most one, and none while a message is with the caller: the first one may take as much as all others.
    pending: list[tuple[int, bytes]] = []
    empty = True
    with path.open("rb") as file:
        number = 0
        while text := file.readline(MAX_LINE + 1):
            number += 1
            if wants is not None and not wants(number):
                continue
            place = f"line {number}"
            if len(text) > MAX_LINE:
                raise InputError(f"is longer than {MAX_LINE} bytes", source=str(path), place=place)
            try:
                check_bounds(text)
                line = decode(text)
                frame = wire.unrecord(line.raw)
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, InputError) as problem:
                raise InputError(
                    f'{problem}; expected {{"dir": "{to_peer}" or "{to_batsim}", "raw": frame}}',
                    source=str(path),
                    place=place,
                ) from None
            empty = False
            if line.dir == to_peer and not pending:
                pending.append((number, frame))
            elif line.dir == to_batsim and pending:
                yield Exchange(*pending.pop(), frame)
            else:
                due = to_batsim if pending else to_peer
                raise InputError(f"found dir {line.dir[:40]!r}, expected {due!r}", source=str(path), place=place)
    if empty:
        raise InputError("is empty, expected a recorded exchange", source=str(path))
    if pending:
        yield Exchange(*pending.pop(), None)


def read_exchanges(
    path: Path, wire: Wire, *, partial: bool = False, wants: Callable[[int], bool] | None = None
) -> Iterator[tuple[Exchange, Message | None, Reply | None]]:
    """Yield the exchanges of a recording with what they say; a handshake says neither a message nor a reply.

    Args:
        path: the recording.
        wire: its protocol.
        partial: whether it may end before the simulation does, as that of a run which failed.
        wants: see `read_recording`.

    Raises:
        InputError: the recording is malformed, or ends too soon.
        OSError: the file cannot be read.
    """
    last: Message | None = None
    reply: Reply | None = None
    line = 0
    for exchange in read_recording(path, wire, wants=wants):
        line = exchange.line
        if read_handshake(path, exchange, wire) is not None:
            yield exchange, None, None
            continue
        last, reply = _decode(path, exchange, wire)
        yield exchange, last, reply
    if not partial and (last is None or not last.is_last or reply is None):
        raise InputError(
            "ends before the simulation does, expected SIMULATION_ENDS and an answer to it: it was cut off, or its run "
            "failed (--partial: take it as it is)",
            source=str(path),
            place=f"line {line}",
        )


#: What Batsim 4 has no word for.
_OF_BATSIM5 = (CallEvery, StopCalls, CreateProbe, StopProbe, StopSimulation)


def read_in_batsim4(path: Path) -> Iterator[tuple[int, bytes | None, bytes | None]]:
    """Yield the line, the message and the reply of each exchange of a recording, as frames of Batsim 4.

    A handshake has neither message nor reply. Some of what Batsim 4 has no word for is left out: storage beside a
    mapping, parts of a job on other hosts, probes, calls that come again and again, and an early end.

    Raises:
        InputError: the recording is malformed.
        ImpossibleDecision, SimulationError: something else in it cannot be said in Batsim 4's words.
        OSError: the file cannot be read.
    """
    version, four = told_by(path), protocol("4")
    wire = protocol(version)
    for exchange in read_recording(path, wire):
        if version == "4":
            yield exchange.line, exchange.message, exchange.reply
        elif read_handshake(path, exchange, wire) is not None:
            yield exchange.line, None, None
        else:
            message, reply = _decode(path, exchange, wire)
            answer = None if reply is None else four.encode_reply(_sayable(reply))
            told = [event for event in message.events if not isinstance(event, ProbeData)]
            yield exchange.line, four.encode_message(Message(message.now, told)), answer


def _sayable(reply: Reply) -> Reply:
    """Return a reply with what Batsim 4 has words for."""
    listed = [one for one in reply.decisions if not isinstance(one, _OF_BATSIM5)]
    plain = {"storage": None, "overrides": None, "fill": False}
    return Reply(reply.now, [replace(one, **plain) if isinstance(one, Execute) else one for one in listed])


def replay(
    path: Path,
    peer: Peer,
    wire: Wire,
    *,
    times: bool = False,
    partial: bool = False,
    before: Callable[[Message, Reply | None], None] | None = None,
) -> ReplayResult:
    """Let a peer answer a recording's messages; stops at the first decision that differs.

    After a difference the recording says what followed from other decisions, so there is nothing more to compare.

    Args:
        path: the recording.
        peer: what answers.
        wire: the recording's protocol.
        times: whether the times of decisions and replies must agree too (to a microsecond); by default only what
            was decided counts, since recorded schedulers spent time of their own.
        partial: see `read_exchanges`.
        before: called with each message and the recorded reply before the peer answers.

    Raises:
        InputError: the recording is malformed, or contradicts the peer's ledger.
        ImpossibleDecision: the peer decided something impossible.
    """
    messages = decisions = 0
    for exchange, message, expected in read_exchanges(path, wire, partial=partial):
        if message is None:
            continue
        if before is not None:
            before(message, expected)
        reply = peer.handle(message)
        messages += 1
        if expected is None:
            continue
        difference = _compare(exchange.line, message, expected, reply, wire, times)
        if difference is not None:
            return ReplayResult(messages, decisions, difference)
        decisions += len(reply.decisions)
    return ReplayResult(messages, decisions)


def check_wire(path: Path, wire: Wire, *, partial: bool = False) -> ReplayResult:
    """Decode every frame of a recording, write it again, and check that it reads back the same.

    `partial`: see `read_exchanges`.

    Raises:
        InputError: a frame is malformed, cannot be written again without loss, or holds a decision that Batsim would
            refuse.
    """
    messages = decisions = 0
    for exchange, message, reply in read_exchanges(path, wire, partial=partial):
        messages += 1
        if message is None:
            continue
        _require_stable(wire.encode_message(message), wire.decode_message, wire.encode_message, path, exchange.line)
        if reply is not None:
            try:
                frame = wire.encode_reply(reply)
            except ImpossibleDecision as problem:
                raise InputError(str(problem), source=str(path), place=f"line {exchange.line + 1}") from None
            _require_stable(frame, wire.decode_reply, wire.encode_reply, path, exchange.line + 1)
            decisions += len(reply.decisions)
    return ReplayResult(messages, decisions)


def _require_stable(frame: bytes, decode: Any, encode: Any, path: Path, line: int) -> None:
    if encode(decode(frame)) != frame:
        raise InputError("the frame changes when it is read and written again", source=str(path), place=f"line {line}")


def read_handshake(path: Path, exchange: Exchange, wire: Wire) -> Features | None:
    """Read a handshake; return what the recorded decision process asked for, or None if there is no handshake here."""
    try:
        if wire.answer_opening(exchange.message, Features()) is None:
            return None
        # What follows was said to the recorded decision process, so its wishes hold and not those of the peer.
        return Features() if exchange.reply is None else wire.read_answer(exchange.reply)
    except InputError as problem:
        raise InputError(str(problem), source=str(path), place=f"line {exchange.line}") from None


def told_by(path: Path) -> str:
    """Return the version of the protocol that a recording is in, by the directions in its first line.

    Raises:
        OSError: the file cannot be read.
    """
    with path.open("rb") as file:
        start = file.read(200)
    for version in PROTOCOLS:
        if any(f'"{name}"'.encode() in start for name in protocol(version).DIRECTIONS):
            return version
    return next(iter(PROTOCOLS))


def _decode(path: Path, exchange: Exchange, wire: Wire) -> tuple[Message, Reply | None]:
    line = exchange.line
    try:
        message = wire.decode_message(exchange.message)
        line += 1
        return message, None if exchange.reply is None else wire.decode_reply(exchange.reply)
    except InputError as problem:
        raise InputError(str(problem), source=str(path), place=f"line {line}") from None


def _compare(line: int, message: Message, expected: Reply, reply: Reply, wire: Wire, times: bool) -> Difference | None:
    # Both sides go through the same encoder, so the wire's formatting freedoms are no differences.
    wanted = wire.list_decisions(expected)
    given = wire.list_decisions(reply)
    for index in range(max(len(wanted), len(given))):
        a, b = (side[index] if index < len(side) else None for side in (wanted, given))
        if not _same(a, b, times):
            job = next((name for side in (b, a) if side and (name := _job_of(side["data"]))), "")
            return Difference(line, message.now, _told(message), index, job, a, b)
    if times and abs(expected.now - reply.now) > _SAME_TIME:
        return Difference(line, message.now, _told(message), len(given), "", {"now": expected.now}, {"now": reply.now})
    return None


def _job_of(data: dict[str, Any]) -> str:
    """Return the job that a decision is about; of several the first."""
    listed = data.get("job_ids") or [data.get("job_id", "")]
    return str(listed[0])


def _same(a: dict[str, Any] | None, b: dict[str, Any] | None, times: bool) -> bool:
    if a is None or b is None:
        return a is b
    if times and abs(a["timestamp"] - b["timestamp"]) > _SAME_TIME:
        return False
    return a["type"] == b["type"] and same_values(a["data"], b["data"])


def same_values(a: Any, b: Any) -> bool:
    """Return whether JSON values are the same, numbers to a microsecond."""
    if isinstance(a, float) or isinstance(b, float):
        return isinstance(a, int | float) and isinstance(b, int | float) and abs(a - b) <= _SAME_TIME
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same_values(a[name], b[name]) for name in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(same_values, a, b))
    return bool(a == b)


def _told(message: Message) -> list[str]:
    told = []
    for event in message.events:
        job = getattr(event, "job", None)
        job_id = getattr(event, "job_id", "") if job is None else job.id
        told.append(" ".join(part for part in (type(event).__name__, job_id) if part))
    return told
