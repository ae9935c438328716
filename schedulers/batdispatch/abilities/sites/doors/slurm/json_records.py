"""What ``scontrol show ... --json``, ``sinfo --json`` and slurmrestd say of nodes, partitions, reservations, licences.

They become records of settings with the names of scontrol's fields, so that they are read by the same rules.

References:
    Slurm documentation, rest_api, https://slurm.schedmd.com/rest_api.html.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import msgspec

from batdispatch.abilities.sites.doors.slurm.records import record_of
from batdispatch.abilities.sites.doors.slurm.settings import Settings
from batdispatch.abilities.sites.doors.slurm_json import inner, number, plain, words
from batdispatch.core.errors import InputError

_Pairs = Iterator[tuple[str, str]]


def is_site_json(text: str) -> bool:
    """Return whether a text is JSON that begins as what Slurm prints of a site does."""
    return text.lstrip().startswith("{") and any(f'"{name}"' in text for name in _READERS)


def json_records(text: str, source: str) -> Iterator[Settings]:
    """Yield a record for each node, partition, reservation and licence.

    Raises:
        InputError: it is no JSON, or holds something else.
    """
    try:
        whole = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError) as problem:
        raise InputError(f"is no whole JSON: {problem}", source=source) from None
    lists = {name: whole[name] for name in _READERS if isinstance(whole, dict) and isinstance(whole.get(name), list)}
    if not lists:
        raise InputError(f"has no list {' or '.join(map(repr, _READERS))}", source=source)
    for name, entries in lists.items():
        for at, entry in enumerate(entries):
            if not isinstance(entry, dict):
                raise InputError("expected an object", source=source, place=f"{name}[{at}]")
            yield record_of(_READERS[name](entry), source, 0)


def _node(entry: Mapping[str, Any]) -> _Pairs:
    yield "NodeName", str(entry.get("name") or "")
    yield "CPUTot", str(number(entry.get("cpus")) or "")
    yield "RealMemory", str(number(entry.get("real_memory")) or "")
    yield "Gres", str(entry.get("gres") or "")
    yield "AvailableFeatures", ",".join(words(entry.get("features")))
    yield "Weight", str(number(entry.get("weight")) or "")
    # Older Slurms have a state and a list of flags.
    yield "State", "+".join([*words(entry.get("state")), *words(entry.get("state_flags"))]).upper()


def _partition(entry: Mapping[str, Any]) -> _Pairs:
    yield "PartitionName", str(entry.get("name") or "")
    nodes = entry.get("nodes")
    yield "Nodes", str((nodes.get("configured") if isinstance(nodes, dict) else nodes) or "")
    yield "MaxTime", _limit(entry, ("maximums", "time"), "max_time_limit")
    yield "DefaultTime", _limit(entry, ("defaults", "time"), "default_time_limit")
    yield "MaxNodes", _limit(entry, ("maximums", "nodes"), "maximum_nodes_per_job")
    yield "PriorityJobFactor", _told(entry, ("priority", "job_factor"), "priority_job_factor")
    yield "PriorityTier", _told(entry, ("priority", "tier"), "priority_tier")
    yield "Avail", "+".join(words(inner(entry, "partition", "state")))
    if "default" in {flag.lower() for flag in words(entry.get("flags"))}:
        yield "Default", "YES"


def _reservation(entry: Mapping[str, Any]) -> _Pairs:
    yield "ReservationName", str(entry.get("name") or "")
    yield "StartTime", str(number(entry.get("start_time")) or "")
    yield "EndTime", str(number(entry.get("end_time")) or "")
    yield "Nodes", str(entry.get("node_list") or "")
    yield "NodeCnt", str(number(entry.get("node_count")) or "")
    yield "Users", str(entry.get("users") or "")
    yield "Accounts", str(entry.get("accounts") or "")
    yield "Flags", ",".join(words(entry.get("flags")))


def _licence(entry: Mapping[str, Any]) -> _Pairs:
    yield "LicenseName", str(entry.get("LicenseName") or "")
    yield "Total", str(number(entry.get("Total")))


def _sinfo(entry: Mapping[str, Any]) -> _Pairs:
    """Yield what a line of sinfo says: nodes that are alike, in a partition."""
    yield "Nodes", ",".join(words(inner(entry, "nodes", "nodes")))
    yield "CPUTot", str(number(inner(entry, "cpus", "minimum")) or "")
    yield "RealMemory", str(number(inner(entry, "memory", "minimum")) or "")
    yield "Gres", str(inner(entry, "gres", "total") or "")
    yield "AvailableFeatures", str(inner(entry, "features", "total") or "")
    yield "State", "+".join(words(inner(entry, "node", "state"))).upper()
    partition = entry.get("partition")
    yield from (pair for pair in _partition(partition if isinstance(partition, dict) else {}) if pair[0] != "Nodes")


def _limit(entry: Mapping[str, Any], path: tuple[str, ...], older: str) -> str:
    """Return a limit; older Slurms have it in a field of its own, and a huge number where there is none."""
    told = plain(inner(entry, *path))
    told = plain(entry.get(older)) if told is None else told
    return "" if told in (None, 0) or (isinstance(told, int) and told >= 2**32 - 2) else str(told)


def _told(entry: Mapping[str, Any], path: tuple[str, ...], older: str) -> str:
    told = inner(entry, *path)
    told = entry.get(older) if told is None else told
    return "" if told is None else str(number(told))


_READERS: dict[str, Callable[[Mapping[str, Any]], _Pairs]] = {
    "nodes": _node,
    "partitions": _partition,
    "reservations": _reservation,
    "licenses": _licence,
    "sinfo": _sinfo,
}
