"""A quantity that changes at known moments, such as a price, the carbon of a kilowatt-hour, or a cap on power."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import accumulate


class Series:
    """A step function of simulated time: the first value holds before its moment too, the last one from its own on."""

    def __init__(self, times: Sequence[float], values: Sequence[float]) -> None:
        """Take the moments, in s, rising, and the value from each on; at least one."""
        self.times, self.values = tuple(times), tuple(values)
        steps = zip(self.times, self.times[1:], self.values, strict=False)
        #: Integral from the first moment to each.
        self._sums = list(accumulate(((end - begin) * value for begin, end, value in steps), initial=0.0))

    @classmethod
    def constant(cls, value: float) -> Series:
        """Return a series that never changes."""
        return cls((0.0,), (value,))

    def at(self, time: float) -> float:
        """Return the value at a time, in s."""
        return self.values[self._index(time)]

    def _index(self, time: float) -> int:
        return max(bisect_right(self.times, time) - 1, 0)

    def level(self, time: float) -> float:
        """Return where the value at a time, in s, lies between the least (0) and the most (1); 0 if it is constant."""
        least, most = min(self.values), max(self.values)
        return (self.at(time) - least) / (most - least) if most > least else 0.0

    def since(self, time: float) -> float:
        """Return the last moment, not after a time, at which the value changed, in s; the first one before that."""
        return self.times[self._index(time)]

    def least(self, begin: float, end: float) -> float:
        """Return the least value from one time to another, both included, in s."""
        return min(self.values[self._index(begin) : self._index(end) + 1])

    def next_change(self, time: float) -> float:
        """Return the next moment after a time at which the value changes, in s, or infinity."""
        index = bisect_right(self.times, time)
        return self.times[index] if index < len(self.times) else math.inf

    def integral(self, begin: float, end: float) -> float:
        """Return the integral from one time to another, in units of the value times s."""
        return self._until(end) - self._until(begin)

    def _until(self, time: float) -> float:
        index = self._index(time)
        return self._sums[index] + (time - self.times[index]) * self.values[index]

    def moments(self, begin: float, end: float) -> Iterator[float]:
        """Yield the moments after one time, and not after another, at which the value changes, in s."""
        yield from self.times[bisect_right(self.times, begin) : bisect_right(self.times, end)]

    def first_window(self, length: float, level: float, after: float) -> float:
        """Return the first time from some on from which the value is at least `level` for a length, or infinity.

        Times and the length are in s.
        """
        start = math.inf
        for moment in (after, *self.moments(after, math.inf)):
            start = math.inf if self.at(moment) < level else min(start, moment)
            change = self.next_change(moment)
            if start + length < change or change == math.inf:
                return start
        return math.inf


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
