"""External events files: one JSON object a line, as Batsim's --events reads them."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import msgspec

from batdispatch.batsim.bounds import MAX_VALUES, check_bounds, values_in
from batdispatch.batsim.problems import quote
from batdispatch.core.errors import FieldError, InputError
from batdispatch.core.hosts.allocation import Allocation
from batdispatch.core.jobs.fields import read_moment
from batdispatch.core.line import events as e
from batdispatch.inputs.files import Source

#: Most events accepted.
MAX_EVENTS = 1_000_000
#: Most bits that the different sets of hosts may take (256 MB).
MAX_BITS = 1 << 31

_decode = msgspec.json.Decoder(dict[str, Any]).decode


def read_external_events(path: Path, hosts: int, *, batsim: Literal[4, 5] = 4) -> list[e.Event]:
    """Read machine availability and generic events in order of time.

    Args:
        path: the file.
        hosts: number of hosts of the platform.
        batsim: whose; in Batsim 5, a generic event's data are a text, which is handed on and means nothing by itself.

    Raises:
        InputError: a line is not such an event.
    """
    found: list[e.Event] = []
    sets: dict[str, Allocation] = {}
    values = 0
    with Source(path) as file:
        for number, line in file.lines():
            if not line.strip():
                continue
            place = f"line {number}"
            if len(found) == MAX_EVENTS:
                raise InputError(f"more than {MAX_EVENTS:,} events, the most accepted", source=str(path), place=place)
            check_bounds(line, source=str(path), place=place)
            values += values_in(line)
            if values > MAX_VALUES:
                raise InputError(f"more than {MAX_VALUES:,} values, the most accepted", source=str(path), place=place)
            try:
                data = _decode(line)
            except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as problem:
                raise InputError(f"not a JSON object: {problem}", source=str(path), place=place) from None
            if batsim == 5 and data.get("type") == "generic":
                found.append(_generic(data, len(found), str(path), place))
            else:
                found.append(_event(data, hosts, sets, str(path), place))
    return sorted(found, key=lambda event: event.time)


def _generic(data: dict[str, Any], number: int, source: str, place: str) -> e.Event:
    """Return a generic event of Batsim 5, which names it by its file and its number there."""
    text = data.get("data", "")
    if not isinstance(text, str):
        raise InputError(f"field 'data' must be a text, found {quote(text)}", source=source, place=place)
    fields = {"extra_data": text, "external_event_id": f"ee0!{number}"}
    return e.Notified(_moment(data, source, place), "generic", fields)


def _moment(data: dict[str, Any], source: str, place: str) -> float:
    time = data.get("timestamp")
    try:
        return read_moment(time, "timestamp")
    except FieldError as problem:
        raise InputError(
            f"field 'timestamp' must be {problem.expected}, found {quote(time)}", source=source, place=place
        ) from None


def _event(data: dict[str, Any], hosts: int, sets: dict[str, Allocation], source: str, place: str) -> e.Event:
    kind = data.get("type")
    if not isinstance(kind, str):
        raise InputError("field 'type' must be a text", source=source, place=place)
    moment = _moment(data, source, place)
    # Batsim hands an event of an unknown type on as it stands, and so as the notice that it gives of machines itself.
    told = kind.removeprefix("event_")
    if told not in ("machine_unavailable", "machine_available"):
        return e.Notified(moment, kind, {key: value for key, value in data.items() if key != "type"})
    resources = data.get("resources")
    if not isinstance(resources, str):
        raise InputError(f"field 'resources' must be a host set, found {quote(resources)}", source=source, place=place)
    allocation = sets.get(resources)
    if allocation is None:
        try:
            allocation = Allocation.parse(resources)
        except InputError as problem:
            raise InputError(str(problem), source=source, place=place) from None
        if not allocation.mask or allocation.mask >> hosts:
            raise InputError(
                f"resources {quote(resources)} must name hosts of the platform, 0-{hosts - 1}",
                source=source,
                place=place,
            )
        if len(sets) * hosts > MAX_BITS:
            raise InputError(
                f"holds more than {len(sets):,} different sets of hosts, the most accepted for {hosts:,} hosts",
                source=source,
                place=place,
            )
        sets[resources] = allocation
    make = e.MachinesUnavailable if told == "machine_unavailable" else e.MachinesAvailable
    return make(moment, allocation)
