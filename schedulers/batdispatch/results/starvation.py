"""Jobs that starve: they wait far longer than the same jobs under EASY in order of arrival."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Protocol, TypeVar

import numpy as np

from batdispatch.core.jobs.job_table import Floats, JobTable
from batdispatch.inputs.workloads.model import Window
from batdispatch.results.jobs_file import read_columns
from batdispatch.results.lineage import FILE as LINEAGE
from batdispatch.results.lineage import logical, read_lineage
from batdispatch.results.metrics.compute import STARVATION, STARVING_FACTOR, STARVING_FLOOR
from batdispatch.results.metrics.sample import jobs_of_window
from batdispatch.results.numbers import number
from batdispatch.results.run_files import RESULT
from batdispatch.results.runs import Result, Run, WorkloadFacts, jobs_file, read_result

#: A job that waits less under easy, s, starves once it waits for an hour.
_SOON = STARVING_FLOOR / STARVING_FACTOR
#: Said where nothing can be counted.
NO_EASY = (
    "No column counts starved jobs: that takes a run of easy, in order of arrival, on the same jobs in the comparison."
)


class RunJobs(Protocol):
    """A run, as far as it takes to count the jobs that starve."""

    @property
    def result(self) -> Result:
        """Its result.json."""

    @property
    def logical(self) -> JobTable:
        """Its logical jobs."""


_S = TypeVar("_S", bound=RunJobs)


class FolderJobs:
    """A run's folder, of which no more is read than is asked for."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @cached_property
    def result(self) -> Result:
        """Its result.json."""
        return read_result(self._folder)

    @property
    def logical(self) -> JobTable:
        """Its logical jobs, read when they are asked for and not kept."""
        columns = read_columns(jobs_file(self._folder) or self._folder / "jobs.csv")
        return logical(columns, read_lineage(self._folder / LINEAGE, columns))


def beside_easy(runs: Sequence[Run]) -> list[Run]:
    """Return runs of one comparison, with `STARVATION` among the metrics of each that has it."""
    if any(STARVATION.name in run.metrics for run in runs):
        return list(runs)
    counts = count_starved(runs)
    return [
        replace(run, metrics={**run.metrics, STARVATION.name: count[0]}) if count else run
        for run, count in zip(runs, counts, strict=True)
    ]


def _inputs(run: RunJobs) -> tuple[str, str]:
    return run.result.platform.sha256, run.result.workload.sha256


def _of_run(facts: WorkloadFacts) -> Sequence[Window | None]:
    return [facts.counted]


def count_starved(
    runs: Sequence[RunJobs], parts: Callable[[WorkloadFacts], Sequence[Window | None]] = _of_run
) -> list[list[int]]:
    """Return how many jobs starve in each part of each run; none where no run of easy, nor another run, is beside it.

    `STARVATION` is the definition.

    Args:
        runs: those on the same inputs stand beside each other.
        parts: which jobs count in each part; None for all.

    Raises:
        InputError: a file of a run is malformed.
    """
    found: list[list[int]] = [[] for _ in runs]
    if len(runs) < 2:
        return found
    groups: dict[tuple[str, str], list[int]] = {}
    for place, run in enumerate(runs):
        groups.setdefault(_inputs(run), []).append(place)
    for places in groups.values():
        easy = easy_among([runs[place] for place in places])
        base = None if easy is None else easy.logical
        if base is not None:
            for place in places:
                jobs = base if runs[place] is easy else runs[place].logical
                found[place] = [starved_beside(jobs, base, part) for part in parts(runs[place].result.workload)]
    return found


def easy_among(runs: Sequence[_S]) -> _S | None:
    """Return the run of easy in order of arrival, without the options `ordering` and `backfill`; None: there is none.

    Of several, it is the first one that takes walltimes as they are, else the first one.
    """
    return min(filter(_is_easy, runs), key=_is_predicted, default=None)


def starved_in_words(runs: Sequence[RunJobs]) -> str:
    """Say what starved jobs are, and why conservative has many, if it is among the runs; empty: there are none.

    Args:
        runs: of one comparison; those on easy's inputs are counted.
    """
    easy = easy_among(runs)
    if easy is None:
        return ""
    runs = [run for run in runs if _inputs(run) == _inputs(easy)]
    found = {id(run): waits_of_starved(run.logical, easy.logical, run.result.workload.counted) for run in runs}
    if not any(len(waits) for waits in found.values()):
        return ""
    told = "Starved jobs wait more than 3 times as long as the same jobs under easy, and more than 1 h."
    run = next((run for run in runs if run.result.dispatcher == "conservative" and len(found[id(run)])), None)
    if run is None:
        return told
    waits = found[id(run)]
    return (
        f"{told} conservative lets no job pass that would delay any job before it; easy heeds only the first in line, "
        f"so {number(int((waits < _SOON).sum()))} of conservative's {number(len(waits))} wait less than 20 min there."
    )


def starved_columns(folders: Iterable[Path]) -> dict[Path, list[dict[str, int]]]:
    """Return for each folder what each of its rows in a table has of `STARVATION`: a column; no row has any: empty.

    Raises:
        InputError: a file of a run is malformed.
    """
    each = dict.fromkeys(folders)
    made = [folder for folder in each if (folder / RESULT).is_file()]
    jobs = [FolderJobs(folder) for folder in made]
    counts = dict(zip(made, count_starved(jobs, lambda facts: facts.parts), strict=True))
    return {folder: [{STARVATION.name: count} for count in counts.get(folder, [])] for folder in each}


def starved_beside(ours: JobTable, easy: JobTable, window: Window | None = None) -> int:
    """Return how many jobs starve, beside the same jobs under easy; `window`: which of them count, None for all."""
    return len(waits_of_starved(ours, easy, window))


def waits_of_starved(ours: JobTable, easy: JobTable, window: Window | None = None) -> Floats:
    """Return how long the jobs that starve wait under easy, s; `window`: which of them count, None for all."""
    window = window or Window()
    jobs, others = (one.take(one.ran & jobs_of_window(one, window)) for one in (ours, easy))
    ids, base = (one.full_ids().astype(str) for one in (jobs, others))
    _, mine, theirs = np.intersect1d(ids, base, assume_unique=True, return_indices=True)
    waits = _waits(others, window)[theirs]
    starved: Floats = waits[_waits(jobs, window)[mine] > np.maximum(STARVING_FACTOR * waits, STARVING_FLOOR)]
    return starved


def _waits(jobs: JobTable, window: Window) -> Floats:
    """Return how long jobs wait as far as they are watched, in seconds."""
    if window.until is None:
        return jobs.waiting_time
    return np.minimum(jobs.waiting_time, window.until - jobs.submission_time)


def _is_easy(run: RunJobs) -> bool:
    options = run.result.options
    in_order = options.get("ordering", "fcfs") == "fcfs" and options.get("backfill", "") in ("", "fcfs")
    return run.result.dispatcher == "easy" and in_order


def _is_predicted(run: RunJobs) -> bool:
    return bool(run.result.options.get("prediction", "requested") != "requested")
