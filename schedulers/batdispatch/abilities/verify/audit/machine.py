"""The machine as a platform file (SimGrid's XML) describes it: hosts in Batsim's order, with what jobs take of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import msgspec
import numpy as np
from lxml import etree
from numpy.typing import NDArray

from batdispatch.abilities.verify.audit.hosts import Ints
from batdispatch.core.errors import InputError

_AMOUNT = re.compile(r"([^\s,=]+)=(\d{1,18})", re.ASCII)
#: Most hosts of a machine: a text of a few characters must not exhaust the memory.
_MOST_HOSTS = 1_000_000
_BRACKETS = re.compile(r"\[([0-9,\-]*)\]", re.ASCII)
_DIGITS = re.compile(r"(\d+)", re.ASCII)
_ZONES = ("zone", "AS")


class _Host(NamedTuple):
    name: str
    own: Mapping[str, str]
    #: Its own properties, and those of the zones around it that it does not have itself.
    properties: Mapping[str, str]
    cores: int = 1


@dataclass
class Machine:
    """What jobs run on.

    Attributes:
        names: of the hosts by id: first the compute hosts, then the storage hosts.
        size: number of compute hosts.
        exclusive: whether a unit is a whole host.
        resources: names of what compute hosts offer, in the order of the file.
        capacity: int64 [compute host, resource].
        licences: what exists once for the whole machine.
        partitions: ids of the compute hosts of each partition that hosts name themselves.
        features: ids of the compute hosts with each feature.
        queues: the property ``queues``.
        networked: whether the file may tell of a network with more than one router.
        power: of each host its watts and the power states that it sleeps in, as stated, and its cores.
    """

    names: list[str]
    size: int
    exclusive: bool
    resources: list[str]
    capacity: Ints
    licences: dict[str, int]
    partitions: dict[str, list[int]]
    features: dict[str, list[int]]
    queues: dict[str, Any]
    networked: bool
    power: list[tuple[str, str, int]]

    @cached_property
    def ids(self) -> dict[str, int]:
        """Id of each host by its name."""
        return {name: host for host, name in enumerate(self.names)}

    def mask(self, names: Iterable[str]) -> NDArray[np.bool_]:
        """Return which compute hosts have one of some names, bool [compute host]; other names are left out."""
        named = np.zeros(len(self.names), dtype=bool)
        named[[self.ids[name] for name in names if name in self.ids]] = True
        return named[: self.size]

    @property
    def storage(self) -> set[str]:
        """Names of the storage hosts."""
        return set(self.names[self.size :])

    def name(self, host: int) -> str:
        """Return the name of a host, which may be none of the machine."""
        return self.names[host] if 0 <= host < len(self.names) else f"#{host}"


def read_machine(data: bytes, master: str | None, roles: Mapping[str, str], version: int, source: str) -> Machine:
    """Read a platform file.

    Args:
        data: the file, unpacked.
        master: the host that carries Batsim; None: the one whose role says so, or ``master_host``.
        roles: further roles by host.
        version: of Batsim, whose order of hosts the ids follow.
        source: name of the file, for messages.

    Raises:
        InputError: it cannot be read.
    """
    parser = etree.XMLParser(resolve_entities=False, load_dtd=False, no_network=True, remove_comments=True)
    try:
        root = etree.fromstring(data.lstrip(), parser)
        hosts = {host.name: host for host in _hosts_of(root, {})}
        networked = any(element.get("topology", "FLAT") != "FLAT" for element in root.iter("cluster"))
        networked = networked or any(prop.get("id") in ("topology", "dimensions") for prop in root.iter("prop"))
        return _machine(hosts, _roles(hosts, master, roles), version, networked)
    except (etree.XMLSyntaxError, KeyError, ValueError, msgspec.MsgspecError) as problem:
        raise InputError(f"cannot be read as a platform: {problem}", source=source) from None


def _hosts_of(element: etree._Element, around: Mapping[str, str]) -> Iterator[_Host]:
    """Yield the hosts in an element; `around` are the properties of the zones around it."""
    own = {str(prop.attrib["id"]): str(prop.attrib["value"]) for prop in element.iterchildren("prop")}
    if element.tag in ("platform", *_ZONES):
        inner = {**around, **own}
        for child in element:
            yield from _hosts_of(child, inner)
    elif element.tag in ("host", "peer"):
        yield _Host(str(element.attrib["id"]), own, {**around, **own}, int(element.get("core", "1")))
    elif element.tag in ("cluster", "cabinet"):
        merged = {**around, **own}
        head, tail = str(element.attrib["prefix"]), str(element.attrib["suffix"])
        for number, _ in _numbers(str(element.attrib["radical"])):
            yield _Host(f"{head}{number}{tail}", own, merged, int(element.get("core", "1")))


def _numbers(text: str) -> Iterator[tuple[int, int]]:
    """Yield the numbers in intervals such as ``01-48,60``, with how many digits the first of their interval has.

    Raises:
        ValueError: they are no intervals, or hold more than `_MOST_HOSTS` numbers.
    """
    left = _MOST_HOSTS
    for part in text.split(","):
        first, dash, last = part.strip().partition("-")
        numbers = range(int(first), int(last if dash else first) + 1)
        left -= max(numbers.stop - numbers.start, 0)
        if left < 0:
            raise ValueError(f"{text[:60]!r} holds more than {_MOST_HOSTS:,} numbers")
        yield from ((number, len(first)) for number in numbers)


def _roles(hosts: Mapping[str, _Host], master: str | None, given: Mapping[str, str]) -> dict[str, str]:
    """Return the role of each host that has one."""
    found = {host.name: host.own["role"] for host in hosts.values() if host.own.get("role")}
    found |= given
    chief = master or ("master_host" if "master_host" in hosts else None)
    if chief is not None:
        found[chief] = "master"
    for name in [name for name, role in found.items() if role == "master"]:
        listed = hosts[name].own.get("storage_hosts", "").replace(",", " ").split()
        found |= dict.fromkeys(listed, "storage")
    return found


def _machine(hosts: Mapping[str, _Host], roles: Mapping[str, str], version: int, networked: bool) -> Machine:
    names = sorted(hosts, key=_numeric) if version == 5 else sorted(hosts)
    compute = [name for name in names if roles.get(name, "compute_node") == "compute_node"]
    storage = [name for name in names if roles.get(name) == "storage"]
    if not compute:
        raise ValueError("there is no compute host")
    offers = [_amounts(hosts[name].properties.get("capacity", "")) for name in compute]
    exclusive = not any(offers)
    resources = ["host"] if exclusive else list(dict.fromkeys(name for offer in offers for name in offer))
    table = [[1] if exclusive else [offer.get(name, 0) for name in resources] for offer in offers]
    partitions, features = (_hosts_by_word(compute, hosts, name) for name in ("partition", "features"))
    stated = {name: _first(hosts, [*compute, *storage], name) for name in ("licences", "queues")}
    return Machine(
        names=[*compute, *storage],
        size=len(compute),
        exclusive=exclusive,
        resources=resources,
        capacity=np.array(table, dtype=np.int64),
        licences=_amounts(stated["licences"]),
        partitions=partitions,
        features=features,
        queues=msgspec.json.decode(stated["queues"] or "{}", type=dict[str, Any]),
        networked=networked,
        power=[_power(hosts[name]) for name in (*compute, *storage)],
    )


def _power(host: _Host) -> tuple[str, str, int]:
    """Return what a host states of what it burns."""
    return host.properties.get("wattage_per_state", ""), host.properties.get("sleep_pstates", ""), host.cores


def _hosts_by_word(compute: Sequence[str], hosts: Mapping[str, _Host], name: str) -> dict[str, list[int]]:
    """Return the ids of the compute hosts with each word in a property."""
    found: dict[str, list[int]] = {}
    for host, one in enumerate(compute):
        for word in hosts[one].properties.get(name, "").replace(",", " ").split():
            found.setdefault(word, []).append(host)
    return found


def _numeric(name: str) -> tuple[list[tuple[str, int]], str]:
    """Return Batsim 5's key: a run of digits counts as its value, and among other characters as a digit."""
    parts = _DIGITS.split(name)
    key = [(char, 0) for char in parts[0]]
    for number, text in zip(parts[1::2], parts[2::2], strict=True):
        key += [("0", int(number)), *((char, 0) for char in text)]
    return key, name


