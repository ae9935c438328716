"""The hosts of SIMULATION_BEGINS -> the machine."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from batdispatch.core.errors import FieldError, InputError
from batdispatch.core.machine.machine import Host, Machine


def read_machine(
    data: Any, place: str, counts: tuple[str, str, str], lists: tuple[str, str], host: Callable[[Any, bool], Host]
) -> Machine:
    """Return the machine.

    Args:
        data: of the event.
        place: what the data are called in errors.
        counts: the fields with the number of hosts that compute, of those that store, and of both.
        lists: the fields with the hosts that compute and those that store.
        host: makes a host, given whether it stores.

    Raises:
        FieldError: a number is wrong, or the hosts are no machine.
    """
    compute, storage = (getattr(data, name) for name in lists)
    for name, listed in zip(counts, (compute, storage), strict=False):
        if getattr(data, name) != len(listed):
            raise FieldError(f"{place}.{name}", getattr(data, name), f"{len(listed)}, the number of hosts listed")
    total = getattr(data, counts[2])
    if total != len(compute) + len(storage):
        raise FieldError(f"{place}.{counts[2]}", total, f"the sum of {counts[0]} and {counts[1]}")
    try:
        return Machine([host(each, False) for each in compute] + [host(each, True) for each in storage])
    except InputError as problem:
        raise FieldError(f"{place}.{lists[0]}", f"{total} hosts", f"a machine: {problem}") from None


def write_hosts(machine: Machine, write: Callable[[Host], Any]) -> tuple[list[Any], list[Any]]:
    """Return the hosts that compute and those that store, as a protocol writes each."""
    return (
        [write(host) for host in machine.hosts if not host.storage],
        [write(host) for host in machine.storage],
    )
