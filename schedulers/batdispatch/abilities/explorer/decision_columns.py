"""How runs decided over time, as columns for a page: the time of each decision, and what solvers achieved.

Where a run decided more often than a page can hold, neighbouring decisions are put together: how many they are, how
long they took in all, and how long the slowest took, which keeps its moment. ``assets/curves/decisions.js`` and
``assets/curves/plans.js`` read the columns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import NDArray

from batdispatch.abilities.explorer.streams import Whole, steps
from batdispatch.core.jobs.job_table import Floats
from batdispatch.results.decisions import INCUMBENT, NONE, PROVEN, DecisionTimes, Plans, plans_of, read_decision_times
from batdispatch.results.runs import Run

#: Most rows for one run, and for all runs of a page together: a row takes some six bytes.
MOST_OF_A_RUN, MOST_OF_A_PAGE = 2048, 16_384
#: Largest gap shown; one part of ten thousand of the cost is one.
_GAP_UNIT, _MOST_GAP = 1e-4, 1e6


def decision_columns(run: Run, moments: Callable[[Floats], Whole], runs: int) -> Iterable[tuple[str, Whole]]:
    """Yield the columns of how a run decided; none, if its folder does not say it.

    Args:
        run: the run.
        moments: gives seconds of the simulation in the page's units of time.
        runs: how many the page holds.

    Raises:
        InputError: a file of the run is malformed.
    """
    most = max(1, min(MOST_OF_A_RUN, MOST_OF_A_PAGE // runs))
    times = read_decision_times(run.folder)
    if times is not None:
        yield from time_columns(times, moments(times.time).clip(0), most)
    if run.plans is not None:
        plans = plans_of(run.plans)
        yield from plan_columns(plans, moments(plans.time).clip(0), most)


def time_columns(times: DecisionTimes, at: Whole, most: int) -> Iterable[tuple[str, Whole]]:
    """Yield the columns of decision times; times of decisions are in microseconds."""
    took = np.rint(times.seconds * 1e6).astype(np.int64)
    begins, size = _groups(len(at), most)
    slowest = _slowest(took, size)
    yield "decided_at", steps(at[slowest])
    yield "decided_count", np.diff(np.append(begins, len(at)))
    yield "decided_sum", _sums(took, begins)
    yield "decided_most", took[slowest]


def plan_columns(plans: Plans, at: Whole, most: int) -> Iterable[tuple[str, Whole]]:
    """Yield the columns of plans; gaps are in parts of ten thousand of the cost."""
    known = np.isfinite(plans.gap) & (plans.status != NONE)
    gap = np.where(known, plans.gap, 0.0).clip(0, _MOST_GAP)
    parts = np.rint(gap / _GAP_UNIT).astype(np.int64)
    begins, size = _groups(len(at), most)
    widest = _slowest(np.where(known, parts, -1), size)
    yield "plan_at", steps(at[widest])
    for name, status in (("plan_proven", PROVEN), ("plan_found", INCUMBENT), ("plan_none", NONE)):
        yield name, _sums((plans.status == status).astype(np.int64), begins)
    yield "plan_gaps", _sums(known.astype(np.int64), begins)
    yield "plan_sum", _sums(parts, begins)
    yield "plan_most", parts[widest]


def _groups(count: int, most: int) -> tuple[NDArray[np.int64], int]:
    """Return where each group of neighbours begins, at most `most`, and the size of all groups but the last."""
    size = max(1, -(-count // most))
    return np.arange(0, count, size, dtype=np.int64), size


def _sums(values: Whole, begins: NDArray[np.int64]) -> Whole:
    return np.asarray(np.add.reduceat(values, begins), dtype=np.int64) if len(begins) else values


def _slowest(values: Whole, size: int) -> NDArray[np.int64]:
    """Return the place of the largest value in each group of neighbours; if values are equal, the first place."""
    missing = -len(values) % size
    padded = np.append(values, np.full(missing, np.iinfo(np.int64).min))
    groups = padded.reshape(-1, size)
    return np.asarray(np.arange(len(groups)) * size + groups.argmax(axis=1), dtype=np.int64)
