"""Sums over the machine of what is free in each step of a timeline: where a job is larger, its place is not looked for.

Plain Python numbers: a timeline has some tens of steps as a rule, for which one numpy operation costs more than the
whole loop.
"""

from __future__ import annotations

from collections.abc import Sequence

#: An amount for each pooled resource.
Sizes = Sequence[int]


class Sums:
    """Free amounts of each pooled resource in each step, in order of time."""

    def __init__(self, free: Sizes) -> None:
        """Begin with a single step, in which `free` is free."""
        #: One list for each pooled resource, with an amount for each step.
        self._columns = [[amount] for amount in free]

    def copy(self) -> Sums:
        """Return sums of their own that are like these. Linear in the number of steps."""
        made = Sums.__new__(Sums)
        made._columns = [column.copy() for column in self._columns]
        return made

    def repeat(self, index: int) -> None:
        """Insert a step at `index` that is like the one before it."""
        for column in self._columns:
            column.insert(index, column[index - 1])

    def remove(self, first: int, last: int) -> None:
        """Remove the steps ``first..last - 1``."""
        for column in self._columns:
            del column[first:last]

    def shift(self, first: int, last: int, use: Sizes, sign: int) -> None:
        """Give (1) or take (-1) amounts in the steps ``first..last - 1``."""
        for column, amount in zip(self._columns, use, strict=True):
            if amount:
                change = sign * amount
                column[first:last] = [old + change for old in column[first:last]]

    def put(self, index: int, free: Sizes) -> None:
        """Say what is free in a step."""
        for column, amount in zip(self._columns, free, strict=True):
            column[index] = amount

    def against(self, need: Sizes) -> tuple[list[int], int]:
        """Return one number for each step and the least of them with which no sum of the step is below the need.

        What is returned is valid until the next change, and not to be modified.
        """
        if len(need) == 1 and need[0] > 0:
            return self._columns[0], need[0]
        pairs = [pair for pair in zip(self._columns, need, strict=True) if pair[1] > 0]
        if not pairs:
            # Sums of absent hosts are never below 0.
            return self._columns[0], min(self._columns[0])
        column, least = pairs[0]
        if len(pairs) == 1:
            return column, least
        spare = [amount - least for amount in column]
        for column, least in pairs[1:]:
            spare = [min(before, amount - least) for before, amount in zip(spare, column, strict=True)]
        return spare, 0
