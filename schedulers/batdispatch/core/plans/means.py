"""The mean of a series over the recent past."""

from __future__ import annotations

import math
from functools import cache

from batdispatch.core.machine.series import Series


class ExponentialMean:
    """The mean of a series in which what was `memory` seconds ago counts by 1/e; it begins at the first value."""

    def __init__(self, series: Series, memory: float) -> None:
        self._series, self._memory = series, memory
        mean, self._means = series.values[0], dict[float, float]()
        before, value = series.times[0], series.values[0]
        for moment, following in zip(series.times, series.values, strict=True):
            mean = self._moved(mean, value, moment - before)
            self._means[moment] = mean
            before, value = moment, following

    @staticmethod
    @cache
    def of(series: Series, memory: float) -> ExponentialMean:
        """Return the mean of a series, worked out once."""
        return ExponentialMean(series, memory)

    def _moved(self, mean: float, value: float, seconds: float) -> float:
        return value + (mean - value) * math.exp(-seconds / self._memory)

    def at(self, time: float) -> float:
        """Return the mean at a time, in s."""
        since = self._series.since(time)
        if time < since:
            return self._series.values[0]
        return self._moved(self._means[since], self._series.at(time), time - since)
