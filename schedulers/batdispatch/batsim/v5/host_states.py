"""Power states of hosts: Batsim 5 has one event for numbered states and one for on and off."""

from __future__ import annotations

from typing import Any

_ON_OFF = ("on", "off")


def read_on_off(number: int) -> str:
    """Return the name of a state, given its number on the wire: 0 is on, all else off."""
    return _ON_OFF[min(number, 1)]


def write_pstate(change: Any, _: object) -> dict[str, Any] | None:
    """Return the data of a change to a numbered state, or None if hosts are turned on or off.

    Args:
        change: an event or a decision with `hosts` and `state`.
    """
    return None if change.state in _ON_OFF else {"host_ids": str(change.hosts), "pstate": int(change.state)}


def write_on_off(change: Any, _: object) -> dict[str, Any]:
    """Return the data of a change of hosts that are turned on or off; `change` as above."""
    return {"host_ids": str(change.hosts), "state": _ON_OFF.index(change.state)}
