"""The numbers of a run that metrics are computed from, as arrays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from batdispatch.core.jobs.job import FINAL_STATES
from batdispatch.core.jobs.job_table import Floats, JobTable
from batdispatch.inputs.workloads.model import Window
from batdispatch.results.lineage import Lineage, logical, waits


class MeasureValues(Protocol):
    """What a measure says of a run."""

    def take(self, rows: NDArray[np.bool_], begin: float, end: float, window: Window | None) -> Any:
        """Return the same of some rows and of a part of the time, s, which are those of a window; None: of all."""


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
        units: u_j, the units (hosts, on whole hosts) it asked for.
        segment_start: when the segment started, float64 [segment].
        segment_finish: when it ended.
        held: h_i, the hosts that segment i held.
        pieces: c_i, the runs of consecutive host ids that these hosts make up.
        waits: when jobs began and stopped to wait, two float64 [stretch of waiting].
        states: number of jobs in each final state, rejected ones too.
        first_submission: of all jobs, rejected ones too.
        hosts: H, compute hosts of the machine; None: not known.
        totals: C_k, the machine's capacity of each named resource of its nodes; empty for whole hosts.
        licences: likewise of what exists once for the whole machine.
        amounts: a_ik, what each segment held of each named resource or licence.
        users: the job's user, object [job], empty text when unknown; None: no job's user is known.
        measured: what measures say of the segments or of the run, by name (see `metrics.measure`).
        decisions: the run's decision-time statistics, as in result.json.
        threshold: tau of the bounded slowdown.
        end: of the time that the metrics are about; None: the last end of a job.
        still_waiting: how many of the jobs still waited when they were no longer watched.
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
    pieces: Floats
    waits: tuple[Floats, Floats]
    states: Mapping[str, int]
    first_submission: float
    hosts: int | None = None
    totals: Mapping[str, float] = field(default_factory=dict)
    licences: Mapping[str, float] = field(default_factory=dict)
    amounts: Mapping[str, Floats] = field(default_factory=dict)
    users: NDArray[np.object_] | None = None
    measured: Mapping[str, Any] = field(default_factory=dict)
    decisions: Mapping[str, float | None] = field(default_factory=dict)
    threshold: float = 10.0
    end: float | None = None
    still_waiting: int = 0

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
        if not len(self.finish):
            return 0.0
        return float(self.finish.max() if self.end is None else self.end) - self.first_submission


def sample_of(
    columns: JobTable,
    *,
    lineage: Lineage | None = None,
    hosts: int | None = None,
    totals: Mapping[str, float] | None = None,
    licences: Mapping[str, float] | None = None,
    amounts: Mapping[str, Floats] | None = None,
    users: NDArray[np.object_] | None = None,
    measured: Mapping[str, MeasureValues] | None = None,
    decisions: Mapping[str, float | None] | None = None,
    threshold: float = 10.0,
    window: Window | None = None,
) -> Sample:
    """Build a sample from the columns of a run.

    Args:
        columns: of the run, from `jobs_file.read_columns`.
        lineage: which rows are one job, from `lineage.read_lineage`; None: each row is a job.
        hosts: compute hosts of the machine; without it the utilisation is None.
        totals: capacity of each named resource of a machine with several resources on each node.
        licences: number of each licence of the machine.
        amounts: what each row's job held of each of those two, float64 [row].
        users: the user of each row's job, object [row].
        measured: what measures say of the run, by name.
        decisions: ``result.json``'s "decisions".
        threshold: of the bounded slowdown, seconds.
        window: which jobs count; None: all. What is said of segments is of the time of the window, whosever they are. A
            job that still waits when it is no longer watched has waited until then, and runs as long as it did.

    Raises:
        InputError: an allocation is malformed, or the lineage contradicts the times.
    """
    joined = lineage if lineage is not None and lineage.joined else None
    jobs = columns if joined is None else logical(columns, joined)
    of_jobs = users if users is None or joined is None else users[joined.first]
    asked, window = window, window or Window()
    inside, segments = jobs_of_window(jobs, window), columns.ran & _overlapping(columns, window)
    started = jobs.ran & inside
    submission, start, finish = (
        times[started] for times in (jobs.submission_time, jobs.starting_time, jobs.finish_time)
    )
    # In a jobs file these two are rounded; `logical` computes them from the times.
    run = finish - start if joined is None else jobs.execution_time[started]
    wait = start - submission if joined is None else jobs.waiting_time[started]
    late = start > (np.inf if window.until is None else window.until)
    if window.until is not None:
        wait = np.where(late, window.until - submission, wait)
        start, finish = np.minimum(start, window.until), np.where(late, submission + wait + run, finish)
    states = np.bincount(jobs.final_state[inside], minlength=len(FINAL_STATES)).tolist()
    begin, end = window.begin, window.end
    if begin is None:
        begin = float(columns.submission_time.min()) if len(columns) else 0.0
    most = np.inf if end is None else end
    waiting = (
        (jobs.submission_time[jobs.ran], jobs.starting_time[jobs.ran]) if joined is None else waits(columns, joined)
    )
    return Sample(
        submission=submission,
        start=start,
        finish=finish,
        run=run,
        wait=wait,
        units=jobs.requested_number_of_resources[started].astype(np.float64),
        segment_start=np.clip(columns.starting_time[segments], begin, most),
        segment_finish=np.clip(columns.finish_time[segments], begin, most),
        held=columns.held[segments].astype(np.float64),
        pieces=columns.pieces[segments].astype(np.float64),
        waits=(np.clip(waiting[0], begin, most), np.clip(waiting[1], begin, most)),
        states={state.value: count for state, count in zip(FINAL_STATES, states, strict=True)},
        first_submission=begin,
        hosts=hosts,
        totals=dict(totals or {}),
        licences=dict(licences or {}),
        amounts={name: values[segments] for name, values in (amounts or {}).items()},
        users=of_jobs[started] if of_jobs is not None and (of_jobs != "").any() else None,
        measured={name: each.take(segments, begin, most, asked) for name, each in (measured or {}).items()},
        decisions=dict(decisions or {}),
        threshold=threshold,
        end=end,
        still_waiting=int(late.sum()),
    )


def jobs_of_window(jobs: JobTable, window: Window) -> NDArray[np.bool_]:
    """Return which jobs are submitted in a window."""
    inside = np.ones(len(jobs), dtype=np.bool_)
    if window.begin is not None:
        inside &= jobs.submission_time >= window.begin
    if window.end is not None:
        inside &= jobs.submission_time < window.end
    return inside


def _overlapping(columns: JobTable, window: Window) -> NDArray[np.bool_]:
    """Return which rows run in the time of a window."""
    running = np.ones(len(columns), dtype=np.bool_)
    if window.begin is not None:
        running &= columns.finish_time > window.begin
    if window.end is not None:
        running &= columns.starting_time < window.end
    return running
