"""What the audit cannot read by itself, measured once more by the code that wrote it: the metrics of the network.

They follow from topologies, which there is one implementation of. So an error of a topology is not found here; that is
left to the tests of topologies. A number that somebody changed is found.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from batdispatch.core.errors import InputError
from batdispatch.core.jobs.job_table import JobTable
from batdispatch.core.machine.machine import Machine
from batdispatch.inputs.workloads.reader import read_workload
from batdispatch.results.jobs_file import read_columns
from batdispatch.results.network.table import FIELDS, FILE, read_table
from batdispatch.results.network.use import NetworkUse
from batdispatch.results.runs import figures_of, jobs_file

#: Relative difference below which two values of a metric are the same.
_SAME = 1e-9


class Difference(NamedTuple):
    """What is not as it was measured once more: kind of the finding, message, and the job that it is about, if any."""

    kind: str
    message: str
    job: str = ""


def network_differences(
    folder: Path, result: Mapping[str, Any], machine: Machine, workload: Path, metrics: Sequence[str]
) -> Iterator[Difference]:
    """Yield where network.csv, and the metrics of the network, do not follow from allocations and times."""
    try:
        path = jobs_file(folder)
        assert path is not None
        columns = read_columns(path)
        figures = figures_of(columns, result, machine=machine, jobs=read_workload(workload).jobs, folder=folder)
        yield from _of_metrics(metrics, result.get("metrics") or {}, figures.metrics)
        if (folder / FILE).is_file():
            yield from _of_table(figures.network, columns, folder / FILE)
    except InputError as problem:
        yield Difference("network", str(problem))


def _of_metrics(names: Sequence[str], found: Mapping[str, Any], expected: Mapping[str, Any]) -> Iterator[Difference]:
    for name in names:
        one, other = (np.nan if each.get(name) is None else each[name] for each in (found, expected))
        if not np.isclose(one, other, rtol=_SAME, atol=_SAME, equal_nan=True):
            message = f"result.json: metrics.{name} is {one:g}, the hosts and times of the jobs give {other:g}"
            yield Difference("metrics", message)


def _of_table(use: NetworkUse | None, columns: JobTable, path: Path) -> Iterator[Difference]:
    if use is None:
        yield Difference("network", f"{path.name} is there, and the machine has no network")
        return
    table = read_table(path, columns)
    for name, field in FIELDS.items():
        found, expected = table[name], getattr(use, field).astype(np.float64)
        # Six decimals are written.
        same = np.isclose(found, expected, rtol=_SAME, atol=2e-6, equal_nan=True)
        for row in np.flatnonzero(~same).tolist():
            message = f"{path.name}: {name} is {found[row]:g}, its hosts and times give {expected[row]:g}"
            yield Difference("network", message, str(columns.job_id[row]))
