"""What a regression knows of a job when it is submitted."""

from __future__ import annotations

import math
from collections import deque

import numpy as np
from numpy.typing import NDArray

from batdispatch.core.jobs.job import Job
from batdispatch.core.line.ledger import Ledger

#: Number of features of a job.
FEATURES = 20
_DAY, _WEEK = 86_400.0, 604_800.0


class History:
    """The jobs of one user that ended."""

    def __init__(self) -> None:
        #: Run times of the last three, the latest first, s.
        self.last: deque[float] = deque(maxlen=3)
        self.jobs = 0
        self.seconds = 0.0
        self.units = 0
        #: When the latest ended, s.
        self.ended = 0.0

    def add(self, job: Job, runtime: float, ended: float) -> None:
        """Remember a job that ran for `runtime` and ended at `ended`, in seconds."""
        self.last.appendleft(runtime)
        self.jobs += 1
        self.seconds += runtime
        self.units += job.units
        self.ended = ended


def features(job: Job, history: History | None, ledger: Ledger) -> NDArray[np.float64]:
    """Return the features of a job that is submitted now, float64 [feature], times in seconds.

    As Gaussier et al. (SC 2015) describe a job, see `OnlineRegression`: the requested time; the user's last three run
    times, the means of the last two, the last three and all; the job's units, the mean of those of the user's earlier
    jobs, and the ratio of both; of the user's running jobs the mean units, the number, the longest and the summed time
    so far, and the summed units; the time since the user's last job ended; the time of the day and of the week, as
    points of a circle.

    An earlier run time that is not there is taken to be the requested time; a walltime that was not asked for counts
    as 0.
    """
    requested = job.walltime if job.walltime < math.inf else 0.0
    units = float(job.units)
    known = list(history.last) if history else []
    known += [requested] * (3 - len(known))
    mean, usual, pause = requested, units, 0.0
    if history:
        mean, usual = history.seconds / history.jobs, history.units / history.jobs
        pause = ledger.now - history.ended
    mine = [stay for stay in ledger.running.values() if stay.job.user == job.user]
    ages = [ledger.now - stay.start for stay in mine]
    busy = float(sum(stay.job.units for stay in mine))
    day, week = (math.tau * (ledger.now % period) / period for period in (_DAY, _WEEK))
    return np.array(
        [
            requested,
            *known,
            (known[0] + known[1]) / 2,
            sum(known) / 3,
            mean,
            units,
            usual,
            units / usual if usual else 0.0,
            busy / len(mine) if mine else 0.0,
            len(mine),
            max(ages, default=0.0),
            sum(ages),
            busy,
            pause,
            math.cos(day),
            math.sin(day),
            math.cos(week),
            math.sin(week),
        ]
    )


_PAIRS = np.triu_indices(FEATURES)


def polynomial_features(found: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return 1, the features and all their products, float64 [1 + 20 + 210]: the basis of polynomials of degree 2."""
    # A product of walltimes that nobody means may be infinite.
    with np.errstate(over="ignore", invalid="ignore"):
        return np.concatenate(([1.0], found, np.outer(found, found)[_PAIRS]))
