"""A log of 300,000 jobs stays below 1 GB, reading, checking and writing included."""

import subprocess
import sys
from pathlib import Path

import msgspec
import numpy as np
import pytest

from batdispatch.inputs.workloads import write_workload
from batdispatch.inputs.workloads.lublin import lublin

# In a process of its own: the peak of this one tells of whatever ran before.
PROGRAM = """
import resource, sys
from batdispatch.inputs.workloads import read_workload, write_workload
workload = read_workload(sys.argv[1])
write_workload(workload, sys.argv[2])
print(len(workload.jobs), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


@pytest.mark.slow
def test_a_large_workload(tmp_path: Path) -> None:
    workload = lublin(np.random.default_rng(1), jobs=300_000, hosts=4096)
    for index, job in enumerate(workload.jobs):
        # What a log of the archive has beside Batsim's fields.
        extra = {"user": index % 700, "group": index % 50, "executable": index % 9000, "queue": index % 9}
        workload.jobs[index] = msgspec.structs.replace(job, extra=extra)
    write_workload(workload, tmp_path / "a.json")
    command = [sys.executable, "-c", PROGRAM, str(tmp_path / "a.json"), str(tmp_path / "b.json")]
    jobs, peak = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    assert int(jobs) == 300_000
    assert int(peak) * 1024 < 1e9
    assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()
