"""External events files: one JSON object a line, as Batsim's --events reads them."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import msgspec

from batdispatch.core import events as e
from batdispatch.core.allocation import Allocation
from batdispatch.core.errors import InputError


def read_external_events(path: Path, hosts: int) -> list[e.Event]:
    """Read machine availability and generic events in order of time.

    Args:
        path: the file.
        hosts: number of hosts of the platform.

    Raises:
        InputError: a line is not such an event.
    """
    found: list[e.Event] = []
    with path.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            place = f"line {number}"
            try:
                data: Any = msgspec.json.decode(line)
            except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as problem:
                raise InputError(f"not a JSON object: {problem}", source=str(path), place=place) from None
            if not isinstance(data, dict):
                raise InputError("not a JSON object", source=str(path), place=place)
            found.append(_event(data, hosts, str(path), place))
    return sorted(found, key=lambda event: event.time)


def _event(data: dict[str, Any], hosts: int, source: str, place: str) -> e.Event:
    kind, time = data.get("type"), data.get("timestamp")
    if not isinstance(kind, str):
        raise InputError("field 'type' must be a text", source=source, place=place)
    if isinstance(time, bool) or not isinstance(time, int | float) or not 0 <= time < math.inf:
        raise InputError(
            f"field 'timestamp' must be a non-negative number of seconds, found {time!r}", source=source, place=place
        )
    if kind not in ("machine_unavailable", "machine_available"):
        return e.Notified(float(time), kind, {key: value for key, value in data.items() if key != "type"})
    resources = data.get("resources")
    if not isinstance(resources, str):
        raise InputError(f"field 'resources' must be a host set, found {resources!r}", source=source, place=place)
    try:
        allocation = Allocation.parse(resources)
    except InputError as problem:
        raise InputError(str(problem), source=source, place=place) from None
    if not allocation.mask or allocation.mask >> hosts:
        raise InputError(
            f"resources {resources!r} must name hosts of the platform, 0-{hosts - 1}", source=source, place=place
        )
    make = e.MachinesUnavailable if kind == "machine_unavailable" else e.MachinesAvailable
    return make(float(time), allocation)
