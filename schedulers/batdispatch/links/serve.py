"""The decision process: a ZeroMQ socket that Batsim connects to, and a peer that answers."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

import msgspec
import zmq

from batdispatch.batsim import Features, Wire, check_spoken
from batdispatch.core.errors import InputError, SimulationError
from batdispatch.core.line.messages import Peer
from batdispatch.links.connections import GLANCE, keep_alive
from batdispatch.links.endpoint import check_endpoint
from batdispatch.links.options import MAX_MESSAGE, TIMEOUT
from batdispatch.links.recorder import Recorder
from batdispatch.links.signals import StopSignals
from batdispatch.links.single_peer import SinglePeer

#: Seconds without a Batsim after which that is said for the first time.
_PATIENCE = 3.0
#: Seconds that the last reply may take to leave.
_LINGER = 5.0


class ServeResult(msgspec.Struct, frozen=True):
    """How serving ended: messages answered after the handshake, and the signal that stopped it early, if one did."""

    messages: int
    stopped_by: str | None = None


def serve(
    peer: Peer,
    endpoint: str,
    wire: Wire,
    *,
    features: Features | None = None,
    timeout: float = TIMEOUT,
    max_message: int = MAX_MESSAGE,
    allow_remote: bool = False,
    recorder: Recorder | None = None,
    signals: StopSignals | None = None,
    on_ready: Callable[[str], None] = lambda endpoint: None,
    on_notice: Callable[[str], None] = lambda text: None,
    watch: Callable[[], None] = lambda: None,
) -> ServeResult:
    """Answer one simulation: bind, reply to every message, end after the reply to the last one has left.

    Who speaks first is answered until the end; what others say is refused.

    Args:
        peer: what answers.
        endpoint: where to listen; Batsim is the side that connects.
        wire: the protocol.
        features: what `peer` needs of the simulator, for protocols with a handshake; default: nothing.
        timeout: seconds without a message after which the peer is reported as silent; 0: never. It also bounds the
            wait for the first message. A peer that closes its connection is reported within a second.
        max_message: bytes of the largest frame accepted; the connection of a peer that sends more is closed.
        allow_remote: whether `endpoint` may be one that other machines can reach.
        recorder: where the exchange is written, frame by frame, before it is interpreted.
        signals: entered StopSignals; serving stops between two messages after one arrived.
        on_ready: called with the real endpoint once it is bound.
        on_notice: called with a text when something remarkable happened that does not end the serving.
        watch: called every now and then while there is no message; what it raises ends the serving.

    Raises:
        InputError: the endpoint is wrong or taken, or a message is malformed.
        ImpossibleDecision: the dispatcher decided something impossible.
        SimulationError: the peer died or fell silent before the end of the simulation.
    """
    address = check_endpoint(endpoint, allow_remote=allow_remote)
    # A context of its own: ending it waits for the last reply, whatever else the process does with ZeroMQ.
    context = zmq.Context()
    socket = context.socket(zmq.ROUTER)
    asking = SinglePeer(socket, on_notice)
    try:
        socket.setsockopt(zmq.MAXMSGSIZE, max_message)
        socket.setsockopt(zmq.LINGER, round(_LINGER * 1000))
        keep_alive(socket)
        if address.startswith("tcp://["):
            socket.setsockopt(zmq.IPV6, 1)
        try:
            socket.bind(address)
        except zmq.ZMQError as problem:
            raise InputError(f"endpoint {endpoint!r} cannot be bound: {problem.strerror}") from None
        on_ready(socket.getsockopt_string(zmq.LAST_ENDPOINT))
        # A blocking receive that looks up now and then costs a message 20 % less than polling sockets and signals.
        socket.setsockopt(zmq.RCVTIMEO, round(GLANCE * 1000))
        bounds = _Bounds(timeout, f"--max-message {max_message / 2**20:g} MiB")
        return _loop(peer, asking, wire, features or Features(), bounds, recorder, signals, on_notice, watch)
    finally:
        asking.close()
        socket.close()
        context.term()


class _Bounds(NamedTuple):
    """Limits that a peer keeps to: seconds of silence (0: any), and the size of messages, in words."""

    timeout: float
    size: str


def _loop(
    peer: Peer,
    asking: SinglePeer,
    wire: Wire,
    features: Features,
    bounds: _Bounds,
    recorder: Recorder | None,
    signals: StopSignals | None,
    on_notice: Callable[[str], None],
    watch: Callable[[], None],
) -> ServeResult:
    answered = messages = 0
    waiting = _PATIENCE
    quiet_since = time.monotonic()
    while True:
        if signals is not None and signals.received is not None:
            return ServeResult(messages, signals.received.name)
        try:
            frame = asking.receive()
        except zmq.Again:
            frame = None
        if frame is None:
            watch()
            _look_around(asking, quiet_since, bounds, answered, on_notice)
            if not (answered or asking.connections.connected) and time.monotonic() >= quiet_since + waiting:
                waiting *= 10
                on_notice("no Batsim has connected yet; if yours has ended, it said why on its own terminal")
            continue
        if recorder is not None:
            recorder.message(frame)
        if not answered:
            check_spoken(frame, wire)
        # A handshake takes one frame, or two with Batsim 5's pre-releases.
        answer = wire.answer_opening(frame, features) if answered < 2 else None
        message = None
        if answer is None:
            message = wire.decode_message(frame)
            messages += 1
            answer = wire.encode_reply(peer.handle(message))
        if recorder is not None:
            recorder.reply(answer)
        asking.send(answer)
        answered += 1
        if message is not None and message.is_last:
            return ServeResult(messages)
        quiet_since = time.monotonic()


def _look_around(
    asking: SinglePeer, quiet_since: float, bounds: _Bounds, answered: int, on_notice: Callable[[str], None]
) -> None:
    """Report a peer that is gone or silent for too long."""
    connections = asking.connections
    connections.update()
    now = time.monotonic()
    if connections.lost_at is not None and not answered:
        connections.lost_at = None
        on_notice(
            "a peer connected and left without a message that was accepted: it stopped, or its first message was above "
            f"{bounds.size}; waiting for another"
        )
    elif connections.gone:
        raise SimulationError(
            f"Batsim closed the connection after {answered} messages, before the end of the simulation "
            f"(it stopped, or it sent a message above {bounds.size})"
        )
    timeout = bounds.timeout
    if timeout and now >= quiet_since + timeout:
        if connections.connected:
            raise SimulationError(
                f"Batsim is connected but has said nothing for {timeout:g} s (after {answered} messages)"
            )
        if connections.has_left:
            raise SimulationError(f"no message has been accepted for {timeout:g} s: what connected has left again")
        raise SimulationError(f"no Batsim has connected for {timeout:g} s")
