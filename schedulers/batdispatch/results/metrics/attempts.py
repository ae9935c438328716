"""Metrics of jobs that were run in several attempts, joined by the run's lineage.

These metrics are about the attempts as such; every other metric takes the attempts of a job for one job, too.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from batdispatch.core.job import JobState
from batdispatch.results.lineage import Lineage, ran, unjoined


def attempt_metrics(
    frame: pd.DataFrame, hosts: int | None = None, lineage: Lineage | None = None
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
        frame: from `frame.read_jobs`.
        hosts: compute hosts of the machine.
        lineage: which rows are attempts at one job, see `lineage.read_lineage`; None: each row is a job.
    """
    started = ran(frame)
    part = frame[started]
    if part.empty:
        return {"jobs": 0}
    success = (part["final_state"] == JobState.COMPLETED_SUCCESSFULLY.value).to_numpy()
    length = (part["finish_time"] - part["starting_time"]).to_numpy(dtype=np.float64)
    work = length * part["requested_number_of_resources"].to_numpy(dtype=np.float64)
    joined = unjoined(len(frame)) if lineage is None else lineage
    roots = joined.root[started]
    by_job = part.groupby(roots, sort=False)
    first, last = by_job["submission_time"].min(), by_job["finish_time"].max()
    window = float(last.max() - first.min())
    units = part["requested_number_of_resources"].to_numpy(dtype=np.float64)
    saved = float((units * joined.saved[started])[success].sum())
    read = units * joined.restart[started]
    useful = float(work[success].sum()) + saved - float(read[success].sum())
    more: dict[str, float | int | None] = {}
    if joined.saved.any():
        more = {"saved_work": saved, "checkpoint_work": float(read.sum()) + _written(frame, joined)}
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


def _written(frame: pd.DataFrame, lineage: Lineage) -> float:
    """Return the unit-seconds that writing checkpoints took.

    An attempt that was saved held its hosts to read a checkpoint, for what it added to the run time saved, and to
    write another one.
    """
    row = np.flatnonzero((lineage.parent >= 0) & (lineage.saved > lineage.saved[lineage.parent]))
    # The time that was saved may be that of an earlier attempt than the one before; then nothing is added.
    before = lineage.parent[row]
    held = (frame["finish_time"] - frame["starting_time"]).to_numpy(dtype=np.float64)[before]
    added = lineage.saved[row] - lineage.saved[before] + lineage.restart[before]
    units = frame["requested_number_of_resources"].to_numpy(dtype=np.float64)[before]
    return float((units * (held - added)).sum())
