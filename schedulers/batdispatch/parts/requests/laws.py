"""Laws of stochastic run times: a small vocabulary on scipy.stats.

A law is written as a text, ``name:number,number,...``; all numbers are in one unit of time (seconds in a job's field
``runtime_law``):

- ``tnorm:LOWER,UPPER,MU,SIGMA``: normal, truncated;
- ``texp:LOWER,UPPER,MEAN``: exponential of mean MEAN (before truncation), truncated;
- ``beta:ALPHA,BETA[,LOWER,UPPER]``: beta, on [0, 1] unless said;
- ``pareto:LOWER,UPPER,ALPHA``: bounded Pareto;
- ``tlognorm:LOWER,UPPER,MU,SIGMA``: log-normal, truncated; MU and SIGMA of the logarithm;
- ``empirical:T1,T2,...``: each of the run times of a log with the same probability.

Every law is bounded: 0 <= LOWER < UPPER <= 1e9, and truncation keeps at least a millionth of the mass. Reservation
sequences need an upper end that is surely enough.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from batdispatch.core.errors import InputError

Floats = NDArray[np.float64]

#: Largest run time of a law, in its unit.
MAX_TIME = 1e9
#: Longest text of a law, in characters, and most run times of an empirical one.
MAX_TEXT = 200_000
MAX_VALUES = 10_000
#: What an infinite density is given as.
MAX_DENSITY = 1e12
#: Smallest share of a base distribution's mass that truncation may keep.
MIN_MASS = 1e-6


class Law(ABC):
    """The law of a run time X on [lower, upper].

    Attributes:
        text: how it is written.
        lower, upper: ends of its support, in the law's unit of time.
        smooth: whether it has a density, so that requests can be optimised continuously.
    """

    smooth = True

    def __init__(self, text: str, lower: float, upper: float) -> None:
        self.text = text
        self.lower = lower
        self.upper = upper
        self._at = lru_cache(maxsize=65536)(self._evaluate)

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


class Truncated(Law):
    """A distribution of scipy.stats, cut to [lower, upper]."""

    def __init__(
        self, text: str, lower: float, upper: float, base: Any, moment: Callable[[Floats], Floats], again: Any
    ) -> None:
        """Cut a distribution.

        Args:
            text: how the law is written.
            lower: lower end of the support.
            upper: upper end of the support.
            base: a frozen distribution of scipy.stats.
            moment: an antiderivative of ``x * base.pdf(x)``, of arrays.
            again: called with a factor, returns the text of the law in another unit.

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
        return parse_law(self._again(factor))


class Empirical(Law):
    """Run times of a log, each with the same probability."""

    smooth = False

    def __init__(self, values: Sequence[float]) -> None:
        self.values = np.sort(np.asarray(values, dtype=np.float64))
        super().__init__(_text("empirical", *self.values.tolist()), float(self.values[0]), float(self.values[-1]))
        self._sums = np.concatenate(([0.0], np.cumsum(self.values))) / len(self.values)

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


# ------------------------------------------------------------------ the vocabulary


def _text(name: str, *numbers: float) -> str:
    return f"{name}:{','.join(format(float(number), '.12g') for number in numbers)}"


def _tnorm(text: str, lower: float, upper: float, mu: float, sigma: float) -> Law:
    from scipy import stats

    base = stats.norm(mu, sigma)
    return Truncated(
        text,
        lower,
        upper,
        base,
        lambda x: mu * base.cdf(x) - sigma**2 * base.pdf(x),
        lambda k: _text("tnorm", lower * k, upper * k, mu * k, sigma * k),
    )


def _texp(text: str, lower: float, upper: float, mean: float) -> Law:
    from scipy import stats

    return Truncated(
        text,
        lower,
        upper,
        stats.expon(scale=mean),
        lambda x: -(x + mean) * np.exp(-x / mean),
        lambda k: _text("texp", lower * k, upper * k, mean * k),
    )


def _beta(text: str, alpha: float, beta: float, lower: float = 0.0, upper: float = 1.0) -> Law:
    from scipy import stats

    width = upper - lower
    base = stats.beta(alpha, beta, loc=lower, scale=width)
    # x f(x; alpha, beta) = E[X] f(x; alpha + 1, beta) on [0, 1].
    raised = stats.beta(alpha + 1, beta, loc=lower, scale=width)
    return Truncated(
        text,
        lower,
        upper,
        base,
        lambda x: lower * base.cdf(x) + width * alpha / (alpha + beta) * raised.cdf(x),
        lambda k: _text("beta", alpha, beta, lower * k, upper * k),
    )


