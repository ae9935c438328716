"""Power states of hosts: Batsim 5 has one event for states to compute in, and one for going to sleep and waking up."""

from __future__ import annotations

from typing import Any


def write_pstate(change: Any, _: object) -> dict[str, Any] | None:
    """Return the data of a change among states to compute in, or None if hosts are turned on or off.

    Args:
        change: an event or a decision with `hosts`, `state` and `switched`.

    Raises:
        ValueError: some of the hosts are turned on or off, and some are not.
    """
    if change.switched is None:
        raise ValueError(
            f"hosts {change.hosts} to power state {change.state}: some are turned on or off and some are not, which "
            "are two events in Batsim 5: set them apart"
        )
    return None if change.switched else {"host_ids": str(change.hosts), "pstate": int(change.state)}


def write_on_off(change: Any, _: object) -> dict[str, Any]:
    """Return the data of hosts that are turned on or off: the power state that they go to."""
    return {"host_ids": str(change.hosts), "state": int(change.state)}
