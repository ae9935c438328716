"""evalys, fed from our frames: its own reader takes 16 s for 100,000 jobs, and its imports talk.

Notebooks and ``export evalys`` use its job sets and figures. Notebooks and pages have Gantt charts and load curves of
their own (`gantt`, `curves`): evalys and pandas take longer to import than these take to draw.
"""

from __future__ import annotations

import io
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from importlib import import_module
from types import ModuleType
from typing import Any

import pandas as pd
from procset import ProcSet

from batdispatch.core.jobs.job import JobState


class _Later(ModuleType):
    """A library that is imported once something in it is asked for."""

    def __getattr__(self, name: str) -> Any:
        return getattr(import_module(self.__name__), name)


@contextmanager
def quiet() -> Iterator[None]:
    """Let evalys neither print nor warn."""
    with warnings.catch_warnings(), redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        warnings.simplefilter("ignore")
        yield


@contextmanager
def _quick() -> Iterator[None]:
    """Import evalys' pictures without seaborn: only old ones need it, and its SciPy takes as long as all the rest."""
    stands_in = "seaborn" not in sys.modules
    if stands_in:
        sys.modules["seaborn"] = _Later("seaborn")
    try:
        with quiet():
            yield
    finally:
        if stands_in:
            del sys.modules["seaborn"]


def jobset(frame: pd.DataFrame, hosts: int) -> Any:
    """Return the rows of a frame that ran as an evalys JobSet."""
    started = frame[frame["final_state"] != JobState.REJECTED.value].reset_index(drop=True)
    columns = started.drop(columns=["allocated_resources"])
    columns["execution_time"] = columns["finish_time"] - columns["starting_time"]
    columns["allocated_resources"] = [ProcSet.from_str(text) for text in started["allocated_resources"]]
    with _quick():
        from evalys.jobset import JobSet

        return JobSet(columns, resource_bounds=(0, max(hosts - 1, 0)))
