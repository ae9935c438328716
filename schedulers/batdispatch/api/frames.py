"""What the workload of a run says of its jobs, as columns of their frame."""

from __future__ import annotations

from typing import Any

import pandas as pd

from batdispatch.inputs.workloads.dates import dates_of
from batdispatch.results.origins import workload_of
from batdispatch.results.runs import Run

#: Column of jobs.csv -> column of dates.
DATES = {"submission_time": "submission_date", "starting_time": "starting_date", "finish_time": "finish_date"}


def with_workload(jobs: pd.DataFrame, run: Run) -> pd.DataFrame:
    """Return the jobs of a run with what its workload says of them, if that is still there and is the one that ran.

    Jobs that the workload does not have, and jobs of which it says nothing, have none. Dates are in UTC.
    """
    workload = workload_of(run.folder, run.result)
    if workload is None:
        return jobs
    told = {job.id: {**job.extra, "user": job.user} for job in workload.jobs}
    known = [told.get(job, {}) for job in jobs["job_id"].tolist()]
    columns: dict[str, Any] = {
        name: pd.Series([_text(job.get(name)) for job in known], index=jobs.index, dtype="str")
        for name in ("user", "queue", "partition")
    }
    dates = dates_of(workload.about)
    if dates is not None:
        for seconds, date in DATES.items():
            columns[date] = pd.to_datetime(jobs[seconds] + dates.begin, unit="s", utc=True)
    return jobs.assign(**columns)


def _text(value: Any) -> str | None:
    return str(value) if isinstance(value, str | int) and not isinstance(value, bool) and value != "" else None
