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
    roots = (unjoined(len(frame)) if lineage is None else lineage).root[started]
    by_job = part.groupby(roots, sort=False)
    first, last = by_job["submission_time"].min(), by_job["finish_time"].max()
    window = float(last.max() - first.min())
    useful = float(work[success].sum())
    return {
        "jobs": len(first),
        "jobs_succeeded": len(np.unique(roots[success])),
        "useful_work": useful,
        "wasted_work": float(work[~success].sum()),
        "failures_per_job": float((~success).sum() / len(first)),
        "mean_response_time": float((last - first).mean()),
        "effective_utilisation": useful / (hosts * window) if hosts and window else None,
    }
