"""What the energy of runs leaves out, in words."""

from __future__ import annotations

from collections.abc import Iterable

from batdispatch.results.numbers import number
from batdispatch.results.runs import Result


def idle_energy(results: Iterable[Result]) -> str:
    """Say that jobs burn no more than idle hosts, if energy was counted and jobs are delays; else return "".

    A delay states how long a job runs, and no work. As in Batsim, its hosts burn the watts of idle ones meanwhile.

    Args:
        results: of the runs, on the same jobs.
    """
    counted = [result.workload for result in results if result.workload.delays]
    if not counted:
        return ""
    most = max(counted, key=lambda workload: workload.delays or 0)
    return (
        f"Energy counts no computation: {number(most.delays or 0)} of {number(most.jobs or 0)} jobs are delays, whose "
        "hosts burn the watts of idle ones, as in Batsim. It tells how long hosts are switched on, and how often they "
        "boot. Jobs with work, such as parallel_homogeneous, burn the watts of load."
    )
