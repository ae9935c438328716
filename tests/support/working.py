"""Tasks for worker processes: a task is a word that says what to do."""

import gc
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from batdispatch.core.errors import InputError, SimulationError

#: How many tasks this process has done.
DONE: list[str] = []


def work(task: str, tell: Callable[[Any], None]) -> None:
    """Do what the first word of a task says with the second, and tell the process and how many tasks it did before."""
    verb, _, rest = task.partition(" ")
    tell((os.getpid(), len(DONE), signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, ())))
    DONE.append(task)
    if verb == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    if verb == "await":
        deadline = time.monotonic() + 60
        while not Path(rest).exists():
            assert time.monotonic() < deadline, "it does not come about"
            time.sleep(0.01)
    if verb == "touch":
        Path(rest).touch()
    if verb in ("wrong", "fail", "break"):
        raise {"wrong": InputError, "fail": SimulationError, "break": ZeroDivisionError}[verb](rest)


def thresholds(tell: Callable[[Any], None]) -> tuple[int, int, int]:
    """Return after how many new objects this process looks for circles of garbage."""
    return gc.get_threshold()


#: What was handed to this process, each time that it was.
HANDED: list[str] = []


def hand(text: str) -> None:
    HANDED.append(text)


def tell_handed(task: str, tell: Callable[[Any], None]) -> None:
    tell((os.getpid(), HANDED))
