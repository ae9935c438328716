"""Sizes, run times and arrivals after Feitelson's model of 1996, for machines on which few jobs are large.

- Size: n with a probability proportional to 1 / n^1.5, a harmonic distribution of order 1.5, in which powers of two are
  `POWERS` times as likely as that.
- Run time: exponential with a short or a long mean, the long one `RATIO` times the short one. So run times vary more
  than those of an exponential distribution. The short mean has the probability `SHORT`: 0.95 - 0.2 n / N for a job of
  size n, N being the largest size; so larger jobs tend to run longer.
- Arrivals: a Poisson process, as in the workloads of DMR's paper.

What the archive's description of the model [1] says, as far as it could be read: sizes are harmonic of order
1.5, and then tailored by hand so that small ones and powers of two stand out; run times have a coefficient of variation
above 1, and a weak correlation with the size, such that large jobs tend to run longer; jobs are run again and again.
Chosen here: that only powers of two are tailored, and by `POWERS`; that two exponential stages stand for the variation,
and the values of `RATIO` and `SHORT`. Left out: jobs that are submitted again when they have ended.

References:
    [1] The Parallel Workloads Archive: "The Feitelson 1996 Model".
    [2] Feitelson: "Packing schemes for gang scheduling", JSSPP 1996, to which the model goes back. It was not at hand.
    [3] Feitelson, Rudolph: "Toward convergence in job schedulers for parallel supercomputers", JSSPP 1996, which DMR's
        paper cites for the model.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

#: Order of the harmonic distribution of sizes.
ORDER = 1.5
#: How much likelier powers of two are than the harmonic distribution says.
POWERS = 5.0
#: Long over short mean of the run time.
RATIO = 7.0
#: Probability of the short mean: of the smallest jobs, and how much less it is for the largest.
SHORT = (0.95, 0.2)


def size_probabilities(most: int) -> NDArray[np.float64]:
    """Return how likely each size from 1 to `most` is, float64 [size - 1]."""
    sizes = np.arange(1, most + 1)
    weights = sizes**-ORDER * np.where(sizes & (sizes - 1) == 0, POWERS, 1.0)
    likely: NDArray[np.float64] = weights / weights.sum()
    return likely


def draw_sizes(rng: np.random.Generator, count: int, most: int) -> NDArray[np.int64]:
    """Return job sizes, int64 [job], from 1 to `most`."""
    return rng.choice(np.arange(1, most + 1), size=count, p=size_probabilities(most))


def short_probability(sizes: NDArray[np.int64], most: int) -> NDArray[np.float64]:
    """Return the probability that jobs have the short mean, float64 [job]."""
    chance: NDArray[np.float64] = SHORT[0] - SHORT[1] * sizes / most
    return chance


def draw_runtimes(rng: np.random.Generator, sizes: NDArray[np.int64], most: int, mean: float) -> NDArray[np.float64]:
    """Return run times in seconds, float64 [job]; `mean` is that of all jobs whose sizes `draw_sizes` draws."""
    every = np.arange(1, most + 1)
    long_share = 1.0 - float(short_probability(every, most) @ size_probabilities(most))
    shorter = mean / (1.0 + (RATIO - 1.0) * long_share)
    short = rng.random(len(sizes)) < short_probability(sizes, most)
    drawn: NDArray[np.float64] = rng.exponential(size=len(sizes)) * np.where(short, shorter, RATIO * shorter)
    return drawn


def draw_arrivals(rng: np.random.Generator, count: int, gap: float) -> NDArray[np.float64]:
    """Return the events of a Poisson process in seconds, float64 [job], on average `gap` seconds apart."""
    return np.cumsum(rng.exponential(gap, count))
