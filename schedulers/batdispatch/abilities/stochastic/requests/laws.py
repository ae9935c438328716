"""Laws of stochastic run times, on scipy.stats: how likely, how long, and how much of the mean lies below a time.

How they are written stands in `vocabulary`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from batdispatch.core.errors import InputError

Floats = NDArray[np.float64]

#: What an infinite density is given as.
MAX_DENSITY = 1e12
#: Smallest share of a base distribution's mass that truncation may keep.
MIN_MASS = 1e-6


def text_of(name: str, *numbers: float) -> str:
    """Return a law as it is written."""
    return f"{name}:{','.join(format(float(number), '.12g') for number in numbers)}"


class Law(ABC):
    """The law of a run time X on [lower, upper].

    Attributes:
        lower, upper: ends of its support, in the law's unit of time.
        smooth: whether it has a density, so that limits can be optimised continuously.
    """

    smooth = True

    def __init__(self, text: str, lower: float, upper: float) -> None:
        self._text = text
        self.lower = lower
        self.upper = upper

    @property
    def text(self) -> str:
        """How it is written."""
        return self._text

    @cached_property
    def _at(self) -> Callable[[float], tuple[float, float]]:
        return lru_cache(maxsize=65536)(self._evaluate)

    @abstractmethod
    def cdf(self, t: Any) -> Floats:
        """Return P(X <= t), float64 of the shape of `t`."""

    @abstractmethod
    def pdf(self, t: Any) -> Floats:
        """Return the density at `t`, zero outside the support and finite at a pole; float64 of the shape of `t`."""

    @abstractmethod
    def moment(self, t: Any) -> Floats:
        """Return E[X; X <= t], the integral of x f(x) up to `t`; float64 of the shape of `t`."""

    @abstractmethod
    def ppf(self, u: Any) -> Floats:
        """Return the smallest t with P(X <= t) >= u; float64 of the shape of `u`."""

    @abstractmethod
    def scaled(self, factor: float) -> Law:
        """Return the law of ``factor * X``, for a change of unit."""

    @property
    def mean(self) -> float:
        """E[X]."""
        return self.at(self.upper)[1]

    def at(self, t: float) -> tuple[float, float]:
        """Return ``(cdf(t), moment(t))``, remembered: dispatchers ask for the same times again and again."""
        return self._at(t)

    def _evaluate(self, t: float) -> tuple[float, float]:
        return float(self.cdf(t)), float(self.moment(t))

    def draw(self, rng: np.random.Generator, count: int) -> Floats:
        """Return run times drawn by inversion, float64 [count]."""
        return np.clip(self.ppf(rng.random(count)), self.lower, self.upper)

    def __repr__(self) -> str:
        return f"Law({self.text!r})"


class TruncatedLaw(Law):
    """A distribution of scipy.stats, cut to [lower, upper]."""

    def __init__(
        self,
        text: str,
        lower: float,
        upper: float,
        base: Any,
        moment: Callable[[Floats], Floats],
        again: Callable[[float], Law],
    ) -> None:
        """Cut a distribution.

        Args:
            text: how the law is written.
            lower: lower end of the support.
            upper: upper end of the support.
            base: a frozen distribution of scipy.stats.
            moment: an antiderivative of ``x * base.pdf(x)``, of arrays.
            again: called with a factor, returns the law in another unit.

        Raises:
            InputError: next to nothing of the distribution lies within the bounds.
        """
        super().__init__(text, lower, upper)
        self._base = base
        self._moment = moment
        self._again = again
        self._below = float(base.cdf(lower))
        self._mass = float(base.cdf(upper)) - self._below
        if not self._mass >= MIN_MASS:
            raise InputError(f"only {self._mass:.3g} of the distribution's mass lies from {lower:g} to {upper:g}")
        self._start = float(moment(np.array(lower)))

    def cdf(self, t: Any) -> Floats:
        inside = np.clip(np.asarray(t, dtype=np.float64), self.lower, self.upper)
        return np.asarray(np.clip((self._base.cdf(inside) - self._below) / self._mass, 0.0, 1.0))

    def pdf(self, t: Any) -> Floats:
        t = np.asarray(t, dtype=np.float64)
        density = np.nan_to_num(self._base.pdf(t) / self._mass, posinf=MAX_DENSITY)
        return np.where((t < self.lower) | (t > self.upper), 0.0, density)

    def moment(self, t: Any) -> Floats:
        inside = np.clip(np.asarray(t, dtype=np.float64), self.lower, self.upper)
        return np.asarray((self._moment(inside) - self._start) / self._mass)

    def ppf(self, u: Any) -> Floats:
        return np.asarray(self._base.ppf(self._below + np.asarray(u, dtype=np.float64) * self._mass))

    def scaled(self, factor: float) -> Law:
        return self._again(factor)


class Empirical(Law):
    """Run times of a log, each with the same probability."""

    smooth = False

    def __init__(self, values: Sequence[float]) -> None:
        self.values = np.sort(np.asarray(values, dtype=np.float64))
        super().__init__("", float(self.values[0]), float(self.values[-1]))
        self._sums = np.concatenate(([0.0], np.cumsum(self.values))) / len(self.values)

    @property
    def text(self) -> str:
        # A law is learned for each job, and hardly any is ever written.
        if not self._text:
            self._text = text_of("empirical", *self.values.tolist())
        return self._text

    def cdf(self, t: Any) -> Floats:
        return np.asarray(np.searchsorted(self.values, t, side="right") / len(self.values))

    def pdf(self, t: Any) -> Floats:
        raise TypeError("an empirical law has no density")

    def moment(self, t: Any) -> Floats:
        return np.asarray(self._sums[np.searchsorted(self.values, t, side="right")])

    def ppf(self, u: Any) -> Floats:
        count = len(self.values)
        index = np.ceil(np.asarray(u, dtype=np.float64) * count).astype(np.int64) - 1
        return self.values[np.clip(index, 0, count - 1)]

    def scaled(self, factor: float) -> Law:
        return Empirical((self.values * factor).tolist())
