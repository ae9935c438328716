"""The traits of a workload, worked out from its jobs."""

from __future__ import annotations

import math
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from batdispatch.core.jobs.profiles import runtime_of
from batdispatch.inputs.workloads import Workload
from batdispatch.inputs.workloads.dates import LogDates, dates_of

Floats = NDArray[np.float64]

DAY, WEEK = 86_400.0, 604_800.0
WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
#: 1970 began on a Thursday.
_FIRST_WEEKDAY = 3
#: No walltime is taken to be shorter, s: the resolution of simulators' clocks. A share of less may be beyond numbers.
_TICK = 1e-6
#: Quantiles that are told.
QUANTILES = (0.0, 0.1, 0.5, 0.9, 0.99, 1.0)
#: Parts of 0 to 100 % in which the accuracy of walltimes is counted.
ACCURACY_PARTS = 20


class User(NamedTuple):
    """What one user submitted."""

    name: str
    jobs: int
    #: Share of all work.
    work: float


class Estimates(NamedTuple):
    """How far the walltimes of jobs are from their run times, among the jobs that have both."""

    #: Share of these jobs whose walltime is longer than the run time, and shorter.
    over: float
    under: float
    #: Unit-seconds that over-estimates reserve and do not use, on average over the over-estimated jobs.
    mean_space: float
    #: Hours of the whole machine that they leave to backfilling on each day; None: size or time is unknown.
    hours_a_day: float | None


class Sizes(NamedTuple):
    """Jobs by size, in classes that end at powers of two."""

    #: Largest size of each class, int64 [class].
    largest: NDArray[np.int64]
    #: Share of the jobs, and of the work, float64 [class].
    jobs: Floats
    work: Floats

    @property
    def names(self) -> list[str]:
        """How each class is called: ``1``, ``2``, ``3-4``, ``5-8``."""
        return [f"{last // 2 + 1}-{last}" if last > 2 else str(last) for last in map(int, self.largest)]


