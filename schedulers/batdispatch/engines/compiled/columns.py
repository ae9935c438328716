"""The jobs of a workload as arrays."""

from __future__ import annotations

import math

import msgspec
import numpy as np
from numpy.typing import NDArray

from batdispatch.core import hostset
from batdispatch.core.machine import Machine
from batdispatch.dispatchers.backfilling.queue import PlanningQueue, QueueDispatcher
from batdispatch.engines.compiled.state import Floats, Ints, Jobs
from batdispatch.inputs.workloads import Workload
from batdispatch.parts.ordering.arrival import Fcfs


def jobs_of(workload: Workload, dispatcher: QueueDispatcher) -> Jobs:
    """Return the jobs as the dispatcher would hear of them, and as it would put them in order and plan them."""
    jobs = workload.jobs
    delays = {name: float(profile["delay"]) for name, profile in workload.profiles.items()}
    walltime = _on_clock(np.array([job.walltime for job in jobs], dtype=np.float64))
    submission = _on_clock(np.array([job.submission for job in jobs], dtype=np.float64))
    expected = np.where(np.isinf(walltime), dispatcher.options.default_walltime, walltime)
    order = _order(workload, dispatcher, submission, expected)
    place = np.empty(len(jobs), dtype=np.int64)
    place[order] = np.arange(len(jobs))
    return Jobs(
        submission=submission,
        units=np.array([job.request.units for job in jobs], dtype=np.int64),
        delay=np.array([delays[job.profile] for job in jobs], dtype=np.float64),
        walltime=walltime,
        expected=expected,
        booked=expected + dispatcher.lateness.delay if isinstance(dispatcher, PlanningQueue) else expected,
        place=place,
        of_place=order,
    )


def runs_of(machine: Machine) -> NDArray[np.int64]:
    """Return first and last host of each run of hosts that run jobs: int64 [run, 2]."""
    return np.array(list(hostset.runs(machine.compute)), dtype=np.int64).reshape(-1, 2)


def _on_clock(times: Floats) -> Floats:
    """Return times in seconds as a clock counts them that knows microseconds."""
    broken = np.flatnonzero(times != np.rint(times))
    times[broken] = [round(time, 6) for time in times[broken].tolist()]
    return times


class _Ranks:
    """Of a ledger, what orderings that do not change over time ask for: in which order the jobs come."""

    def __init__(self) -> None:
        self.rank_now = 0

    def rank(self, job: object) -> int:
        return self.rank_now


def _order(workload: Workload, dispatcher: QueueDispatcher, submission: Floats, expected: Floats) -> Ints:
    """Return the ranks of the jobs in the order of the queue."""
    ordering = dispatcher.ordering
    if type(ordering) is Fcfs:
        return np.arange(len(workload.jobs))
    ranks = _Ranks()
    ordering.begin(ranks)
    keys = np.empty(len(workload.jobs))
    for rank, (job, come, seconds) in enumerate(
        zip(workload.jobs, submission.tolist(), expected.tolist(), strict=True)
    ):
        ranks.rank_now = rank
        told = job if come == job.submission else msgspec.structs.replace(job, submission=come)
        keys[rank] = ordering.key(told, math.nan, seconds)
    return np.argsort(keys, kind="stable")
