"""What the audit cannot read by itself, measured once more by the code that wrote it: the metrics of measures.

Those of the network follow from topologies, which there is one implementation of. So an error of a topology is not
found here; that is left to the tests of topologies. A number that was changed is found.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from batdispatch.core.errors import InputError
from batdispatch.core.machine.machine import Machine
from batdispatch.inputs.workloads.reader import read_workload
from batdispatch.results.jobs_file import read_columns
from batdispatch.results.metrics.measure import Difference, Measure
from batdispatch.results.runs import figures_of, jobs_file

#: Relative difference below which two values of a metric are the same.
_SAME = 1e-9


def differences(
    measure: Measure, folder: Path, result: Mapping[str, Any], machine: Machine, workload: Path
) -> Iterator[Difference]:
    """Yield where the metrics of a measure, and its file, do not follow from allocations and times."""
    try:
        path = jobs_file(folder)
        assert path is not None
        columns = read_columns(path)
        figures = figures_of(columns, result, machine=machine, jobs=read_workload(workload).jobs, folder=folder)
        yield from _of_metrics(list(measure.metrics), result.get("metrics") or {}, figures.metrics)
        yield from measure.differences(figures.measured.get(measure.name), columns, folder)
    except InputError as problem:
        yield Difference(measure.name, str(problem))


def _of_metrics(names: Sequence[str], found: Mapping[str, Any], expected: Mapping[str, Any]) -> Iterator[Difference]:
    for name in names:
        one, other = (np.nan if each.get(name) is None else each[name] for each in (found, expected))
        if not np.isclose(one, other, rtol=_SAME, atol=_SAME, equal_nan=True):
            message = f"result.json: metrics.{name} is {one:g}, the hosts and times of the jobs give {other:g}"
            yield Difference("metrics", message)
