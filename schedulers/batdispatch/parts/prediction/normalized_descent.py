"""Online gradient descent that does not depend on the scales of features.

Own code: of the libraries with online linear models, scikit-learn's SGDRegressor and river have neither this update nor
losses of one's own within a light installation (river's models also take a dictionary for each example, some hundred
times slower than an array), and Vowpal Wabbit, which has the update, is a compiled program beside Python.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray


class NormalizedGradient:
    """A linear model that learns from one example at a time.

    Ross, Mineiro, Langford: "Normalized Online Learning", UAI 2013, algorithm 2 (NAG), with a penalty on the squares of
    the weights. Multiplying a feature by a constant changes no prediction, if there is no penalty.

    Time: O(number of features) for each example.

    Attributes:
        weights: float64 [feature].
        scales: float64 [feature], the largest absolute value seen of each.
    """

    def __init__(self, features: int, rate: float, penalty: float = 0.0) -> None:
        """Begin with a model that predicts 0.

        Args:
            features: how many numbers describe an example.
            rate: the learning rate eta.
            penalty: lambda of the penalty lambda / 2 |weights|^2, in the loss's unit.
        """
        self.weights = np.zeros(features)
        self.scales = np.zeros(features)
        self._squares = np.zeros(features)
        self._norms = 0.0
        self._examples = 0
        self._rate = rate
        self._penalty = penalty

    def predict(self, example: NDArray[np.float64]) -> float:
        """Return the prediction for an example, float64 [feature]."""
        return float(self.weights @ example)

    def learn(self, example: NDArray[np.float64], slope: Callable[[float], float]) -> None:
        """Take a step against the gradient, but none where the step is too large for a float: the model stays finite.

        Args:
            example: float64 [feature].
            slope: returns the derivative of the loss at a prediction.
        """
        with np.errstate(over="ignore", invalid="ignore"):
            self._step(example, slope)

    def _step(self, example: NDArray[np.float64], slope: Callable[[float], float]) -> None:
        size = np.abs(example)
        if not np.isfinite(size @ size):
            return
        grown = size > self.scales
        self.weights[grown] *= self.scales[grown] / size[grown]
        self.scales[grown] = size[grown]
        seen = np.flatnonzero(self.scales)
        scaled = example[seen] / self.scales[seen]
        gradient = slope(self.predict(example)) * example[seen] + self._penalty * self.weights[seen]
        squares = self._squares[seen] + gradient * gradient
        if not np.isfinite(squares).all():
            return
        self._squares[seen] = squares
        self._examples += 1
        self._norms += float(scaled @ scaled)
        # Where all gradients were 0 so far, so is this one.
        divisor = self.scales[seen] * np.sqrt(self._squares[seen])
        step = np.divide(gradient, divisor, out=np.zeros_like(gradient), where=divisor > 0)
        if self._norms:
            self.weights[seen] -= self._rate * math.sqrt(self._examples / self._norms) * step