def _first(hosts: Mapping[str, _Host], names: list[str], wanted: str) -> str:
    return next((hosts[name].properties[wanted] for name in names if wanted in hosts[name].properties), "")


def _amounts(text: str) -> dict[str, int]:
    """Return amounts such as ``core=16 gpu=2``; a text of another form states none."""
    matches = [_AMOUNT.fullmatch(part) for part in text.replace(",", " ").split()]
    return {match[1]: int(match[2]) for match in matches if match} if all(matches) else {}


def expand(text: str) -> Iterator[str]:
    """Yield the names that a text such as ``n[01-48,60]`` stands for.

    Raises:
        InputError: it stands for more than `_MOST_HOSTS` names, or the brackets hold no intervals.
    """
    try:
        for count, name in enumerate(_names(text)):
            if count == _MOST_HOSTS:
                raise ValueError(f"{text[:60]!r} stands for more than {_MOST_HOSTS:,} hosts")
            yield name
    except ValueError as problem:
        raise InputError(f"queues of the platform: {problem}") from None


def _names(text: str) -> Iterator[str]:
    match = _BRACKETS.search(text)
    if match is None:
        yield text
        return
    for number, digits in _numbers(match[1]):
        yield from _names(f"{text[: match.start()]}{number:0{digits}d}{text[match.end() :]}")
