"""How a job's speed depends on its number of units: a small vocabulary.

A scalability is written as a text in the field ``sizes`` of a job:

- ``linear``: n units are n times as fast as one;
- ``power:EXPONENT``: n^EXPONENT times, 0 <= EXPONENT <= 2;
- ``amdahl:SERIAL``: 1 / (SERIAL + (1 - SERIAL) / n) times, 0 <= SERIAL <= 1 (Amdahl's law);
- ``table:UNITS=SECONDS,UNITS=SECONDS,...``: one step takes so many seconds on so many units, in ascending order of
  units. Between two entries the logarithm of the time is linear in the logarithm of the units.
"""

from __future__ import annotations

import itertools
import math
from bisect import bisect_left
from functools import lru_cache

import msgspec

from batdispatch.core.numerals import number_of

#: Longest text of a scalability, in characters.
MAX_TEXT = 10_000
#: Steepest power law: beyond it, two units more would make a million units a million times as fast.
MAX_EXPONENT = 2.0
#: Longest time of a step in a table, in seconds.
MAX_STEP = 1e9
#: What is expected of a text.
GRAMMAR = (
    "linear, power:EXPONENT (0 to 2), amdahl:SERIAL (0 to 1), or table:UNITS=SECONDS,... with ascending units and "
    "positive seconds"
)


class Scalability(msgspec.Struct, frozen=True):
    """The time of a step on n units, up to a factor. `text` is as a job states it."""

    text: str
    #: ``linear``, ``power``, ``amdahl`` or ``table``.
    law: str
    #: The numbers of the law; of a table the units.
    numbers: tuple[float, ...] = ()
    #: Of a table, the seconds that belong to the units.
    seconds: tuple[float, ...] = ()

    def time(self, units: int) -> float:
        """Return the time of a step on some units: in seconds of a table, else as a share of the time on one unit."""
        if self.law == "power":
            return math.pow(units, -self.numbers[0])
        if self.law == "amdahl":
            return self.numbers[0] + (1.0 - self.numbers[0]) / units
        if self.law == "table":
            return self._looked_up(units)
        return 1.0 / units

    def _looked_up(self, units: int) -> float:
        at = bisect_left(self.numbers, units)
        if at < len(self.numbers) and self.numbers[at] == units:
            return self.seconds[at]
        low, high = self.numbers[at - 1], self.numbers[at]
        share = math.log(units / low) / math.log(high / low)
        return math.pow(self.seconds[at - 1], 1.0 - share) * math.pow(self.seconds[at], share)

    def covers(self, least: int, most: int) -> bool:
        """Return whether the time is known for all numbers of units between two."""
        return self.law != "table" or (self.numbers[0] <= least and most <= self.numbers[-1])


#: What holds where a job says nothing.
LINEAR = Scalability("linear", "linear")


@lru_cache(maxsize=1024)
def parse_scalability(text: str) -> Scalability | None:
    """Return the scalability that a text states, or None if it states none."""
    law, colon, rest = text.partition(":")
    if text == "linear":
        return LINEAR
    if len(text) > MAX_TEXT or not colon:
        return None
    if law == "table":
        pairs = [entry.partition("=") for entry in rest.split(",")]
        units, seconds = [number_of(one) for one, _, _ in pairs], [number_of(one) for _, _, one in pairs]
        ascending = all(one < other for one, other in itertools.pairwise(units))
        if not (ascending and units[0] >= 1 and all(0 < each <= MAX_STEP for each in seconds)):
            return None
        return Scalability(text, law, tuple(units), tuple(seconds)) if all(n.is_integer() for n in units) else None
    number = number_of(rest)
    if law not in ("power", "amdahl") or not 0 <= number <= (MAX_EXPONENT if law == "power" else 1.0):
        return None
    return Scalability(text, law, (number,))
