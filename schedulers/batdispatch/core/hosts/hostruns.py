"""Sets of host ids as sorted runs: what each operation costs follows the runs that it touches, not the machine's size.

A mask of 93,312 hosts is 12 kB, whatever it holds, and each operation on it takes microseconds. What a job holds is two
runs on average, and what is free a few dozen. So what comes and goes with each job is kept in runs, and
`core.hosts.hostset` has the masks for those who plan with many sets at once.

A set is a list of bounds, ``[first, end, first, end, ...]``, strictly ascending: host i is in the set if an odd number
of bounds is not above i. No run ends where the next one begins.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence

import msgspec

from batdispatch.core.hosts import hostset

#: Of one set. A tuple, so that equal sets have equal bounds.
Bounds = tuple[int, ...]


def bounds_of(mask: int) -> Bounds:
    """Return the bounds of a mask."""
    return tuple(bound for first, last in hostset.runs(mask) for bound in (first, last + 1))


def mask_of(bounds: Sequence[int]) -> int:
    """Return the mask of bounds. Linear in the number of runs times the largest id."""
    mask = 0
    for index in range(0, len(bounds), 2):
        mask |= (1 << bounds[index + 1]) - (1 << bounds[index])
    return mask


def from_text(text: str) -> Bounds:
    """Read a host set in Batsim's notation.

    Raises:
        InputError: see `hostset.intervals`.
    """
    bounds: list[int] = []
    for first, last in sorted(hostset.intervals(text)):
        if bounds and first <= bounds[-1]:
            bounds[-1] = max(bounds[-1], last + 1)
        else:
            bounds += first, last + 1
    return tuple(bounds)


def ids_of(bounds: Bounds) -> list[int]:
    """Return the ids in ascending order."""
    if len(bounds) == 2:
        return list(range(bounds[0], bounds[1]))
    return [host for index in range(0, len(bounds), 2) for host in range(bounds[index], bounds[index + 1])]


def size_of(bounds: Bounds) -> int:
    """Return the number of ids."""
    return sum(bounds[1::2]) - sum(bounds[::2])


def text_of(bounds: Bounds) -> str:
    """Return Batsim's notation of a host set, such as ``0-3 5``."""
    parts = []
    for index in range(0, len(bounds), 2):
        first, last = bounds[index], bounds[index + 1] - 1
        parts.append(f"{first}-{last}" if first < last else str(first))
    return " ".join(parts)


class HostRuns(msgspec.Struct, eq=False, gc=False):
    """A set of hosts, immutable. To take k runs out of r, or to put them in, takes O(k log r) and a copy of r."""

    #: Bounds of the runs; not to be modified.
    bounds: Sequence[int]
    #: Number of hosts.
    size: int
    _mask: int | None = None

    @classmethod
    def of(cls, mask: int) -> HostRuns:
        """Return the set of a mask."""
        return cls(bounds_of(mask), mask.bit_count(), mask)

    @property
    def mask(self) -> int:
        """The set as a mask, worked out when it is first asked for."""
        if self._mask is None:
            self._mask = mask_of(self.bounds)
        return self._mask

    def without(self, part: Bounds, size: int) -> HostRuns | None:
        """Return the set less some of its hosts, or None if one of these is not in it.

        Args:
            part: bounds of the hosts.
            size: number of them.
        """
        left = list(self.bounds)
        for index in range(0, len(part), 2):
            first, end = part[index], part[index + 1]
            at = bisect_right(left, first)
            if not at & 1 or left[at] < end:
                return None
            if left[at - 1] == first:
                if left[at] == end:
                    del left[at - 1 : at + 1]
                else:
                    left[at - 1] = end
            elif left[at] == end:
                left[at] = first
            else:
                left[at:at] = (first, end)
        return HostRuns(left, self.size - size)

    def joined(self, part: Bounds, size: int) -> HostRuns:
        """Return the set with hosts that are not in it.

        Args:
            part: bounds of the hosts.
            size: number of them.
        """
        more = list(self.bounds)
        for index in range(0, len(part), 2):
            first, end = part[index], part[index + 1]
            at = bisect_left(more, first)
            if at & 1:
                # A run ends where this one begins.
                if at + 1 < len(more) and more[at + 1] == end:
                    del more[at : at + 2]
                else:
                    more[at] = end
            elif at < len(more) and more[at] == end:
                more[at] = first
            else:
                more[at:at] = (first, end)
        return HostRuns(more, self.size + size)

    def split(self, count: int) -> tuple[Bounds, HostRuns]:
        """Return the bounds of the `count` lowest hosts, 1 to `size`, and the set less these. Linear in its runs."""
        bounds, size = self.bounds, self.size - count
        index = 0
        while True:
            first, end = bounds[index], bounds[index + 1]
            if end - first > count:
                cut = first + count
                return (*bounds[:index], first, cut), HostRuns([cut, *bounds[index + 1 :]], size)
            index += 2
            if end - first == count:
                return tuple(bounds[:index]), HostRuns(bounds[index:], size)
            count -= end - first
