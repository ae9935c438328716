"""Laws fitted to run times by maximum likelihood, and the family among them that foretells later runs best.

A family's law of parameters theta is cut to the support [a, b], so the log-likelihood of n runs x is

    sum_i log f(x_i; theta) - n log(F(b; theta) - F(a; theta)),

of which the second term is what a fit to the moments of the runs leaves out: truncation then shifts the mean. The
maximum is looked for by SLSQP, in units of b.

References:
    Cohen: "Truncated and Censored Samples", Dekker 1991, chapters 2 and 3.
    McLachlan, Peel: "Finite Mixture Models", Wiley 2000, section 2.8 (likelihood of truncated data).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import msgspec
import numpy as np

from batdispatch.abilities.stochastic.requests.laws import Empirical, Floats, Law, text_of
from batdispatch.abilities.stochastic.requests.vocabulary import SHAPES, parse_law

Theta = Floats

#: Log of the least share of a family's mass that the support keeps; `laws.MIN_MASS` is a tenth of it.
_LEAST_LOG_MASS = math.log(1e-5)
#: Least deviation of the logarithm of a run, and least deviation of a run in units of the longest: the density of runs
#: that all took the same whole second has no maximum.
_LEAST_SIGMA = 0.01
_LEAST_DEVIATION = 1e-4
#: Fewest runs of which a mixture is looked for, in the part of the log that is fitted.
_MIXTURE_RUNS = 30
#: Share of the runs, the earlier ones, that a family is fitted to before the later ones judge it.
EARLIER = 2 / 3


@dataclass(frozen=True)
class Family:
    """Laws of one form, before truncation. All functions take run times in units of the support's upper end.

    Attributes:
        starts: of run times, float64 [run], to parameters to begin with.
        bounds: least and largest of each parameter.
        log_density: of parameters and times, float64 [time], to log f, float64 [time].
        log_mass: of parameters and the support's ends to log(F(b) - F(a)).
        text: of parameters and the support's ends to the law as it is written, cut to the support.
    """

    starts: Callable[[Floats], list[list[float]]]
    bounds: Sequence[tuple[float, float]]
    log_density: Callable[[Theta, Floats], Floats]
    log_mass: Callable[[Theta, float, float], float]
    text: Callable[[Theta, float, float], str]

    def log_likelihoods(self, theta: Theta, runs: Floats, lower: float, upper: float) -> Floats:
        """Return the log of the truncated density at each run, float64 [run]."""
        return self.log_density(theta, runs) - self.log_mass(theta, lower, upper)

    def penalty(self, theta: Theta, lower: float, upper: float) -> float:
        """Return 0, or how far a law has too little mass on the support to be written."""
        return 100.0 * min(max(_LEAST_LOG_MASS - self.log_mass(theta, lower, upper), 0.0), 1e6) ** 2


@dataclass(frozen=True)
class _Two(Family):
    """Mixtures of two laws of one family: parameters are the log odds of the first, and those of both."""

    of: Family

    def log_likelihoods(self, theta: Theta, runs: Floats, lower: float, upper: float) -> Floats:
        odds, one, other = theta[0], *np.split(theta[1:], 2)
        likely = self.of.log_likelihoods
        mixed: Floats = np.logaddexp(
            likely(one, runs, lower, upper) - np.logaddexp(0.0, -odds),
            likely(other, runs, lower, upper) - np.logaddexp(0.0, odds),
        )
        return mixed

    def penalty(self, theta: Theta, lower: float, upper: float) -> float:
        return sum(self.of.penalty(part, lower, upper) for part in np.split(theta[1:], 2))


def _log_ratio(small: float, large: float) -> float:
    """Return log(exp(large) - exp(small)), and about -700 where nothing is left."""
    return large + math.log(max(-math.expm1(min(small - large, 0.0)), 1e-300))


def _normal_log_mass(mu: float, sigma: float, lower: float, upper: float) -> float:
    from scipy import special

    a, b = (lower - mu) / sigma, (upper - mu) / sigma
    if a > 0:
        # The mirrored tail keeps its digits.
        a, b = -b, -a
    return _log_ratio(float(special.log_ndtr(a)), float(special.log_ndtr(b)))


def _normal_log_density(mu: float, sigma: float, x: Floats) -> Floats:
    return np.asarray(-0.5 * ((x - mu) / sigma) ** 2 - math.log(sigma * math.sqrt(2 * math.pi)))


def _exp(theta: Theta) -> list[float]:
    return [math.exp(value) for value in theta.tolist()]


def _gamma_log_density(theta: Theta, x: Floats) -> Floats:
    shape, scale = _exp(theta)
    return np.asarray((shape - 1) * np.log(x / scale) - x / scale - math.lgamma(shape) - math.log(scale))


def _gamma_log_mass(theta: Theta, lower: float, upper: float) -> float:
    from scipy import special

    shape, scale = _exp(theta)
    ends = np.array([lower, upper]) / scale
    below, above = special.gammainc(shape, ends), special.gammaincc(shape, ends)
    # Of the two differences the one of the smaller numbers keeps its digits.
    mass = below[1] - below[0] if below[1] < 0.5 else above[0] - above[1]
    return math.log(max(float(mass), 1e-300))


def _weibull_log_density(theta: Theta, x: Floats) -> Floats:
    shape, scale = _exp(theta)
    with np.errstate(over="ignore"):
        return np.asarray(math.log(shape / scale) + (shape - 1) * np.log(x / scale) - (x / scale) ** shape)


def _weibull_log_mass(theta: Theta, lower: float, upper: float) -> float:
    shape, scale = _exp(theta)
    with np.errstate(over="ignore"):
        below, above = np.float64(lower / scale) ** shape, np.float64(upper / scale) ** shape
    return _log_ratio(-min(float(above), 1e300), -min(float(below), 1e300))


def _lognormal_starts(x: Floats) -> list[list[float]]:
    return [[float(np.log(x).mean()), math.log(max(float(np.log(x).std()), _LEAST_SIGMA))]]


def _mixture_starts(x: Floats) -> list[list[float]]:
    """Return a start for each of three cuts into shorter and longer runs."""
    ordered = np.sort(x)
    starts = []
    for share in (0.25, 0.5, 0.75):
        cut = max(int(share * len(x)), 1)
        halves = [_lognormal_starts(part)[0] for part in (ordered[:cut], ordered[cut:])]
        starts.append([math.log(share / (1 - share)), *halves[0], *halves[1]])
    return starts


def _gamma_starts(x: Floats) -> list[list[float]]:
    shape = float(np.clip(x.mean() ** 2 / max(float(x.var()), 1e-4), *SHAPES))
    return [[math.log(shape), math.log(float(x.mean()) / shape)]]


def _weibull_starts(x: Floats) -> list[list[float]]:
    # A Weibull variable's logarithm has the deviation pi / (sqrt(6) shape) and the mean log(scale) - 0.5772 / shape.
    shape = float(np.clip(math.pi / math.sqrt(6) / max(float(np.log(x).std()), 1e-2), *SHAPES))
    return [[math.log(shape), float(np.log(x).mean()) + 0.5772 / shape]]


def _mixture_text(theta: Theta, lower: float, upper: float) -> str:
    first = 1 / (1 + math.exp(-theta[0]))
    one, other = (LOGNORMAL.text(part, lower, upper) for part in np.split(theta[1:], 2))
    return f"mixture:{first:.12g}*{one};{1 - first:.12g}*{other}"


_LOG_SIGMA = (math.log(_LEAST_SIGMA), math.log(10.0))
_LOG_SHAPE = (math.log(SHAPES[0]) + 1e-9, math.log(SHAPES[1]) - 1e-9)
_LOG_SCALE = (math.log(1e-6) + 1e-9, math.log(10.0))

LOGNORMAL = Family(
    _lognormal_starts,
    [(-29.0, 29.0), _LOG_SIGMA],
    lambda theta, x: _normal_log_density(theta[0], math.exp(theta[1]), np.log(x)) - np.log(x),
    lambda theta, a, b: _normal_log_mass(theta[0], math.exp(theta[1]), math.log(a), math.log(b)),
    lambda theta, a, b: text_of("tlognorm", a, b, theta[0], math.exp(theta[1])),
)
#: Name -> family, those of fewer parameters first.
FAMILIES: dict[str, Family] = {
    "uniform": Family(
        lambda x: [[]],
        [],
        lambda theta, x: np.zeros(len(x)),
        lambda theta, a, b: math.log(b - a),
        lambda theta, a, b: text_of("uniform", a, b),
    ),
    "exponential": Family(
        lambda x: [[math.log(float(x.mean()))]],
        [_LOG_SCALE],
        lambda theta, x: -x / math.exp(theta[0]) - theta[0],
        lambda theta, a, b: _log_ratio(-b / math.exp(theta[0]), -a / math.exp(theta[0])),
        lambda theta, a, b: text_of("texp", a, b, math.exp(theta[0])),
    ),
    "normal": Family(
        lambda x: [[float(x.mean()), math.log(max(float(x.std()), _LEAST_DEVIATION))]],
        [(-10.0, 10.0), (math.log(_LEAST_DEVIATION), math.log(10.0))],
        lambda theta, x: _normal_log_density(theta[0], math.exp(theta[1]), x),
        lambda theta, a, b: _normal_log_mass(theta[0], math.exp(theta[1]), a, b),
        lambda theta, a, b: text_of("tnorm", a, b, theta[0], math.exp(theta[1])),
    ),
    "lognormal": LOGNORMAL,
    "gamma": Family(
        _gamma_starts,
        [_LOG_SHAPE, _LOG_SCALE],
        _gamma_log_density,
        _gamma_log_mass,
        lambda theta, a, b: text_of("tgamma", a, b, *_exp(theta)),
    ),
    "weibull": Family(
        _weibull_starts,
        [_LOG_SHAPE, _LOG_SCALE],
        _weibull_log_density,
        _weibull_log_mass,
        lambda theta, a, b: text_of("tweibull", a, b, *_exp(theta)),
    ),
    "mixture": _Two(
        _mixture_starts,
        [(-5.0, 5.0), *[(-29.0, 29.0), _LOG_SIGMA] * 2],
        LOGNORMAL.log_density,
        LOGNORMAL.log_mass,
        _mixture_text,
        of=LOGNORMAL,
    ),
}


def support_of(runs: Floats) -> tuple[float, float]:
    """Return the ends of the support of n runs: the shortest and the longest, each moved by the factor 1 + 1 / n.

    For the upper end of a uniform law from 0, that is the unbiased estimate of least variance.
    """
    margin = 1 + 1 / len(runs)
    return float(runs.min()) / margin, float(runs.max()) * margin


class _Fitted(msgspec.Struct, frozen=True):
    """Parameters found, and the unit of time in which they stand."""

    family: Family
    theta: list[float]
    unit: float
    lower: float
    upper: float

    def log_likelihood(self, runs: Floats) -> float:
        """Return the mean log-likelihood of runs within the support, per run."""
        each = self.family.log_likelihoods(np.array(self.theta), runs / self.unit, self.lower, self.upper)
        return float(each.mean()) - math.log(self.unit)


def _fit(family: Family, runs: Floats, lower: float, upper: float) -> _Fitted:
    from scipy import optimize

    x, a, b = runs / upper, lower / upper, 1.0
    count = len(family.bounds)
    least, most = np.array(family.bounds, dtype=np.float64).reshape(count, 2).T
    best, lowest = np.zeros(0), math.inf

    def cost(theta: Theta) -> float:
        height = -float(family.log_likelihoods(theta, x, a, b).mean()) + family.penalty(theta, a, b)
        return height if math.isfinite(height) else 1e30

    for start in family.starts(x):
        theta = np.clip(np.array(start), least, most)
        candidates = [theta]
        if count:
            # At this size a tenth of L-BFGS-B's time, whose linear algebra wakes every core.
            settings = {"ftol": 1e-9, "maxiter": 100}
            found = optimize.minimize(cost, theta, method="SLSQP", bounds=family.bounds, options=settings)
            candidates.append(np.clip(found.x, least, most))
        for theta in candidates:
            if (height := cost(theta)) < lowest:
                best, lowest = theta, height
    return _Fitted(family, best.tolist(), upper, a, b)


def fit_family(name: str, runs: Floats, support: tuple[float, float] | None = None) -> Law:
    """Return the law of a family that makes some runs most likely.

    Args:
        name: one of `FAMILIES`.
        runs: run times of more than 0, float64 [run].
        support: ends of the law, which hold all runs; `support_of` the runs if not given.
    """
    lower, upper = support_of(runs) if support is None else support
    found = _fit(FAMILIES[name], runs, lower, upper)
    theta = np.array(found.theta)
    return parse_law(found.family.text(theta, found.lower, found.upper)).scaled(found.unit)


def held_out(runs: Floats, names: Sequence[str] = tuple(FAMILIES)) -> dict[str, float]:
    """Return the mean log-likelihood of the later runs under each family, fitted to the earlier runs, per run.

    The support is that of all runs, and so the same for all families: it is no part of what they compete in. A mixture
    needs at least 30 earlier runs to be among them.

    Args:
        runs: run times in order of submission, float64 [run], at least 2.
        names: of `FAMILIES`.
    """
    lower, upper = support_of(runs)
    earlier, later = split(runs)
    tried = [name for name in names if name != "mixture" or len(earlier) >= _MIXTURE_RUNS]
    return {name: _fit(FAMILIES[name], earlier, lower, upper).log_likelihood(later) for name in tried}


def split(runs: Floats) -> tuple[Floats, Floats]:
    """Return the earlier runs, to fit to, and the later ones, to judge by; both have at least one of two or more."""
    cut = min(max(round(EARLIER * len(runs)), 1), len(runs) - 1)
    return runs[:cut], runs[cut:]


def distance(law: Law, runs: Floats) -> float:
    """Return the largest difference between the law's distribution function and that of the runs (Kolmogorov, Smirnov).

    For an empirical law it is taken at the runs and at the law's own times, where both functions step.
    """
    x = np.sort(runs)
    if isinstance(law, Empirical):
        at = np.concatenate((x, law.values))
        return float(np.abs(law.cdf(at) - np.searchsorted(x, at, side="right") / len(x)).max())
    f = law.cdf(x)
    steps = np.arange(len(x) + 1) / len(x)
    return float(max((steps[1:] - f).max(), (f - steps[:-1]).max()))
