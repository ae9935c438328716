"""A dispatcher that knows the platform file: what Batsim does not tell is taken from there, and checked against it.

Batsim tells a scheduler the names and properties of hosts, Batsim 5 also their speeds. Coordinates, routes and the
speeds under Batsim 4 are in the platform file alone.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NoReturn

import msgspec

from batdispatch.core.errors import InputError
from batdispatch.core.line.events import SimulationBegins
from batdispatch.core.line.messages import Message, Peer, Reply
from batdispatch.core.machine.machine import Host, Machine
from batdispatch.inputs.platforms import read_platform
from batdispatch.links.options import MachineFile

#: Host property that says what a host is for.
_ROLE = "role"
#: Speeds that differ by this share of them are equal: protocols print them with limited precision.
_SAME_SPEED = 1e-6
#: What to look at when the two differ.
_ADVICE = (
    "Is it the platform that Batsim was started with, with the same master host (-m, --master-host), the same roles "
    "(-r, --role) and the same protocol?"
)


def informed_by(
    platform: Path, peer: Peer, *, master: str | None = None, roles: Mapping[str, str] | None = None, version: str = "4"
) -> PlatformPeer:
    """Return a peer that answers as one that was told the machine of a platform file.

    Args:
        platform: the file.
        peer: what answers.
        master: the host that carries Batsim; None: the one called so, if there is one.
        roles: role of each host that Batsim was told one of, by name.
        version: of the protocol; each version of Batsim numbers hosts in its own way.

    Raises:
        InputError: the file is malformed.
    """
    read = read_platform(platform, master=master, roles=roles or {}, batsim=5 if version == "5" else 4)
    return PlatformPeer(peer, read.machine, source=str(platform), places=[host.place for host in read.hosts])


def platform_peer_of(file: MachineFile, peer: Peer, version: str) -> Peer:
    """Return a peer that is told its machine by a platform file, as people state it; `peer` itself for no file.

    Raises:
        InputError: the file is malformed, or what is stated needs ``--platform``.
    """
    if file.platform is None:
        if file.master_host is not None or file.roles:
            raise InputError("--master-host and --role need --platform")
        return peer
    return informed_by(file.platform, peer, master=file.master_host, roles=file.roles, version=version)


class PlatformPeer:
    """Answers as a peer does that was told the machine of a platform file.

    The first message's machine is compared with the file's: numbers of compute and storage hosts, then host by host
    in the order of ids the name, the kind of host, each property that both state, and the speed where both know it.
    Then the file's machine takes its place. All other events are passed on as they are.
    """

    def __init__(self, peer: Peer, machine: Machine, *, source: str = "", places: Sequence[str] = ()) -> None:
        """Stand before a peer.

        Args:
            peer: what answers.
            machine: as the platform file says, its hosts numbered as the simulator numbers them.
            source: the platform file, for messages.
            places: where in the file each host is declared, by id, for messages.
        """
        self._peer = peer
        self._machine = machine
        self._source = source
        self._places = places

    def handle(self, message: Message) -> Reply:
        """Answer a message.

        Raises:
            InputError: the simulator has another machine than the platform file.
        """
        if any(isinstance(event, SimulationBegins) for event in message.events):
            events = [
                self._complete(event) if isinstance(event, SimulationBegins) else event for event in message.events
            ]
            message = msgspec.structs.replace(message, events=events)
        return self._peer.handle(message)

    def _complete(self, begins: SimulationBegins) -> SimulationBegins:
        self._check(begins.machine)
        return msgspec.structs.replace(begins, machine=self._machine)

    def _check(self, told: Machine) -> None:
        machine = self._machine
        for what, ours, theirs in (
            ("compute", machine.size, told.size),
            ("storage", len(machine.storage), len(told.storage)),
        ):
            if ours != theirs:
                self._fail(f"has {ours} {what} hosts, Batsim says {theirs}")
        for own, said in zip(machine.hosts, told.hosts, strict=True):
            self._check_host(own, said)

    def _check_host(self, own: Host, said: Host) -> None:
        if own.name != said.name:
            self._fail(f"the host with id {own.id} is {own.name!r}, Batsim says {said.name!r}", own)
        if own.storage != said.storage:
            kinds = {True: "storage", False: "compute"}
            self._fail(f"host {own.name!r} is a {kinds[own.storage]} host, Batsim says {kinds[said.storage]}", own)
        for name in sorted(own.properties.keys() & said.properties.keys()):
            # Roles may be given on Batsim's command line, and were compared above by what they mean.
            if name != _ROLE and own.properties[name] != said.properties[name]:
                self._fail(
                    f"host {own.name!r} has the property {name} = {own.properties[name]!r}, "
                    f"Batsim says {said.properties[name]!r}",
                    own,
                )
        if own.speed > 0 and said.speed > 0 and not math.isclose(own.speed, said.speed, rel_tol=_SAME_SPEED):
            self._fail(f"host {own.name!r} computes {own.speed:g} flop/s, Batsim says {said.speed:g}", own)

    def _fail(self, message: str, host: Host | None = None) -> NoReturn:
        place = self._places[host.id] if host is not None and self._places else ""
        raise InputError(f"{message}. {_ADVICE}", source=self._source, place=place)
