"""Where each of many names stands: 12 bytes per name, for which a dictionary takes more than 80 and a text of each."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable
from functools import lru_cache

import numpy as np

#: Names found last that are remembered: an exchange names a job several times while the job waits and runs.
_LAST = 1 << 12


class NameIndex:
    """Finds positions by name: the hashes of all names in order, and whose each is. The names stay where they are.

    Time: O(log n) for a name; O(n log n) to begin.
    """

    def __init__(self, names: Iterable[str], name_of: Callable[[int], str]) -> None:
        """Take the names, in order of their positions, and what returns the name at a position."""
        hashes = np.fromiter(map(hash, names), dtype=np.int64)
        # Stable, so that of equal names the first comes first.
        order = np.argsort(hashes, kind="stable")
        ordered = hashes[order]
        again = np.flatnonzero(ordered[1:] == ordered[:-1]) + 1
        self._hashes = array("q", ordered.tobytes())
        self._positions = array("i", order.astype(np.int32).tobytes())
        self._name_of = name_of
        #: Positions whose hash another position before it has: of names that stand there again, as a rule.
        self._suspects = order[again].tolist()
        self.get: Callable[[str], int | None] = lru_cache(_LAST)(self._find)

    def _find(self, name: str) -> int | None:
        """Return the first position of a name; None: there is none."""
        wanted = hash(name)
        at = bisect_left(self._hashes, wanted)
        while at < len(self._hashes) and self._hashes[at] == wanted:
            position = self._positions[at]
            if self._name_of(position) == name:
                return position
            at += 1
        return None

    def repeated(self) -> list[int]:
        """Return the positions of names that stand at an earlier position, too."""
        return [position for position in self._suspects if self._find(self._name_of(position)) != position]
