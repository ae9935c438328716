"""What benchmarks measure with: CPU seconds of a call, and what a process took, here or in another checkout."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar

ROOT = Path(__file__).resolve().parent.parent
#: The command ``batdispatch``.
COMMAND = [sys.executable, "-c", "from batdispatch.cli.entry import main; main()"]

Value = TypeVar("Value")


class Usage(NamedTuple):
    """What a process took, with those that it waited for: CPU seconds, seconds, peak memory in MB, and its output."""

    cpu: float
    wall: float
    memory: float
    output: str


def timed(call: Callable[[], Value]) -> tuple[float, Value]:
    """Return the CPU seconds of a call in this process, and what it returns."""
    began = time.process_time()
    value = call()
    return time.process_time() - began, value


def least(call: Callable[[], Value], times: int = 3) -> tuple[float, Value]:
    """Return the least CPU seconds of so many calls, and what the last one returns."""
    rounds = [timed(call) for _ in range(times)]
    return min(seconds for seconds, _ in rounds), rounds[-1][1]


def process(words: Sequence[str], *, checkout: Path | None = None, folder: Path | None = None) -> Usage:
    """Run a program, with the package of a checkout if one is named; what it says against a failure is shown.

    Raises:
        SystemExit: it failed.
    """
    environment = os.environ if checkout is None else {**os.environ, "PYTHONPATH": str(checkout / "schedulers")}
    began = time.perf_counter()
    with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as errors:
        child = subprocess.Popen(words, env=environment, cwd=folder, stdout=output, stderr=errors)
        _, status, used = os.wait4(child.pid, 0)
        wall = time.perf_counter() - began
        child.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        errors.seek(0)
        if child.returncode:
            raise SystemExit(f"{' '.join(words)} ended with {child.returncode}:\n{errors.read()}")
        # Linux counts in KiB.
        return Usage(used.ru_utime + used.ru_stime, wall, used.ru_maxrss * 1024 / 1e6, output.read())


def command(*words: str, checkout: Path | None = None) -> Usage:
    """Run a command of batdispatch; see `process`."""
    return process([*COMMAND, *words], checkout=checkout)
