"""Kernels make the files of the dispatchers in Python on a real log."""

import os
from pathlib import Path
from typing import Any

import msgspec
import pytest

from batdispatch.core.machine.machine import Machine
from batdispatch.inputs.workloads import Workload
from batdispatch.inputs.workloads.importers import read_log
from compiling import compiled, in_python, needs_kernels

LOG = Path(os.environ.get("BATDISPATCH_SHARED", "")) / "data" / "swf" / "KTH-SP2-1996-2.1-cln.swf.xz"
pytestmark = [
    needs_kernels,
    pytest.mark.reallogs,
    pytest.mark.skipif(not os.environ.get("BATDISPATCH_SHARED") or not LOG.exists(), reason="needs the real logs"),
]


@pytest.fixture(scope="module")
def workload() -> Workload:
    read, *_ = read_log(LOG)
    return msgspec.structs.replace(read, jobs=read.jobs[:2500])


@pytest.mark.parametrize(
    ("dispatcher", "options"),
    [
        ("fcfs", {}),
        ("filler", {"ordering": "f1"}),
        ("easy", {}),
        ("easy", {"ordering": "sjf"}),
        ("easy", {"reservation": "hosts", "rjms_delay": 5}),
        ("conservative", {}),
        ("conservative", {"rjms_delay": 5}),
        ("slurm-backfill", {}),
        ("slurm-backfill", {"ordering": "unicef", "placement": "first-fit", "depth": 20}),
    ],
    ids=str,
)
def test_the_first_jobs_of_kth_sp2(workload: Workload, dispatcher: str, options: dict[str, Any]) -> None:
    machine = Machine.flat(100)
    assert compiled(machine, workload, dispatcher, options) == in_python(machine, workload, dispatcher, options)
