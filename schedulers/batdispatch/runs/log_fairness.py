"""Differences between a log and simulations of its jobs that make a comparison of their waits unfair."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from batdispatch.core.machine.machine import Machine
from batdispatch.inputs.workloads import Workload
from batdispatch.inputs.workloads.importers import ImportResult
from batdispatch.results.numbers import count_of

#: What importers say of jobs that waited, ran or stood otherwise in the log than simulations let them.
UNLIKE = (
    "eligible later than submitted (--begin, holds, dependencies, requeues): submit time taken",
    "requested taken (--size)",
    "were requeued",
    "were started again",
    "were suspended for a while",
    "name several partitions",
    "name some of their nodes only",
    "name a reservation of which nothing is known",
    "name a QOS of which nothing is known",
    "ask for licences that the platform does not state",
    "ask for a type of devices that the platform does not tell apart",
    "depend on a job that is",
    "depend on others in a way that we do not know",
    "are singletons of a name that is not told",
    "larger than the machine",
    "ran on an unknown number of processors",
    "ran longer than their walltime: they will be killed",
)
#: How long after its submission a job may wait on an idle machine, s: schedulers look at queues from time to time.
PATIENCE = 120.0
#: Share of the time in which jobs waited that an idle machine is named from.
IDLE = 0.1
#: All that each unit of a job needs where machines are counted in cores.
_ONE_CORE = (("core", 1),)


def unfair_to_log(imported: ImportResult, machine: Machine) -> list[str]:
    """Return why waits of the log and of simulations differ for other reasons than the dispatcher, a sentence each."""
    report = imported.report
    found = []
    left_out = sum(tally.count for tally in report.dropped.values())
    if left_out:
        reasons = "; ".join(f"{tally.count:,} {reason}" for reason, tally in report.dropped.items())
        verb = "takes" if left_out == 1 else "take"
        found.append(f"{count_of(left_out, 'record')} of the log {verb} no part: {reasons}")
    altered = [
        f"{tally.count:,} {what}" for what, tally in report.changed.items() if any(mark in what for mark in UNLIKE)
    ]
    if altered:
        found.append(f"of the jobs, {'; '.join(altered)}")
    capacity = _capacity(imported.workload, machine)
    site = machine.site
    if capacity is not None and (site is None or len(site.partitions) < 2):
        share = idle_share(imported.workload, imported.info.starts, capacity)
        if share > IDLE:
            found.append(
                f"in {share:.0%} of the time in which jobs of the log waited, all of them would have fitted into what "
                "was free: nodes may have been away, or jobs held or limited"
            )
    if found:
        found[0] = f"not alike in the log and the simulations: {found[0]}"
    found.append(
        "a log does not tell of nodes that were away, holds and limits of users: where these made jobs wait, every "
        "simulation looks better"
    )
    return found


def _capacity(workload: Workload, machine: Machine) -> int | None:
    """Return the machine in the units in which the jobs ask; None: there is no such number.

    There is none where they ask for more than nodes or single cores, since other things may be what they wait for.
    """
    requests = [job.request for job in workload.jobs]
    if all(request.units_are_nodes and not request.stated for request in requests):
        return machine.size
    if all(request.stated == _ONE_CORE for request in requests):
        return machine.shared.get("core")
    return None


def idle_share(workload: Workload, starts: NDArray[np.float64], capacity: int) -> float:
    """Return in which share of the time that jobs waited they would all have fitted into what was free.

    A job counts as waiting from `PATIENCE` after its submission on.

    Args:
        workload: the jobs.
        starts: of the jobs in the log, s, float64 [job]; nan: unknown.
        capacity: of the machine, in the jobs' units.
    """
    known = np.flatnonzero(~np.isnan(starts))
    jobs = [workload.jobs[row] for row in known]
    start = starts[known]
    waits = np.minimum(np.array([job.submission for job in jobs]) + PATIENCE, start)
    ends = start + np.array([float(workload.profiles[job.profile]["delay"]) for job in jobs])
    units = np.array([job.units for job in jobs], dtype=np.float64)
    times = np.concatenate([waits, start, ends])
    order = np.argsort(times, kind="stable")
    none = np.zeros(len(jobs))
    # Up to the next event, so many units are asked for and held.
    asked = np.cumsum(np.concatenate([units, -units, none])[order])[:-1]
    held = np.cumsum(np.concatenate([none, units, -units])[order])[:-1]
    lasts = np.diff(times[order])
    waiting = float(lasts[asked > 0].sum())
    return float(lasts[(asked > 0) & (asked <= capacity - held)].sum()) / waiting if waiting else 0.0
