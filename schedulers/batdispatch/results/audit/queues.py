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
from batdispatch.results.audit.setting import Setting


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


def check_reservations(rows: Rows, intervals: Intervals, setting: Setting, facts: Facts) -> None:
    """No job could run into a reservation that does not let it in, by its walltime, nor beyond its own one."""
    machine = setting.machine
    windows = told_of(machine).get("reservations", [])
    if not windows:
        return
    rows.findings.checked.append("reservation")
    # A real Batsim starts jobs a little later than is decided.
    slack = TOLERANCE if setting.exact else 1e-3
    bounds = intervals.bounds().tolist()
    names = {host.name: host.id for host in machine.hosts}
    kept = [_hosts_of(window, names, machine) for window in windows]
    for row in np.flatnonzero(rows.ran).tolist():
        job = facts.asking[row]
        if job is None:
            continue
        begin = rows.start[row]
        end = max(begin + rows.walltime[row], rows.finish[row]) - slack
        parts = [
            (int(intervals.first[index]), int(intervals.last[index])) for index in range(bounds[row], bounds[row + 1])
        ]
        for window, hosts in zip(windows, kept, strict=True):
            inside = [host for first, last in parts for host in range(first, last + 1) if host in hosts]
            name = window["name"]
            if job.extra.get("reservation") == name:
                outside = sum(last - first + 1 for first, last in parts) - len(inside)
                if outside or begin < window["start"] - slack or end > window["end"]:
                    rows.add("reservation", f"is to run within its reservation {name}, and does not", row)
            elif inside and begin < window["end"] - slack and end > window["start"] and not _is_let_in(job, window):
                said = (
                    f"may run until {end + slack:.6f}, and reservation {name} keeps this host from {window['start']:g}"
                )
                rows.add("reservation", said, row, host=machine.hosts[inside[0]].name)


def _hosts_of(window: Mapping[str, Any], names: Mapping[str, int], machine: Machine) -> set[int]:
    """Return the ids of the hosts of a reservation."""
    if window.get("hosts") is not None:
        return {names[name] for text in window["hosts"] for name in expand(text)}
    compute = [host.id for host in machine.hosts if not host.storage]
    return set(compute if window.get("nodes") is None else compute[: window["nodes"]])


def _is_let_in(job: Job, window: Mapping[str, Any]) -> bool:
    return (
        (job.user != "" and job.user in window.get("users", []))
        or ("account" in job.extra and str(job.extra["account"]) in window.get("accounts", []))
        or str(job.extra.get("partition", "")) in window.get("partitions", [])
    )


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
