"""What was learned of a machine's past, in a file: who came, how long jobs ran, and how wrong estimates were."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from batdispatch.abilities.sites.doors.eta.calibration import LEVELS, MOMENTS, PastMoments, ask_at, moments_of
from batdispatch.abilities.sites.doors.eta.futures import Futures
from batdispatch.abilities.sites.doors.eta.queue_moment import Floats, History, JobRows, QueueMoment
from batdispatch.core.errors import InputError
from batdispatch.inputs.files import read_all, write_json
from batdispatch.inputs.workloads.assembly import UNITS, most_at_a_time

_WHAT = "batdispatch eta"
#: What the file says beside jobs and moments.
_ABOUT = ("dispatcher", "units", "unit", "until", "partition", "most_waiting", "zone")


class Experience(msgspec.Struct, kw_only=True):
    """What an estimate needs of the past; times are seconds on the clock of the accounts."""

    dispatcher: str
    #: Hosts or cores of the machine.
    units: int
    #: ``hosts`` or ``cores``.
    unit: str
    #: The last moment that the accounts tell of.
    until: float
    ended: JobRows
    came: JobRows
    past: PastMoments
    #: The partition whose jobs and nodes these are; empty: the whole machine.
    partition: str = ""
    #: Most hosts or cores that waiting jobs asked for at one time; None: it is unknown.
    most_waiting: int | None = None
    #: Where the people of the accounts live, as the tz database names it; empty: the accounts do not say.
    zone: str = ""

    def moment(self, now: float, running: JobRows, waiting: JobRows) -> QueueMoment:
        """Return the queue at a moment, with this past."""
        return QueueMoment(now, running, waiting, self.ended, self.came)


def learn(
    jobs: JobRows,
    futures: Futures,
    *,
    dispatcher: str,
    unit: str,
    now: float,
    seed: int,
    partition: str = "",
    zone: str = "",
) -> Experience:
    """Return what is to be learned of jobs that started before a moment.

    Args:
        jobs: in order of submission.
        futures: of the machine.
        dispatcher: its name, with options in brackets.
        unit: ``hosts`` or ``cores``.
        now: what came to pass later is not known.
        seed: of all chance.
        partition: whose jobs these are; empty: the whole machine's.
        zone: of the accounts' dates; empty: it is unknown.
    """
    history = History(jobs)
    moments = moments_of(history, now, MOMENTS, seed)
    latest = history.at(now)
    return Experience(
        dispatcher=dispatcher,
        units=futures.units,
        unit=unit,
        until=now,
        ended=latest.ended,
        came=latest.came,
        past=ask_at(history, futures, moments, now, seed),
        partition=partition,
        most_waiting=_most_waiting(jobs, now),
        zone=zone,
    )


def _most_waiting(jobs: JobRows, now: float) -> int:
    """Return how many units the waiting jobs asked for at most, until a moment, s."""
    came = jobs.take(jobs.submission <= now)
    starts = np.where(came.start <= now, came.start, np.inf)
    return most_at_a_time(came.submission, starts, {UNITS: came.units})[UNITS]


def write_experience(learned: Experience, path: Path) -> None:
    """Write what was learned.

    Raises:
        InputError: the file cannot be written.
    """
    about = {name: getattr(learned, name) for name in _ABOUT}
    rows = {name: _columns(getattr(learned, name)) for name in ("ended", "came")}
    past = learned.past
    moments = {"at": past.at.tolist(), "quantiles": past.quantiles.tolist(), "wait": _numbers(past.wait)}
    write_json(path, {"made_by": _WHAT, "levels": LEVELS, **about, **rows, "past": moments})


def _columns(rows: JobRows) -> dict[str, list[Any]]:
    return {
        name: column.tolist() if column.dtype.kind in "Oi" else _numbers(column)
        for name, column in rows._asdict().items()
        if name != "ids"
    }


def _numbers(column: Floats) -> list[float | None]:
    # JSON has neither infinity nor NaN; no column has both.
    return [number if np.isfinite(number) else None for number in column.tolist()]


class _Rows(msgspec.Struct, forbid_unknown_fields=True):
    users: list[str]
    units: list[int]
    submission: list[float]
    walltime: list[float | None]
    start: list[float | None]
    end: list[float | None]

    def rows(self) -> JobRows:
        """Return them as arrays."""
        floats = {
            name: np.array([missing if one is None else one for one in getattr(self, name)], dtype=np.float64)
            for name, missing in (("submission", 0.0), ("walltime", np.inf), ("start", np.nan), ("end", np.nan))
        }
        users = np.array(self.users, dtype=object)
        rows = JobRows(ids=users, users=users, units=np.array(self.units, dtype=np.int64), **floats)
        if len({len(column) for column in rows}) != 1:
            raise ValueError("columns of different lengths")
        return rows


class _Past(msgspec.Struct, forbid_unknown_fields=True):
    at: list[float]
    quantiles: list[list[float]]
    wait: list[float | None]

    def moments(self) -> PastMoments:
        """Return them as arrays."""
        count = len(self.at)
        if len(self.wait) != count:
            raise ValueError("columns of different lengths")
        quantiles = np.array(self.quantiles, dtype=np.float64).reshape(count, len(LEVELS))
        wait = np.array([np.inf if one is None else one for one in self.wait], dtype=np.float64)
        return PastMoments(np.array(self.at, dtype=np.float64), quantiles, wait)


class _File(msgspec.Struct, forbid_unknown_fields=True):
    made_by: str
    levels: list[float]
    dispatcher: str
    units: int
    unit: str
    until: float
    ended: _Rows
    came: _Rows
    past: _Past
    partition: str = ""
    most_waiting: int | None = None
    zone: str = ""


def read_experience(path: Path) -> Experience:
    """Read what was learned.

    Raises:
        InputError: the file is none that `write_experience` wrote.
    """
    try:
        file = msgspec.json.decode(read_all(path)[0], type=_File)
        if file.made_by != _WHAT or tuple(file.levels) != LEVELS or file.units < 1:
            raise ValueError("of another version")
        return Experience(
            dispatcher=file.dispatcher,
            units=file.units,
            unit=file.unit,
            until=file.until,
            ended=file.ended.rows(),
            came=file.came.rows(),
            past=file.past.moments(),
            partition=file.partition,
            most_waiting=file.most_waiting,
            zone=file.zone,
        )
    except (msgspec.DecodeError, ValueError) as problem:
        raise InputError(
            f"is nothing that batdispatch eta --learned wrote ({problem}): remove it, and give --accounts to make it "
            "anew",
            source=str(path),
        ) from None
