"""Jobs that waited while nothing ran: a late start on an idle machine that no decision explains.

A dispatcher may leave a part of the machine idle for reasons of its own. When nothing runs and no call is due, nothing
but an accident from outside can wake it again: then a job that the machine could run was forgotten, or its start moved.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from batdispatch.core.job import Job, JobState
from batdispatch.results.audit.findings import Findings, Violation
from batdispatch.results.audit.jobs import Facts
from batdispatch.results.audit.rows import Rows
from batdispatch.results.audit.setting import Setting

KIND = "idle machine"
#: Without an exchange nobody knows of calls that a dispatcher waited for: only longer waits than this, in s, are told.
UNRECORDED = 3600.0


class Idling:
    """Watches, between two messages, whether a job waits while nothing runs and nothing is due."""

    def __init__(self, setting: Setting, findings: Findings) -> None:
        self._setting = setting
        self._findings = findings
        self._since = 0.0
        self._job: Job | None = None

    def begin(self, now: float, waiting: Iterable[Job], over: Mapping[str, JobState], away: int) -> None:
        """Note that nothing runs, and that no call is due.

        Args:
            now: seconds.
            waiting: the jobs that wait, in order of arrival.
            over: how the jobs that have ended did so; a logical job that succeeded in the end has succeeded.
            away: mask of the hosts that are away.
        """
        self._since, self._job = now, None
        if self._setting.reserved:
            return
        for job in waiting:
            if _waits_for(job, over):
                continue
            # Where a job may go that is pinned to I/O nodes is for its dispatcher to say.
            if self._setting.fits(job, away) and not (away and job.request.io_nodes):
                self._job = self._job or job
                if not away:
                    return
            elif away:
                # It may hold back all others until the hosts are there again.
                self._job = None
                return

    def until(self, now: float, slack: float, line: int) -> None:
        """Note that a message came."""
        job, self._job = self._job, None
        if job is not None and now - self._since > slack:
            self._findings.add(
                Violation(
                    KIND,
                    f"waits from {self._since:.6f} to {now:.6f} s (line {line} of the exchange) while nothing runs, "
                    "although the machine has room for it and the dispatcher asked for no call",
                    job=job.id.partition("!")[2],
                    time=now,
                )
            )


def _waits_for(job: Job, over: Mapping[str, JobState]) -> bool:
    """Return whether a job has to wait for others by what it says of itself."""
    if not (job.request.dependencies or job.parent or "array" in job.extra):
        return False
    workload = job.id.partition("!")[0]

    def full(name: str) -> str:
        return name if "!" in name else f"{workload}!{name}"

    if job.parent and full(job.parent) not in over:
        return True
    # Whether other conditions are met takes the times of others: who has one is not looked at.
    return "array" in job.extra or any(
        one.kind != "afterok" or one.delay > 0 or over.get(full(one.job)) is not JobState.COMPLETED_SUCCESSFULLY
        for one in job.request.dependencies
    )


def check_unrecorded(rows: Rows, facts: Facts, setting: Setting) -> None:
    """Find the jobs that waited for more than `UNRECORDED` seconds while nothing ran, by the jobs file alone."""
    if setting.reserved:
        rows.findings.skipped[KIND] = "jobs may wait for the end of a reservation"
        return
    rows.findings.checked.append(KIND)
    ran = np.flatnonzero(rows.ran & np.isfinite(rows.start) & np.isfinite(rows.finish))
    if not len(ran):
        return
    order = ran[np.argsort(rows.start[ran], kind="stable")]
    busy_until = np.maximum.accumulate(rows.finish[order])
    # Before the first start nothing ran, either.
    begin = np.concatenate(([0.0], busy_until[:-1]))
    end = rows.start[order]
    gaps = np.flatnonzero(end - begin > UNRECORDED)
    begin, end = begin[gaps], end[gaps]
    for row in order[rows.start[order] - rows.submission[order] > UNRECORDED].tolist():
        job = facts.jobs[row]
        if job is None or job.parent or job.request.dependencies or "array" in job.extra or not setting.fits(job, 0):
            continue
        # Gaps are disjoint and in order of time.
        low = int(np.searchsorted(end, rows.submission[row], side="right"))
        high = int(np.searchsorted(begin, rows.start[row], side="left"))
        overlap = np.minimum(end[low:high], rows.start[row]) - np.maximum(begin[low:high], rows.submission[row])
        if len(overlap) and float(overlap.max()) > UNRECORDED:
            rows.add(
                KIND,
                f"waited {float(overlap.max()):.0f} s while nothing ran on the machine, which has room for it",
                row,
            )
