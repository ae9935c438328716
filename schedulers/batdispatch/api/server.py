"""What Python calls to answer a real Batsim."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from threading import current_thread, main_thread
from typing import Any

from batdispatch.api.listeners import default_listener
from batdispatch.api.settings import divide, fields_of, takes, texts_of
from batdispatch.batsim import features_for, protocol
from batdispatch.core.line.dispatcher import Dispatcher, create, with_option_file
from batdispatch.core.line.session import Session
from batdispatch.core.line.settings import named_with
from batdispatch.links import serve as link
from batdispatch.links.options import MachineFile, ServeOptions
from batdispatch.links.platform_peer import platform_peer_of
from batdispatch.links.recorder import Recorder
from batdispatch.links.signals import StopSignals
from batdispatch.runs.listener import Listener
from batdispatch.runs.spec import RunSpec

#: What says how a dispatcher decides beside its name and its options.
DISPATCHER_FIELDS = fields_of(RunSpec, only=("seed", "decision_time"))
#: What says how it is served.
SERVER_FIELDS = fields_of(ServeOptions)
#: What says which platform file tells it what Batsim does not.
PLATFORM_FIELDS = fields_of(MachineFile)


@takes(SERVER_FIELDS, DISPATCHER_FIELDS, PLATFORM_FIELDS)
def serve(
    dispatcher: str | Dispatcher,
    *,
    options: Mapping[str, Any] = {},
    on_ready: Callable[[str], None] = lambda endpoint: None,
    listener: Listener | None = None,
    **settings: Any,
) -> link.ServeResult:
    """Answer one simulation of a real Batsim, which is the side that connects, and return how it ended.

    In the main thread an interrupt stops it between two messages.

    Args:
        dispatcher: as for `run`; an object is used itself, so it can serve once.
        options: further options of a dispatcher that is given by name.
        on_ready: called with the endpoint once Batsim can connect.
        listener: hears of what is remarkable.
        settings: as options of ``batdispatch serve`` (``socket``, ``protocol``, ``platform``, ``timeout``, ``record``,
            ...). Times are seconds. A decision time of None is measured.

    Raises:
        InputError: an option is wrong, the endpoint is taken, or a message is malformed.
        ImpossibleDecision: the dispatcher decided something impossible.
        SimulationError: Batsim died or fell silent.
    """
    deciding, given, file = divide(settings, DISPATCHER_FIELDS, SERVER_FIELDS, PLATFORM_FIELDS)
    serving, seed = ServeOptions(**given), deciding.pop("seed", 0)
    if isinstance(dispatcher, Dispatcher):
        made = dispatcher
    else:
        made = create(*with_option_file(*named_with(dispatcher, texts_of(options or {}))), seed)
    session = Session(made, clock=time.perf_counter, **deciding)
    peer = platform_peer_of(MachineFile(**file), session, serving.protocol)
    wire, heard = protocol(serving.protocol), listener or default_listener()
    with ExitStack() as stack:
        # Signals are for the main thread alone.
        signals = stack.enter_context(StopSignals()) if current_thread() is main_thread() else None
        recorder = None if serving.record is None else stack.enter_context(Recorder(serving.record, wire))
        served = link.serve(
            peer,
            serving.socket,
            wire,
            features=features_for(registers_jobs=made.registers_jobs),
            timeout=serving.timeout,
            max_message=serving.max_message << 20,
            allow_remote=serving.allow_remote,
            recorder=recorder,
            signals=signals,
            on_ready=on_ready,
            on_notice=heard.note,
        )
        if served.stopped_by is not None and recorder is not None:
            recorder.abort()
    return served