class Traits:
    """Jobs of a workload as columns, and what follows from them. Nothing here changes.

    Attributes:
        workload: the workload.
        capacity: units (hosts, or cores of hosts that jobs share) of the machine; None: unknown.
        unit: what a unit is called.
        submission: s, float64 [job], as all that follow.
        size: units.
        runtime: s if nothing stops the job; nan: it depends on the platform.
        walltime: s; infinite: none.
        start: s, when the job started in the log that it is from; nan: unknown.
        work: unit-seconds until the job ends or its walltime ends it; 0 where the run time is unknown.
    """

    def __init__(self, workload: Workload, *, capacity: float | None = None, starts: Floats | None = None) -> None:
        """Look at a workload.

        Args:
            workload: at least one job.
            capacity: cores of the machine where jobs share hosts, else hosts; None: unknown, or ``nb_res`` of hosts.
            starts: of the jobs in the log, s, float64 [job].
        """
        jobs = workload.jobs
        self.workload = workload
        # Jobs that ask alike share a request.
        cores = {id(job.request): dict(job.request.per_unit or ()).get("core", 0) for job in jobs}
        shared = any(cores.values())
        self.unit = "core" if shared else "host"
        each = [cores[id(job.request)] or 1 for job in jobs]
        self.capacity = capacity or (None if shared else workload.nb_res)
        self.submission = np.array([job.submission for job in jobs])
        self.size = np.array([job.units for job in jobs], dtype=np.float64) * each
        known = {name: runtime_of(profile, workload.profiles) for name, profile in workload.profiles.items()}
        self.runtime = np.array([math.nan if (took := known[job.profile]) is None else took for job in jobs])
        self.walltime = np.array([job.walltime for job in jobs])
        self.start = starts if starts is not None and len(starts) == len(jobs) else np.full(len(jobs), math.nan)
        self.work = self.size * np.nan_to_num(np.minimum(self.runtime, self.walltime))
        names = {name: row for row, name in enumerate(dict.fromkeys(job.user for job in jobs))}
        self._users = list(names)
        self._user = np.array([names[job.user] for job in jobs])

    # ------------------------------------------------------------------ over time

    @property
    def span(self) -> float:
        """Seconds from the first submission to the last."""
        return float(self.submission[-1] - self.submission[0])

    @property
    def offered_load(self) -> float | None:
        """Work over what the machine can do from the first submission to the last; None: one of these is unknown."""
        if not self.capacity or self.span <= 0 or np.isnan(self.runtime).any():
            return None
        return float(self.work.sum() / (self.capacity * self.span))

    def submitted_load(self, seconds: float) -> tuple[Floats, Floats]:
        """Return ``(edges, load)`` of the work submitted in each stretch of so many seconds, float64 [stretch + 1].

        Work over what the machine can do in that time; the last value repeats, as step curves have it. The stretches
        begin at the first submission; one at the end that is not full is left out, unless it is the only one. Where the
        capacity is unknown, the load is in units.
        """
        begin = self.submission[0]
        count = max(1, int(self.span // seconds))
        place = ((self.submission - begin) // seconds).astype(int)
        load = np.bincount(place, self.work, count)[:count] / (seconds * (self.capacity or 1))
        return begin + seconds * np.arange(count + 1), np.append(load, load[-1])

    # ------------------------------------------------------------------ distributions

    @cached_property
    def interarrival(self) -> Floats:
        """Seconds between submissions, float64 [job - 1]."""
        return np.diff(self.submission)

    @cached_property
    def limited(self) -> NDArray[np.bool_]:
        """Whether each job has a walltime and a known run time, bool [job]."""
        limited: NDArray[np.bool_] = np.isfinite(self.walltime) & ~np.isnan(self.runtime)
        return limited

    @cached_property
    def accuracy(self) -> Floats:
        """Run time over walltime of the jobs that have both, float64 [limited job]; above 1: they are killed."""
        accuracy: Floats = self.runtime[self.limited] / np.maximum(self.walltime[self.limited], _TICK)
        return accuracy

    @cached_property
    def waits(self) -> Floats:
        """Seconds that jobs waited in the log, float64 [job whose start is known]."""
        waits = self.start - self.submission
        known: Floats = np.maximum(waits[~np.isnan(waits)], 0.0)
        return known

    def accuracy_shares(self) -> Floats:
        """Return the share of the limited jobs in each part of 0 to 100 %, and last of those above it, float64 [21]."""
        place = np.minimum(self.accuracy * ACCURACY_PARTS, ACCURACY_PARTS).astype(int)
        # Exactly all of it is not more than all of it.
        place[(self.accuracy <= 1.0) & (place == ACCURACY_PARTS)] = ACCURACY_PARTS - 1
        shares: Floats = np.bincount(place, minlength=ACCURACY_PARTS + 1) / max(len(place), 1)
        return shares

    def estimates(self) -> Estimates | None:
        """Return how walltimes compare with run times, or None if no job has both.

        As in the table of Intrepid of Gainaru et al. (ICPP 2019), whose slides state no formulas. An over-estimated job
        leaves its size times what its walltime exceeds its run time by. The hours a day are the sum of this over all
        jobs, divided by the machine's size and by the days from the first submission to the last: what remains unused
        if nothing is backfilled into it.
        """
        if not self.limited.any():
            return None
        spare = (self.walltime - self.runtime)[self.limited]
        over = spare > 0
        space = (self.size[self.limited] * spare)[over]
        known = self.capacity and self.span > 0
        return Estimates(
            over=float(over.mean()),
            under=float((spare < 0).mean()),
            mean_space=float(space.mean()) if len(space) else 0.0,
            hours_a_day=float(space.sum() / self.capacity / self.span * (DAY / 3600.0)) if known else None,
        )

    def quantiles(self) -> dict[str, tuple[str, list[float], float]]:
        """Return name -> unit, `QUANTILES` and mean of each distribution that is known."""
        known = {
            "size": (f"{self.unit}s", self.size),
            "run time": ("s", self.runtime[~np.isnan(self.runtime)]),
            "walltime": ("s", self.walltime[np.isfinite(self.walltime)]),
            "run time / walltime": ("", self.accuracy),
            "time between submissions": ("s", self.interarrival),
            "waiting time in the log": ("s", self.waits),
        }
        return {
            name: (unit, [float(value) for value in np.quantile(values, QUANTILES)], float(values.mean()))
            for name, (unit, values) in known.items()
            if len(values)
        }

    def sizes(self) -> Sizes:
        """Return how many jobs, and how much work, there is of each class of sizes; empty ones within are kept."""
        place = np.ceil(np.log2(self.size) - 1e-9).astype(int)
        first, last = int(place.min()), int(place.max())
        count = last - first + 1
        jobs = np.bincount(place - first, minlength=count) / len(place)
        work = np.bincount(place - first, self.work, count) / max(float(self.work.sum()), 1e-300)
        return Sizes(2 ** np.arange(first, last + 1, dtype=np.int64), jobs, work)

    # ------------------------------------------------------------------ who and when

    def users(self) -> list[User]:
        """Return the users that have a name, those with most work first."""
        jobs = np.bincount(self._user, minlength=len(self._users))
        work = np.bincount(self._user, self.work, len(self._users)) / max(float(self.work.sum()), 1e-300)
        order = sorted(range(len(self._users)), key=lambda row: (-work[row], -jobs[row], self._users[row]))
        return [User(self._users[row], int(jobs[row]), float(work[row])) for row in order if self._users[row]]

    def users_of_half(self) -> int:
        """Return the fewest users that submitted half of the work of all users."""
        work = np.cumsum([user.work for user in self.users()])
        return int(np.searchsorted(work, work[-1] / 2) + 1) if len(work) else 0

    @property
    def clock(self) -> str:
        """Return whose clock arrivals are told by: a time zone's name, ``UTC``, or empty where no date is known."""
        return "" if self._dates is None else self._dates.zone

    @cached_property
    def _dates(self) -> LogDates | None:
        return dates_of(self.workload.about)

    @cached_property
    def _local(self) -> Floats:
        """Seconds of local time since 1970 of each submission, or of the workload's own clock."""
        if self._dates is None:
            return self.submission
        begins, offsets = np.array(self._dates.offsets(float(self.submission[0]), float(self.submission[-1]))).T
        ahead: Floats = offsets[np.searchsorted(begins, self.submission, side="right") - 1]
        return self.submission + self._dates.begin + ahead

    def by_hour(self) -> Floats:
        """Return the share of the jobs submitted in each hour of the day, float64 [24]."""
        shares: Floats = np.bincount((self._local % DAY // 3600).astype(int), minlength=24) / len(self.submission)
        return shares

    def by_weekday(self) -> Floats | None:
        """Return the share of the jobs submitted on each day from Monday on, float64 [7]; None: no date is known."""
        if not self.clock:
            return None
        days = ((self._local // DAY + _FIRST_WEEKDAY) % 7).astype(int)
        shares: Floats = np.bincount(days, minlength=7) / len(self.submission)
        return shares

    def months(self) -> list[str]:
        """Return the month of each submission, as 2026-03, in local time; empty texts: no date is known."""
        if not self.clock:
            return [""] * len(self.submission)
        return list(map(str, np.datetime_as_string(self._local.astype("datetime64[s]"), unit="M")))

    def demands(self) -> dict[str, float]:
        """Return the share of the jobs that ask for each resource beside cores."""
        counts: dict[str, int] = {}
        for job in self.workload.jobs:
            for name in {name for name, amount in job.request.stated if amount}:
                counts[name] = counts.get(name, 0) + 1
        return {name: count / len(self.workload.jobs) for name, count in sorted(counts.items()) if name != "core"}
