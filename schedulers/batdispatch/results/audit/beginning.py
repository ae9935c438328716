"""The beginning of a recorded exchange, where the machine is told, host by host.

It is heard before anything else is read: a large machine as it is told takes as much memory as all that comes after.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import msgspec

from batdispatch.batsim import protocol
from batdispatch.core import events as e
from batdispatch.core.errors import InputError
from batdispatch.core.machine import Machine
from batdispatch.core.messages import Message, Reply
from batdispatch.links.informed import Informed
from batdispatch.links.replay import opened, read_recording, told_by


class Beginning(NamedTuple):
    """The message that begins a simulation.

    Attributes:
        line: of the recording.
        message: with the platform's machine in the place of the one that was told.
        problem: how the machine that was told differs from the platform's; empty if it does not.
    """

    line: int
    message: Message
    problem: str


class _Deaf:
    """A peer that is only told what there is."""

    def handle(self, message: Message) -> Reply:
        return Reply(message.now, ())


def hear_beginning(path: Path, machine: Machine) -> Beginning | None:
    """Read the message that begins a simulation, and compare the machine that it tells with the platform's.

    Where the recording cannot be read, or begins with something else, None is returned; whoever goes through all of it
    comes to that place, too.
    """
    try:
        wire = protocol(told_by(path))
        for exchange in read_recording(path, wire):
            if opened(path, exchange, wire) is not None:
                continue
            message = wire.decode_message(exchange.message)
            first, *others = message.events or (None,)
            if not isinstance(first, e.SimulationBegins):
                return None
            problem = ""
            try:
                Informed(_Deaf(), machine).handle(Message(first.time, [first]))
            except InputError as found:
                problem = str(found)
            begins = msgspec.structs.replace(first, machine=machine)
            return Beginning(exchange.line, msgspec.structs.replace(message, events=[begins, *others]), problem)
    except (InputError, OSError):
        pass
    return None
