"""Where a dispatcher loses: the jobs that cost it most of its difference to the best, and what held them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from batdispatch.core.errors import BatdispatchError
from batdispatch.core.job import JobState
from batdispatch.results.explain.records import Explanation
from batdispatch.results.explain.waiting import explain, recording_of
from batdispatch.results.explain.words import sentence
from batdispatch.results.report.comparison import duration_unit, number
from batdispatch.results.runs import Run

#: By what the runs are ranked, and tau of its definition, s.
METRIC = "mean_bounded_slowdown"
_THRESHOLD = 10.0
#: Most jobs named a run.
MOST = 5
#: Two records of one start differ by less, s.
_SAME = 1e-3


@dataclass(frozen=True)
class Loss:
    """A job that fared worse than under the best dispatcher.

    Attributes:
        job: its id.
        share: of the difference between the two means; all jobs' add up to 1, and may exceed it in part where others
            fared better.
        slowdown: bounded slowdown here.
        best: and under the best dispatcher.
        wait: here, as text.
        best_wait: there, as text.
        why: what held it.
    """

    job: str
    share: float
    slowdown: str
    best: str
    wait: str
    best_wait: str
    why: str


@dataclass(frozen=True)
class Loser:
    """A recorded run that is not the best, and its dearest jobs.

    Attributes:
        label: of the run.
        folder: of the run.
        difference: of the means over the jobs that started in both runs, as text.
        jobs: how many those are.
        share: of the difference that the named jobs make up.
        half: how many jobs, dearest first, make up half of it.
        losses: dearest first; empty where nothing can be said.
        note: why not.
    """

    label: str
    folder: str
    difference: str
    jobs: int
    share: float
    half: int
    losses: Sequence[Loss]
    note: str = ""


def best_of(runs: Sequence[Run]) -> Run | None:
    """Return the run with the lowest mean bounded slowdown, the first of equals; None: nothing to compare."""
    ranked = [run for run in runs if run.metrics.get(METRIC) is not None and not run.result.dynamic_jobs]
    return min(ranked, key=lambda run: float(run.metrics[METRIC] or 0.0)) if len(ranked) > 1 else None


def losers(runs: Sequence[Run], *, most: int = MOST) -> tuple[str, list[Loser]]:
    """Return the best run's label, and where each of the others loses against it. Reads each recording once.

    Left out are runs that were not recorded, and those whose jobs are registered while they run: they have no jobs in
    common with others that would compare.
    """
    best = best_of(runs)
    if best is None:
        return "", []
    found = []
    for run in runs:
        recording = recording_of(run.folder)
        if recording is None or run is best or run.result.dynamic_jobs or run.metrics.get(METRIC) is None:
            continue
        loser = _loser(run, best, recording, most)
        if loser is not None:
            found.append(loser)
    return best.label, found


def _started(run: Run) -> pd.DataFrame:
    """Return the jobs that started: id, wait (s) and bounded slowdown here."""
    frame = run.frame[run.frame["final_state"] != JobState.REJECTED.value]
    length = (frame["finish_time"] - frame["starting_time"]).to_numpy()
    turnaround = (frame["finish_time"] - frame["submission_time"]).to_numpy()
    return pd.DataFrame(
        {
            "job": frame["workload_name"] + "!" + frame["job_id"],
            "start": frame["starting_time"],
            "wait": frame["starting_time"] - frame["submission_time"],
            "slowdown": np.maximum(1.0, turnaround / np.maximum(length, _THRESHOLD)),
        }
    ).drop_duplicates("job")


def _loser(run: Run, best: Run, recording: Path, most: int) -> Loser | None:
    both = _started(run).merge(_started(best), on="job", suffixes=("", "_best"))
    both["difference"] = both["slowdown"] - both["slowdown_best"]
    total = float(both["difference"].sum())
    if not total > 1e-9 * len(both):
        # As good as the best, or better on the jobs that both ran.
        return None
    ranked = both.sort_values(["difference", "job"], ascending=[False, True])
    half = int(np.searchsorted(np.cumsum(ranked["difference"].to_numpy()), total / 2)) + 1
    worst = ranked[ranked["difference"] > 0].head(most)
    share = float(worst["difference"].sum()) / total
    difference = number(total / len(both))
    explanations, note = _explained(recording, worst)
    columns = [worst[name].tolist() for name in ("job", "difference", "slowdown", "slowdown_best", "wait", "wait_best")]
    losses = [
        Loss(
            job=job,
            share=lost / total,
            slowdown=number(slowdown),
            best=number(slowdown_best),
            wait=_duration(wait),
            best_wait=_duration(wait_best),
            why=sentence(explanation),
        )
        for job, lost, slowdown, slowdown_best, wait, wait_best, explanation in zip(
            *columns, explanations, strict=False
        )
    ]
    return Loser(run.label, str(run.folder), difference, len(both), share, half, losses, note)


def _explained(recording: Path, worst: pd.DataFrame) -> tuple[list[Explanation], str]:
    """Return what held each job, or nothing and why."""
    try:
        found = explain(recording, worst["job"].tolist())
    except (BatdispatchError, OSError) as problem:
        return [], f"Its recorded decisions cannot be followed: {problem}"
    if any(abs(x.until - start) > _SAME for x, start in zip(found, worst["start"], strict=True)):
        return [], "Its recorded decisions are not those of its jobs file."
    return found, ""


def _duration(seconds: float) -> str:
    scale, unit = duration_unit([seconds])
    return f"{number(seconds / scale)} {unit}"
