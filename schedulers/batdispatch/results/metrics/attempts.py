"""Metrics of jobs that were run in several attempts, joined by the attempts' parent.

Every other metric takes each attempt for a job of its own.

An attempt beyond the first has the id of its parent, the job that was submitted, with ``~2``, ``~3``, ... behind it
(see `dispatchers.stochastic.attempts`), in the jobs file of every simulator.
"""

from __future__ import annotations

import re

import numpy as np
import pandas as pd

from batdispatch.core.job import JobState

_FURTHER = re.compile(r"(.+)~([1-9]\d{0,8})", re.ASCII)


def parents(frame: pd.DataFrame) -> pd.Series[str]:
    """Return for each row the id of the job that was submitted: the row's own unless it is a further attempt.

    A row is a further attempt if what precedes the mark in its id is a job of the same workload and profile.
    """
    known = set(zip(frame["workload_name"], frame["job_id"], frame["profile"], strict=True))

    def parent(workload: str, job: str, profile: str) -> str:
        match = _FURTHER.fullmatch(job)
        return match[1] if match and (workload, match[1], profile) in known else job

    found = map(parent, frame["workload_name"], frame["job_id"], frame["profile"])
    return pd.Series(list(found), index=frame.index, dtype="object")


def submitted(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of the jobs as they were submitted: without further attempts."""
    return frame[(parents(frame) == frame["job_id"]).to_numpy()]


def attempt_metrics(frame: pd.DataFrame, hosts: int | None = None) -> dict[str, float | int | None]:
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
    """
    ran = frame[frame["final_state"] != JobState.REJECTED.value]
    if ran.empty:
        return {"jobs": 0}
    success = (ran["final_state"] == JobState.COMPLETED_SUCCESSFULLY.value).to_numpy()
    length = (ran["finish_time"] - ran["starting_time"]).to_numpy(dtype=np.float64)
    work = length * ran["requested_number_of_resources"].to_numpy(dtype=np.float64)
    keys = [ran["workload_name"], parents(frame).loc[ran.index]]
    by_job = ran.groupby(keys, sort=False)
    first, last = by_job["submission_time"].min(), by_job["finish_time"].max()
    window = float(last.max() - first.min())
    useful = float(work[success].sum())
    return {
        "jobs": len(first),
        "jobs_succeeded": int(pd.Series(success, index=ran.index).groupby(keys, sort=False).any().sum()),
        "useful_work": useful,
        "wasted_work": float(work[~success].sum()),
        "failures_per_job": float((~success).sum() / len(first)),
        "mean_response_time": float((last - first).mean()),
        "effective_utilisation": useful / (hosts * window) if hosts and window else None,
    }
