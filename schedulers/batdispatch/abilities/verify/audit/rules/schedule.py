"""What hosts, licences and queues carry, the form that jobs ask for, what they wait for, and why some never ran."""

from __future__ import annotations

import re

import numpy as np

from batdispatch.abilities.verify.audit.case import Case, Faults, rule
from batdispatch.abilities.verify.audit.findings import TOLERANCE, Fault
from batdispatch.abilities.verify.audit.hosts import Floats, Ints, Slots, conflicts, overloads
from batdispatch.abilities.verify.audit.request import holdings
from batdispatch.abilities.verify.audit.rules.power import is_beyond_cap
from batdispatch.abilities.verify.audit.workload import Job

#: How the reasons begin that are given before a dispatcher hears of a job: what they claim can be worked out again.
_OF_MACHINE = re.compile(r"(asks for|names no|needs|is pinned|node_list|exclude_nodes)\b")
_OF_OTHERS = re.compile(r"(depends on (the failure of )?job \S+, which|continues )")
_DONE = {"afterok": "succeeded", "after": "started"}


@rule("hosts")
def capacity(case: Case) -> Faults:
    """No host carries more than it can at any time, and no job gets more than the host has."""
    rows, machine = case.rows, case.machine
    if machine.exclusive:
        for one, other, host in conflicts(rows.hosts, case.started, rows.left, TOLERANCE):
            message = f"is still held by job {rows.ids[other]} until {rows.finish[other]:.6f}"
            yield Fault(message, one, host=machine.name(host))
        return
    for slots in holdings(machine, case.asking, rows.hosts, case.units.slots):
        for row, host, axis, used in overloads(slots, machine.capacity, case.started, rows.left, TOLERANCE):
            message = f"{machine.resources[axis]} in use {used}, the host has {machine.capacity[host, axis]}"
            yield Fault(message, row, host=machine.name(host))
    for row, job in case.that_ran():
        if job.whole_nodes or case.demands.lack(job):
            yield from _alone(case, row, job)


def _alone(case: Case, row: int, job: Job) -> Faults:
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
def licences(case: Case) -> Faults:
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
def nodes(case: Case) -> Faults:
    """A job holds as many nodes as it asked for."""
    for row, job, hosts in case.restricted:
        span = job.node_range
        # A resized rest may have other numbers of nodes.
        if span and case.jobs[row] is not None and not span[0] <= len(hosts) <= span[1]:
            yield Fault(f"holds {len(hosts)} nodes, asked for {span[0]} to {span[1]}", row)


@rule("hosts")
def units_per_node(case: Case) -> Faults:
    """Each node of a job has as many of its units as it asked for."""
    for row, job, hosts in case.restricted:
        units = case.units.of(row)
        for at in np.flatnonzero(units != job.units_per_node).tolist()[:1] if job.units_per_node else ():
            message = f"has {units[at]} units there, asked for {job.units_per_node} on each node"
            yield Fault(message, row, host=case.machine.name(int(hosts[at])))


@rule("hosts")
def node_list(case: Case) -> Faults:
    """A job runs on no other hosts than those that it lists."""
    for row, job, hosts in case.restricted:
        names = map(case.machine.name, hosts.tolist()) if job.node_list else ()
        for name in [name for name in names if name not in job.node_list][:1]:
            yield Fault("is not in its node list", row, host=name)


@rule("hosts")
def excluded_node(case: Case) -> Faults:
    """A job runs on no host that it excludes."""
    for row, job, hosts in case.restricted:
        names = map(case.machine.name, hosts.tolist()) if job.exclude_nodes else ()
        for name in [name for name in names if name in job.exclude_nodes][:1]:
            yield Fault("is excluded by the job", row, host=name)


@rule("hosts")
def contiguous(case: Case) -> Faults:
    """The nodes of a job that asks for it have consecutive ids."""
    for row, job, hosts in case.restricted:
        if job.contiguous and len(hosts) and int(hosts.max() - hosts.min()) + 1 != len(set(hosts.tolist())):
            yield Fault("asked for consecutive nodes and holds others", row)


@rule("hosts", name="I/O node")
def io_node(case: Case) -> Faults:
    """The I/O nodes that a job is pinned to are storage hosts."""
    for row, job, _ in case.restricted:
        for name in [name for name in job.io_nodes if name not in case.machine.storage]:
            yield Fault(f"is pinned to I/O node {name!r}, which is no storage host", row)


