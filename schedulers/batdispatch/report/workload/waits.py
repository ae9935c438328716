"""How long jobs waited in a log, by partition, account, user and month."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from batdispatch.inputs.workloads.groups import account_of, partition_of
from batdispatch.report.workload.traits import Traits
from batdispatch.results.numbers import duration_unit, number

#: Most rows of a kind; JSON has all.
MOST_LISTED = 10


class WaitGroup(NamedTuple):
    """The waits of jobs that are alike; times in seconds.

    Attributes:
        name: of the group.
        jobs: whose start is known.
        share: of the time that all jobs waited.
        mean: wait.
        median: wait.
        most_of_ten: 90 % of the jobs waited for at most so long.
        longest: wait.
    """

    name: str
    jobs: int
    share: float
    mean: float
    median: float
    most_of_ten: float
    longest: float


def wait_groups(traits: Traits) -> dict[str, list[WaitGroup]]:
    """Return the groups of each kind that the log tells, those that waited most in all first; months in order.

    Jobs that name no group of a kind are in none of it. There is nothing of a workload that no log is behind.
    """
    jobs = traits.workload.jobs
    names: dict[str, Sequence[str]] = {
        "partition": [partition_of(job) for job in jobs],
        "account": [account_of(job) for job in jobs],
        "user": [job.user for job in jobs],
        "month": traits.months(),
    }
    wait = np.maximum(traits.start - traits.submission, 0.0)
    known = ~np.isnan(wait)
    total = float(wait[known].sum()) or 1.0
    found = {}
    for kind, of_jobs in names.items():
        rows: dict[str, list[int]] = {}
        for row, name in enumerate(of_jobs):
            if name and known[row]:
                rows.setdefault(name, []).append(row)
        groups = [_group(name, wait[own], total) for name, own in rows.items()]
        groups.sort(key=lambda one: one.name if kind == "month" else (-one.share, one.name))
        if groups:
            found[kind] = groups
    return found


def _group(name: str, wait: np.ndarray, total: float) -> WaitGroup:
    median, most = np.quantile(wait, [0.5, 0.9]).tolist()
    return WaitGroup(name, len(wait), float(wait.sum()) / total, float(wait.mean()), median, most, float(wait.max()))


def wait_headings(traits: Traits) -> list[str]:
    """Return the headings of the table, behind the groups' names: all times have one unit."""
    unit = _unit(traits)[1]
    return ["jobs", "of all waiting", *(f"{name}, {unit}" for name in ("mean", "median", "90 %", "longest"))]


def wait_rows(traits: Traits) -> list[tuple[str, list[str]]]:
    """Return name and texts, under `wait_headings`, of the groups of each kind; of months the latest ones."""
    scale, _ = _unit(traits)
    made = []
    for kind, groups in wait_groups(traits).items():
        for one in groups[-MOST_LISTED:] if kind == "month" else groups[:MOST_LISTED]:
            times = [number(each / scale) for each in (one.mean, one.median, one.most_of_ten, one.longest)]
            made.append((f"{kind} {one.name}", [f"{one.jobs:,}", f"{one.share:.1%}", *times]))
    return made


def _unit(traits: Traits) -> tuple[float, str]:
    return duration_unit([float(traits.waits.mean())] if len(traits.waits) else [])
