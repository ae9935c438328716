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


#: Runs a program and writes down its status and usage. A process of its own, since what a program has used in memory is
#: told to be at least what the process that started it held then.
_LAUNCHER = """
import os, sys
child = os.posix_spawnp(sys.argv[2], sys.argv[2:], os.environ)
_, status, used = os.wait4(child, 0)
with open(sys.argv[1], "w") as file:
    print(os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime, used.ru_maxrss, file=file)
"""


def process(words: Sequence[str], *, checkout: Path | None = None, folder: Path | None = None) -> Usage:
    """Run a program, with the package of a checkout if one is named; what it says against a failure is shown.

    Python keeps its compiled modules for the next time, as those of an installed package are kept.

    Raises:
        SystemExit: it failed.
    """
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    if checkout is not None:
        environment["PYTHONPATH"] = str(checkout / "schedulers")
    with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as errors:
        with tempfile.NamedTemporaryFile("r") as usage:
            launch = [sys.executable, "-S", "-E", "-c", _LAUNCHER, usage.name, *words]
            began = time.perf_counter()
            subprocess.run(launch, env=environment, cwd=folder, stdout=output, stderr=errors, check=True)
            wall = time.perf_counter() - began
            status, cpu, memory = usage.read().split()
        output.seek(0)
        errors.seek(0)
        if int(status):
            raise SystemExit(f"{' '.join(words)} ended with {status}:\n{errors.read()}")
        # Linux counts in KiB.
        return Usage(float(cpu), wall, int(memory) * 1024 / 1e6, output.read())


def command(*words: str, checkout: Path | None = None) -> Usage:
    """Run a command of batdispatch; see `process`."""
    return process([*COMMAND, *words], checkout=checkout)
