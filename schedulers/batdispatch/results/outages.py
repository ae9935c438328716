"""Hosts that were away during a run: its events file, read again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from batdispatch.core.errors import InputError
from batdispatch.core.line import events as e
from batdispatch.core.machine.machine import Machine
from batdispatch.engines.external import read_external_events
from batdispatch.inputs.files import file_digest
from batdispatch.results.runs import Run


def outages_of(run: Run, machine: Machine) -> list[e.Event]:
    """Return the events of the run's events file; none if the file was moved or changed."""
    path, noted = run.result.settings.get("external_events"), run.result.input_digests.get("events")
    if not isinstance(path, str) or not isinstance(noted, str):
        return []
    try:
        if file_digest(Path(path)) != noted:
            return []
        return read_external_events(Path(path), len(machine.hosts))
    except (InputError, OSError):
        return []


def away_at(outages: Sequence[e.Event], times: Sequence[float]) -> Iterator[NDArray[np.int64]]:
    """Yield the hosts that are away at each of some ascending moments, int64 [host]."""
    away: set[int] = set()
    left = iter(outages)
    event = next(left, None)
    for when in times:
        while event is not None and event.time <= when:
            if isinstance(event, e.MachinesUnavailable):
                away.update(event.hosts.ids)
            elif isinstance(event, e.MachinesAvailable):
                away.difference_update(event.hosts.ids)
            event = next(left, None)
        yield np.array(sorted(away), dtype=np.int64)


def absences(outages: Sequence[e.Event], end: float) -> list[tuple[float, float, int]]:
    """Return (from, to, host) for each absence of a host, in order of `from`; an absence without an end lasts to `end`.

    Args:
        outages: in order of time.
        end: of the time that is looked at, seconds.
    """
    since: dict[int, float] = {}
    found = []
    for event in outages:
        if isinstance(event, e.MachinesUnavailable):
            for host in event.hosts.ids:
                since.setdefault(host, event.time)
        elif isinstance(event, e.MachinesAvailable):
            found += [(since.pop(host), event.time, host) for host in event.hosts.ids if host in since]
    found += [(begin, end, host) for host, begin in since.items()]
    return sorted(one for one in found if one[0] < min(one[1], end))
