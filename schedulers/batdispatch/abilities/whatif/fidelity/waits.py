"""The waits of the same jobs in a log and in a simulation, and how far they are apart."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from batdispatch.abilities.campaigns.statistics.correlation import rank_correlation, share_of_pairs

Floats = NDArray[np.float64]

WEEK = 604_800.0
#: Added to waits before logarithms are taken, s: what is shorter than this counts as none.
LEAST_WAIT = 1.0
#: Before any log, s.
LONG_AGO = 1e12


@dataclass(frozen=True)
class Waits:
    """Jobs and when they ran somewhere: in the log, or in a simulation. Times in seconds, float64 [job].

    Attributes:
        submission: when each job came.
        start: when it started.
        runtime: how long it ran.
        units: hosts that it held.
        hosts: of the machine.
    """

    submission: Floats
    start: Floats
    runtime: Floats
    units: Floats
    hosts: int

    @cached_property
    def wait(self) -> Floats:
        """Seconds from submission to start; what a log has below 0 counts as 0."""
        return np.maximum(self.start - self.submission, 0.0)

    @cached_property
    def held(self) -> tuple[Floats, Floats]:
        """Return (times, hosts held from each on): from long ago, when none are, to the last end."""
        times = np.concatenate([self.start, self.start + self.runtime])
        change = np.concatenate([self.units, -self.units])
        at, place = np.unique(times, return_inverse=True)
        held = np.cumsum(np.bincount(place, change, len(at)))
        return np.concatenate([[-LONG_AGO], at]), np.concatenate([[0.0], held])

    def by_week(self, weeks: int, begin: float) -> tuple[Floats, Floats]:
        """Return (mean wait of the jobs that came in each week, utilisation), float64 [week].

        A week without a job has the wait nan. Hosts that are busy at the end of the last week do not count.
        """
        place = ((self.submission - begin) // WEEK).astype(int).clip(0, weeks - 1)
        count = np.bincount(place, minlength=weeks)
        with np.errstate(invalid="ignore", divide="ignore"):
            wait = np.bincount(place, self.wait, weeks) / count
        at, held = self.held
        area = np.concatenate([[0.0], np.cumsum(held[:-1] * np.diff(at))])
        edges = begin + WEEK * np.arange(weeks + 1)
        return wait, np.diff(np.interp(edges, at, area)) / (WEEK * self.hosts)

    def idle_share(self) -> float:
        """Return the share of all waiting time in which as many hosts as the waiting job needs were free.

        nan if nobody waits. A dispatcher may have reasons for it: the hosts are promised to another job, or were not
        there, which a log does not say.
        """
        at, held = self.held
        free = self.hosts - held
        first = np.searchsorted(at, self.submission, side="right") - 1
        last = np.searchsorted(at, self.start, side="left")
        idle = 0.0
        for row in np.flatnonzero(self.wait > 0):
            begin, end = first[row], last[row]
            edges = np.concatenate([[self.submission[row]], at[begin + 1 : end], [self.start[row]]])
            steps = free[begin : begin + len(edges) - 1]
            idle += float(np.diff(edges)[steps >= self.units[row]].sum())
        total = float(self.wait.sum())
        return idle / total if total else np.nan


class Apart(NamedTuple):
    """How far the waits of the same jobs are apart.

    Attributes:
        ratio: mean wait of the second over that of the first; infinite or nan where nobody waits in the first.
        decades: Wasserstein distance between the distributions of log10(wait + 1 s). 0.3: averaged over the quantiles,
            waits differ by a factor of two.
        rank: Spearman's correlation of the jobs' waits; nan where all waits of one are equal.
        pairs: share of the pairs of jobs of which the same one waits longer in both; nan where no two waits differ.
        weeks: Spearman's correlation of the weekly mean waits, over weeks with jobs; nan where there are fewer than 3.
        busy: largest difference between weekly utilisations, 0 to 1.
    """

    ratio: float
    decades: float
    rank: float
    pairs: float
    weeks: float
    busy: float


def apart(first: Waits, second: Waits) -> Apart:
    """Compare the waits of the same jobs, in the same order."""
    begin = float(first.submission.min())
    weeks = max(int((float(first.submission.max()) - begin) // WEEK), 1)
    (one, busy), (other, busy_too) = first.by_week(weeks, begin), second.by_week(weeks, begin)
    known = ~np.isnan(one)
    with np.errstate(invalid="ignore", divide="ignore"):
        ratio = float(np.float64(second.wait.mean()) / np.float64(first.wait.mean()))
    return Apart(
        ratio=ratio,
        decades=float(stats.wasserstein_distance(_decades(first.wait), _decades(second.wait))),
        rank=rank_correlation(first.wait, second.wait),
        pairs=share_of_pairs(first.wait, second.wait),
        weeks=rank_correlation(one[known], other[known]) if known.sum() >= 3 else np.nan,
        busy=float(np.abs(busy - busy_too).max()),
    )


def _decades(wait: Floats) -> Floats:
    return np.log10(wait + LEAST_WAIT)
