"""What Python calls to answer a real Batsim."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from os import PathLike
from pathlib import Path
from threading import current_thread, main_thread
from typing import Any, Literal

from batdispatch.api.listeners import default_listener
from batdispatch.batsim import features_for
from batdispatch.batsim import protocol as wire_of
from batdispatch.core.errors import InputError
from batdispatch.core.line.dispatcher import Dispatcher, create
from batdispatch.core.line.messages import Peer
from batdispatch.core.line.session import Session
from batdispatch.links import serve as link
from batdispatch.links.informed import informed_by
from batdispatch.links.recorder import Recorder
from batdispatch.links.signals import StopSignals
from batdispatch.runs.listener import Listener


def serve(
    dispatcher: str | Dispatcher,
    *,
    socket: str = "tcp://127.0.0.1:28000",
    protocol: Literal["4", "5"] = "4",
    options: Mapping[str, Any] = {},
    seed: int = 0,
    decision_time: float | None = 0.0,
    platform: str | PathLike[str] | None = None,
    master_host: str | None = None,
    roles: Mapping[str, str] = {},
    timeout: float = 600.0,
    max_message: int = 256,
    allow_remote: bool = False,
    record: str | PathLike[str] | None = None,
    on_ready: Callable[[str], None] = lambda endpoint: None,
    listener: Listener | None = None,
) -> link.Served:
    """Answer one simulation of a real Batsim, which is the side that connects, and return how it ended.

    In the main thread an interrupt stops it between two messages.

    Args:
        dispatcher: as for `run`; an object is used itself, so it can serve once.
        socket: where to listen: ``tcp://ADDRESS:PORT``, where port * takes a free one, or ``ipc://PATH``.
        protocol: version of Batsim's.
        options: further options of a dispatcher that is given by name.
        seed: of all random choices, of a dispatcher that is given by name.
        decision_time: simulated seconds that a decision takes; None: as long as it really takes.
        platform: the file that Batsim was started with; the dispatcher then knows what Batsim does not tell.
        master_host: the platform's host that carries Batsim.
        roles: of the platform's hosts that Batsim was told one of.
        timeout: seconds without a message after which it gives up; 0: never.
        max_message: MiB of the longest message.
        allow_remote: let other machines connect. The protocol has no authentication.
        record: file for the exchange, which ``batdispatch replay`` reads; after a failure it is called FILE.partial.
        on_ready: called with the endpoint once Batsim can connect.
        listener: hears of what is remarkable.

    Raises:
        InputError: an option is wrong, the endpoint is taken, or a message is malformed.
        ImpossibleDecision: the dispatcher decided something impossible.
        SimulationError: Batsim died or fell silent.
    """
    made = dispatcher if isinstance(dispatcher, Dispatcher) else create(dispatcher, options, seed)
    session = Session(made, decision_time=decision_time, clock=time.perf_counter)
    peer: Peer = session
    if platform is not None:
        peer = informed_by(Path(platform), session, master=master_host, roles=roles, version=protocol)
    elif master_host is not None or roles:
        raise InputError("--master-host and --role need --platform")
    wire, heard = wire_of(protocol), listener or default_listener()
    with ExitStack() as stack:
        # Signals are for the main thread alone.
        signals = stack.enter_context(StopSignals()) if current_thread() is main_thread() else None
        recorder = None if record is None else stack.enter_context(Recorder(Path(record), wire))
        served = link.serve(
            peer,
            socket,
            wire,
            features=features_for(registers_jobs=made.registers_jobs),
            timeout=timeout,
            max_message=max_message << 20,
            allow_remote=allow_remote,
            recorder=recorder,
            signals=signals,
            on_ready=on_ready,
            on_notice=heard.note,
        )
        if served.stopped_by is not None and recorder is not None:
            recorder.abort()
    return served
