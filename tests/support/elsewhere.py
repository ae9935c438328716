"""Functions that tests call in another process."""

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from batdispatch.core import errors

Progress = Callable[[int, int], None]


def add(first: Any, second: Any, progress: Progress) -> dict[str, Any]:
    return {"both": [first, second], "process": os.getpid()}


def count(total: int, progress: Progress) -> None:
    for number in range(total):
        progress(number + 1, total)


def fail(kind: str, progress: Progress) -> None:
    raise getattr(errors, kind)("it went wrong")


def crash(words: str, progress: Progress) -> None:
    os.write(2, words.encode())
    os.abort()


def divide(progress: Progress) -> float:
    return 1 / 0


def read(path: str, progress: Progress) -> str:
    return Path(path).read_text()


def warn(words: str, progress: Progress) -> None:
    sys.stderr.write(words)


def linger(progress: Progress) -> None:
    # As the number of jobs that ended, so that the caller learns of this process.
    progress(os.getpid(), os.getpid())
    time.sleep(60)
