"""The beginning of a recorded exchange, where the machine is told, host by host.

It is heard once, before the jobs file is read: a large machine and the profiles of many jobs, as they are told, take as
much memory as all that comes after.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from batdispatch.batsim import protocol
from batdispatch.core import events as e
from batdispatch.core.errors import InputError
from batdispatch.core.machine import Machine
from batdispatch.core.messages import Message, Reply
from batdispatch.links.informed import Informed
from batdispatch.links.replay import Exchange, opened, read_recording, same_values, told_by

Profiles = Mapping[str, Mapping[str, Any]]


class Beginning(NamedTuple):
    """The message that begins a simulation.

    Attributes:
        line: of the recording.
        message: with the platform's machine in the place of the one that was told, and without profiles.
        reply: the recorded answer; None: there is none.
        rest: the exchanges that follow; as they are read only once, so is this.
        machine_problem: how the machine that was told differs from the platform's; empty if it does not.
        profile_problem: how the profiles that were told differ from the workload's; empty if they do not.
    """

    line: int
    message: Message
    reply: bytes | None
    rest: Iterator[Exchange]
    machine_problem: str
    profile_problem: str


class _Deaf:
    """A peer that is only told what there is."""

    def handle(self, message: Message) -> Reply:
        return Reply(message.now, ())


def hear_beginning(path: Path, machine: Machine, profiles: Profiles) -> Beginning | None:
    """Read the message that begins a simulation; compare what it tells with the platform and the workload.

    Where the recording cannot be read, or begins with something else, None is returned; whoever goes through all of it
    comes to that place, too.

    Args:
        path: the recording.
        machine: of the platform.
        profiles: of the workload, by name.
    """
    try:
        wire = protocol(told_by(path))
        rest = read_recording(path, wire)
        for exchange in rest:
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
            begins = msgspec.structs.replace(first, machine=machine, profiles={})
            short = msgspec.structs.replace(message, events=[begins, *others])
            return Beginning(exchange.line, short, exchange.reply, rest, problem, compare_profiles(first, profiles))
    except (InputError, OSError):
        pass
    return None


def compare_profiles(begins: e.SimulationBegins, profiles: Profiles) -> str:
    """Return how the profiles that were told differ from those of the workload, by name; empty if they do not."""
    told = next(iter(begins.profiles.values()), {})
    for name, profile in profiles.items():
        if not same_values(told.get(name), dict(profile)):
            return f"profile {name!r} is told as {told.get(name)}, the workload says {profile}"
    return ""
