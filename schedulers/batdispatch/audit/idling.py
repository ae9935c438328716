"""Jobs that waited while nothing ran: a late start on an idle machine that no decision explains.

A dispatcher may leave a part of the machine idle for reasons of its own. When nothing runs and no call is due, nothing
but an accident from outside can wake it again: then a job that the machine could run was forgotten, or its start moved.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from batdispatch.audit.findings import Fault
from batdispatch.audit.machine import Machine
from batdispatch.audit.request import Demands
from batdispatch.audit.words import SUCCESS, full_name
from batdispatch.audit.workload import Job


class Idling:
    """Watches, between two messages, whether a job waits while nothing runs and nothing is due."""

    def __init__(self, machine: Machine, demands: Demands, *, reserved: bool) -> None:
        """Take the machine; if it has reservations, jobs may wait for what nothing but the time brings."""
        self._size = machine.size
        self._demands = demands
        self._reserved = reserved
        self._since = 0.0
        self._job = ""

    def begin(self, now: float, waiting: Mapping[str, Job], over: Mapping[str, str], away: int) -> None:
        """Note that nothing runs, and that no call is due.

        Args:
            now: seconds.
            waiting: the jobs that wait by name, in order of arrival.
            over: how the jobs that have ended did so; a logical job that succeeded in the end has succeeded.
            away: the hosts that are away, as the bits of a number.
        """
        self._since, self._job = now, ""
        if self._reserved or not waiting:
            return
        there = np.array([not away >> host & 1 for host in range(self._size)]) if away else np.ones(self._size, bool)
        for name, job in waiting.items():
            # Where a job may go that is pinned to I/O nodes is for its dispatcher to say.
            fits = self._demands.fits(job, there) and not (away and job.io_node)
            if away and not fits:
                # It may hold back all others until the hosts are there again.
                self._job = ""
                return
            if fits and not waits_for_others(name, job, over) and not self._demands.why_never(job):
                self._job = self._job or name
                if not away:
                    return

    def until(self, now: float, slack: float, line: int) -> Fault | None:
        """Note that a message came; return what is wrong with that."""
        name, self._job = self._job, ""
        if not name or now - self._since <= slack:
            return None
        message = (
            f"waits from {self._since:.6f} to {now:.6f} s (line {line} of the exchange) while nothing runs, although "
            "the machine has room for it and the dispatcher asked for no call"
        )
        return Fault(message, job=name.partition("!")[2], time=now)


def waits_for_others(name: str, job: Job, over: Mapping[str, str]) -> bool:
    """Return whether a job has to wait for others by what it says of itself."""
    workload = name.partition("!")[0]
    if job.parent and full_name(workload, job.parent) not in over:
        return True
    # Whether other conditions are met takes the times of others: who has one is not looked at.
    return job.array is not None or any(
        one.kind != "afterok" or one.delay > 0 or over.get(full_name(workload, one.job)) != SUCCESS
        for one in job.waits_for
    )
