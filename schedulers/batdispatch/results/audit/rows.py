"""The columns of a jobs file as the rules of the audit look at them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from batdispatch.core.job import JobState
from batdispatch.results.audit.findings import Findings, Violation

#: Seconds within which two times of a jobs file count as equal.
TOLERANCE = 2e-6

Mask = NDArray[np.bool_]


class Rows:
    """The columns of a frame as arrays, and a way to report the rows that break a rule."""

    def __init__(self, frame: pd.DataFrame, findings: Findings) -> None:
        self.findings = findings
        self.ids: list[str] = frame["job_id"].tolist()
        self.workloads: list[str] = frame["workload_name"].tolist()
        self.submission = frame["submission_time"].to_numpy(dtype=np.float64)
        self.start = frame["starting_time"].to_numpy(dtype=np.float64)
        self.finish = frame["finish_time"].to_numpy(dtype=np.float64)
        self.execution = frame["execution_time"].to_numpy(dtype=np.float64)
        self.waiting = frame["waiting_time"].to_numpy(dtype=np.float64)
        self.turnaround = frame["turnaround_time"].to_numpy(dtype=np.float64)
        self.walltime = frame["requested_time"].to_numpy(dtype=np.float64)
        self.size = frame["requested_number_of_resources"].to_numpy(dtype=np.int64)
        self.success = frame["success"].to_numpy(dtype=bool)
        self.state = frame["final_state"].astype(str).to_numpy()
        self.ran: Mask = self.state != JobState.REJECTED.value

    def report(
        self, kind: str, wrong: Mask, message: Callable[[int], str], time: NDArray[np.float64] | None = None
    ) -> None:
        """Add a violation for each row where `wrong` holds."""
        self.findings.checked.append(kind)
        for row in np.flatnonzero(wrong).tolist():
            at = None if time is None or np.isnan(time[row]) else float(time[row])
            self.findings.add(Violation(kind, message(row), job=self.ids[row], time=at))

    def add(self, kind: str, message: str, row: int, *, host: str = "") -> None:
        """Add a violation of a job that ran, at its start."""
        self.findings.add(Violation(kind, message, job=self.ids[row], host=host, time=float(self.start[row])))
