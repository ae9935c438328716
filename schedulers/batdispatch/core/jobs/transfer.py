"""What a resized segment says of the hosts that are kept free beside it: for how long, and for whom.

Nothing of this is in Batsim's messages, so the layer writes it into the field ``leaving`` of the job that it registers.
The recording of the run then tells it to whoever explains waits.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from batdispatch.core.errors import InputError
from batdispatch.core.hosts.allocation import Allocation

#: Name of the field.
FIELD = "leaving"


class HostsInTransfer(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Hosts that nobody uses while a job's data is redistributed."""

    #: In Batsim's notation.
    hosts: str
    #: Units of the job on each of them; None: one.
    counts: list[int] | None = None
    #: From the start of the segment on; None: up to its end.
    seconds: float | None = None
    #: Id of the waiting job that starts on them; empty: whoever comes first.
    to: str = ""

    def allocation(self) -> Allocation:
        """Return the hosts, with the units on them.

        Raises:
            InputError: they are not written as hosts are, or there are not as many counts.
        """
        return Allocation.of(Allocation.parse(self.hosts).ids, self.counts)


def told_of(hosts: Allocation | None, seconds: float | None, to: str) -> dict[str, Any]:
    """Return the fields by which a job says that hosts are kept beside it: none if there are no hosts."""
    if hosts is None:
        return {}
    counts = [count for _, count in hosts.per_host()]
    leaving = HostsInTransfer(hosts=str(hosts), counts=counts if max(counts) > 1 else None, seconds=seconds, to=to)
    return {FIELD: msgspec.to_builtins(leaving)}


def read_leaving(extra: Mapping[str, Any]) -> tuple[HostsInTransfer, Allocation] | None:
    """Return what the fields of a job say of hosts kept beside it, and these; None: nothing that can be understood."""
    try:
        found = msgspec.convert(extra.get(FIELD), HostsInTransfer | None)
        return None if found is None else (found, found.allocation())
    except (msgspec.ValidationError, InputError):
        return None
