"""The columns of a jobs file as the rules of the audit look at them."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from batdispatch.core.hostsets import Intervals
from batdispatch.core.job import FINAL_STATES, JobState
from batdispatch.results.audit.findings import Findings, Violation
from batdispatch.results.audit.names import NameIndex
from batdispatch.results.columns import RunColumns, Texts

#: Seconds within which two times of a jobs file count as equal.
TOLERANCE = 2e-6
#: Seconds that Batsim writes for a job that took none.
NO_TIME = 1e-5

Mask = NDArray[np.bool_]


def _full(workload: str, name: str) -> str:
    return f"{workload}!{name.removeprefix(f'{workload}!')}" if "!" in name else f"{workload}!{name}"


class RowOf(NameIndex):
    """The row of each job by ``workload!name``; of a job that stands there twice, the first."""

    def __init__(self, workloads: Texts | Sequence[str], names: Texts | Sequence[str]) -> None:
        """Take workload and name of each row; a name may begin with its workload."""
        self._workloads = workloads
        self._names = names
        super().__init__(itertools.starmap(_full, zip(workloads, names, strict=True)), self.name)

    def name(self, row: int) -> str:
        """Return the ``workload!name`` of a row."""
        return _full(self._workloads[row], self._names[row])


class Rows:
    """The columns of a run, and a way to report the rows that break a rule."""

    def __init__(self, columns: RunColumns, findings: Findings) -> None:
        self.findings = findings
        self.ids = columns.job_id
        self.workloads = columns.workload_name
        self.profiles = columns.profile
        self.hosts = columns.allocated_resources
        self.metadata = columns.metadata
        self.submission = columns.submission_time
        self.start = columns.starting_time
        self.finish = columns.finish_time
        #: When the job's hosts are free: Batsim writes a job that took no time as if it had taken a little.
        self.left = np.where(np.abs(self.finish - self.start - NO_TIME) < 5e-7, self.start, self.finish)
        self.execution = columns.execution_time
        self.waiting = columns.waiting_time
        self.turnaround = columns.turnaround_time
        self.stretch = columns.stretch
        self.energy = columns.consumed_energy
        self.walltime = columns.requested_time
        self.size = columns.requested_number_of_resources
        self.success = columns.success
        self.state = np.array([state.value for state in FINAL_STATES], dtype=object)[columns.final_state]
        self.ran: Mask = columns.ran
        self._ended = columns.ended

    @cached_property
    def row_of(self) -> RowOf:
        """The row of each job."""
        return RowOf(self.workloads, self.ids)

    def is_state(self, *states: JobState) -> Mask:
        """Return which rows ended in one of some states."""
        return self._ended(*states)

    def report(
        self, kind: str, wrong: Mask, message: Callable[[int], str], time: NDArray[np.float64] | None = None
    ) -> None:
        """Add a violation for each row where `wrong` holds."""
        self.findings.checked.append(kind)
        for row in np.flatnonzero(wrong).tolist():
            at = None if time is None or np.isnan(time[row]) else float(time[row])
            self.findings.add(Violation(kind, message(row), job=self.ids[row], time=at))

    def add(self, kind: str, message: str, row: int, *, host: str = "") -> None:
        """Add a violation of a job, at its start if it ran."""
        time = float(self.start[row])
        self.findings.add(Violation(kind, message, job=self.ids[row], host=host, time=None if np.isnan(time) else time))


class Units:
    """How many units of each row's job are on each of its hosts.

    Attributes:
        held: units in all, int64 [row].
    """

    def __init__(self, intervals: Intervals, units: NDArray[np.int64]) -> None:
        """Take the hosts of each row's job and, along them, the units, see `usage.read_units`."""
        self.slots = units
        sizes = intervals.sizes
        self._offsets = np.concatenate(([0], np.cumsum(sizes)))
        some = np.flatnonzero(sizes)
        if not len(some) or not units.strides[0]:
            # One number for all, see `usage.read_units`.
            self.held = sizes * units[:1].sum()
        else:
            self.held = np.zeros(intervals.rows, dtype=np.int64)
            self.held[some] = np.add.reduceat(units, self._offsets[some])

    def of(self, row: int) -> NDArray[np.int64]:
        """Return the units on each host of a row's job, int64 [host of it]."""
        return self.slots[self._offsets[row] : self._offsets[row + 1]]
