"""When jobs got hosts that had to wake up first: a recording has their starts where the hosts are awake.

Until then the job neither waits for hosts nor runs, and others cannot have its hosts. A recording does not say for whom
a host is woken. So a start is taken for decided when the first of those of its hosts was told to wake up that were
awake in the message of the start, if at that time all of its hosts are free, and no other job starts there since:
hosts may wake up for a planned start.
"""

from __future__ import annotations

import mmap
from pathlib import Path

from batdispatch.batsim import protocol
from batdispatch.core.line import decisions as d
from batdispatch.core.line import events as e
from batdispatch.links.replay import read_exchanges, told_by

#: What stands in each recording of Batsim 4 in which hosts switch.
_SWITCH = b"SET_RESOURCE_STATE"


def early_starts(path: Path) -> dict[int, list[d.Execute]]:
    """Return the starts of jobs whose hosts had to wake up, by the line of the message in which that began.

    Args:
        path: decisions.jsonl; that of a run that failed may end too soon.

    Raises:
        InputError: the recording is malformed.
        OSError: it cannot be read.
    """
    if told_by(path) != "4" or not _holds(path, _SWITCH):
        return {}
    found: dict[int, list[d.Execute]] = {}
    woken: dict[int, int] = {}
    awake: dict[int, int] = {}
    #: Host -> the line of the last start there.
    started: dict[int, int] = {}
    for exchange, message, reply in read_exchanges(path, protocol("4"), partial=True):
        for event in () if message is None else message.events:
            if isinstance(event, e.ResourceStateChanged):
                awake.update(dict.fromkeys(event.hosts.ids, exchange.line))
        for decision in () if reply is None else reply.decisions:
            if isinstance(decision, d.SetResourceState):
                woken.update(dict.fromkeys(decision.hosts.ids, exchange.line))
            elif isinstance(decision, d.Execute):
                hosts = decision.allocation.ids
                lines = [woken[host] for host in hosts if awake.get(host) == exchange.line]
                if lines and all(started.get(host, -1) < min(lines) for host in hosts):
                    found.setdefault(min(lines), []).append(decision)
                started.update(dict.fromkeys(hosts, exchange.line))
    return found


def _holds(path: Path, text: bytes) -> bool:
    with path.open("rb") as file:
        if not path.stat().st_size:
            return False
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            return content.find(text) >= 0
