"""What jobs held: of the nodes of a machine that jobs share, and of its licences.

What a request takes is read here anew, from its fields, and not asked of the core: the audit rests on it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from batdispatch.core.capacity.need import along
from batdispatch.core.errors import InputError
from batdispatch.core.hosts.hostsets import Intervals
from batdispatch.core.jobs.job import Job
from batdispatch.core.jobs.job_table import JobTable
from batdispatch.core.machine.machine import Machine
from batdispatch.results.lineage import Lineage

#: Slots that are looked at together: enough for numpy, little enough for the memory.
BLOCK = 1 << 18


def asking_jobs(columns: JobTable, jobs: Iterable[Job], lineage: Lineage | None = None) -> list[Job | None]:
    """Return for each row the job of the workload whose request says what the row's job takes on a node.

    It is the job of the row's ``workload!id``, or of its id alone when the workload's jobs carry no prefix. Where the
    workload has none of that id, as for jobs registered while the simulation ran, it is that of the first segment of
    the same logical job; None where there is neither.

    Args:
        columns: of the run, from `jobs_file.read_columns`.
        jobs: of the workload.
        lineage: which rows are one job; None: each row is a job.
    """
    by_id = {job.id: job for job in jobs}
    found = [
        by_id.get(job_id) or by_id.get(f"{workload}!{job_id}")
        for job_id, workload in zip(columns.job_id.tolist(), columns.workload_name.tolist(), strict=True)
    ]
    if lineage is not None and lineage.joined:
        return [found[root] if job is None else job for job, root in zip(found, lineage.root.tolist(), strict=True)]
    return found


@dataclass(frozen=True)
class Slots:
    """What every job held of every resource on each of its hosts.

    Attributes:
        host: int64 [slot].
        row: row of the run's columns, a whole number [slot].
        units: units of the job on the host, int64 [slot].
        amount: int64 [slot, resource] along the machine's resource axis.
    """

    host: NDArray[np.int64]
    row: NDArray[np.integer[Any]]
    units: NDArray[np.int64]
    amount: NDArray[np.int64]


@dataclass(frozen=True)
class MachineUse:
    """What is known of a run on a machine whose nodes are shared by jobs, or that has licences.

    Attributes:
        machine: of the run.
        slots: what each row's job holds on each host.
        licences: what each row's job holds of each licence, int64 [row] by name.
    """

    machine: Machine
    slots: Slots
    licences: Mapping[str, NDArray[np.int64]] = field(default_factory=dict)


def slots_of(intervals: Intervals, units: NDArray[np.int64], machine: Machine, jobs: Sequence[Job | None]) -> Slots:
    """Spread each row's job over its hosts.

    A job takes on each host what its units there need and what it asks for once on every node, or all of the node: if
    it says nothing about what a unit needs, if it asks for whole nodes, and always on whole hosts. Hosts beyond the
    machine carry nothing here (the audit reports them).

    Args:
        intervals: hosts of each row's job.
        units: units on each host slot, from `read_units`.
        machine: of the run.
        jobs: the job whose request each row has, see `asking_jobs`; None: whole nodes.

    Raises:
        InputError: a job needs a resource that the machine does not have.
    """
    return _Demands(intervals, machine, jobs).on(*intervals.hosts(), units)


def slots_in_blocks(
    intervals: Intervals, units: NDArray[np.int64], machine: Machine, jobs: Sequence[Job | None]
) -> Iterator[Slots]:
    """Yield what `slots_of` returns host by host, in blocks of hosts that hold some `BLOCK` slots each.

    A log of 39,000 jobs on 9,000 hosts has tens of millions of slots. Args and Raises are those of `slots_of`.
    """
    takes = _Demands(intervals, machine, jobs)
    sizes = intervals.length
    begins = np.cumsum(sizes) - sizes
    hosts = int(intervals.last.max(initial=-1)) + 1
    width = max(1, hosts // (int(sizes.sum()) // BLOCK + 1))
    for low in range(0, hosts, width):
        high = min(low + width, hosts) - 1
        inside = np.flatnonzero((intervals.first <= high) & (intervals.last >= low))
        first = np.maximum(intervals.first[inside], low)
        part = Intervals(first, np.minimum(intervals.last[inside], high), intervals.row[inside], intervals.rows)
        host, row = part.hosts()
        # Where in `units` each of the interval's slots stands.
        slot = np.repeat(begins[inside] - intervals.first[inside], part.length) + host
        yield takes.on(host, row, units[slot])


class _Demands:
    """What the job of each row takes from a host."""

    def __init__(self, intervals: Intervals, machine: Machine, jobs: Sequence[Job | None]) -> None:
        self._machine = machine
        self._each = np.zeros((intervals.rows, len(machine.resources)), dtype=np.int64)
        self._once = np.zeros((intervals.rows, len(machine.resources)), dtype=np.int64)
        self._shares = np.zeros(intervals.rows, dtype=bool)
        for index, (job, holds) in enumerate(zip(jobs, (intervals.sizes > 0).tolist(), strict=True)):
            # A job that was rejected may ask for what the machine does not have.
            if job is None or not holds or machine.takes_hosts(job.request):
                continue
            self._shares[index] = True
            try:
                self._each[index] = along(machine, job.request.per_unit or ())
                self._once[index] = along(machine, job.request.per_node)
            except InputError as problem:
                raise InputError(problem.message, place=f"job {job.id!r}") from None

    def on(self, host: NDArray[np.int64], row: NDArray[np.integer[Any]], units: NDArray[np.int64]) -> Slots:
        """Return what is taken where `units` units of a row's job are on a host, each int64 [slot]."""
        machine = self._machine
        inside = host < len(machine.hosts)
        amount = machine.capacity[np.where(inside, host, 0)]
        amount[~inside] = 0
        shared = self._shares[row]
        amount[shared] = units[shared, None] * self._each[row[shared]] + self._once[row[shared]]
        return Slots(host, row, units, amount)


def licences_of(machine: Machine, jobs: Sequence[Job | None]) -> Mapping[str, NDArray[np.int64]]:
    """Return how many of each of the machine's licences each row's job held, int64 [row] by name."""
    asked = [dict(job.request.licences) if job is not None else {} for job in jobs]
    return {name: np.array([amounts.get(name, 0) for amounts in asked], dtype=np.int64) for name, _ in machine.licences}


def held_by_row(slots: Slots, rows: int, resources: Sequence[str]) -> Mapping[str, NDArray[np.float64]]:
    """Return what each row's job held of each resource over all its hosts, float64 [row] by name."""
    return {
        name: np.bincount(slots.row, weights=slots.amount[:, axis], minlength=rows).astype(np.float64)
        for axis, name in enumerate(resources)
    }
