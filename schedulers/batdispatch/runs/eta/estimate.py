"""When the waiting jobs of a queue start: medians, intervals, and what they wait for."""

from __future__ import annotations

import math

import msgspec
import numpy as np

from batdispatch.core.line.hindsight import plain
from batdispatch.runs.eta.calibration import FEWEST, calibrate, raw_quantiles
from batdispatch.runs.eta.futures import Futures
from batdispatch.runs.eta.queue_moment import JobRows, QueueMoment


class JobEstimate(msgspec.Struct, kw_only=True):
    """When a job starts. Times are seconds from now; None: never, on this machine."""

    job: str
    user: str
    units: int
    #: For how long it has waited.
    waited: float
    median: float | None
    #: From, to: the intervals that hold the start with a probability of 50 % and 90 %; None: too little is known.
    interval_50: tuple[float, float] | None
    interval_90: tuple[float, float] | None
    #: When it starts if every job runs for its walltime and no job comes.
    plan: float | None
    #: What it waits for.
    reason: str


class QueueEstimate(msgspec.Struct, kw_only=True):
    """The estimates of a queue's waiting jobs, in the order in which they were submitted."""

    dispatcher: str
    units: int
    #: ``hosts`` or ``cores``.
    unit: str
    free: int
    #: Moments of the past by which the intervals were calibrated.
    moments: int
    jobs: list[JobEstimate]


def estimate(
    moment: QueueMoment, futures: Futures, residuals: np.ndarray, *, dispatcher: str, unit: str, seed: int
) -> QueueEstimate:
    """Estimate when the waiting jobs of a queue start.

    Args:
        moment: the queue.
        futures: of the machine.
        residuals: of the past, float64 [moment, level]; with fewer than 50 no intervals are told.
        dispatcher: its name, with options in brackets.
        unit: ``hosts`` or ``cores``.
        seed: of all chance.

    Raises:
        InputError: the running jobs hold more than the machine has.
    """
    starts = futures.starts(moment, np.random.default_rng(seed))
    quantiles = calibrate(raw_quantiles(starts), residuals)
    plans = futures.planned(moment)
    waiting, free = moment.waiting, futures.units - int(moment.running.units.sum())
    return QueueEstimate(
        dispatcher=dispatcher,
        units=futures.units,
        unit=unit,
        free=free,
        moments=len(residuals),
        jobs=[
            JobEstimate(
                job=waiting.ids[row],
                user=waiting.users[row],
                units=int(waiting.units[row]),
                waited=moment.now - float(waiting.submission[row]),
                median=_finite(each[2]),
                interval_50=_interval(each[1], each[3], len(residuals)),
                interval_90=_interval(each[0], each[4], len(residuals)),
                plan=_finite(plans[row]),
                reason=_reason(waiting, row, free, futures.units, unit),
            )
            for row, each in enumerate(quantiles)
        ],
    )


def _finite(seconds: float) -> float | None:
    return float(seconds) if math.isfinite(seconds) else None


def _interval(low: float, high: float, moments: int) -> tuple[float, float] | None:
    return (float(low), float(high)) if moments >= FEWEST and math.isfinite(high) else None


def _reason(waiting: JobRows, row: int, free: int, units: int, unit: str) -> str:
    """Return what a job waits for, in the words of ``explain-wait``."""
    asked, before = int(waiting.units[row]), waiting.units[:row]
    if asked > units:
        return f"asks for {plain(asked)} {unit}, and the machine has {plain(units)}"
    ahead = ""
    if row:
        jobs = "1 job" if row == 1 else f"{plain(row)} jobs"
        ahead = f"; {jobs} that came before it wait for {plain(int(before.sum()))} {unit}"
    room = f"{plain(free)} {unit} free, {plain(asked)} asked for"
    return (f"short of {unit}: {room}" if asked > free else f"room for it: {room}") + ahead
