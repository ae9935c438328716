"""A number and how well it is known: what every method that computes an interval returns."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple


class Estimate(NamedTuple):
    """A number and how well it is known.

    Attributes:
        value: of the sample itself, in the sample's unit, as the ends are.
        low, high: ends of the interval; None: there is no interval.
        n: size of the sample.
        method: of the interval: "BCa", "percentile", "all equal", "t" or "windows"; without an interval "none", "few",
            or "longest" for a most of all jobs.
        p: of the test that the interval inverts, two-sided, that the number of values `value` stands for is 0 (before
            `transform`); None: there is no test.
    """

    value: float
    low: float | None
    high: float | None
    n: int
    method: str
    p: float | None = None

    def transform(self, function: Callable[[float], float]) -> Estimate:
        """Return the estimate of an increasing function of the number.

        If the values are logarithms of ratios, `math.exp` gives the geometric mean of the ratios with its interval.
        """
        ends = [None if end is None else function(end) for end in (self.low, self.high)]
        return Estimate(function(self.value), ends[0], ends[1], self.n, self.method, self.p)

    def text(self, digits: int = 2) -> str:
        """Return the number with its interval in brackets, if there is one: ``0.84 (0.71-0.97)``."""
        joint = "-" if self.low is None or self.low >= 0 else " to "
        ends = "" if self.low is None else f" ({self.low:.{digits}f}{joint}{self.high:.{digits}f})"
        return f"{self.value:.{digits}f}{ends}"
