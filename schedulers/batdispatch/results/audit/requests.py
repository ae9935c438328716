"""What a request means, read from its fields alone: where a job may run, in what form, and after which jobs.

Nothing here is asked of the core: the audit has its own reading of every field, so that an error there is found here.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from batdispatch.core.hostsets import Intervals
from batdispatch.core.job import Job, JobState
from batdispatch.core.machine import Machine
from batdispatch.results.audit.capacity import shared_conflicts
from batdispatch.results.audit.jobs import Facts
from batdispatch.results.audit.rows import TOLERANCE, Rows, Units
from batdispatch.results.lineage import Lineage
from batdispatch.results.usage import Slots, licences_of


def check_places(rows: Rows, intervals: Intervals, units: Units, machine: Machine, facts: Facts) -> None:
    """Each job ran on nodes that it may use, on as many of them and in the form that it asked for."""
    rows.findings.checked += ["nodes", "units per node", "node list", "excluded node", "contiguous", "I/O node"]
    bounds = intervals.bounds().tolist()
    first, last = intervals.first, intervals.last + 1
    disks = {host.name for host in machine.storage}
    for row in facts.asking.rows_that(lambda request: request.io_nodes or not request.plain):
        job = facts.asking[row]
        if job is None or not rows.ran[row]:
            continue
        request = job.request
        for name in request.io_nodes:
            if name not in disks:
                rows.add("I/O node", f"is pinned to I/O node {name!r}, which is no storage host", row)
        if request.plain:
            continue
        each = range(bounds[row], bounds[row + 1])
        hosts = np.concatenate(
            [np.arange(first[index], last[index]) for index in each] or [np.zeros(0, dtype=np.int64)]
        )
        _check_place(rows, row, job, hosts, units.of(row), machine, whole=facts.jobs[row] is not None)


def _check_place(
    rows: Rows, row: int, job: Job, hosts: NDArray[np.int64], units: NDArray[np.int64], machine: Machine, *, whole: bool
) -> None:
    """Check one job.

    Args:
        rows: of the jobs file.
        row: the job's.
        job: whose request it has.
        hosts: where it ran, int64 [host of it].
        units: of it on each of these.
        machine: of the run.
        whole: whether the job is the workload's own; a resized rest may have other numbers of nodes.
    """
    request = job.request
    names = [machine.hosts[host].name for host in hosts.tolist() if host < len(machine.hosts)]
    if request.nodes and whole and not request.nodes[0] <= len(hosts) <= request.nodes[1]:
        least, most = request.nodes
        rows.add("nodes", f"holds {len(hosts)} nodes, asked for {least} to {most}", row)
    if request.units_per_node and (wrong := np.flatnonzero(units != request.units_per_node)).size:
        at = int(wrong[0])
        rows.add(
            "units per node",
            f"has {int(units[at])} units there, asked for {request.units_per_node} on each node",
            row,
            host=_name(machine, int(hosts[at])),
        )
    if request.named and (outside := [name for name in names if name not in set(request.named)]):
        rows.add("node list", "is not in its node list", row, host=outside[0])
    if request.excluded and (inside := [name for name in names if name in set(request.excluded)]):
        rows.add("excluded node", "is excluded by the job", row, host=inside[0])
    if request.contiguous and len(hosts) and int(hosts.max() - hosts.min()) + 1 != len(set(hosts.tolist())):
        rows.add("contiguous", "asked for consecutive nodes and holds others", row)
    if request.whole_nodes and not machine.exclusive:
        _check_share(rows, row, job, hosts, units, machine)


def _check_share(
    rows: Rows, row: int, job: Job, hosts: NDArray[np.int64], units: NDArray[np.int64], machine: Machine
) -> None:
    """No node that a job has wholly carries more of its units than it can: the sums over jobs do not show that."""
    each, once = dict(job.request.per_unit or ()), dict(job.request.per_node)
    for host, count in zip(hosts.tolist(), units.tolist(), strict=True):
        if host >= len(machine.hosts):
            continue
        for name in sorted({*each, *once}):
            there = int(machine.capacity[host, machine.resources.index(name)]) if name in machine.resources else 0
            used = count * each.get(name, 0) + once.get(name, 0)
            if used > there:
                message = f"{count} units of it use {used} {name}, the host has {there}"
                rows.add("capacity", message, row, host=_name(machine, host))
                return


def _name(machine: Machine, host: int) -> str:
    return machine.hosts[host].name if host < len(machine.hosts) else f"#{host}"


def check_licences(rows: Rows, machine: Machine, facts: Facts) -> None:
    """No licence is in use more often than the machine has it, at any time."""
    rows.findings.checked.append("licences")
    there = dict(machine.licences)
    for row in facts.asking.rows_that(lambda request: request.licences):
        job = facts.asking[row]
        for name, amount in job.request.licences if job is not None else ():
            if amount and rows.ran[row] and name not in there:
                rows.add("licences", f"holds {amount} {name}, of which the machine has none", row)
    if not there:
        return
    count = len(rows.ids)
    held = np.stack(list(licences_of(machine, facts.asking).values()), axis=1).reshape(count, len(there))
    # One place for the whole machine.
    slots = Slots(np.zeros(count, dtype=np.int64), np.arange(count), np.ones(count, dtype=np.int64), held)
    start = np.where(rows.ran, rows.start, np.nan)
    capacity = np.array([[amount for _, amount in machine.licences]], dtype=np.int64)
    for row, _, axis, used, _ in shared_conflicts(slots, capacity, start, rows.left, TOLERANCE):
        name, most = machine.licences[axis]
        rows.add("licences", f"{name} in use {used}, the machine has {most}", row)


def check_dependencies(rows: Rows, facts: Facts, lineage: Lineage) -> None:
    """A job starts only after the logical jobs that it depends on have done what it waits for."""
    rows.findings.checked.append("dependency")
    waiting = facts.jobs.rows_that(lambda request: request.dependencies)
    if not waiting:
        return
    by_id = {
        (workload, name.removeprefix(f"{workload}!")): row
        for row, (workload, name) in reversed(list(enumerate(zip(rows.workloads, rows.ids, strict=True))))
    }
    # By the row of a logical job's first segment: when it succeeded, began, and ended for good; nan: never.
    succeeded, began, over = np.full((3, len(rows.ids)), np.nan)
    good = rows.state == JobState.COMPLETED_SUCCESSFULLY.value
    np.fmin.at(succeeded, lineage.root[good], rows.left[good])
    np.fmin.at(began, lineage.root[rows.ran], rows.start[rows.ran])
    np.fmax.at(over, lineage.root[rows.ran], rows.left[rows.ran])
    for row in waiting:
        job = facts.jobs[row]
        if job is None or not rows.ran[row]:
            continue
        for one in job.request.dependencies:
            if one.kind == "singleton":
                _check_alone(rows, row, facts, over[lineage.root])
                continue
            workload, mark, short = one.job.partition("!")
            other = by_id.get((workload, short) if mark else (rows.workloads[row], one.job))
            if other is None:
                rows.add("dependency", f"depends on job {one.job}, which is not in the jobs file", row)
                continue
            root = int(lineage.root[other])
            times = {"afterok": succeeded, "after": began}.get(one.kind, over)
            time, least = float(times[root]), rows.start[row] - one.delay + TOLERANCE
            done = {"afterok": "succeeded", "after": "started"}.get(one.kind, "ended")
            if one.kind == "afternotok" and succeeded[root] <= rows.start[row] + TOLERANCE:
                rows.add("dependency", f"depends on the failure of job {one.job}, which succeeded", row)
            elif np.isnan(time) and one.kind == "afterok":
                rows.add("dependency", f"depends on job {one.job}, which never succeeded", row)
            elif time > least:
                wait = f", and waits for another {one.delay:g} s" if one.delay else ""
                rows.add("dependency", f"depends on job {one.job}, which {done} only at {time:.6f}{wait}", row)


def _check_alone(rows: Rows, row: int, facts: Facts, over: NDArray[np.float64]) -> None:
    """No job of the same user and name that came before is under way when a job starts; `over`: float64 [row]."""
    job = facts.jobs[row]
    assert job is not None
    alike = np.flatnonzero((facts.jobs.users() == job.user) & (rows.start < rows.start[row] - TOLERANCE))
    for other in alike[over[alike] > rows.start[row] + TOLERANCE].tolist():
        one = facts.asking[other]
        if one is not None and one.extra.get("name") == job.extra.get("name"):
            message = f"is to run alone of its name, and job {rows.ids[other]} ended only at {over[other]:.6f}"
            rows.add("dependency", message, row)
            return


def check_arrays(rows: Rows, facts: Facts, lineage: Lineage) -> None:
    """When a task of an array starts, no more tasks of the array run than may."""
    rows.findings.checked.append("array")
    arrays: dict[tuple[str, str], list[tuple[int, int]]] = {}
    for row in np.flatnonzero(rows.ran).tolist():
        job = facts.asking[row]
        array = None if job is None or not job.extra else job.extra.get("array")
        if isinstance(array, dict):
            key = (rows.workloads[row], str(array.get("id")))
            arrays.setdefault(key, []).append((row, int(array.get("limit") or 0)))
    for (_, name), listed in arrays.items():
        which = np.array([row for row, _ in listed])
        starts, ends = np.sort(rows.start[which]), np.sort(rows.left[which])
        for row, limit in listed:
            moment = rows.start[row]
            running = int(np.searchsorted(starts, moment - TOLERANCE)) - int(
                np.searchsorted(ends, moment + TOLERANCE, side="right")
            )
            # Those that start at the very same moment, this one included.
            running += int(np.searchsorted(starts, moment + TOLERANCE, side="right")) - int(
                np.searchsorted(starts, moment - TOLERANCE)
            )
            if limit and running > limit and lineage.parent[row] < 0:
                rows.add("array", f"is task number {running} of array {name} that runs, of which {limit} may", row)


def check_lineage(rows: Rows, lineage: Lineage) -> None:
    """A segment starts only after the one that it continues has ended.

    What was rejected is continued only by a job of another size: a moldable job need not start on what it asks for.
    """
    rows.findings.checked.append("lineage")
    for row in np.flatnonzero((lineage.parent >= 0) & rows.ran).tolist():
        parent = int(lineage.parent[row])
        if not rows.ran[parent] and rows.size[row] == rows.size[parent]:
            rows.add("lineage", f"continues job {rows.ids[parent]}, which was rejected", row)
        elif rows.ran[parent] and rows.start[row] < rows.left[parent] - TOLERANCE:
            end = f"ended only at {rows.finish[parent]:.6f}"
            rows.add("lineage", f"continues job {rows.ids[parent]}, which {end}", row)
