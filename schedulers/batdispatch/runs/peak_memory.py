"""The most memory that this process held at a time, and how to begin anew."""

import re
import resource
import sys
from contextlib import suppress
from pathlib import Path

_PROCESS = Path("/proc/self")


def peak_memory() -> int:
    """Return the peak memory of this process since it began, or since `forget_peak`, in bytes.

    Linux hands what `getrusage` calls the peak from a process to the program that it starts, so that a small worker of
    a large process would have the peak of the large one. Its own stands in the status of a process.
    """
    with suppress(OSError):
        if own := re.search(r"^VmHWM:\s*(\d+) kB$", (_PROCESS / "status").read_text(), re.MULTILINE):
            return int(own[1]) * 1024
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024


def forget_peak() -> None:
    """Let the peak memory of this process count from now on: of a worker, it is that of one task. On Linux only."""
    with suppress(OSError):
        (_PROCESS / "clear_refs").write_text("5")
