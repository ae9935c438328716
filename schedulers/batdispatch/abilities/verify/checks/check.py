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

from batdispatch.abilities.verify.audit.findings import Findings, Violation
from batdispatch.abilities.verify.audit.run import Auditor
from batdispatch.abilities.verify.checks.again import Budget, Rerun, make_again
from batdispatch.abilities.verify.checks.folders import collections_in
from batdispatch.abilities.verify.checks.options import CheckOptions
from batdispatch.abilities.verify.checks.settings import contradictions, read_said
from batdispatch.results.origins import Origins, find_origins
from batdispatch.results.run_names import FILE, belied_by_others, misnamed_folders, record_of
from batdispatch.results.runs import THE_LOG, named_run, read_result
from batdispatch.runs.collections import Collection


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
    how: CheckOptions,
    *,
    budget: Budget,
    progress: Callable[[str, int, int], None] = lambda what, done, total: None,
) -> Report:
    """Check folders of runs, comparisons and campaigns.

    Args:
        paths: the folders.
        how: what people state; its budget is `budget`.
        budget: for making runs again.
        progress: told what is being done, how much of it is done, and how much there is.

    Raises:
        InputError: a folder holds no run, or a file is missing or malformed.
    """
    collections = collections_in(paths)
    every = list(dict.fromkeys(run for collection in collections for run in collection.runs))
    chosen = every if how.sample is None else _drawn(every, how.sample, how.seed or 0)
    logs = list(dict.fromkeys(log for collection in collections for log in collection.logs))
    misnomers = misnamed_folders([named_run(folder, read_result(folder)) for folder in (*every, *logs)])
    runs, reruns = [], []
    #: The last one, which remembers what it has read: runs beside each other have the same inputs.
    auditors: dict[Origins, Auditor] = {}
    for number, folder in enumerate(chosen, start=1):
        origins = _origins(folder, how)
        auditors = {origins: auditors.get(origins) or _auditor(origins, how)}
        findings = auditors[origins].run(folder)
        for violation in contradictions(read_said(folder)):
            findings.add(violation)
        named = misnomers[folder].why if folder in misnomers else belied_by_others(folder, read_result(folder))
        if named:
            findings.add(Violation("name", named))
        runs.append(CheckResult(folder, findings))
        reruns.append(Rerun(folder, origins, how))
        progress("audit", number, len(chosen))
    again = make_again(reruns, budget, lambda done, total: progress("rerun", done, total))
    for each, findings in zip(runs, again, strict=True):
        each.findings.merge(findings)
    for log in logs:
        if said := misnomers[log].why if log in misnomers else _belied_log(log):
            findings = Findings(limit=how.limit)
            findings.add(Violation("name", said))
            runs.append(CheckResult(log, findings))
    return Report(runs, _tables(collections, how.limit), len(every) - len(chosen))


def _drawn(runs: list[Path], size: int, seed: int) -> list[Path]:
    """Return some runs, in their order."""
    size = min(size, len(runs))
    chosen = np.random.default_rng(seed).choice(len(runs), size=size, replace=False)
    return [runs[index] for index in sorted(chosen.tolist())]


def _origins(folder: Path, how: CheckOptions) -> Origins:
    found = find_origins(folder, read_result(folder))
    return Origins(how.platform or found.platform, how.workload or found.workload, how.events or found.events)


def _auditor(origins: Origins, how: CheckOptions) -> Auditor:
    return Auditor(
        platform=origins.platform,
        workload=origins.workload,
        events=origins.events,
        master=how.master_host,
        roles=how.roles or None,
        limit=how.limit,
    )


def _belied_log(log: Path) -> str:
    """Return how what a log beside runs is called says otherwise than that it is one; else an empty text.

    Raises:
        InputError: the record of names cannot be read.
    """
    recorded = record_of(log)
    if recorded is None:
        return ""
    bound = recorded[1].runs.get(log.absolute().relative_to(recorded[0]).as_posix())
    return "" if bound is None or bound.name == THE_LOG else f"{FILE} calls it {bound.name}, and it is the log"


def _tables(collections: Sequence[Collection], limit: int) -> list[CheckResult]:
    found = []
    for collection in collections:
        for path, look in collection.tables:
            findings = Findings(limit=limit, checked=[path.name])
            for contradiction in look():
                findings.add(Violation("table", contradiction))
            found.append(CheckResult(path, findings))
    return found
