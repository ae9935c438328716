"""The numbers of a run that metrics are computed from, as arrays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from batdispatch.core.errors import InputError
from batdispatch.core.job import JobState
from batdispatch.results.hostsets import parse_many

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Sample:
    """A run's jobs that started, and what is known about the machine. Times are seconds, arrays are float64 [job].

    Attributes:
        submission: r_j, when the job was submitted.
        start: s_j, when it started.
        finish: f_j, when it ended, in whatever way.
        units: u_j, the units (hosts, on exclusive hosts) it asked for.
        held: h_j, the hosts it held.
        states: number of jobs in each final state, rejected ones too.
        first_submission: of all jobs, rejected ones too.
        hosts: H, compute hosts of the machine; None: not known.
        totals: C_k, the machine's capacity of each named resource; empty for exclusive hosts.
        amounts: a_jk, what each job held of each named resource.
        users: the job's user, object [job], empty text when unknown; None: no job's user is known.
        decisions: the run's decision-time statistics, as in result.json.
        threshold: tau of the bounded slowdown.
    """

    submission: Floats
    start: Floats
    finish: Floats
    units: Floats
    held: Floats
    states: Mapping[str, int]
    first_submission: float
    hosts: int | None = None
    totals: Mapping[str, float] = field(default_factory=dict)
    amounts: Mapping[str, Floats] = field(default_factory=dict)
    users: NDArray[np.object_] | None = None
    decisions: Mapping[str, float | None] = field(default_factory=dict)
    threshold: float = 10.0

    @property
    def wait(self) -> Floats:
        """Waiting time, w_j = s_j - r_j."""
        return self.start - self.submission

    @property
    def run(self) -> Floats:
        """Run time, p_j = f_j - s_j."""
        return self.finish - self.start

    @property
    def turnaround(self) -> Floats:
        """Turnaround time, f_j - r_j."""
        return self.finish - self.submission

    @property
    def slowdown(self) -> Floats:
        """Slowdown, (f_j - r_j) / p_j, of the jobs that ran for more than no time (a shorter array)."""
        ran = self.run > 0
        return self.turnaround[ran] / self.run[ran]

    @property
    def bounded_slowdown(self) -> Floats:
        """Bounded slowdown, max(1, (w_j + p_j) / max(p_j, tau))."""
        return np.maximum(1.0, self.turnaround / np.maximum(self.run, self.threshold))

    @property
    def window(self) -> float:
        """Length of the time the metrics are about, from the first submission to the last end."""
        return float(self.finish.max() - self.first_submission) if len(self.finish) else 0.0


def sample_of(
    frame: pd.DataFrame,
    *,
    hosts: int | None = None,
    totals: Mapping[str, float] | None = None,
    amounts: Mapping[str, Floats] | None = None,
    users: NDArray[np.object_] | None = None,
    decisions: Mapping[str, float | None] | None = None,
    threshold: float = 10.0,
) -> Sample:
    """Build a sample from the frame of a run; `amounts` and `users` have one entry a row of the frame.

    Raises:
        InputError: an allocation is malformed.
    """
    started = (frame["final_state"] != JobState.REJECTED.value).to_numpy()
    part = frame[started]
    try:
        held = parse_many(part["allocated_resources"].tolist()).sizes
    except InputError as problem:
        row = int(problem.place.removeprefix("row ")) if problem.place else 0
        message = str(problem).removeprefix(f"{problem.place}: ")
        raise InputError(message, source="jobs file", place=f"job {part['job_id'].iloc[row]!r}") from None
    return Sample(
        submission=part["submission_time"].to_numpy(dtype=np.float64),
        start=part["starting_time"].to_numpy(dtype=np.float64),
        finish=part["finish_time"].to_numpy(dtype=np.float64),
        units=part["requested_number_of_resources"].to_numpy(dtype=np.float64),
        held=held.astype(np.float64),
        states={str(state): int(count) for state, count in frame["final_state"].value_counts().items()},
        first_submission=float(frame["submission_time"].min()) if len(frame) else 0.0,
        hosts=hosts,
        totals=dict(totals or {}),
        amounts={name: values[started] for name, values in (amounts or {}).items()},
        users=users[started] if users is not None and (users != "").any() else None,
        decisions=dict(decisions or {}),
        threshold=threshold,
    )
