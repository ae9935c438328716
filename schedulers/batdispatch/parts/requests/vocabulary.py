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
from collections.abc import Callable
from functools import lru_cache

import numpy as np

from batdispatch.core import extras
from batdispatch.core.errors import InputError
from batdispatch.core.numerals import number_of
from batdispatch.parts.requests.laws import Empirical, Floats, Law, TruncatedLaw, text_of
from batdispatch.parts.requests.mixture import Mixture

#: Largest run time of a law, in its unit.
MAX_TIME = 1e9
#: Longest text of a law, in characters, and most run times of an empirical one.
MAX_TEXT = 200_000
MAX_VALUES = 10_000
#: Most laws of a mixture.
MAX_COMPONENTS = 10
#: Least and largest shape of a gamma or Weibull law.
SHAPES = (0.05, 1000.0)


def _law(name: str, *numbers: float) -> Law:
    return parse_law(text_of(name, *numbers))


def _tnorm(text: str, lower: float, upper: float, mu: float, sigma: float) -> Law:
    from scipy import stats

    base = stats.norm(mu, sigma)
    return TruncatedLaw(
        text,
        lower,
        upper,
        base,
        lambda x: mu * base.cdf(x) - sigma**2 * base.pdf(x),
        lambda k: _law("tnorm", lower * k, upper * k, mu * k, sigma * k),
    )


def _texp(text: str, lower: float, upper: float, mean: float) -> Law:
    from scipy import stats

    return TruncatedLaw(
        text,
        lower,
        upper,
        stats.expon(scale=mean),
        lambda x: -(x + mean) * np.exp(-x / mean),
        lambda k: _law("texp", lower * k, upper * k, mean * k),
    )


def _beta(text: str, alpha: float, beta: float, lower: float = 0.0, upper: float = 1.0) -> Law:
    from scipy import stats

    width = upper - lower
    base = stats.beta(alpha, beta, loc=lower, scale=width)
    # x f(x; alpha, beta) = E[X] f(x; alpha + 1, beta) on [0, 1].
    raised = stats.beta(alpha + 1, beta, loc=lower, scale=width)
    return TruncatedLaw(
        text,
        lower,
        upper,
        base,
        lambda x: lower * base.cdf(x) + width * alpha / (alpha + beta) * raised.cdf(x),
        lambda k: _law("beta", alpha, beta, lower * k, upper * k),
    )


def _pareto(text: str, lower: float, upper: float, alpha: float) -> Law:
    from scipy import stats

    def moment(x: Floats) -> Floats:
        if alpha == 1.0:
            return np.asarray(lower * np.log(x))
        return np.asarray(alpha / (1.0 - alpha) * lower * (x / lower) ** (1.0 - alpha))

    return TruncatedLaw(
        text,
        lower,
        upper,
        stats.pareto(alpha, scale=lower),
        moment,
        lambda k: _law("pareto", lower * k, upper * k, alpha),
    )


def _tlognorm(text: str, lower: float, upper: float, mu: float, sigma: float) -> Law:
    from scipy import special, stats

    def moment(x: Floats) -> Floats:
        with np.errstate(divide="ignore"):
            return np.asarray(math.exp(mu + sigma**2 / 2) * special.ndtr((np.log(x) - mu) / sigma - sigma))

    return TruncatedLaw(
        text,
        lower,
        upper,
        stats.lognorm(sigma, scale=math.exp(mu)),
        moment,
        lambda k: _law("tlognorm", lower * k, upper * k, mu + math.log(k), sigma),
    )


def _tgamma(text: str, lower: float, upper: float, shape: float, scale: float) -> Law:
    from scipy import special, stats

    return TruncatedLaw(
        text,
        lower,
        upper,
        stats.gamma(shape, scale=scale),
        lambda x: np.asarray(shape * scale * special.gammainc(shape + 1, x / scale)),
        lambda k: _law("tgamma", lower * k, upper * k, shape, scale * k),
    )


def _tweibull(text: str, lower: float, upper: float, shape: float, scale: float) -> Law:
    from scipy import special, stats

    whole = scale * math.gamma(1 + 1 / shape)

    def moment(x: Floats) -> Floats:
        with np.errstate(over="ignore"):
            return np.asarray(whole * special.gammainc(1 + 1 / shape, (x / scale) ** shape))

    return TruncatedLaw(
        text,
        lower,
        upper,
        stats.weibull_min(shape, scale=scale),
        moment,
        lambda k: _law("tweibull", lower * k, upper * k, shape, scale * k),
    )


def _uniform(text: str, lower: float, upper: float) -> Law:
    from scipy import stats

    width = upper - lower
    return TruncatedLaw(
        text,
        lower,
        upper,
        stats.uniform(lower, width),
        lambda x: np.asarray(x * x / (2 * width)),
        lambda k: _law("uniform", lower * k, upper * k),
    )


#: Name -> (builder, names of its parameters, how many of them may be left out).
_LAWS: dict[str, tuple[Callable[..., Law], tuple[str, ...], int]] = {
    "tnorm": (_tnorm, ("lower", "upper", "mu", "sigma"), 0),
    "texp": (_texp, ("lower", "upper", "mean"), 0),
    "beta": (_beta, ("alpha", "beta", "lower", "upper"), 2),
    "pareto": (_pareto, ("lower", "upper", "alpha"), 0),
    "tlognorm": (_tlognorm, ("lower", "upper", "mu", "sigma"), 0),
    "tgamma": (_tgamma, ("lower", "upper", "shape", "scale"), 0),
    "tweibull": (_tweibull, ("lower", "upper", "shape", "scale"), 0),
    "uniform": (_uniform, ("lower", "upper"), 0),
}


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
    build, names, optional = _LAWS[name]
    if len(numbers) not in (len(names), len(names) - optional):
        raise InputError(f"found {len(numbers)} numbers, expected {name}:{','.join(map(str.upper, names))}")
    values = dict(zip(names, numbers, strict=False))
    lower, upper = values.get("lower", 0.0), values.get("upper", 1.0)
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
    return build(text, *numbers)


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