def _pareto(text: str, lower: float, upper: float, alpha: float) -> Law:
    from scipy import stats

    def moment(x: Floats) -> Floats:
        if alpha == 1.0:
            return np.asarray(lower * np.log(x))
        return np.asarray(alpha / (1.0 - alpha) * lower * (x / lower) ** (1.0 - alpha))

    return Truncated(
        text,
        lower,
        upper,
        stats.pareto(alpha, scale=lower),
        moment,
        lambda k: _text("pareto", lower * k, upper * k, alpha),
    )


def _tlognorm(text: str, lower: float, upper: float, mu: float, sigma: float) -> Law:
    from scipy import special, stats

    def moment(x: Floats) -> Floats:
        with np.errstate(divide="ignore"):
            return np.asarray(math.exp(mu + sigma**2 / 2) * special.ndtr((np.log(x) - mu) / sigma - sigma))

    return Truncated(
        text,
        lower,
        upper,
        stats.lognorm(sigma, scale=math.exp(mu)),
        moment,
        lambda k: _text("tlognorm", lower * k, upper * k, mu + math.log(k), sigma),
    )


#: Name -> (builder, names of its parameters, how many of them may be left out).
_LAWS: dict[str, tuple[Callable[..., Law], tuple[str, ...], int]] = {
    "tnorm": (_tnorm, ("lower", "upper", "mu", "sigma"), 0),
    "texp": (_texp, ("lower", "upper", "mean"), 0),
    "beta": (_beta, ("alpha", "beta", "lower", "upper"), 2),
    "pareto": (_pareto, ("lower", "upper", "alpha"), 0),
    "tlognorm": (_tlognorm, ("lower", "upper", "mu", "sigma"), 0),
}


@lru_cache(maxsize=4096)
def parse_law(text: str, *, source: str = "", place: str = "") -> Law:
    """Read a law such as ``tnorm:0,20,8,2``; equal texts give the same object.

    Args:
        text: see the module.
        source: of the text, for messages.
        place: within the source, for messages.

    Raises:
        InputError: the name is unknown, a number is missing, wrong or out of bounds.
    """
    try:
        return _parse(text)
    except InputError as problem:
        shown = text if len(text) <= 60 else text[:57] + "..."
        raise InputError(f"law {shown!r}: {problem}", source=source, place=place) from None


def _parse(text: str) -> Law:
    if len(text) > MAX_TEXT:
        raise InputError(f"longer than {MAX_TEXT:,} characters")
    name, colon, rest = text.partition(":")
    if not colon or (name != "empirical" and name not in _LAWS):
        raise InputError(f"expected NAME:NUMBERS with one of {', '.join([*_LAWS, 'empirical'])}")
    numbers = [_number(part) for part in rest.split(",")]
    if name == "empirical":
        if len(numbers) > MAX_VALUES:
            raise InputError(f"found {len(numbers)} run times, expected at most {MAX_VALUES:,}")
        for number in numbers:
            if not 0 < number <= MAX_TIME:
                raise InputError(f"run time {number:g}, expected more than 0 and at most {MAX_TIME:g}")
        return Empirical(numbers)
    build, names, optional = _LAWS[name]
    if len(numbers) not in (len(names), len(names) - optional):
        raise InputError(f"found {len(numbers)} numbers, expected {name}:{','.join(map(str.upper, names))}")
    values = dict(zip(names, numbers, strict=False))
    lower, upper = values.get("lower", 0.0), values.get("upper", 1.0)
    if not 0 <= lower < upper <= MAX_TIME:
        raise InputError(f"bounds {lower:g} and {upper:g}, expected 0 <= lower < upper <= {MAX_TIME:g}")
    if name == "pareto" and lower == 0:
        raise InputError("lower bound 0, expected more than 0")
    for key in ("sigma", "mean", "alpha", "beta"):
        if key in values and not 1e-6 <= values[key] <= MAX_TIME:
            raise InputError(f"{key} is {values[key]:g}, expected 1e-06 to {MAX_TIME:g}")
    if name == "tlognorm" and not (values["sigma"] <= 10 and abs(values["mu"]) <= 50):
        raise InputError("expected mu from -50 to 50 and sigma up to 10, of the logarithm of the run time")
    if "mu" in values and abs(values["mu"]) > MAX_TIME:
        raise InputError(f"mu is {values['mu']:g}, expected {-MAX_TIME:g} to {MAX_TIME:g}")
    return build(text, *numbers)


def _number(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value) or "_" in text:
        raise InputError(f"found {text[:40]!r}, expected a number")
    return value
