"""Nemenyi's critical difference: which of many average ranks can be told apart, all pairs at once.

When to use: after `friedman` found a difference, to show the order of all. To choose one dispatcher, pairs against it
(`signed_rank` with `holm`) tell more apart.

References:
    P. B. Nemenyi: "Distribution-free multiple comparisons", PhD thesis, Princeton 1963.
    Demsar, section 3.2.2 and table 5.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from scipy import stats

from batdispatch.results.statistics.significance import ALPHA


def critical_difference(dispatchers: int, blocks: int, alpha: float = ALPHA) -> float:
    """Return Nemenyi's critical difference of average ranks: q sqrt(k (k + 1) / (6 N)).

    q is the quantile of the studentised range of k means with infinitely many degrees of freedom, over sqrt(2).

    Args:
        dispatchers: k, at least 2.
        blocks: N.
        alpha: significance, 0 to 1.
    """
    q = float(stats.studentized_range.ppf(1 - alpha, dispatchers, np.inf)) / math.sqrt(2)
    return q * math.sqrt(dispatchers * (dispatchers + 1) / (6 * blocks))


def groups_within(names: Sequence[str], ranks: Sequence[float], difference: float) -> tuple[tuple[str, ...], ...]:
    """Return the largest runs of at least two names whose ranks lie less than the critical difference apart.

    Args:
        names: from the best rank on.
        ranks: of these, ascending.
        difference: the critical one.
    """
    groups: list[tuple[int, int]] = []
    for first in range(len(ranks)):
        last = max(index for index in range(first, len(ranks)) if ranks[index] - ranks[first] < difference)
        if last > first and (not groups or last > groups[-1][1]):
            groups.append((first, last))
    return tuple(tuple(names[first : last + 1]) for first, last in groups)