@rule("hosts")
def partition(case: Case) -> Faults:
    """A job runs on hosts of its partition."""
    for row, job in case.that_ran() if case.queues.limits["partition"] else ():
        one, several = case.queues.class_of(job, "partition"), case.queues.listed(job)
        if several and any(case.queues.hosts[each["name"]][case.compute_hosts(row)].all() for each in several):
            continue
        if one is None:
            name = "" if job.partition is None else str(job.partition)
            yield Fault(f"is in partition {name!r}, which the site does not have", row)
            continue
        hosts = case.compute_hosts(row)
        for host in hosts[~case.queues.hosts[one["name"]][hosts]].tolist()[:1]:
            yield Fault(f"is not in its partition {one['name']}", row, host=case.machine.name(host))


@rule("hosts")
def feature(case: Case) -> Faults:
    """A job runs on hosts that have the features that it requires."""
    for row, job in case.that_ran() if case.machine.features else ():
        hosts = case.compute_hosts(row)
        choices = [] if job.constraint is None else case.queues.having(job)
        # Of several choices, one has all hosts; if none has, the fault is told by the first one.
        lacking = [hosts[~having[hosts]].tolist() for having in choices]
        for host in [] if [] in lacking else [each[0] for each in lacking[:1]]:
            yield Fault(f"lacks what the job requires, {job.constraint}", row, host=case.machine.name(host))


@rule("hosts")
def queue_limit(case: Case) -> Faults:
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
def reservation(case: Case) -> Faults:
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


# ---------------------------------------------------------------------- what jobs wait for


def _over(case: Case) -> Floats:
    """Return when the logical job of each row was over, rejected ones included, s, float64 [row]; NaN: nobody knows."""
    over, course = case.over.copy(), case.course
    if course is not None:
        np.fmax.at(over, case.lineage.root, course.rejected)
    return np.asarray(over[case.lineage.root])


@rule("order")
def dependency(case: Case) -> Faults:
    """A job starts only after others have done what it waits for."""
    root = case.lineage.root
    over, succeeded = _over(case), case.succeeded[root]
    since = {"afterok": succeeded, "after": np.where(np.isnan(case.began[root]), over, case.began[root])}
    for row in np.flatnonzero(case.rows.ran).tolist():
        job = case.jobs[row]
        for one in job.waits_for if job is not None and job.dependencies else ():
            start, other = case.rows.start[row], case.other(row, one.job)
            if one.kind == "singleton":
                yield from _not_alone(case, row, over)
            elif other is None:
                yield Fault(f"depends on job {one.job}, which is not in the jobs file", row)
            elif one.kind == "afternotok" and succeeded[other] <= start + TOLERANCE:
                yield Fault(f"depends on the failure of job {one.job}, which succeeded", row)
            elif one.kind == "afterok" and np.isnan(succeeded[other]):
                yield Fault(f"depends on job {one.job}, which never succeeded", row)
            elif (time := since.get(one.kind, over)[other]) > start - one.delay + TOLERANCE:
                wait = f", and waits for another {one.delay:g} s" if one.delay else ""
                done = _DONE.get(one.kind, "ended")
                yield Fault(f"depends on job {one.job}, which {done} only at {time:.6f}{wait}", row)


def _not_alone(case: Case, row: int, over: Floats) -> Faults:
    """All jobs of the same user and name that came before have ended when a job starts that is to run alone."""
    job, parent = case.jobs[row], case.lineage.parent
    arrival = _arrival(case)
    late = (arrival < arrival[row]) & (over > case.rows.start[row] + TOLERANCE) & (parent < 0)
    for other in np.flatnonzero(late).tolist() if parent[row] < 0 else ():
        one = case.jobs[other]
        if (
            job is not None
            and one is not None
            and one.name is not None
            and (str(one.user), str(one.name)) == (str(job.user), str(job.name))
        ):
            message = f"is to run alone of its name, and job {case.rows.ids[other]} ended only at {over[other]:.6f}"
            yield Fault(message, row)
            return


def _arrival(case: Case) -> Ints:
    """Return in which order jobs came: as the exchange tells it, or by submission and name, int64 [row]."""
    if case.course is not None and case.course.complete:
        return case.course.arrived
    at = np.array(case.at, dtype=np.int64)
    return np.where(at < 0, len(case.workload.jobs), at)


@rule("order")
def array(case: Case) -> Faults:
    """When a task of an array starts, no more tasks of the array run than may."""
    arrays: dict[tuple[str, str], list[tuple[int, int]]] = {}
    for row, job in case.that_ran():
        if job.array is not None and job.array.get("limit"):
            key = (case.rows.workloads[row], str(job.array.get("id")))
            arrays.setdefault(key, []).append((row, int(job.array["limit"])))
    for (_, name), listed in arrays.items():
        which, most = np.array([row for row, _ in listed]), max(limit for _, limit in listed)
        starts, ends = np.sort(case.rows.start[which]), np.sort(case.rows.left[which])
        moments = case.rows.start[which] + TOLERANCE
        running = np.searchsorted(starts, moments, side="right") - np.searchsorted(ends, moments, side="right")
        for at in np.flatnonzero((running > most) & (case.lineage.parent[which] < 0)).tolist():
            yield Fault(f"is task number {running[at]} of array {name} that runs, of which {most} may", int(which[at]))


