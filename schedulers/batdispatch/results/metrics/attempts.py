"""Metrics of jobs that were run in several attempts, joined by the run's lineage.

These metrics are about the attempts as such; every other metric takes the attempts of a job for one job, too.
"""

from __future__ import annotations

import numpy as np

from batdispatch.core.jobs.job import JobState
from batdispatch.results.columns import RunColumns
from batdispatch.results.lineage import Lineage, unjoined


def attempt_metrics(
    columns: RunColumns, hosts: int | None = None, lineage: Lineage | None = None
) -> dict[str, float | int | None]:
    """Return the metrics of the jobs of a run, each counted once however often it was tried.

    With p_a the units and d_a the seconds of attempt a, over the jobs that were not rejected:

    - ``jobs``: those that were submitted; ``jobs_succeeded``: those of which an attempt succeeded;
    - ``useful_work``: sum of p_a d_a over successful attempts, unit-seconds; ``wasted_work``: over the others;
    - where attempts went on from checkpoints, what a checkpoint had saved counts as useful once the job has succeeded,
      and reading it does not: ``saved_work`` is that part of ``useful_work``; ``checkpoint_work`` is the part of
      ``wasted_work`` that went into writing and reading checkpoints. Both are there only if there are checkpoints;
    - ``failures_per_job``: attempts that did not succeed, over jobs;
    - ``mean_response_time``: mean of the end of the last attempt minus the first submission, s;
    - ``effective_utilisation``: useful_work / (hosts (last end - first submission)); None without `hosts`.

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
    joined = unjoined(len(columns)) if lineage is None else lineage
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


def _written(columns: RunColumns, lineage: Lineage) -> float:
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
