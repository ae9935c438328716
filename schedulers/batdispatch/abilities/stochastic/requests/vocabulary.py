"""How laws of stochastic run times are written: a small vocabulary.

A law is written as a text, ``name:number,number,...``; all numbers are in one unit of time (seconds in a job's field
``runtime_law``):

- ``tnorm:LOWER,UPPER,MU,SIGMA``: normal, truncated;
- ``texp:LOWER,UPPER,MEAN``: exponential of mean MEAN (before truncation), truncated;
- ``beta:ALPHA,BETA[,LOWER,UPPER]``: beta, on [0, 1] unless said;
- ``pareto:LOWER,UPPER,ALPHA``: bounded Pareto;
- ``tlognorm:LOWER,UPPER,MU,SIGMA``: log-normal, truncated; MU and SIGMA of the logarithm;
- ``tgamma:LOWER,UPPER,SHAPE,SCALE``: gamma (mean SHAPE SCALE before truncation), truncated;
- ``tweibull:LOWER,UPPER,SHAPE,SCALE``: Weibull, 1 - exp(-(t / SCALE)^SHAPE), truncated;
- ``uniform:LOWER,UPPER``: each time between the bounds with the same probability;
- ``mixture:WEIGHT*LAW;WEIGHT*LAW...``: one of some laws with a density, drawn by weights that add up to 1;
- ``empirical:T1,T2,...``: each of the run times of a log with the same probability.

Every law is bounded: 0 <= LOWER < UPPER <= 1e9, and truncation keeps at least a millionth of the mass. Request
sequences need an upper end that is surely enough.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np

from batdispatch.abilities.stochastic.requests.laws import Empirical, Floats, Law, TruncatedLaw, text_of
from batdispatch.abilities.stochastic.requests.mixture import Mixture
from batdispatch.core import extras
from batdispatch.core.errors import InputError
from batdispatch.core.numerals import number_of

#: Largest run time of a law, in its unit.
MAX_TIME = 1e9
#: Longest text of a law, in characters, and most run times of an empirical one.
MAX_TEXT = 200_000
MAX_VALUES = 10_000
#: Most laws of a mixture.
MAX_COMPONENTS = 10
#: Least and largest shape of a gamma or Weibull law.
SHAPES = (0.05, 1000.0)


class _Base(NamedTuple):
    """A distribution before it is cut: one of scipy.stats, frozen, and an antiderivative of x f(x), of arrays."""

    distribution: Any
    moment: Callable[[Floats], Floats]


def _tnorm(lower: float, upper: float, mu: float, sigma: float) -> _Base:
    from scipy import stats

    base = stats.norm(mu, sigma)
    return _Base(base, lambda x: mu * base.cdf(x) - sigma**2 * base.pdf(x))


def _texp(lower: float, upper: float, mean: float) -> _Base:
    from scipy import stats

    return _Base(stats.expon(scale=mean), lambda x: -(x + mean) * np.exp(-x / mean))


def _beta(alpha: float, beta: float, lower: float, upper: float) -> _Base:
    from scipy import stats

    width = upper - lower
    base = stats.beta(alpha, beta, loc=lower, scale=width)
    # x f(x; alpha, beta) = E[X] f(x; alpha + 1, beta) on [0, 1].
    raised = stats.beta(alpha + 1, beta, loc=lower, scale=width)
    return _Base(base, lambda x: lower * base.cdf(x) + width * alpha / (alpha + beta) * raised.cdf(x))


def _pareto(lower: float, upper: float, alpha: float) -> _Base:
    from scipy import stats

    def moment(x: Floats) -> Floats:
        if alpha == 1.0:
            return np.asarray(lower * np.log(x))
        return np.asarray(alpha / (1.0 - alpha) * lower * (x / lower) ** (1.0 - alpha))

    return _Base(stats.pareto(alpha, scale=lower), moment)


def _tlognorm(lower: float, upper: float, mu: float, sigma: float) -> _Base:
    from scipy import special, stats

    def moment(x: Floats) -> Floats:
        with np.errstate(divide="ignore"):
            return np.asarray(math.exp(mu + sigma**2 / 2) * special.ndtr((np.log(x) - mu) / sigma - sigma))

    return _Base(stats.lognorm(sigma, scale=math.exp(mu)), moment)


def _tgamma(lower: float, upper: float, shape: float, scale: float) -> _Base:
    from scipy import special, stats

    return _Base(
        stats.gamma(shape, scale=scale), lambda x: np.asarray(shape * scale * special.gammainc(shape + 1, x / scale))
    )


def _tweibull(lower: float, upper: float, shape: float, scale: float) -> _Base:
    from scipy import special, stats

    whole = scale * math.gamma(1 + 1 / shape)

    def moment(x: Floats) -> Floats:
        with np.errstate(over="ignore"):
            return np.asarray(whole * special.gammainc(1 + 1 / shape, (x / scale) ** shape))

    return _Base(stats.weibull_min(shape, scale=scale), moment)


def _uniform(lower: float, upper: float) -> _Base:
    from scipy import stats

    width = upper - lower
    return _Base(stats.uniform(lower, width), lambda x: np.asarray(x * x / (2 * width)))


#: Name -> (builder, names of its parameters, defaults of the last of them).
_LAWS: dict[str, tuple[Callable[..., _Base], tuple[str, ...], tuple[float, ...]]] = {
    "tnorm": (_tnorm, ("lower", "upper", "mu", "sigma"), ()),
    "texp": (_texp, ("lower", "upper", "mean"), ()),
    "beta": (_beta, ("alpha", "beta", "lower", "upper"), (0.0, 1.0)),
    "pareto": (_pareto, ("lower", "upper", "alpha"), ()),
    "tlognorm": (_tlognorm, ("lower", "upper", "mu", "sigma"), ()),
    "tgamma": (_tgamma, ("lower", "upper", "shape", "scale"), ()),
    "tweibull": (_tweibull, ("lower", "upper", "shape", "scale"), ()),
    "uniform": (_uniform, ("lower", "upper"), ()),
}
#: Parameters that are times, and so change with the unit; of a log-normal law, mu and sigma are of the logarithm.
_TIMES = ("lower", "upper", "mean", "mu", "sigma", "scale")


def _scaled(name: str, values: Mapping[str, float], factor: float) -> Law:
    """Return the law of ``factor * X``."""
    scaled = {key: value * factor if key in _TIMES else value for key, value in values.items()}
    if name == "tlognorm":
        scaled |= {"mu": values["mu"] + math.log(factor), "sigma": values["sigma"]}
    return parse_law(text_of(name, *scaled.values()))


@lru_cache(maxsize=4096)
def parse_law(text: str, *, source: str = "", place: str = "") -> Law:
    """Read a law such as ``tnorm:0,20,8,2``; equal texts give the same object.

    Args:
        text: see the module.
        source: of the text, for messages.
        place: within the source, for messages.

    Raises:
        InputError: the name is unknown, a number is missing, wrong or out of bounds, or a library is missing.
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
    if not colon or (name not in ("empirical", "mixture") and name not in _LAWS):
        raise InputError(f"expected NAME:NUMBERS with one of {', '.join([*_LAWS, 'empirical', 'mixture'])}")
    if name == "mixture":
        return _mixture(rest)
    numbers = [_number(part) for part in rest.split(",")]
    if name == "empirical":
        if len(numbers) > MAX_VALUES:
            raise InputError(f"found {len(numbers)} run times, expected at most {MAX_VALUES:,}")
        for number in numbers:
            if not 0 < number <= MAX_TIME:
                raise InputError(f"run time {number:g}, expected more than 0 and at most {MAX_TIME:g}")
        return Empirical(numbers)
    build, names, defaults = _LAWS[name]
    if len(numbers) not in (len(names), len(names) - len(defaults)):
        raise InputError(f"found {len(numbers)} numbers, expected {name}:{','.join(map(str.upper, names))}")
    values = dict(zip(names, (*numbers, *defaults), strict=False))
    lower, upper = values["lower"], values["upper"]
    if not 0 <= lower < upper <= MAX_TIME:
        raise InputError(f"bounds {lower:g} and {upper:g}, expected 0 <= lower < upper <= {MAX_TIME:g}")
    if name == "pareto" and lower == 0:
        raise InputError("lower bound 0, expected more than 0")
    for key in ("sigma", "mean", "alpha", "beta", "scale"):
        if key in values and not 1e-6 <= values[key] <= MAX_TIME:
            raise InputError(f"{key} is {values[key]:g}, expected 1e-06 to {MAX_TIME:g}")
    if "shape" in values and not SHAPES[0] <= values["shape"] <= SHAPES[1]:
        raise InputError(f"shape is {values['shape']:g}, expected {SHAPES[0]:g} to {SHAPES[1]:g}")
    if name == "tlognorm" and not (values["sigma"] <= 10 and abs(values["mu"]) <= 50):
        raise InputError("expected mu from -50 to 50 and sigma up to 10, of the logarithm of the run time")
    if "mu" in values and abs(values["mu"]) > MAX_TIME:
        raise InputError(f"mu is {values['mu']:g}, expected {-MAX_TIME:g} to {MAX_TIME:g}")
    extras.check("stochastic", "it")
    return TruncatedLaw(text, lower, upper, *build(**values), partial(_scaled, name, values))


def _mixture(text: str) -> Law:
    parts = text.split(";")
    if not 2 <= len(parts) <= MAX_COMPONENTS:
        raise InputError(f"found {len(parts)} laws, expected WEIGHT*LAW;WEIGHT*LAW with 2 to {MAX_COMPONENTS} laws")
    weights, laws = [], []
    for part in parts:
        weight, star, law = part.partition("*")
        if not star:
            raise InputError(f"found {part[:40]!r}, expected WEIGHT*LAW")
        if law.startswith(("empirical:", "mixture:")):
            raise InputError(
                f"found a law {law.partition(':')[0]}, expected laws with a density, none itself a mixture"
            )
        weights.append(_number(weight))
        if not weights[-1] > 0:
            raise InputError(f"weight {weights[-1]:g}, expected more than 0")
        laws.append(_parse(law))
    if abs(sum(weights) - 1.0) > 1e-6:
        raise InputError(f"weights add up to {sum(weights):.9g}, expected 1")
    return Mixture(weights, laws)


def _number(text: str) -> float:
    value = number_of(text)
    if not math.isfinite(value):
        raise InputError(f"found {text[:40]!r}, expected a number")
    return value
