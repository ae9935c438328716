"""Measures of a run that abilities bring: worked out once of its rows or files, for metrics and perhaps a file.

A `Measure` is announced in the entry-point group. What it measures stands in `Sample.measured` under its name, where
its metrics find it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from batdispatch.core.jobs.job import Job
from batdispatch.core.jobs.job_table import JobTable
from batdispatch.core.line import registry
from batdispatch.core.machine.machine import Machine
from batdispatch.results.metrics.metric import Metric
from batdispatch.results.metrics.sample import MeasureValues, Sample

#: The entry-point group. Each entry point leads to a `Measure`.
GROUP = "batdispatch.measures"


class Difference(NamedTuple):
    """What is not as it was measured once more: kind of the finding, message, and the job that it is about, if any."""

    kind: str
    message: str
    job: str = ""


class RunFiles(NamedTuple):
    """What a measure of a run's files is worked out from."""

    #: Of the run; None: there is none.
    folder: Path | None
    columns: JobTable
    #: What result.json says of the run, or will say.
    said: Mapping[str, Any] = {}
    #: None: it is not at hand.
    machine: Machine | None = None
    #: What the engine says that the measure's files hold, see `Outcome.known`; None: they are read.
    known: Any = None


def _nothing_of_rows(columns: JobTable, machine: Machine, jobs: Sequence[Job | None] | None) -> None:
    pass


def _nothing_of_files(run: RunFiles) -> None:
    pass


def _leave_out_nothing(sample: Sample) -> Iterable[str]:
    return ()


def _remark_nothing(results: Sequence[Any]) -> str:
    return ""


def _write_nothing(measured: Any, columns: JobTable, folder: Path) -> None:
    pass


def _no_differences(measured: Any, columns: JobTable, folder: Path) -> Iterator[Difference]:
    return iter(())


@dataclass(frozen=True, kw_only=True)
class Measure:
    """Something about a run that its rows, the machine and the jobs' requests say, or its files.

    Attributes:
        name: of the measure.
        of: returns it (a `MeasureValues`), given the rows, the machine and the job whose request each row has, or
            None for these if they are not known; None: it has no meaning for this run.
        of_files: returns it, given the files of a run; of a measure that is not of rows.
        metrics: by name, in the order of the report.
        of_jobs: whether it needs the jobs; without such a measure, compiled runs make no object for each.
        after: the metric of the base behind which they stand.
        write: writes what it says row by row into a run's folder, or removes an earlier file if it is None.
        differences: yields what such a file says otherwise. Raises InputError if the file is malformed.
        leaves_out: returns groups of metrics of which a sample says nothing, so that they are not shown.
        kept: groups of metrics that result.json may know alone later, since their inputs are no files of the run.
        remark: returns what people should know of its metrics, given `results.runs.Result` of runs on the same jobs: a
            text, perhaps empty.
    """

    name: str
    of: Callable[[JobTable, Machine, Sequence[Job | None] | None], MeasureValues | None] = _nothing_of_rows
    of_files: Callable[[RunFiles], MeasureValues | None] = _nothing_of_files
    metrics: Mapping[str, Metric] = field(default_factory=dict)
    of_jobs: bool = False
    after: str = ""
    write: Callable[[Any, JobTable, Path], None] = _write_nothing
    differences: Callable[[Any, JobTable, Path], Iterator[Difference]] = _no_differences
    leaves_out: Callable[[Sample], Iterable[str]] = _leave_out_nothing
    kept: Sequence[str] = ()
    remark: Callable[[Sequence[Any]], str] = _remark_nothing


def measures() -> list[Measure]:
    """Return the measures that are announced, by name.

    Raises:
        InputError: one cannot be loaded.
    """
    return [registry.load(GROUP, name, "measure") for name in registry.names(GROUP)]


def remarks_on(results: Iterable[Any]) -> list[str]:
    """Return what people should know of the metrics of runs on the same jobs, given their `results.runs.Result`."""
    listed = list(results)
    return [text for measure in measures() if (text := measure.remark(listed))]
