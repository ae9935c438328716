"""The numbers of a run that metrics are computed from, as arrays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from batdispatch.core.errors import InputError
from batdispatch.results.hostsets import parse_many
from batdispatch.results.lineage import Lineage, logical, ran, unjoined, waits

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Sample:
    """A run's jobs that started, and what is known about the machine. Times are seconds.

    Jobs are logical jobs; the segments of a job are its rows in the jobs file, one for most jobs (see
    `results.lineage`).

    Attributes:
        submission: r_j, when the job was submitted, float64 [job], as all up to `units`.
        start: s_j, when it started first.
        finish: f_j, when its last segment ended, in whatever way.
        run: p_j, how long its segments ran together.
        wait: w_j, the rest of the time from its submission to its end; s_j - r_j for a job of one segment.
        units: u_j, the units (hosts, on exclusive hosts) it asked for.
        segment_start: when the segment started, float64 [segment].
        segment_finish: when it ended.
        held: h_i, the hosts that segment i held.
        waits: when jobs began and stopped to wait, two float64 [stretch of waiting].
        states: number of jobs in each final state, rejected ones too.
        first_submission: of all jobs, rejected ones too.
        hosts: H, compute hosts of the machine; None: not known.
        totals: C_k, the machine's capacity of each named resource of its nodes; empty for exclusive hosts.
        licences: likewise of what exists once for the whole machine.
        amounts: a_ik, what each segment held of each named resource or licence.
        users: the job's user, object [job], empty text when unknown; None: no job's user is known.
        decisions: the run's decision-time statistics, as in result.json.
        threshold: tau of the bounded slowdown.
    """

    submission: Floats
    start: Floats
    finish: Floats
    run: Floats
    wait: Floats
    units: Floats
    segment_start: Floats
    segment_finish: Floats
    held: Floats
    waits: tuple[Floats, Floats]
    states: Mapping[str, int]
    first_submission: float
    hosts: int | None = None
    totals: Mapping[str, float] = field(default_factory=dict)
    licences: Mapping[str, float] = field(default_factory=dict)
    amounts: Mapping[str, Floats] = field(default_factory=dict)
    users: NDArray[np.object_] | None = None
    decisions: Mapping[str, float | None] = field(default_factory=dict)
    threshold: float = 10.0

    @property
    def turnaround(self) -> Floats:
        """Turnaround time, f_j - r_j."""
        return self.finish - self.submission

    @property
    def slowdown(self) -> Floats:
        """Slowdown, (f_j - r_j) / p_j, of the jobs that ran for more than no time (a shorter array)."""
        ran_at_all = self.run > 0
        return self.turnaround[ran_at_all] / self.run[ran_at_all]

    @property
    def bounded_slowdown(self) -> Floats:
        """Bounded slowdown, max(1, (w_j + p_j) / max(p_j, tau))."""
        return np.maximum(1.0, self.turnaround / np.maximum(self.run, self.threshold))

    @property
    def segment_run(self) -> Floats:
        """How long each segment ran, float64 [segment]."""
        return self.segment_finish - self.segment_start

    @property
    def window(self) -> float:
        """Length of the time the metrics are about, from the first submission to the last end."""
        return float(self.finish.max() - self.first_submission) if len(self.finish) else 0.0


def sample_of(
    frame: pd.DataFrame,
    *,
    lineage: Lineage | None = None,
    hosts: int | None = None,
    totals: Mapping[str, float] | None = None,
    licences: Mapping[str, float] | None = None,
    amounts: Mapping[str, Floats] | None = None,
    users: NDArray[np.object_] | None = None,
    decisions: Mapping[str, float | None] | None = None,
    threshold: float = 10.0,
) -> Sample:
    """Build a sample from the frame of a run; `amounts` and `users` have one entry for each row of the frame.

    Raises:
        InputError: an allocation is malformed, or the lineage contradicts the times.
    """
    lineage = unjoined(len(frame)) if lineage is None else lineage
    started = ran(frame)
    part = frame[started]
    try:
        held = parse_many(part["allocated_resources"].tolist()).sizes
    except InputError as problem:
        row = int(problem.place.removeprefix("row ")) if problem.place else 0
        message = str(problem).removeprefix(f"{problem.place}: ")
        raise InputError(message, source="jobs file", place=f"job {part['job_id'].iloc[row]!r}") from None
    jobs = logical(frame, lineage) if lineage.joined else frame
    job_started = ran(jobs) if lineage.joined else started
    own = jobs[job_started]
    submission = own["submission_time"].to_numpy(dtype=np.float64)
    start = own["starting_time"].to_numpy(dtype=np.float64)
    finish = own["finish_time"].to_numpy(dtype=np.float64)
    of_first = users if users is None or not lineage.joined else users[lineage.first]
    return Sample(
        submission=submission,
        start=start,
        finish=finish,
        # In a jobs file these two are rounded; `logical` computes them from the times.
        run=own["execution_time"].to_numpy(dtype=np.float64) if lineage.joined else finish - start,
        wait=own["waiting_time"].to_numpy(dtype=np.float64) if lineage.joined else start - submission,
        units=own["requested_number_of_resources"].to_numpy(dtype=np.float64),
        segment_start=part["starting_time"].to_numpy(dtype=np.float64),
        segment_finish=part["finish_time"].to_numpy(dtype=np.float64),
        held=held.astype(np.float64),
        waits=waits(frame, lineage),
        states={str(state): int(count) for state, count in jobs["final_state"].value_counts().items()},
        first_submission=float(frame["submission_time"].min()) if len(frame) else 0.0,
        hosts=hosts,
        totals=dict(totals or {}),
        licences=dict(licences or {}),
        amounts={name: values[started] for name, values in (amounts or {}).items()},
        users=of_first[job_started] if of_first is not None and (of_first != "").any() else None,
        decisions=dict(decisions or {}),
        threshold=threshold,
    )
