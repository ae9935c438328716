"""Changes of a real Slurm's settings whose effect was recorded, and what `whatif` says of them.

Slurm 22.05.8 ran the same submissions under two settings each. What really came of a change is the ratio of the mean
waits of the same jobs, 10 s added to both, without the first and the last twentieth of the jobs.
"""

from __future__ import annotations

import csv
import datetime
import statistics
import warnings
from pathlib import Path
from typing import NamedTuple

import batdispatch
from batdispatch.abilities.whatif.whatif import Answers

ADDED = 10.0


class Change(NamedTuple):
    """A site, a change of it, the site that was recorded with the change, and the partition to look at, if any."""

    site: str
    change: str
    after: str
    partition: str = ""


CHANGES = (
    Change("base", "SchedulerParameters=bf_interval=90", "base_bf90"),
    Change("base2", "SchedulerParameters=bf_interval=90", "base_bf90"),
    Change("base_bf90", "SchedulerParameters=bf_interval=15", "base"),
    Change("base", "hosts=10", "base_10n"),
    Change("base_10n", "hosts=8", "base"),
    Change("base", "SchedulerParameters=bf_max_job_test=3,default_queue_depth=3", "base_depth"),
    Change("base_depth", "SchedulerParameters=bf_max_job_test=500,default_queue_depth=100", "base"),
    Change("busy4", "partition.busy.nodes+2", "busy6", "busy"),
    Change("busy6", "partition.busy.nodes-2", "busy4", "busy"),
)
#: Others, of sites that are not among the recordings of tests.
MORE = (
    Change("base2", "hosts=10", "base_10n"),
    Change("base2", "SchedulerParameters=bf_max_job_test=3,default_queue_depth=3", "base_depth"),
    Change("base", "ordering=multifactor[size=100000,period=1]", "base_large"),
    Change("base_large", "PriorityType=priority/basic", "base"),
)


class Answer(NamedTuple):
    """The ratio of mean waits that is said to come of a change, its interval, and whether that leaves out no change."""

    ratio: float
    low: float
    high: float
    apart: bool


def told(accounts: Path, case: Change, out: Path) -> Answer:
    """Return what `whatif` says of a change; `accounts` has a folder of each site."""
    site = accounts / case.site
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        answers: Answers = batdispatch.whatif(site / "sacct.txt", [case.change], slurm=site / "site", out=out)
    found = answers.found
    pairs = {(group.kind, group.name): one[0] for group, one in found.group_pairs}
    pair = pairs["partition", case.partition] if case.partition else next(iter(found.pairs.values()))[0]
    assert pair.effect is not None
    assert pair.effect.low is not None
    assert pair.effect.high is not None
    return Answer(pair.effect.value, pair.effect.low, pair.effect.high, pair.apart)


def truth(accounts: Path, case: Change) -> float:
    """Return the ratio that really came of a change; nothing of batdispatch reads the accounts."""
    before, after = (_waits(accounts / site / "sacct.txt", case.partition) for site in (case.site, case.after))
    return (statistics.mean(after) + ADDED) / (statistics.mean(before) + ADDED)


def _waits(path: Path, partition: str) -> list[float]:
    rows = []
    with path.open(newline="") as file:
        for row in csv.DictReader(file, delimiter="|", quoting=csv.QUOTE_NONE):
            if "." not in row["JobID"]:
                submit, start = (datetime.datetime.fromisoformat(row[key]) for key in ("Submit", "Start"))
                rows.append((submit, int(row["JobID"]), (start - submit).total_seconds(), row["Partition"]))
    around = len(rows) // 20
    inner = sorted(rows)[around : len(rows) - around]
    return [wait for _, _, wait, name in inner if name == partition or not partition]
