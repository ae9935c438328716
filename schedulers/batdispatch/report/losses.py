"""What runs lose against each other: the jobs that cost each most, or wait longest, and what held them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import BrokenExecutor, Executor
from dataclasses import dataclass
from functools import partial
from itertools import permutations
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from batdispatch.core.errors import BatdispatchError
from batdispatch.core.jobs.job_table import Floats
from batdispatch.core.machine.machine import Machine
from batdispatch.explain.records import Explanation
from batdispatch.explain.run_parts import placement_of, predictions_of
from batdispatch.explain.wait_causes import explain, recording_of
from batdispatch.explain.words import sentence
from batdispatch.parts.prediction import Predictions
from batdispatch.results.metrics.rows import page_unit
from batdispatch.results.numbers import duration, number
from batdispatch.results.runs import Run
from batdispatch.results.sites import machine_of

#: By what the runs are ranked.
METRIC = "mean_bounded_slowdown"
#: Most jobs named for each run.
MOST = 5
#: Most jobs explained for each pair of runs whose waits the explorer compares; it names as many.
MOST_OF_A_PAIR = 8
#: Among so many runs, the first ones that were recorded, each pair has reasons: they are a page's most costly part.
MOST_RUNS = 4
#: Two records of one start differ by less, s.
_SAME = 1e-3
#: A wait that changes by less, s, counts as the same.
_SAME_WAIT = 0.5
#: A recording of fewer bytes is gone through before a worker has started.
LITTLE = 500_000


#: A unit of time that values on a page share: seconds and name. None: each has its own.
Unit = tuple[float, str] | None


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
        losses: dearest first; empty if nothing can be said.
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


class Losses(NamedTuple):
    """What runs lose against each other.

    Attributes:
        best: label of the run with the lowest mean bounded slowdown; empty if there is nothing to compare.
        losers: where each of the others loses against it. Left out are runs that were not recorded, and those in which
            jobs were registered that continue none of the workload's: other runs do not have them.
        reasons: label of a run -> full id of a job -> what held it, in words. The jobs are those of `losers`, and those
            that wait longest against one of the other runs.
    """

    best: str
    losers: Sequence[Loser]
    reasons: Mapping[str, Mapping[str, str]]


class StartedJobs(NamedTuple):
    """The logical jobs of a run that started, each once.

    Attributes:
        ids: with their workload.
        start: s, float64 [job].
        wait: s, float64 [job].
        slowdown: bounded, float64 [job].
    """

    ids: list[str]
    start: Floats
    wait: Floats
    slowdown: Floats

    def take(self, rows: Sequence[int] | NDArray[np.int64]) -> StartedJobs:
        """Return those at some positions, in their order."""
        at = np.array(rows, dtype=np.int64)
        return StartedJobs([self.ids[row] for row in at.tolist()], self.start[at], self.wait[at], self.slowdown[at])


class _JobCosts(NamedTuple):
    """The jobs that started in a run and in the best one, in the same order; and what each costs, dearest first."""

    here: StartedJobs
    best: StartedJobs
    #: Of the bounded slowdowns, float64 [job].
    difference: Floats

    def dearest(self, most: int) -> int:
        """Return how many jobs are named: at most `most`, and only those that fared worse."""
        return min(most, int((self.difference > 0).sum()))


def begin_losses(runs: Sequence[Run], *, most: int = MOST, workers: Executor | None = None) -> Callable[[], Losses]:
    """Return a function that returns what runs lose against each other. Each recording is gone through once.

    Args:
        runs: the runs.
        most: jobs named for each run.
        workers: where the recordings are gone through meanwhile; None: in this process, when the function is called.
    """
    recorded = [run for run in runs if recording_of(run.folder) is not None]
    best = best_of(runs)
    started = {run.label: started_jobs(run) for run in recorded}
    dearest = {} if best is None else _dearest(recorded, best, started)
    wanted = {label: dict.fromkeys(costs.here.ids[: costs.dearest(most)]) for label, costs in dearest.items()}
    for label, other in permutations(list(started)[:MOST_RUNS], 2):
        wanted.setdefault(label, {}).update(dict.fromkeys(jobs_that_lose(started[label], started[other])))
    unit = page_unit("max_waiting_time", [run.metrics.get("max_waiting_time") for run in runs])
    endings = {
        run.label: _begin(run, list(names), started[run.label], workers, unit)
        for run in recorded
        if (names := wanted.get(run.label))
    }

    def finished() -> Losses:
        explanations = {label: ending() for label, ending in endings.items()}
        losers = [
            _loser(run, dearest[run.label], most, unit, *explanations.get(run.label, ({}, "")))
            for run in recorded
            if run.label in dearest
        ]
        reasons = {label: whys for label, (whys, _) in explanations.items()}
        return Losses("" if best is None else best.label, losers, reasons)

    return finished


def best_of(runs: Sequence[Run]) -> Run | None:
    """Return the run with the lowest mean bounded slowdown, the first of equals; None: nothing to compare."""
    ranked = [run for run in runs if run.metrics.get(METRIC) is not None and _comparable(run)]
    return min(ranked, key=lambda run: float(run.metrics[METRIC] or 0.0)) if len(ranked) > 1 else None


def _comparable(run: Run) -> bool:
    """Whether a run has the workload's jobs and no others: what it registered continues these."""
    return not run.result.dynamic_jobs or len(run.logical) == run.result.workload.jobs


