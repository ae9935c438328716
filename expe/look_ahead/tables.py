"""Ratios of what dispatchers do on slices, and their tables."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from batdispatch.core.errors import SimulationError
from batdispatch.results.jobs_file import read_columns
from batdispatch.results.lineage import FILE as LINEAGE
from batdispatch.results.lineage import read_lineage
from batdispatch.results.metrics.compute import STARVATION
from batdispatch.results.metrics.sample import sample_of
from batdispatch.results.runs import read_result
from batdispatch.results.statistics.bootstrap import Draws, mean_by_bootstrap
from batdispatch.results.statistics.estimate import Estimate
from expe.common.tables import table

#: Added to both waits of a ratio, s: the bounded slowdown's threshold. So a slice in which nobody waits counts as 1.
ADDED = 10.0
#: Of the bootstrap over slices.
DRAWS = Draws(seed=7)
#: Fewer slices than these have no interval in tables.
FEWEST = 4
METRICS = {"slowdown": "slowdown", "wait": "mean wait", "high": "99 % wait", "longest": "longest wait"}


class Served(NamedTuple):
    """What came of one run: mean bounded slowdown; mean, 99 % and longest wait; decisions' CPU times; in s.

    `starved` is the number of starved jobs; NaN: no run of easy stands beside.
    """

    slowdown: float
    wait: float
    high: float
    longest: float
    decision: float
    slowest: float
    high_decision: float
    starved: float = math.nan


#: What a dispatcher did on each (log, slice).
Runs = Mapping[tuple[str, str], Served]


def served(run: Path, starved: float = math.nan) -> Served:
    """Return what came of a run.

    Args:
        run: its folder.
        starved: the number of starved jobs.

    Raises:
        SimulationError: a job did not start.
    """
    result, jobs = read_result(run), read_columns(run / "jobs.csv")
    waits = sample_of(jobs, lineage=read_lineage(run / LINEAGE, jobs)).wait
    if len(waits) != result.metrics["nb_jobs"]:
        raise SimulationError(f"{run}: a job did not start")
    return Served(
        slowdown=float(result.metrics["mean_bounded_slowdown"] or 0),
        wait=float(waits.mean()),
        high=float(np.quantile(waits, 0.99)),
        longest=float(waits.max()),
        decision=float(result.decisions["seconds_mean"] or 0),
        slowest=float(result.decisions["seconds_max"] or 0),
        high_decision=float(result.decisions["seconds_p99"] or 0),
        starved=starved,
    )


def columns(row: Mapping[str, Any], run: Path) -> dict[str, Any]:
    """Return on what a run was, and what came of it: for tables in one value, for claims in columns.

    The longest wait of a column has the time that is added before ratios are taken.
    """
    log = row["workload"].partition(", ")[0]
    number = row.get("workload.slice")
    piece = f"{log}-{row['workload.seed']}" if number is None else f"{log}-{int(number):02}"
    starved = row.get(STARVATION.name)
    found = served(run, math.nan if starved is None else float(starved))
    more = {"slowdown": found.slowdown, "late": found.longest + ADDED, "decision_ms": 1000 * found.decision}
    return {"log": log, "piece": piece, "served": found, **more}


def log_ratios(runs: Runs, base: Runs, metric: str, log: str | None = None) -> NDArray[np.float64]:
    """Return the logarithm of ours over theirs on each slice that both ran on; `log`: only of this one."""
    added = 0.0 if metric == "slowdown" else ADDED
    both = [key for key in runs if key in base and log in (None, key[0])]
    ours, theirs = (np.log([getattr(one[key], metric) + added for key in both]) for one in (runs, base))
    return np.asarray(ours - theirs)


def shown(found: NDArray[np.float64], *, interval: bool = True) -> str:
    """Return the geometric mean of ratios, with its interval unless there are few of them; empty without any.

    Args:
        found: their logarithms.
        interval: whether to show one.
    """
    if not len(found):
        return ""
    value = mean_of(found)
    if interval and len(found) >= FEWEST:
        return value.text()
    return f"{value.value:.2f}"


def mean_of(found: NDArray[np.float64]) -> Estimate:
    """Return the geometric mean of ratios, of which the logarithms are given, with its interval."""
    return mean_by_bootstrap(found, DRAWS).transform(math.exp)


def logs_table(rows: Mapping[str, Runs], metric: str, base: str, *, interval: bool = True) -> str:
    """Return the ratios of a metric to those of one of the rows, by log."""
    logs = list(dict.fromkeys(key[0] for runs in rows.values() for key in runs))
    body = [
        [name, *(shown(log_ratios(runs, rows[base], metric, log), interval=interval) for log in logs)]
        for name, runs in rows.items()
        if name != base
    ]
    return table([f"{METRICS[metric]} over {base}", *logs], body)


def milliseconds(times: Sequence[float]) -> list[str]:
    """Return times, given in s, as tables show them."""
    return [f"{1000 * value:.2f}" for value in times]
