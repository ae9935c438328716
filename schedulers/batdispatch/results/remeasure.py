"""What the audit cannot read by itself, measured once more by the code that wrote it: the metrics of the network.

They follow from topologies, which there is one implementation of. So an error of a topology is not found here; that is
left to the tests of topologies. A number that somebody changed is found.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from batdispatch.core.errors import InputError
from batdispatch.core.machine import Machine
from batdispatch.inputs.workloads.reader import read_workload
from batdispatch.results.audit.findings import Findings, Violation
from batdispatch.results.audit.metrics import NETWORK
from batdispatch.results.audit.words import SAME
from batdispatch.results.columns import RunColumns
from batdispatch.results.jobs_file import read_columns
from batdispatch.results.network.table import FIELDS, FILE, read_table
from batdispatch.results.network.use import NetworkUse
from batdispatch.results.runs import figures_of, jobs_file

KIND = "network"


def check_network(
    findings: Findings, folder: Path, result: Mapping[str, Any], machine: Machine, workload: Path
) -> None:
    """network.csv, where it is there, and the metrics of the network follow from allocations and times.

    Args:
        findings: to add to.
        folder: of the run.
        result: its result.json.
        machine: of its platform.
        workload: the file.
    """
    findings.checked.append(KIND)
    try:
        path = jobs_file(folder)
        assert path is not None
        columns = read_columns(path)
        figures = figures_of(columns, result, machine=machine, jobs=read_workload(workload).jobs, folder=folder)
        _check_metrics(findings, result.get("metrics") or {}, figures.metrics)
        if (folder / FILE).is_file():
            _check_table(findings, figures.network, columns, folder / FILE)
    except InputError as problem:
        findings.add(Violation(KIND, str(problem)))


def _check_metrics(findings: Findings, found: Mapping[str, Any], expected: Mapping[str, Any]) -> None:
    for name in NETWORK:
        one, other = (np.nan if each.get(name) is None else each[name] for each in (found, expected))
        if not np.isclose(one, other, rtol=SAME, atol=SAME, equal_nan=True):
            message = f"result.json: metrics.{name} is {one:g}, the hosts and times of the jobs give {other:g}"
            findings.add(Violation("metrics", message))


def _check_table(findings: Findings, use: NetworkUse | None, columns: RunColumns, path: Path) -> None:
    if use is None:
        findings.add(Violation(KIND, f"{path.name} is there, and the machine has no network"))
        return
    table = read_table(path, columns)
    for name, field in FIELDS.items():
        found, expected = table[name], getattr(use, field).astype(np.float64)
        # Six decimals are written.
        same = np.isclose(found, expected, rtol=SAME, atol=2e-6, equal_nan=True)
        for row in np.flatnonzero(~same).tolist():
            message = f"{path.name}: {name} is {found[row]:g}, its hosts and times give {expected[row]:g}"
            findings.add(Violation(KIND, message, job=str(columns.job_id[row])))