def started_jobs(run: Run) -> StartedJobs:
    """Return the logical jobs of a run that started."""
    sample = run.sample
    ids = run.logical.full_ids(run.logical.ran).tolist()
    jobs = StartedJobs(ids, sample.start, sample.wait, sample.bounded_slowdown)
    first = dict(zip(reversed(ids), range(len(ids) - 1, -1, -1), strict=True))
    return jobs if len(first) == len(ids) else jobs.take(sorted(first.values()))


def _dearest(recorded: Sequence[Run], best: Run, started: Mapping[str, StartedJobs]) -> dict[str, _JobCosts]:
    """Return label -> what jobs cost, of the recorded runs that lose against the best one."""
    base = started[best.label] if best.label in started else started_jobs(best)
    comparable = (
        run for run in recorded if run is not best and _comparable(run) and run.metrics.get(METRIC) is not None
    )
    costs = {run.label: _costs(started[run.label], base) for run in comparable}
    # Others are as good as the best, or better on the jobs that both ran.
    return {label: each for label, each in costs.items() if each.difference.sum() > 1e-9 * len(each.difference)}


def _costs(jobs: StartedJobs, best: StartedJobs) -> _JobCosts:
    here, there = _both(jobs, best)
    difference = here.slowdown - there.slowdown
    by_id = np.array(sorted(range(len(here.ids)), key=here.ids.__getitem__), dtype=np.int64)
    order = by_id[np.argsort(-difference[by_id], kind="stable")]
    return _JobCosts(here.take(order), there.take(order), difference[order])


def _both(jobs: StartedJobs, others: StartedJobs) -> tuple[StartedJobs, StartedJobs]:
    """Return the jobs that started in both runs, in the order of the first one."""
    row = {name: index for index, name in enumerate(others.ids)}
    found = [(index, row[name]) for index, name in enumerate(jobs.ids) if name in row]
    return jobs.take([mine for mine, _ in found]), others.take([theirs for _, theirs in found])


def jobs_that_lose(jobs: StartedJobs, others: StartedJobs) -> list[str]:
    """Return the full ids of the jobs that wait longer in a run than in another one, those that lose most first.

    Of jobs that lose the same, the one that was submitted first comes first. There are at most `MOST_OF_A_PAIR`.
    """
    here, there = _both(jobs, others)
    # What the explorer knows is rounded too.
    change = np.round(here.wait - there.wait, 3)
    order = np.lexsort((here.start - here.wait, -change))[: min(MOST_OF_A_PAIR, int((change > _SAME_WAIT).sum()))]
    return [here.ids[row] for row in order]


