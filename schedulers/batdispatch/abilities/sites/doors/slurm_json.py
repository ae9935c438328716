"""How Slurm's JSON says things (``sacct --json``, ``squeue --json``, slurmrestd), whichever data parser wrote it.

Newer Slurms say ``{"set": true, "infinite": false, "number": 5}`` for a number, and lists of states.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

#: What a number is that has no end.
INFINITE = "UNLIMITED"
_SLURM = re.compile(rb'"(?:job_id|data_parser|openapi|slurm|Slurm)"\s*:')
_BATSIM = re.compile(rb'"(?:subtime|nb_res)"\s*:')


def is_slurm_json(head: bytes) -> bool:
    """Return whether a file that begins so is JSON that Slurm wrote, rather than a workload of Batsim."""
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    return text[:1] == b"{" and _SLURM.search(text) is not None and _BATSIM.search(text) is None


def plain(value: Any) -> Any:
    """Return a number however it is said: None if it is not set, `INFINITE` if it has no end."""
    if isinstance(value, Mapping):
        if value.get("infinite"):
            return INFINITE
        return value.get("number") if value.get("set", True) else None
    return value


def number(value: Any) -> int:
    """Return a whole number however it is said, 0 if it is none."""
    told = plain(value)
    if isinstance(told, str) and told.isascii() and told.isdigit():
        return int(told)
    return int(told) if isinstance(told, int | float) and 0 <= told < 2**53 else 0


def words(value: Any) -> list[str]:
    """Return the words of a list, of which older Slurms make one text."""
    if isinstance(value, str):
        return [value] if value else []
    return [one for one in value if isinstance(one, str)] if isinstance(value, list) else []


def inner(table: Mapping[str, Any], *names: str) -> Any:
    """Return what stands in tables within a table; None if it is not there."""
    found: Any = table
    for name in names:
        found = found.get(name) if isinstance(found, Mapping) else None
    return found


def amounts(value: Any) -> str:
    """Return a list of trackable resources (type, name, count) as ``sacct`` prints it."""
    return ",".join(_amounts(value))


def _amounts(value: Any) -> Iterator[str]:
    for one in value if isinstance(value, list) else ():
        if not isinstance(one, Mapping):
            continue
        kind, name, count = str(one.get("type", "")), str(one.get("name") or ""), number(one.get("count"))
        if kind and "energy" not in kind:
            yield f"{kind}{f'/{name}' if name else ''}={count}{'M' if kind == 'mem' else ''}"
