"""Measures of the rows of a run that abilities bring: worked out once, for several metrics and perhaps a file.

A `Measure` is announced in the entry-point group. What it measures stands in `Sample.measured` under its name, where
its metrics find it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from batdispatch.core.jobs.job import Job
from batdispatch.core.jobs.job_table import JobTable
from batdispatch.core.line import registry
from batdispatch.core.machine.machine import Machine
from batdispatch.results.metrics.metric import Metric

#: The entry-point group. Each entry point leads to a `Measure`.
GROUP = "batdispatch.measures"


class Difference(NamedTuple):
    """What is not as it was measured once more: kind of the finding, message, and the job that it is about, if any."""

    kind: str
    message: str
    job: str = ""


def _write_nothing(measured: Any, columns: JobTable, folder: Path) -> None:
    pass


def _no_differences(measured: Any, columns: JobTable, folder: Path) -> Iterator[Difference]:
    return iter(())


@dataclass(frozen=True, kw_only=True)
class Measure:
    """Something about the rows of a run that a machine and the jobs' requests say.

    Attributes:
        name: of the measure.
        of: returns it (a `MeasureValues`), given the rows, the machine and the job whose request each row has, or
            None for these if they are not known; None: it has no meaning for this run.
        metrics: by name, in the order of the report.
        of_jobs: whether it needs the jobs; without such a measure, compiled runs make no object for each.
        after: the metric of the base behind which they stand.
        write: writes what it says row by row into a run's folder, or removes an earlier file if it is None.
        differences: yields what such a file says otherwise. Raises InputError if the file is malformed.
    """

    name: str
    of: Callable[[JobTable, Machine, Sequence[Job | None] | None], Any]
    metrics: Mapping[str, Metric] = field(default_factory=dict)
    of_jobs: bool = False
    after: str = ""
    write: Callable[[Any, JobTable, Path], None] = _write_nothing
    differences: Callable[[Any, JobTable, Path], Iterator[Difference]] = _no_differences


def measures() -> list[Measure]:
    """Return the measures that are announced, by name.

    Raises:
        InputError: one cannot be loaded.
    """
    return [registry.load(GROUP, name, "measure") for name in registry.names(GROUP)]
