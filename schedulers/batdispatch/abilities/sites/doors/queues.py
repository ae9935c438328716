"""The queues of a site as a TOML file, and how they get into a platform file.

```toml
[partitions.batch]
hosts = ["n[0-59]"]        # names; without it, the hosts whose property `partition` says so
default = true             # for jobs that name no partition
max_time = "1-00:00:00"    # seconds, or as Slurm writes times
max_nodes = 16
priority = 10

[qos.high]
priority = 100

[[reservations]]
name = "course"
start = 3600               # seconds of simulated time, or as Slurm writes times
duration = "2:00:00"       # or `end`
hosts = ["n[0-7]"]         # or `nodes = 8`; without either, all hosts
users = ["ada"]            # or `accounts`, `partitions`; without any, nobody: maintenance
```

References:
    Slurm documentation, slurm.conf(5): DefaultTime, MaxTime, MaxNodes, PriorityJobFactor of a partition,
    https://slurm.schedmd.com/slurm.conf.html.
"""

from __future__ import annotations

import io
import math
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
from lxml import etree

from batdispatch.core.errors import InputError
from batdispatch.core.line.options import did_you_mean
from batdispatch.core.machine.site import SITE_PROPERTY, QueuesProperty, site_of
from batdispatch.inputs.files import read_all
from batdispatch.inputs.platforms import read_platform
from batdispatch.inputs.sites import queues_text
from batdispatch.inputs.workloads.moments import read_duration

#: Longest file that is read, in bytes.
_MOST = 1 << 24
#: Fields that are lengths of time.
_TIMES = ("max_time", "start", "end", "duration")


def read_queues(path: Path) -> str:
    """Return what a file says of queues as the text of the hosts' property ``queues``.

    Raises:
        InputError: the file is no TOML, or says something that nobody knows.
    """
    source = str(path)
    content, _ = read_all(path, limit=_MOST)
    try:
        document = tomllib.loads(content.decode())
    except (ValueError, RecursionError) as problem:
        # Of ValueErrors: what is no UTF-8, no TOML, and a number of thousands of digits.
        raise InputError(f"is no TOML: {problem}", source=source) from None
    known = QueuesProperty.__struct_fields__
    for key in document:
        if key not in known:
            raise InputError(did_you_mean(key, known), source=source, place=key[:60])
    told = {key: _entries(document[key], source, key) for key in known if key in document}
    try:
        checked = msgspec.convert(told, QueuesProperty)
    except msgspec.ValidationError as problem:
        raise InputError(str(problem), source=source) from None
    return queues_text(checked)


def _entries(value: Any, source: str, kind: str) -> list[dict[str, Any]]:
    """Return the entries of a kind with their names: those of a table of tables, or of a list of tables."""
    if isinstance(value, dict):
        value = [{"name": name, **one} if isinstance(one, dict) else one for name, one in value.items()]
    if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
        raise InputError(f"expected tables such as [{kind}.NAME]", source=source, place=kind)
    return [_read(one, source, kind) for one in value]


def _read(one: Mapping[str, Any], source: str, kind: str) -> dict[str, Any]:
    found = dict(one)
    place = f"{kind}.{str(one.get('name', '?'))[:60]}"
    for field in _TIMES:
        if field in found:
            try:
                found[field] = _seconds(found[field])
            except (ValueError, OverflowError):
                message = f"{field} is {found[field]!r:.40}, expected seconds, or a time such as 1-00:00:00"
                raise InputError(message, source=source, place=place) from None
    if "duration" in found and "end" not in found and "start" in found:
        found["end"] = found["start"] + found.pop("duration")
    for field, value in found.items():
        if isinstance(value, str) and field in ("hosts", "users", "accounts", "partitions"):
            found[field] = [value]
    return found


def _seconds(value: Any) -> float:
    """Return a length of time or a moment in seconds.

    Raises:
        ValueError: it is none, or not finite.
        OverflowError: it is a whole number that no float can hold.
    """
    seconds = read_duration(value) if isinstance(value, str) else value
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not math.isfinite(seconds):
        raise ValueError(value)
    return float(seconds)


def with_queues(platform: Path, queues: Path) -> bytes:
    """Return a platform file with the queues of another file in the property of its outermost zone.

    Raises:
        InputError: one of the two is wrong, or they do not fit together.
    """
    text = read_queues(queues)
    content, _ = read_all(platform)
    machine = read_platform(platform).machine
    hosts = [
        msgspec.structs.replace(host, properties={**host.properties, SITE_PROPERTY: text}) for host in machine.hosts
    ]
    try:
        site_of(hosts, machine.compute, machine.exclusive)
    except InputError as problem:
        raise InputError(f"does not fit {platform}: {problem}", source=str(queues)) from None
    document = etree.parse(io.BytesIO(content), etree.XMLParser(resolve_entities=False, no_network=True))
    zone = next(element for element in document.getroot() if element.tag in ("zone", "AS"))
    for old in zone.findall("prop"):
        if old.get("id") == SITE_PROPERTY:
            zone.remove(old)
    prop = etree.Element("prop", id=SITE_PROPERTY, value=text)
    prop.tail = "\n  "
    zone.insert(0, prop)
    return etree.tostring(document, xml_declaration=True, encoding="utf-8")