@rule("order")
def lineage(case: Case) -> Faults:
    """A segment of a job starts only after the one that it continues has ended."""
    rows = case.rows
    for row in np.flatnonzero((case.lineage.parent >= 0) & rows.ran).tolist():
        parent = int(case.lineage.parent[row])
        # What was rejected is continued by a job of another size: a moldable job need not start on what it asks for.
        if not rows.ran[parent] and rows.size[row] == rows.size[parent]:
            yield Fault(f"continues job {rows.ids[parent]}, which was rejected", row)
        elif rows.ran[parent] and rows.start[row] < rows.left[parent] - TOLERANCE:
            end = f"ended only at {rows.finish[parent]:.6f}"
            yield Fault(f"continues job {rows.ids[parent]}, which {end}", row)


@rule("order", "exchange")
def lineage_told(case: Case) -> Faults:
    """lineage.csv joins the jobs that the exchange says to continue others."""
    told, joined = case.exchange.parents, case.lineage.parent
    for row in sorted({*told, *np.flatnonzero(joined >= 0).tolist()}):
        pair = int(joined[row]), told.get(row, -1)
        if pair[0] != pair[1]:
            said, is_so = (f"continues {f'job {case.rows.ids[at]}' if at >= 0 else 'no job'}" for at in pair)
            yield Fault(f"{said} by lineage.csv, and it {is_so}", row)


# ---------------------------------------------------------------------- rejections


@rule("order")
def rejection(case: Case) -> Faults:
    """A rejected job has a reason that holds, or one that its dispatcher gives."""
    listed = case.said.get("rejected") or []
    reasons = {str(one.get("job", "")): str(one.get("reason", "")) for one in listed}
    rejected = {case.rows.names[row]: row for row in np.flatnonzero(~case.rows.ran).tolist()}
    unexplained = 0
    for name, row in rejected.items():
        job = case.jobs[row]
        if case.said and name not in reasons:
            yield Fault("is rejected in the jobs file, and result.json does not list it", row)
        elif job is not None and (problem := _untrue(case, row, job, reasons.get(name, ""))):
            unexplained += not case.said
            yield from [Fault(problem, row)] if case.said else []
    if unexplained:
        case.skipped["rejection"] = f"nothing says why {unexplained} jobs were rejected that could have run"
    for name in sorted(reasons.keys() - rejected.keys()):
        yield Fault("result.json lists it as rejected, the jobs file does not", job=name.partition("!")[2])
    if len(reasons) != len(listed):
        yield Fault("result.json lists a job twice")


def _untrue(case: Case, row: int, job: Job, reason: str) -> str:
    """Return what is wrong with the reason for a rejection; empty: nothing, or only the dispatcher knows.

    The figures of a reason are its dispatcher's to repeat.
    """
    never, hopeless = case.demands.why_never(job), _is_hopeless(case, row, job)
    given = f"the reason {reason[:200]!r} is not so" if reason else "no reason is given"
    if _OF_OTHERS.match(reason):
        # Of jobs that wait for each other in a circle, one is rejected: which one is its dispatcher's to repeat.
        in_circle = bool(job.waits_for) and reason.endswith("which depends on it in turn")
        return "" if hopeless or in_circle else f"waited for no job that failed: {given}"
    if reason.startswith("needs ") and reason.endswith("the cap never leaves that"):
        return "" if is_beyond_cap(case, int(case.asked[row])) else f"fits under the cap: {given}"
    if reason and not _OF_MACHINE.match(reason):
        return ""
    # The protocol has no word for the reason of another program's scheduler.
    unsaid = not reason and (case.said.get("decision_time") == "own" or not case.said)
    if never or (unsaid and hopeless):
        return ""
    return f"could run on this machine and waited for no job that failed: {given}"


def _is_hopeless(case: Case, row: int, job: Job) -> bool:
    """Return whether a job waited for what may never have come."""
    if job.parent and case.other(row, job.parent) is None:
        return True
    for one in job.waits_for:
        other = case.other(row, one.job)
        succeeded = other is not None and not np.isnan(case.succeeded[case.lineage.root[other]])
        # Of jobs that wait for each other, one is rejected whatever they wait for, and the others may go on.
        lost = not succeeded if one.kind == "afterok" else other is None or succeeded or one.kind != "afternotok"
        if lost:
            return True
    return False
