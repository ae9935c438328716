"""Mixtures of laws: a run follows one of some laws, and nobody knows beforehand which."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from batdispatch.abilities.stochastic.requests.laws import Floats, Law

#: Halvings of the support by which a quantile is found: beyond them a double has no digits left.
_HALVINGS = 60


class Mixture(Law):
    """A run follows law i with probability w_i, so F(t) = sum_i w_i F_i(t); likewise density and partial mean."""

    def __init__(self, weights: Sequence[float], laws: Sequence[Law]) -> None:
        """Mix laws.

        Args:
            weights: of each law; what they add up to counts as 1.
            laws: with a density each.
        """
        self.weights = np.asarray(weights, dtype=np.float64) / np.sum(weights)
        self.laws = tuple(laws)
        written = (f"{weight:.12g}*{law.text}" for weight, law in zip(weights, laws, strict=True))
        lower, upper = min(law.lower for law in laws), max(law.upper for law in laws)
        super().__init__(f"mixture:{';'.join(written)}", lower, upper)

    def cdf(self, t: Any) -> Floats:
        # The weights' rounding must not let the whole exceed 1.
        return np.minimum(sum(weight * law.cdf(t) for weight, law in self._parts), 1.0)

    def pdf(self, t: Any) -> Floats:
        return np.asarray(sum(weight * law.pdf(t) for weight, law in self._parts))

    def moment(self, t: Any) -> Floats:
        return np.asarray(sum(weight * law.moment(t) for weight, law in self._parts))

    def ppf(self, u: Any) -> Floats:
        wanted = np.asarray(u, dtype=np.float64)
        low, high = np.full(wanted.shape, self.lower), np.full(wanted.shape, self.upper)
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            enough = self.cdf(middle) >= wanted
            low, high = np.where(enough, low, middle), np.where(enough, middle, high)
        return high

    def scaled(self, factor: float) -> Law:
        return Mixture(self.weights.tolist(), [law.scaled(factor) for law in self.laws])

    @property
    def _parts(self) -> zip[tuple[float, Law]]:
        return zip(self.weights.tolist(), self.laws, strict=True)
