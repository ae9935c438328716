"""late-first on a whole log (see shared data's README)."""

import os
from pathlib import Path

import pytest

from batdispatch.core.machine.machine import Machine
from batdispatch.inputs.workloads.importers import read_log
from simulating import Task, simulate

LOG = Path(os.environ.get("BATDISPATCH_SHARED", "")) / "data" / "swf" / "KTH-SP2-1996-2.1-cln.swf.xz"
pytestmark = [
    pytest.mark.reallogs,
    pytest.mark.skipif(not os.environ.get("BATDISPATCH_SHARED") or not LOG.exists(), reason="needs the real logs"),
]


@pytest.mark.slow
def test_on_kth_sp2_no_job_waits_much_longer_than_the_longest_wait_under_easy() -> None:
    log, *_ = read_log(LOG)
    tasks = [
        Task(job.id, job.submission, job.units, log.profiles[job.profile]["delay"], job.walltime) for job in log.jobs
    ]
    submissions = {task.id: task.submission for task in tasks}
    longest = []
    for dispatcher in ("easy", "easy[ordering=late-first[after=0,multiple=10]]"):
        starts = simulate(Machine.flat(100), tasks, dispatcher).starts()
        longest.append(max(start - submissions[name] for name, start in starts.items()))
    # 1.21 times; 1.48 times as a multiple of the mean wait.
    assert longest[1] < 1.3 * longest[0]
