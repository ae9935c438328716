"""Ways to let a waiting job start sooner: fewer units or a shorter walltime, each simulated in the same futures."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

import msgspec
import numpy as np

from batdispatch.abilities.sites.doors.eta.calibration import calibrate, raw_quantiles
from batdispatch.abilities.sites.doors.eta.experience import Experience
from batdispatch.abilities.sites.doors.eta.futures import Futures
from batdispatch.abilities.sites.doors.eta.queue_moment import Floats, Ints, QueueMoment

#: A start is sooner if it is by at least this share of the wait, and by so many seconds.
SHARE, LEAST = 0.1, 60.0
#: Most sizes that are tried between one that helps and the job's own.
STEPS = 6
#: Walltimes are tried in whole minutes, s.
MINUTE = 60.0


class Remedy(msgspec.Struct, kw_only=True):
    """A change of one job with which it starts sooner."""

    #: What the job then asks for; one of the two is as it was.
    units: int
    #: Seconds; None: no limit.
    walltime: float | None
    #: When it then starts, seconds from now: the median.
    median: float
    #: The same as a date; None: the queue's clock has none.
    date: str | None = None


class Trials:
    """Changes of waiting jobs, tried in the futures of an estimate."""

    def __init__(self, moment: QueueMoment, futures: Futures, learned: Experience, seed: int) -> None:
        """Take what the estimate was made of."""
        self._moment, self._futures, self._learned, self._seed = moment, futures, learned, seed
        self._residuals = learned.past.residuals(learned.until)

    def median(self, row: int, units: int, walltime: float) -> float:
        """Return when a waiting job would start if it asked for this, seconds from now: the median."""
        waiting = self._moment.waiting
        changed = waiting._replace(units=waiting.units.copy(), walltime=waiting.walltime.copy())
        changed.units[row], changed.walltime[row] = units, walltime
        moment = self._moment._replace(waiting=changed)
        # The same seed draws the same arrivals and, of each job, the same place among those that ended.
        starts = self._futures.starts(moment, np.random.default_rng(self._seed), row)
        return float(calibrate(raw_quantiles(starts), self._residuals)[0, 2])

    def remedies(self, row: int, places: Ints, plans: Floats) -> list[Remedy]:
        """Return the largest size and the longest walltime, of those tried, with which a waiting job starts sooner.

        Sizes: half of its own, what is free now, and the whole machine; from the largest of them that helps, the gap to
        the job's own size is halved up to `STEPS` times. Walltimes: half of its own, and the gap until a job ahead of
        it starts by walltimes.

        Args:
            row: of the waiting job.
            places: in line, [waiting job].
            plans: starts by walltimes, seconds from now, [waiting job].
        """
        waiting, machine = self._moment.waiting, self._futures.units
        units, walltime = int(waiting.units[row]), float(waiting.walltime[row])
        now = self.median(row, units, walltime)
        latest = min(now - LEAST, now * (1.0 - SHARE)) if math.isfinite(now) else math.inf
        if latest < 0.0:
            return []

        def of_size(size: float) -> float:
            return self.median(row, int(size), walltime)

        def of_walltime(seconds: float) -> float:
            return self.median(row, units, seconds)

        found = []
        free = machine - int(self._moment.running.units.sum())
        size = _largest({units // 2, free, machine}, units, of_size, latest)
        if size is not None:
            low, high = size, (float(units), math.inf)
            for _ in range(STEPS):
                middle = (low[0] + high[0]) // 2
                if middle == low[0]:
                    break
                start = of_size(middle)
                low, high = ((middle, start), high) if start <= latest and start < math.inf else (low, (middle, start))
            found.append(Remedy(units=int(low[0]), walltime=_limit(walltime), median=low[1]))
        ahead = plans[(places > 0) & (places < places[row]) & (plans >= MINUTE)]
        limits = {walltime / 2, float(ahead.min(initial=math.inf))}
        limit = _largest({each // MINUTE * MINUTE for each in limits if each < math.inf}, walltime, of_walltime, latest)
        if limit is not None:
            found.append(Remedy(units=units, walltime=limit[0], median=limit[1]))
        return found


def _largest(
    tried: Iterable[float], own: float, median: Callable[[float], float], latest: float
) -> tuple[float, float] | None:
    """Return the largest value below a job's own with which it starts by `latest`, and when; times in s."""
    for value in sorted((each for each in tried if 0 < each < own), reverse=True):
        start = median(value)
        if start <= latest and start < math.inf:
            return value, start
    return None


def _limit(walltime: float) -> float | None:
    return walltime if math.isfinite(walltime) else None