def _loser(run: Run, costs: _JobCosts, most: int, unit: Unit, whys: Mapping[str, str], note: str) -> Loser:
    total = float(costs.difference.sum())
    worst = costs.dearest(most)
    here, best = costs.here, costs.best
    return Loser(
        label=run.label,
        folder=str(run.folder),
        difference=number(total / len(here.ids)),
        jobs=len(here.ids),
        share=float(costs.difference[:worst].sum()) / total,
        half=int(np.searchsorted(np.cumsum(costs.difference), total / 2)) + 1,
        losses=[
            Loss(
                job=name,
                share=float(costs.difference[row]) / total,
                slowdown=number(float(here.slowdown[row])),
                best=number(float(best.slowdown[row])),
                wait=duration(float(here.wait[row]), unit),
                best_wait=duration(float(best.wait[row]), unit),
                why=whys[name],
            )
            for row, name in enumerate(here.ids[:worst])
            if name in whys
        ],
        note=note,
    )


def _begin(
    run: Run, jobs: Sequence[str], started: StartedJobs, workers: Executor | None, unit: Unit
) -> Callable[[], tuple[dict[str, str], str]]:
    """Return a function that returns what `wait_explanations` does for some jobs of a recorded run, by full id."""
    recording = recording_of(run.folder)
    assert recording is not None, "only recorded runs are explained"
    starts = dict(zip(started.ids, started.start.tolist(), strict=True))
    placement = placement_of(run.result)
    task = partial(
        wait_explanations,
        recording,
        dict(zip(jobs, _segments(run, jobs), strict=True)),
        {job: starts[job] for job in jobs},
        placement=placement,
        machine=machine_of(run.folder, run.result) if placement else None,
        predictions=predictions_of(run.result),
        unit=unit,
    )
    submitted = None if workers is None or recording.stat().st_size < LITTLE else workers.submit(task)

    def finished() -> tuple[dict[str, str], str]:
        try:
            return task() if submitted is None else submitted.result()
        except BrokenExecutor:
            return {}, "Its recorded decisions could not be followed: the process that did so died."

    return finished


def wait_explanations(
    recording: Path,
    segments: Mapping[str, Sequence[str]],
    starts: Mapping[str, float],
    *,
    placement: str,
    machine: Machine | None = None,
    predictions: Predictions | None = None,
    unit: Unit = None,
) -> tuple[dict[str, str], str]:
    """Return in words what held each of some logical jobs, or nothing and why.

    Args:
        recording: of the run.
        segments: full id of a job -> ids of its segments, first ones first.
        starts: full id of a job -> when it started first by the jobs file, seconds.
        placement: the run's, see `explain`.
        machine: the run's, see `explain`.
        predictions: the run's, see `explain`.
        unit: of the longest waits on the page, see `page_unit`.
    """
    listed = [name for names in segments.values() for name in names]
    try:
        found = iter(explain(recording, listed, placement=placement, machine=machine, predictions=predictions))
    except (BatdispatchError, OSError) as problem:
        return {}, f"Its recorded decisions cannot be followed: {problem}"
    explanations = {job: [next(found) for _ in names] for job, names in segments.items()}
    if any(abs(parts[0].until - starts[job]) > _SAME for job, parts in explanations.items()):
        return {}, "Its recorded decisions are not those of its jobs file."
    return {job: _why(parts, unit) for job, parts in explanations.items()}, ""


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


def _why(parts: Sequence[Explanation], unit: Unit) -> str:
    """Return what held a logical job: of several segments, what held the one that waited longest."""
    if len(parts) == 1:
        return sentence(parts[0], unit)
    longest = max(parts, key=lambda part: part.wait)
    return f"It ran in {len(parts)} segments, of which {longest.job} waited longest. {sentence(longest, unit)}"
