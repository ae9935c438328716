"""The check of folders: of runs, and of comparisons and campaigns, which hold many of them and a table over all.

What `check` does, in this order:

1. Each run is audited from its files (`audit`).
2. Each run is made again, until the time for that is over: its dispatcher answers the recorded messages, or the run is
   simulated again (`again`). Whatever result.json says of the cost of a run does not count, since a forger writes it.
3. The table over all runs is worked out from theirs (`headlines`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from batdispatch.audit.findings import Findings
from batdispatch.audit.run import Auditor
from batdispatch.results.origins import Origins, find_origins
from batdispatch.results.runs import read_result
from batdispatch.runs.checks.again import Budget, CheckInputs, Rerun, make_again
from batdispatch.runs.checks.folders import Collection, collections_in
from batdispatch.runs.checks.rerun import When
from batdispatch.runs.checks.settings import contradictions, read_said


class Sample(NamedTuple):
    """Which runs of a folder of many are looked at: so many, drawn by a seed."""

    size: int
    seed: int


class CheckResult(NamedTuple):
    """A run's folder, or the file of a table, and what was found about it."""

    path: Path
    findings: Findings


class Report(NamedTuple):
    """What a check found.

    Attributes:
        runs: of each run.
        tables: of each table over many runs.
        left_out: runs that were not drawn.
    """

    runs: list[CheckResult]
    tables: list[CheckResult]
    left_out: int


def check(
    paths: Sequence[Path],
    *,
    given: CheckInputs | None = None,
    when: When = "auto",
    budget: Budget,
    sample: Sample | None = None,
    progress: Callable[[str, int, int], None] = lambda what, done, total: None,
) -> Report:
    """Check folders of runs, comparisons and campaigns.

    Args:
        paths: the folders.
        given: what is known of the runs' inputs.
        when: whether runs are made again.
        budget: for making them again.
        sample: which runs of all; None: every one.
        progress: told what is being done, how much of it is done, and how much there is.

    Raises:
        InputError: a folder holds no run, or a file is missing or malformed.
    """
    given = given or CheckInputs()
    collections = collections_in(paths)
    every = list(dict.fromkeys(run for collection in collections for run in collection.runs))
    chosen = every if sample is None else _drawn(every, sample)
    runs, reruns = [], []
    #: The last one, which remembers what it has read: runs beside each other have the same inputs.
    auditors: dict[Origins, Auditor] = {}
    for number, folder in enumerate(chosen, start=1):
        origins = _origins(folder, given)
        auditors = {origins: auditors.get(origins) or _auditor(origins, given)}
        findings = auditors[origins].run(folder)
        for violation in contradictions(read_said(folder)):
            findings.add(violation)
        runs.append(CheckResult(folder, findings))
        reruns.append(Rerun(folder, origins, given, when))
        progress("audit", number, len(chosen))
    again = make_again(reruns, budget, lambda done, total: progress("rerun", done, total))
    for each, findings in zip(runs, again, strict=True):
        each.findings.merge(findings)
    return Report(runs, _tables(collections, given.limit), len(every) - len(chosen))


def _drawn(runs: list[Path], sample: Sample) -> list[Path]:
    """Return some runs, in their order."""
    size = min(sample.size, len(runs))
    chosen = np.random.default_rng(sample.seed).choice(len(runs), size=size, replace=False)
    return [runs[index] for index in sorted(chosen.tolist())]


def _origins(folder: Path, given: CheckInputs) -> Origins:
    found = find_origins(folder, read_result(folder))
    return Origins(given.platform or found.platform, given.workload or found.workload, given.events or found.events)


def _auditor(origins: Origins, given: CheckInputs) -> Auditor:
    return Auditor(
        platform=origins.platform,
        workload=origins.workload,
        events=origins.events,
        master=given.master,
        roles=given.roles or None,
        limit=given.limit,
    )


def _tables(collections: Sequence[Collection], limit: int) -> list[CheckResult]:
    found = []
    for collection in collections:
        for path, look in collection.tables:
            findings = Findings(limit=limit, checked=[path.name])
            for violation in look():
                findings.add(violation)
            found.append(CheckResult(path, findings))
    return found
