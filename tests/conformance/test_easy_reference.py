"""EASY against the schedules of another simulator (KTH-SP2 and CTC-SP2, see shared data's README).

That simulator handles one event at a time, and takes a host for free from the expected end of its job on, even before
it has handled the end itself. That ties of this kind are all that our schedules differ by is held by
tests/abilities/verify/differ/test_whole_logs.py: the textbook's EASY, read so, reproduces both references exactly.
"""

import lzma
import os
from pathlib import Path
from typing import NamedTuple

import pytest

from batdispatch.core.machine.machine import Machine
from batdispatch.engines.records import EngineOptions
from batdispatch.testing import Task, simulate

SHARED = Path(os.environ.get("BATDISPATCH_SHARED", Path(__file__).parents[3] / "shared"))
FOLDER = SHARED / "data" / "easy-reference"
pytestmark = [pytest.mark.reallogs, pytest.mark.skipif(not FOLDER.exists(), reason="the real logs are not here")]


class Row(NamedTuple):
    """One job of a reference: times in seconds."""

    submission: int
    units: int
    walltime: int
    runtime: int
    wait: int


def reference(name: str) -> list[Row]:
    with lzma.open(FOLDER / name / "res_easy_backfill_scheduler_None_None.swf.xz", "rt") as lines:
        rows = [[int(word) for word in line.split()] for line in lines if line.strip() and line[0] != ";"]
    rows.sort(key=lambda row: (row[1], row[0]))
    return [Row(row[1], row[7], row[8], row[3], row[2]) for row in rows]


def ours(jobs: list[Row], hosts: int, *, split: bool) -> list[float]:
    tasks = [
        Task(f"{index:06d}", float(job.submission), job.units, job.runtime, float(job.walltime))
        for index, job in enumerate(jobs)
    ]
    starts = simulate(Machine.flat(hosts), tasks, "easy", engine=EngineOptions(split_simultaneous=split)).starts()
    return [starts[task.id] - task.submission for task in tasks]


@pytest.mark.parametrize(
    ("name", "hosts", "first", "split", "least_share", "most_off"),
    [
        ("KTH-SP2", 100, None, False, 0.98, 0.001),
        ("KTH-SP2", 100, None, True, 0.999, 0.0001),
        # In CTC-SP2 one job in ten ends at its walltime exactly, so that ends coincide with expected ends.
        ("CTC-SP2", 338, 5_000, False, 0.98, 0.001),
        ("CTC-SP2", 338, 5_000, True, 0.97, 0.01),
        pytest.param("CTC-SP2", 338, None, False, 0.75, 0.03, marks=pytest.mark.slow),
        pytest.param("CTC-SP2", 338, None, True, 0.70, 0.01, marks=pytest.mark.slow),
    ],
)
def test_easy_agrees_up_to_ties(
    name: str, hosts: int, first: int | None, split: bool, least_share: float, most_off: float
) -> None:
    jobs = reference(name)[:first]
    # No job that comes later has a say in what starts before it comes.
    waits = [
        (wait, job.wait)
        for wait, job in zip(ours(jobs, hosts, split=split), jobs, strict=True)
        if first is None or job.submission + max(wait, job.wait) < jobs[-1].submission
    ]
    assert len(waits) > 0.9 * len(jobs)
    same = sum(abs(wait - expected) < 1 for wait, expected in waits)
    assert same / len(waits) >= least_share
    ours_in_all, theirs_in_all = map(sum, zip(*waits, strict=True))
    assert abs(ours_in_all / theirs_in_all - 1) <= most_off
