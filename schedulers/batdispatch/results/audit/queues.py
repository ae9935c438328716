"""What the queues of a site allow, read from the hosts' properties and the jobs' fields alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
import numpy as np

from batdispatch.core.hostnames import expand
from batdispatch.core.hostsets import Intervals
from batdispatch.core.job import Job
from batdispatch.core.machine import Machine
from batdispatch.results.audit.jobs import Facts
from batdispatch.results.audit.rows import TOLERANCE, Rows


def told_of(machine: Machine) -> dict[str, Any]:
    """Return what the property ``queues`` says; nothing if no host states it."""
    texts = (host.properties["queues"] for host in machine.hosts if "queues" in host.properties)
    return msgspec.json.decode(next(texts, "{}"), type=dict[str, Any])


def check_queues(rows: Rows, intervals: Intervals, machine: Machine, facts: Facts) -> None:
    """Each job ran on hosts of its partition, within the limits of its partition and quality of service."""
    told = told_of(machine)
    partitions = _partitions(machine, told)
    if not (partitions or told):
        return
    rows.findings.checked += ["partition", "queue limit"]
    limits = {"partition": _by_name(told, "partitions"), "qos": _by_name(told, "qos")}
    names = [host.name for host in machine.hosts]
    bounds = intervals.bounds().tolist()
    for row in np.flatnonzero(rows.ran).tolist():
        job = facts.asking[row]
        if job is None:
            continue
        hosts = [
            names[host]
            for index in range(bounds[row], bounds[row + 1])
            for host in range(int(intervals.first[index]), int(intervals.last[index]) + 1)
            if host < len(names)
        ]
        name = _class(job, "partition", {**dict.fromkeys(partitions), **limits["partition"]})
        if partitions and name not in partitions:
            rows.add("partition", f"is in partition {name!r}, which the site does not have", row)
        elif partitions and (outside := [host for host in hosts if host not in partitions[name]]):
            rows.add("partition", f"is not in its partition {name}", row, host=outside[0])
        for field, classes in limits.items():
            one = classes.get(_class(job, field, classes)) or {}
            longest, most = one.get("max_time"), one.get("max_nodes")
            if longest is not None and rows.finish[row] - rows.start[row] > longest + TOLERANCE:
                rows.add("queue limit", f"ran longer than the {longest:g} s that its {field} {one['name']} allows", row)
            if most is not None and len(hosts) > most:
                rows.add("queue limit", f"holds {len(hosts)} nodes, its {field} {one['name']} allows {most}", row)


def _partitions(machine: Machine, told: Mapping[str, Any]) -> dict[str, set[str]]:
    """Return the names of the hosts of each partition."""
    found: dict[str, set[str]] = {}
    for host in machine.hosts:
        if not host.storage:
            for name in host.properties.get("partition", "").replace(",", " ").split():
                found.setdefault(name, set()).add(host.name)
    for one in told.get("partitions", []):
        if one.get("hosts") is not None:
            found[one["name"]] = {name for text in one["hosts"] for name in expand(text)}
    return found


def _by_name(told: Mapping[str, Any], kind: str) -> dict[str, dict[str, Any]]:
    return {one["name"]: one for one in told.get(kind, [])}


def _class(job: Job, field: str, classes: Mapping[str, Any]) -> str:
    """Return the name of the partition or quality of service that a job is in."""
    if field in job.extra:
        return str(job.extra[field])
    default = [name for name, one in classes.items() if (one or {}).get("default") or len(classes) == 1]
    return default[0] if default else ""
