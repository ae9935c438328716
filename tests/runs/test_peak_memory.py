"""The peak memory of a task: neither that of the task before, nor that of the process that started the worker."""

import subprocess
import sys

import pytest

#: What a large process starts. Prints its peak in MiB: at first, with 200 MiB for a moment, after these are forgotten.
SMALL = """
from batdispatch.runs.peak_memory import forget_peak, peak_memory
print(peak_memory() >> 20)
bytearray(200 << 20)
print(peak_memory() >> 20)
forget_peak()
print(peak_memory() >> 20)
"""
LARGE = """
import subprocess, sys
large = bytearray(600 << 20)
subprocess.run([sys.executable, "-c", sys.argv[1]], check=True)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="Linux's way to forget it")
def test_the_peak_memory_of_a_task_is_that_of_nothing_else() -> None:
    printed = subprocess.run([sys.executable, "-c", LARGE, SMALL], capture_output=True, text=True, check=True).stdout
    start, most, after = map(int, printed.split())
    assert start < 200
    assert start + 180 < most < start + 220
    assert after < start + 20
