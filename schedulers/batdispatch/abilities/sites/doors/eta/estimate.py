"""When the waiting jobs of a queue start: medians, intervals, and what they wait for."""

from __future__ import annotations

import math
from collections.abc import Collection

import msgspec
import numpy as np

from batdispatch.abilities.sites.doors.eta.calendar import NO_DATES, Calendar
from batdispatch.abilities.sites.doors.eta.calibration import INTERVALS, IntervalRecord, calibrate, raw_quantiles
from batdispatch.abilities.sites.doors.eta.experience import Experience
from batdispatch.abilities.sites.doors.eta.fit import misfit
from batdispatch.abilities.sites.doors.eta.futures import Futures
from batdispatch.abilities.sites.doors.eta.places import places_of
from batdispatch.abilities.sites.doors.eta.queue_moment import JobRows, QueueMoment
from batdispatch.abilities.sites.doors.eta.remedies import Remedy, Trials
from batdispatch.core.line.hindsight import plain


class JobEstimate(msgspec.Struct, kw_only=True):
    """When a job starts. Times are seconds from now; None: never, on this machine."""

    job: str
    user: str
    units: int
    #: In line, by the dispatcher's order: 1 goes first. None: it can never start.
    place: int | None
    #: For how long it has waited.
    waited: float
    median: float | None
    #: Quantiles of 5, 25, 50, 75 and 95 %, as the past corrects them; None: never.
    quantiles: list[float | None]
    #: From, to: the intervals that hold the start with a probability of 50 % and 90 %; None: too little is known, or
    #: they held too rarely of late, or the queue is unlike the history.
    interval_50: tuple[float, float] | None
    interval_90: tuple[float, float] | None
    #: When it starts if every job runs for its walltime and no job comes.
    plan: float | None
    #: `median`, `quantiles` and `plan` as dates; None where there is none.
    date: str | None
    quantile_dates: list[str | None]
    plan_date: str | None
    #: What it waits for.
    reason: str
    #: Why it waits, as Slurm says; None: it says nothing.
    slurm_reason: str | None = None
    #: Changes with which it starts sooner, of those that were tried; None: the question was not about this job.
    remedies: list[Remedy] | None = None


class QueueEstimate(msgspec.Struct, kw_only=True):
    """The estimates of a queue's waiting jobs, in the order in which they were submitted."""

    dispatcher: str
    #: When the queue was taken, as a date; None: its clock has none.
    taken: str | None
    #: The zone of all dates, as the tz database names it; empty: local time of a zone that has no name here.
    zone: str
    units: int
    #: ``hosts`` or ``cores``.
    unit: str
    free: int
    #: Moments of the past by which the intervals were calibrated.
    moments: int
    #: How often the intervals of 50 % and 90 % held at the last of these moments.
    records: tuple[IntervalRecord, IntervalRecord]
    #: In what the queue is unlike the history, so that there are no intervals; empty: in nothing that was looked at.
    misfit: str
    jobs: list[JobEstimate]


def estimate(
    moment: QueueMoment,
    futures: Futures,
    learned: Experience,
    seed: int,
    calendar: Calendar = NO_DATES,
    asked: Collection[str] = (),
) -> QueueEstimate:
    """Estimate when the waiting jobs of a queue start.

    Args:
        moment: the queue.
        futures: of the machine.
        learned: of its past; with fewer than 50 moments no intervals are told.
        seed: of all chance.
        calendar: tells the dates of the queue's clock.
        asked: the jobs of which is tried what would let them start sooner.

    Raises:
        InputError: the running jobs hold more than the machine has.
    """
    starts = futures.starts(moment, np.random.default_rng(seed))
    past, unit = learned.past, learned.unit
    quantiles = calibrate(raw_quantiles(starts), past.residuals(learned.until))
    plans = futures.planned(moment)
    places = places_of(learned.dispatcher, futures.units, moment)
    unlike = misfit(moment, futures.units, unit, learned.most_waiting)
    trials = Trials(moment, futures, learned, seed)
    waiting, free = moment.waiting, futures.units - int(moment.running.units.sum())
    half, most = past.records(learned.until)

    def date(seconds: float) -> str | None:
        return calendar.date(moment.now + seconds)

    def remedies(row: int) -> list[Remedy] | None:
        if moment.waiting.ids[row] not in asked:
            return None
        found = trials.remedies(row, places, plans)
        return [msgspec.structs.replace(each, date=date(each.median)) for each in found]

    return QueueEstimate(
        dispatcher=learned.dispatcher,
        taken=date(0.0),
        zone=calendar.zone,
        units=futures.units,
        unit=unit,
        free=free,
        moments=len(past.at),
        records=(half, most),
        misfit=unlike,
        jobs=[
            JobEstimate(
                job=waiting.ids[row],
                user=waiting.users[row],
                units=int(waiting.units[row]),
                place=int(places[row]) or None,
                waited=moment.now - float(waiting.submission[row]),
                median=_finite(each[2]),
                quantiles=list(map(_finite, each)),
                interval_50=None if unlike else _interval(each, half),
                interval_90=None if unlike else _interval(each, most),
                plan=_finite(plans[row]),
                date=date(each[2]),
                quantile_dates=list(map(date, each)),
                plan_date=date(plans[row]),
                reason=_reason(waiting, row, free, futures.units, unit),
                remedies=remedies(row),
            )
            for row, each in enumerate(quantiles)
        ],
    )


def _finite(seconds: float) -> float | None:
    return float(seconds) if math.isfinite(seconds) else None


def _interval(quantiles: np.ndarray, record: IntervalRecord) -> tuple[float, float] | None:
    low, high = (float(quantiles[end]) for end in INTERVALS[record.share])
    return (low, high) if record.covers and math.isfinite(high) else None


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
