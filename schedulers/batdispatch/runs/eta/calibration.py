"""How wrong estimates were at moments of the past, and quantiles that take account of it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from batdispatch.runs.eta.futures import Futures
from batdispatch.runs.eta.queue_moment import Floats, History

#: Quantiles of a start: the ends of the intervals of 90 % and 50 %, and the middle.
LEVELS = (0.05, 0.25, 0.5, 0.75, 0.95)
#: Moments of the past that are asked about, and the fewest without which no interval is called one.
MOMENTS, FEWEST = 400, 50
#: How much less a moment of the past counts than the one after it.
FADE = 0.99
#: Waits are compared on the scale log(wait + this), s.
SCALE = 60.0


def raw_quantiles(starts: Floats) -> Floats:
    """Return the quantiles of starts over the futures: float64 [job, level], from [job, sample]."""
    # The inverse of the distribution function: no mean with a start that is never.
    found: Floats = np.quantile(starts, LEVELS, axis=1, method="inverted_cdf").T
    return found


def residuals_of(quantiles: Floats, wait: Floats) -> Floats:
    """Return log(wait + 60) less log(quantile + 60): both of shape [moment, level] or broadcast to it."""
    found: Floats = np.log(wait[:, None] + SCALE) - np.log(quantiles + SCALE)
    return found


def calibrate(quantiles: Floats, residuals: Floats) -> Floats:
    """Return quantiles of waits from now on, s, ascending, moved by what the past says that they were wrong by.

    Args:
        quantiles: raw ones, float64 [job, level].
        residuals: of the past, float64 [moment, level]; none leave the quantiles as they are.
    """
    if not len(residuals):
        return quantiles
    moved = np.exp(np.log(quantiles + SCALE) + offsets_of(residuals)) - SCALE
    return np.sort(np.maximum(moved, 0.0), axis=1)


def offsets_of(residuals: Floats, fade: float = FADE) -> Floats:
    """Return by how much each level is moved, float64 [level]: its own quantile of the residuals [moment, level].

    This is split conformal prediction with the asymmetric score of conformalized quantile regression [1]. If the n
    moments of the past and this one could as well have come in any other order, and none fades, a residual is at most
    the offset of level q with a probability of at least q, and of less than q + 1 / (n + 1) if no two are equal. A
    machine's use changes, so each moment counts less than the one after it; how far the probability may then be from q
    is how much the moments differ, each by its weight [2].

    Args:
        residuals: the latest moment last.
        fade: weight of a moment beside the one after it.

    References:
        [1] Y. Romano, E. Patterson, E. Candès. Conformalized quantile regression. NeurIPS 2019, theorem 2.
        [2] R. F. Barber, E. J. Candès, A. Ramdas, R. J. Tibshirani. Conformal prediction beyond exchangeability. Annals
            of Statistics 51, 2023, theorem 2.
    """
    order = np.argsort(residuals, axis=0)
    reached = np.cumsum(fade ** np.arange(len(residuals))[::-1][order], axis=0)
    rank = np.minimum((reached < np.array(LEVELS) * (reached[-1] + 1.0)).sum(axis=0), len(residuals) - 1)
    found: Floats = np.sort(residuals, axis=0)[rank, np.arange(len(LEVELS))]
    return found


def moments_of(history: History, now: float, count: int, seed: int) -> Sequence[float]:
    """Return moments before now at which jobs waited, s, ascending: drawn evenly over the later nine tenths of time."""
    submission = history.jobs.submission
    began, last = float(submission[0]), min(now, float(submission[-1]))
    rng = np.random.default_rng(seed)
    moments = np.sort(rng.uniform(began + 0.1 * (last - began), last, 4 * count))
    waits = [float(moment) for moment in moments if len(history.at(float(moment)).waiting.ids)]
    # Evenly, so that the latest moments are as likely as others.
    return [waits[index] for index in np.linspace(0, len(waits) - 1, min(count, len(waits))).astype(int)]


def residuals_at(history: History, futures: Futures, moments: Sequence[float], now: float, seed: int) -> Floats:
    """Return residuals at moments of the past, float64 [moment, level]: of one waiting job each, taken at random.

    Moments at which that job's start is not known yet are left out.
    """
    found = []
    for number, at in enumerate(moments):
        rng = np.random.default_rng((seed, number))
        moment = history.at(at)
        row = int(rng.integers(len(moment.waiting.ids)))
        start = float(moment.waiting.start[row])
        if not start <= now:
            continue
        quantiles = raw_quantiles(futures.starts(moment, rng)[row : row + 1])
        if np.isfinite(quantiles).all():
            found.append(residuals_of(quantiles, np.array([start - at]))[0])
    return np.array(found).reshape(len(found), len(LEVELS))
