"""What the jobs of a run make of the machine's network: their allocations' measures, and the free nodes over time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from batdispatch.abilities.topology.networks import topology_of
from batdispatch.abilities.topology.results.allocations import distinct, measure, proximities
from batdispatch.abilities.topology.results.free import FreeNodes, free_nodes
from batdispatch.abilities.topology.results.sharing import sharing
from batdispatch.core.jobs.job import Job
from batdispatch.core.jobs.job_table import JobTable
from batdispatch.core.jobs.request import Request
from batdispatch.core.machine.machine import Machine

Floats = NDArray[np.float64]

#: What `NetworkUse` says of each row.
OF_ROWS = ("compactness", "proximity", "locality", "shared", "busy", "links")


@dataclass(frozen=True)
class NetworkUse:
    """What the rows of a run make of the network. A row without an allocation in the network has NaN, and 0 links.

    Attributes:
        compactness: gamma of the row's allocation, in links, float64 [row], as all up to `busy`.
        proximity: rho to the I/O nodes that its job asks for, NaN where it asks for none.
        locality: routers used / least possible.
        shared: share of the links within the allocation that another job uses at the same moment, averaged over the
            row's run time; NaN where it ran for no time, and where `sharing` takes too long.
        busy: share of the row's run time in which at least one link is shared; NaN likewise.
        links: directed links on the routes within the allocation, int64 [row].
        free: how the free nodes hang together.
    """

    compactness: Floats
    proximity: Floats
    locality: Floats
    shared: Floats
    busy: Floats
    links: NDArray[np.int64]
    free: FreeNodes

    def take(
        self, rows: NDArray[np.bool_], begin: float = -np.inf, end: float = np.inf, window: object = None
    ) -> NetworkUse:
        """Return the same of some rows and of a part of the time, s."""
        return replace(
            self, **{name: getattr(self, name)[rows] for name in OF_ROWS}, free=self.free.between(begin, end)
        )


def network_use(columns: JobTable, machine: Machine, jobs: Sequence[Job | None] | None = None) -> NetworkUse | None:
    """Return what the rows of a run make of the network; None without one, and where all hosts stand on one router.

    Each different allocation is measured once. The links of running rows are kept, and those of some thousand hosts
    that start next; so memory follows the machine, not the number of jobs.

    Args:
        columns: of the run.
        machine: of the run.
        jobs: the job whose request each row has, see `usage.asking_jobs`; None: no job asks for an I/O node.

    Raises:
        InputError: an allocation is malformed.
    """
    topology = topology_of(machine)
    if topology is None or topology.routers < 2:
        return None
    start, finish = columns.spans
    allocations = distinct(columns.hosts, machine, topology)
    measured = measure(allocations, machine, topology)
    of_row = allocations.of_row
    there = of_row >= 0

    def by_row(values: Floats) -> Floats:
        found = np.full(len(of_row), np.nan)
        found[there] = values[of_row[there]]
        return found

    rho = np.full(len(of_row), np.nan)
    if jobs is not None:
        asked = [() if job is None else io_hosts(machine, job.request) for job in jobs]
        if any(asked):
            rho = proximities(allocations, topology, asked)
    common = sharing(allocations, topology, measured.routers, start, finish)
    unknown = np.full(len(of_row), np.nan)
    begin = float(columns.submission_time.min()) if len(columns) else 0.0
    end = float(np.nanmax(finish)) if columns.ran.any() else begin
    free = free_nodes(machine, topology, columns.hosts, start, finish, begin, end)
    return NetworkUse(
        by_row(measured.compactness),
        rho,
        by_row(measured.locality),
        unknown if common is None else common.shared,
        unknown if common is None else common.busy,
        np.zeros(len(of_row), dtype=np.int64) if common is None else common.links,
        free,
    )


def io_hosts(machine: Machine, request: Request) -> tuple[int, ...]:
    """Return the hosts of the I/O nodes that a job asks for; a name that the machine lacks is left out."""
    return tuple(machine.by_name[name] for name in request.io_nodes if name in machine.by_name)
