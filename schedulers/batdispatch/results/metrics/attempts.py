"""Metrics of jobs that were run in several attempts, joined by the run's lineage.

These metrics are about the attempts as such; every other metric takes the attempts of a job for one job, too.
"""

from __future__ import annotations

import numpy as np

from batdispatch.core.jobs.job import JobState
from batdispatch.core.jobs.job_table import JobTable
from batdispatch.results.lineage import Lineage, rows_as_jobs
from batdispatch.results.metrics.metric import Description

#: Label, unit in tables, which is better, summary and formula of each metric that tables show. Attempt j has u_j units
#: and takes p_j seconds.
_WORDS = {
    "effective_utilisation": (
        "effective utilisation",
        "%",
        "higher",
        "Share of the machine's time that did useful work.",
        "useful work / (hosts (max_j f_j - min_j r_j))",
    ),
    "mean_response_time": (
        "mean response time",
        "s",
        "lower",
        "Mean time from a job's submission to the end of its last attempt.",
        "mean over jobs of max f_j - min r_j over the job's attempts j",
    ),
    "useful_work": (
        "useful work",
        "unit h",
        "",
        "What the attempts that succeeded held.",
        "sum_j u_j p_j over the attempts that succeeded",
    ),
    "wasted_work": (
        "wasted work",
        "unit h",
        "lower",
        "What the attempts that did not succeed held.",
        "sum_j u_j p_j over the attempts that did not succeed",
    ),
    "saved_work": (
        "work saved",
        "unit h",
        "",
        "What checkpoints saved of the attempts that were stopped, as part of the useful work.",
        "sum_j u_j s_j over the attempts that succeeded, with s_j the run time saved before",
    ),
    "checkpoint_work": (
        "checkpointing",
        "unit h",
        "lower",
        "What writing and reading checkpoints took, as part of the wasted work.",
        "sum_j u_j (p_j - the run time that attempt j added)",
    ),
    "failures_per_job": (
        "failures per job",
        "",
        "lower",
        "How often a job was stopped before it was done, failed speculations included.",
        "attempts that did not succeed / jobs",
    ),
    "jobs_succeeded": ("jobs that succeeded", "", "higher", "Jobs of which an attempt succeeded.", "A count."),
}
#: Metrics that tables show, by name.
DESCRIPTIONS = {
    name: Description(f"attempts_{name}", label, unit, better, "Jobs over all their attempts", summary, formula)
    for name, (label, unit, better, summary, formula) in _WORDS.items()
}
#: Unit in tables -> how many of the unit of `attempt_metrics` make one.
SCALES = {"%": 0.01, "unit h": 3600.0}


def attempt_metrics(
    columns: JobTable, hosts: int | None = None, lineage: Lineage | None = None
) -> dict[str, float | int | None]:
    """Return the metrics of the jobs of a run, each counted once however often it was tried.

    `DESCRIPTIONS` says what each is; work is in unit-seconds, times are in seconds. What a checkpoint had saved counts
    as useful once the job has succeeded, and reading it does not. ``saved_work`` and ``checkpoint_work`` are there only
    if attempts went on from checkpoints, ``effective_utilisation`` is None without `hosts`. ``jobs`` counts the jobs.

    Args:
        columns: of the run, from `jobs_file.read_columns`.
        hosts: compute hosts of the machine.
        lineage: which rows are attempts at one job, see `lineage.read_lineage`; None: each row is a job.
    """
    started = columns.ran
    if not started.any():
        return {"jobs": 0}
    success = columns.ended(JobState.COMPLETED_SUCCESSFULLY)[started]
    units = columns.requested_number_of_resources[started].astype(np.float64)
    work = (columns.finish_time - columns.starting_time)[started] * units
    joined = rows_as_jobs(len(columns)) if lineage is None else lineage
    roots = joined.root[started]
    # In the order in which the jobs come first, so that sums round alike.
    _, at, job = np.unique(roots, return_index=True, return_inverse=True)
    job = np.argsort(np.argsort(at))[job]
    first, last = np.full(len(at), np.inf), np.full(len(at), -np.inf)
    np.minimum.at(first, job, columns.submission_time[started])
    np.maximum.at(last, job, columns.finish_time[started])
    window = float(last.max() - first.min())
    saved = float((units * joined.saved[started])[success].sum())
    read = units * joined.restart[started]
    useful = float(work[success].sum()) + saved - float(read[success].sum())
    more: dict[str, float | int | None] = {}
    if joined.saved.any():
        more = {"saved_work": saved, "checkpoint_work": float(read.sum()) + _written(columns, joined)}
    return {
        "jobs": len(first),
        "jobs_succeeded": len(np.unique(roots[success])),
        "useful_work": useful,
        "wasted_work": float(work.sum()) - useful if more else float(work[~success].sum()),
        **more,
        "failures_per_job": float((~success).sum() / len(first)),
        "mean_response_time": float((last - first).mean()),
        "effective_utilisation": useful / (hosts * window) if hosts and window else None,
    }


def _written(columns: JobTable, lineage: Lineage) -> float:
    """Return the unit-seconds that writing checkpoints took.

    An attempt that was saved held its hosts to read a checkpoint, for what it added to the run time saved, and to
    write another one.
    """
    row = np.flatnonzero((lineage.parent >= 0) & (lineage.saved > lineage.saved[lineage.parent]))
    # The time that was saved may be that of an earlier attempt than the one before; then nothing is added.
    before = lineage.parent[row]
    held = (columns.finish_time - columns.starting_time)[before]
    added = lineage.saved[row] - lineage.saved[before] + lineage.restart[before]
    units = columns.requested_number_of_resources[before].astype(np.float64)
    return float((units * (held - added)).sum())
