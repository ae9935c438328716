"""What hosts, licences and queues may carry, and the form that jobs ask for."""

from __future__ import annotations

import numpy as np

from batdispatch.audit.case import Case, Found, rule
from batdispatch.audit.findings import TOLERANCE, Fault
from batdispatch.audit.hosts import Slots, overloads
from batdispatch.audit.request import Holdings
from batdispatch.audit.workload import Job


@rule("hosts")
def capacity(case: Case) -> Found:
    """No host carries more than it can at any time, and no job gets more than the host has."""
    rows, machine = case.rows, case.machine
    if machine.exclusive:
        for one, other, host in case.occupation.conflicts:
            message = f"is still held by job {rows.ids[other]} until {rows.finish[other]:.6f}"
            yield Fault(message, one, host=machine.name(host))
        return
    for slots in Holdings(machine, case.asking).blocks(rows.hosts, case.units.slots):
        for row, host, axis, used in overloads(slots, machine.capacity, case.started, rows.left, TOLERANCE):
            message = f"{machine.resources[axis]} in use {used}, the host has {machine.capacity[host, axis]}"
            yield Fault(message, row, host=machine.name(host))
    for row, job in case.that_ran():
        if job.whole_nodes or not case.demands.is_known(job):
            yield from _alone(case, row, job)


def _alone(case: Case, row: int, job: Job) -> Found:
    """A node that a job has wholly carries no more of its units than it can: the sums over jobs do not show that."""
    machine, each = case.machine, job.demand or {}
    for host, count in zip(case.rows.hosts.of(row).tolist(), case.units.of(row).tolist(), strict=True):
        for name in sorted({*each, *job.per_node}):
            known = name in machine.resources and host < machine.size
            there = int(machine.capacity[host, machine.resources.index(name)]) if known else 0
            used = count * each.get(name, 0) + job.per_node.get(name, 0)
            if used > there:
                message = f"{count} units of it use {used} {name}, the host has {there}"
                yield Fault(message, row, host=machine.name(host))
                return


@rule("hosts")
def licences(case: Case) -> Found:
    """No licence is in use more often than the machine has it."""
    there, count = case.machine.licences, len(case.rows)
    held = np.zeros((count, len(there)), dtype=np.int64)
    for row, job in case.that_ran():
        for name, amount in job.licences.items():
            if amount and name not in there:
                yield Fault(f"holds {amount} {name}, of which the machine has none", row)
            elif amount:
                held[row, list(there).index(name)] = amount
    # One place for the whole machine.
    slots = Slots(np.zeros(count, dtype=np.int64), np.arange(count), held)
    most = np.array([list(there.values())], dtype=np.int64)
    for row, _, axis, used in overloads(slots, most, case.started, case.rows.left, TOLERANCE) if there else ():
        yield Fault(f"{list(there)[axis]} in use {used}, the machine has {most[0, axis]}", row)


@rule("hosts")
def nodes(case: Case) -> Found:
    """A job holds as many nodes as it asked for."""
    for row, job, hosts in case.restricted:
        span = job.node_range
        # A resized rest may have other numbers of nodes.
        if span and case.jobs[row] is not None and not span[0] <= len(hosts) <= span[1]:
            yield Fault(f"holds {len(hosts)} nodes, asked for {span[0]} to {span[1]}", row)


@rule("hosts")
def units_per_node(case: Case) -> Found:
    """Each node of a job has as many of its units as it asked for."""
    for row, job, hosts in case.restricted:
        units = case.units.of(row)
        for at in np.flatnonzero(units != job.units_per_node).tolist()[:1] if job.units_per_node else ():
            message = f"has {units[at]} units there, asked for {job.units_per_node} on each node"
            yield Fault(message, row, host=case.machine.name(int(hosts[at])))


@rule("hosts")
def node_list(case: Case) -> Found:
    """A job runs on no other hosts than those that it lists."""
    for row, job, hosts in case.restricted:
        names = map(case.machine.name, hosts.tolist()) if job.node_list else ()
        for name in [name for name in names if name not in job.node_list][:1]:
            yield Fault("is not in its node list", row, host=name)


@rule("hosts")
def excluded_node(case: Case) -> Found:
    """A job runs on no host that it excludes."""
    for row, job, hosts in case.restricted:
        names = map(case.machine.name, hosts.tolist()) if job.exclude_nodes else ()
        for name in [name for name in names if name in job.exclude_nodes][:1]:
            yield Fault("is excluded by the job", row, host=name)


@rule("hosts")
def contiguous(case: Case) -> Found:
    """The nodes of a job that asks for it have consecutive ids."""
    for row, job, hosts in case.restricted:
        if job.contiguous and len(hosts) and int(hosts.max() - hosts.min()) + 1 != len(set(hosts.tolist())):
            yield Fault("asked for consecutive nodes and holds others", row)


@rule("hosts", name="I/O node")
def io_node(case: Case) -> Found:
    """The I/O nodes that a job is pinned to are storage hosts."""
    for row, job, _ in case.restricted:
        for name in [name for name in job.io_nodes if name not in case.machine.storage]:
            yield Fault(f"is pinned to I/O node {name!r}, which is no storage host", row)


@rule("hosts")
def partition(case: Case) -> Found:
    """A job runs on hosts of its partition."""
    for row, job in case.that_ran() if case.queues.limits["partition"] else ():
        one = case.queues.class_of(job, "partition")
        if one is None:
            name = "" if job.partition is None else str(job.partition)
            yield Fault(f"is in partition {name!r}, which the site does not have", row)
            continue
        hosts = case.compute_hosts(row)
        for host in hosts[~case.queues.partition_hosts(one["name"])[hosts]].tolist()[:1]:
            yield Fault(f"is not in its partition {one['name']}", row, host=case.machine.name(host))


@rule("hosts")
def queue_limit(case: Case) -> Found:
    """A job keeps within the time and nodes that its partition and quality of service allow."""
    sizes = case.rows.hosts.sizes
    for row, job in case.that_ran() if case.machine.queues else ():
        for kind in case.queues.limits:
            one = case.queues.class_of(job, kind) or {}
            longest, most, held = one.get("max_time"), one.get("max_nodes"), int(sizes[row])
            if longest is not None and case.run_time[row] > longest + TOLERANCE:
                yield Fault(f"ran longer than the {longest:g} s that its {kind} {one['name']} allows", row)
            if most is not None and held > most:
                yield Fault(f"holds {held} nodes, its {kind} {one['name']} allows {most}", row)


@rule("hosts")
def reservation(case: Case) -> Found:
    """By its walltime no job reaches into a reservation of others, nor out of its own."""
    # A real Batsim starts jobs a little later than is decided.
    slack, rows, lists = TOLERANCE if case.clock.exact else 1e-3, case.rows, case.queues.lists
    for row, job in case.that_ran() if case.queues.windows else ():
        begin, hosts = rows.start[row], case.compute_hosts(row)
        end = max(begin + rows.walltime[row], rows.finish[row]) - slack
        for name, window in case.queues.windows.items():
            said, inside = window.said, hosts[window.hosts[hosts]]
            if window is case.queues.own(job):
                if len(inside) < len(hosts) or begin < said["start"] - slack or end > said["end"]:
                    yield Fault(f"is to run within its reservation {name}, and does not", row)
            elif len(inside) and begin < said["end"] - slack and end > said["start"] and not lists(window, job):
                text = f"may run until {end + slack:.6f}, and reservation {name} keeps this host from"
                yield Fault(f"{text} {said['start']:g}", row, host=case.machine.name(int(inside[0])))
