"""How wrong estimates were at moments of the past, and quantiles that take account of it.

What is known of a moment of the past depends on when one asks: of a job that still waits, only that it waits for longer
than so far. To leave such jobs out would take waits for shorter than they are, the more so the longer jobs wait. They
count as bounds.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from batdispatch.abilities.sites.doors.eta.futures import Futures
from batdispatch.abilities.sites.doors.eta.queue_moment import Floats, History

#: Quantiles of a start: the ends of the intervals of 90 % and 50 %, and the middle.
LEVELS = (0.05, 0.25, 0.5, 0.75, 0.95)
#: Share of the starts that an interval is to hold -> where its ends stand among the levels.
INTERVALS = {0.5: (1, 3), 0.9: (0, 4)}
#: Moments of the past that are asked about, the fewest without which no interval is called one, and the last ones at
#: which it is looked whether intervals held.
MOMENTS, FEWEST, RECENT = 400, 50, 200
#: How long the past must be, in waits. Jobs that wait at one time start because of the same ends, so that a past of so
#: many waits shows hardly more than as many independent outcomes.
LONG_ENOUGH = 10.0
#: How much less a moment of the past counts than the one after it.
FADE = 0.99
#: Waits are compared on the scale log(wait + this), s: by their differences where they are short, else by their ratios.
SCALE = 1800.0


class Residuals(NamedTuple):
    """By what quantiles were wrong at moments of the past, the latest one last."""

    #: log(wait + `SCALE`) less log(quantile + `SCALE`), float64 [moment, level]; while a job waits, of its wait so far.
    values: Floats
    #: Whether the job has started, bool [moment].
    over: NDArray[np.bool_]


class IntervalRecord(msgspec.Struct, frozen=True, kw_only=True):
    """How often an interval held of late."""

    #: Share of the starts that it is to hold.
    share: float
    #: Share of the starts that it did hold; None: nobody knows.
    held: float | None
    #: Of how many.
    count: int

    @property
    def covers(self) -> bool:
        """Whether it held as often as it should, but for what chance alone may do: two standard errors."""
        slack = 2.0 * math.sqrt(self.share * (1.0 - self.share) / max(self.count, 1))
        return self.held is not None and self.held >= self.share - slack


class PastMoments(NamedTuple):
    """Moments of the past, ascending, each with a job that waited then and the estimate of its start."""

    #: Seconds, float64 [moment].
    at: Floats
    #: Raw quantiles of the wait from then on, s, float64 [moment, level].
    quantiles: Floats
    #: The wait from then on that came of it, s, float64 [moment]; infinite: that is not known yet.
    wait: Floats

    def residuals(self, now: float) -> Residuals:
        """Return what shows at a moment, in s, of the last `MOMENTS` before it."""
        end = int(self.at.searchsorted(now))
        rows = slice(max(end - MOMENTS, 0), end)
        elapsed, wait = now - self.at[rows], self.wait[rows]
        so_far = np.log(np.minimum(wait, elapsed) + SCALE)
        return Residuals(so_far[:, None] - np.log(self.quantiles[rows] + SCALE), wait <= elapsed)

    def estimates(self, first: int) -> Floats:
        """Return the quantiles that were told at each moment from one on, s, float64 [moment, level]."""
        rows = range(first, len(self.at))
        found = [calibrate(self.quantiles[row : row + 1], self.residuals(float(self.at[row]))) for row in rows]
        return np.concatenate(found) if found else np.empty((0, len(LEVELS)))

    def length(self, now: float) -> float:
        """Return how many mean waits from a moment on fit between the first moment and `now`, in s."""
        if not len(self.at):
            return 0.0
        elapsed = now - self.at
        mean = float(np.minimum(self.wait, elapsed).mean())
        return float(elapsed[0]) / mean if mean > 0.0 else math.inf

    def records(self, now: float) -> list[IntervalRecord]:
        """Return how often each interval held at the last `RECENT` moments, of which `FEWEST` came before any.

        Of a job that still waits at `now`, in s, it is known only once it has waited for longer than the interval says.
        Nothing is known if the past is shorter than `LONG_ENOUGH`.
        """
        if self.length(now) < LONG_ENOUGH:
            return [IntervalRecord(share=share, held=None, count=0) for share in INTERVALS]
        first = max(FEWEST, len(self.at) - RECENT)
        told, wait = self.estimates(first), self.wait[first:]
        found = []
        for share, ends in INTERVALS.items():
            known = np.isfinite(wait) | (now - self.at[first:] > told[:, ends[1]])
            held = coverage(told[known], wait[known], ends) if known.any() else None
            found.append(IntervalRecord(share=share, held=held, count=int(known.sum())))
        return found


def coverage(quantiles: Floats, wait: Floats, ends: tuple[int, int]) -> float:
    """Return the share of waits that an interval held: quantiles [moment, level], waits [moment], both in s."""
    low, high = (quantiles[:, end] for end in ends)
    return float(np.mean((wait >= low) & (wait <= high)))


def raw_quantiles(starts: Floats) -> Floats:
    """Return the quantiles of starts over the futures: float64 [job, level], from [job, sample]."""
    # The inverse of the distribution function: no mean with a start that is never.
    found: Floats = np.quantile(starts, LEVELS, axis=1, method="inverted_cdf").T
    return found


def calibrate(quantiles: Floats, residuals: Residuals) -> Floats:
    """Return quantiles of waits from now on, s, ascending, moved by what the past says that they were wrong by.

    Args:
        quantiles: raw ones, float64 [job, level].
        residuals: of the past; none leave the quantiles as they are.
    """
    if not residuals.over.any():
        return quantiles
    moved = np.exp(np.log(quantiles + SCALE) + offsets_of(residuals)) - SCALE
    return np.sort(np.maximum(moved, 0.0), axis=1)


def offsets_of(residuals: Residuals, fade: float = FADE) -> Floats:
    """Return by how much each level is moved, float64 [level]: its own quantile of the residuals.

    This is split conformal prediction with the asymmetric score of conformalized quantile regression [1]. If the n
    moments of the past and this one could as well have come in any other order, all jobs have started, and none fades,
    a residual is at most the offset of level q with a probability of at least q, and of less than q + 1 / (n + 1) if no
    two are equal. A machine's use changes, so each moment counts less than the one after it; how far the probability
    may then be from q is how much the moments differ, each by its weight [2]. Where a job still waits, what is known of
    its residual is a bound: the quantiles are those of the product-limit estimate [3], which gives its weight to the
    residuals above. It takes for granted that such a residual is like the others above its bound.

    Args:
        residuals: the latest moment last.
        fade: weight of a moment beside the one after it.

    References:
        [1] Y. Romano, E. Patterson, E. Candès. Conformalized quantile regression. NeurIPS 2019, theorem 2.
        [2] R. F. Barber, E. J. Candès, A. Ramdas, R. J. Tibshirani. Conformal prediction beyond exchangeability. Annals
            of Statistics 51, 2023, theorem 2.
        [3] E. L. Kaplan, P. Meier. Nonparametric estimation from incomplete observations. Journal of the American
            Statistical Association 53, 1958.
    """
    weight: Floats = np.power(fade, np.arange(len(residuals.over))[::-1], dtype=np.float64)
    levels = enumerate(LEVELS)
    return np.array([_quantile(residuals.values[:, at], residuals.over, weight, level) for at, level in levels])


def _quantile(values: Floats, exact: NDArray[np.bool_], weight: Floats, level: float) -> float:
    """Return a quantile of values, some of which are lower bounds, and one more that may be anywhere above."""
    # What is exact comes before a bound as large.
    order = np.lexsort((~exact, values))
    above = np.cumsum(weight[order][::-1])[::-1] + 1.0
    reached = 1.0 - np.cumprod(np.where(exact[order], 1.0 - weight[order] / above, 1.0))
    # Sums of weights are rounded.
    row = int(reached.searchsorted(level - 1e-12))
    return float(values[order[min(row, len(order) - 1)]])


def moments_of(history: History, now: float, count: int, seed: int) -> Sequence[float]:
    """Return moments before now at which jobs waited, s, ascending: drawn evenly over the later nine tenths of time."""
    submission = history.jobs.submission
    began, last = float(submission[0]), min(now, float(submission[-1]))
    rng = np.random.default_rng(seed)
    moments = np.sort(rng.uniform(began + 0.1 * (last - began), last, 4 * count))
    waits = [float(moment) for moment in moments if len(history.at(float(moment)).waiting.ids)]
    # Evenly, so that the latest moments are as likely as others.
    return [waits[index] for index in np.linspace(0, len(waits) - 1, min(count, len(waits))).astype(int)]


def ask_at(history: History, futures: Futures, moments: Sequence[float], now: float, seed: int) -> PastMoments:
    """Return what would have been said at moments of the past: of one waiting job each, taken at random.

    Moments at which the estimate is that the job never starts are left out.

    Args:
        history: of the machine.
        futures: of the machine.
        moments: s, ascending.
        now: what came to pass later is not known, s.
        seed: of all chance.
    """
    found = []
    for number, at in enumerate(moments):
        rng = np.random.default_rng((seed, number))
        moment = history.at(at)
        row = int(rng.integers(len(moment.waiting.ids)))
        quantiles = raw_quantiles(futures.starts(moment, rng, row))[0]
        start = float(moment.waiting.start[row])
        if np.isfinite(quantiles).all():
            found.append((at, quantiles, start - at if start <= now else np.inf))
    return PastMoments(
        np.array([at for at, _, _ in found], dtype=np.float64),
        np.array([each for _, each, _ in found], dtype=np.float64).reshape(len(found), len(LEVELS)),
        np.array([wait for _, _, wait in found], dtype=np.float64),
    )
