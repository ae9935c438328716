"""Where a dispatcher loses: the jobs that cost it most of its difference to the best, and what held them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import BrokenExecutor, Executor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from batdispatch.core.errors import BatdispatchError
from batdispatch.core.machine.machine import Machine
from batdispatch.explain.placing import machine_of, placement_of, predictions_of
from batdispatch.explain.records import Explanation
from batdispatch.explain.waiting import explain, recording_of
from batdispatch.explain.words import sentence
from batdispatch.parts.prediction import Predictions
from batdispatch.results.numbers import duration, number
from batdispatch.results.runs import Run

#: By what the runs are ranked.
METRIC = "mean_bounded_slowdown"
#: Most jobs named for each run.
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
    ranked = [run for run in runs if run.metrics.get(METRIC) is not None and _comparable(run)]
    return min(ranked, key=lambda run: float(run.metrics[METRIC] or 0.0)) if len(ranked) > 1 else None


def _comparable(run: Run) -> bool:
    """Whether a run has the workload's jobs and no others: what it registered continues these."""
    return not run.result.dynamic_jobs or len(run.logical) == run.result.workload.jobs


def losers(runs: Sequence[Run], *, most: int = MOST) -> tuple[str, list[Loser]]:
    """Return the best run's label, and where each of the others loses against it. Reads each recording once.

    Left out are runs that were not recorded, and those in which jobs were registered that continue none of the
    workload's: other runs do not have them.
    """
    best, begun = begin_losers(runs, most=most)
    return best, [loser() for loser in begun]


def begin_losers(
    runs: Sequence[Run], *, most: int = MOST, workers: Executor | None = None
) -> tuple[str, list[Callable[[], Loser]]]:
    """Return what `losers` does, each of the others as a function that returns it when it is called.

    Args:
        runs: the runs.
        most: jobs named for each run.
        workers: where the recordings are gone through, meanwhile; None: in this process, when it is asked for.
    """
    best = best_of(runs)
    if best is None:
        return "", []
    base = started(best)
    found = []
    for run in runs:
        if recording_of(run.folder) is None or run is best or not _comparable(run) or run.metrics.get(METRIC) is None:
            continue
        loser = _loser(run, base, most, workers)
        if loser is not None:
            found.append(loser)
    return best.label, found


def started(run: Run) -> pd.DataFrame:
    """Return the logical jobs that started: id, start, wait (s) and bounded slowdown here."""
    jobs = run.logical
    started = jobs.ran
    sample = run.sample
    return pd.DataFrame(
        {
            "job": jobs.full_ids(started),
            "start": sample.start,
            "wait": sample.wait,
            "slowdown": sample.bounded_slowdown,
        }
    ).drop_duplicates("job")


def _loser(run: Run, best: pd.DataFrame, most: int, workers: Executor | None) -> Callable[[], Loser] | None:
    both = started(run).merge(best, on="job", suffixes=("", "_best"))
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
    columns = [worst[name].tolist() for name in ("job", "difference", "slowdown", "slowdown_best", "wait", "wait_best")]
    jobs = len(both)
    finish = begin_explained(run, columns[0], worst["start"].tolist(), workers)

    def finished() -> Loser:
        try:
            reasons, note = finish()
        except BrokenExecutor:
            reasons, note = [], "Its recorded decisions could not be followed: the process that did so died."
        losses = [
            Loss(
                job=job,
                share=lost / total,
                slowdown=number(slowdown),
                best=number(slowdown_best),
                wait=duration(wait),
                best_wait=duration(wait_best),
                why=why,
            )
            for job, lost, slowdown, slowdown_best, wait, wait_best, why in zip(*columns, reasons, strict=False)
        ]
        return Loser(run.label, str(run.folder), difference, jobs, share, half, losses, note)

    return finished


def begin_explained(
    run: Run, jobs: Sequence[str], starts: Sequence[float], workers: Executor | None
) -> Callable[[], tuple[list[str], str]]:
    """Return what returns what `explained` does for some jobs of a run that was recorded.

    Args:
        run: the run.
        jobs: full ids of logical jobs.
        starts: when each started first by the jobs file, seconds.
        workers: where the recording is gone through, meanwhile; None: in this process, when it is asked for.
    """
    recording = recording_of(run.folder)
    assert recording is not None, "only recorded runs are explained"
    placement = placement_of(run.result)
    task = partial(
        explained,
        recording,
        _segments(run, jobs),
        starts,
        placement=placement,
        machine=machine_of(run.folder, run.result) if placement else None,
        predictions=predictions_of(run.result),
    )
    return task if workers is None else workers.submit(task).result


def explained(
    recording: Path,
    segments: Sequence[Sequence[str]],
    starts: Sequence[float],
    *,
    placement: str,
    machine: Machine | None = None,
    predictions: Predictions | None = None,
) -> tuple[list[str], str]:
    """Return in words what held each of some logical jobs, or nothing and why.

    Args:
        recording: of the run.
        segments: ids of each job's segments, first ones first.
        starts: when each job started first by the jobs file, seconds.
        placement: the run's, see `explain`.
        machine: the run's, see `explain`.
        predictions: the run's, see `explain`.
    """
    try:
        listed = [name for names in segments for name in names]
        found = iter(explain(recording, listed, placement=placement, machine=machine, predictions=predictions))
    except (BatdispatchError, OSError) as problem:
        return [], f"Its recorded decisions cannot be followed: {problem}"
    explanations = [[next(found) for _ in names] for names in segments]
    if any(abs(parts[0].until - start) > _SAME for parts, start in zip(explanations, starts, strict=True)):
        return [], "Its recorded decisions are not those of its jobs file."
    return [_why(parts) for parts in explanations], ""


def _segments(run: Run, jobs: Sequence[str]) -> list[list[str]]:
    """Return the ids of the segments of some logical jobs, first ones first."""
    names = run.columns.full_ids().tolist()
    if not run.lineage.joined:
        return [[job] for job in jobs]
    rows: dict[int, list[int]] = {}
    for row, root in enumerate(run.lineage.root.tolist()):
        rows.setdefault(root, []).append(row)
    at = {names[root]: root for root in reversed(rows)}
    depth = run.lineage.depth.tolist()
    return [[names[row] for row in sorted(rows[at[job]], key=lambda row: (depth[row], row))] for job in jobs]


def _why(parts: Sequence[Explanation]) -> str:
    """Return what held a logical job: of several segments, what held the one that waited longest."""
    if len(parts) == 1:
        return sentence(parts[0])
    longest = max(parts, key=lambda part: part.wait)
    return f"It ran in {len(parts)} segments, of which {longest.job} waited longest. {sentence(longest)}"
