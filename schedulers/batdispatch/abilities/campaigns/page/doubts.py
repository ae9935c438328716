"""Why windows or slices of a log may say less than they seem to: waits that grow with them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from batdispatch.abilities.campaigns.page.aims import Aim
from batdispatch.abilities.campaigns.page.pairs import Pair, of_both, ratio_of_longest
from batdispatch.abilities.campaigns.page.table import RunMetric

#: How much longer the longest wait of all windows may be, relative to the baseline, than that of one.
GROWTH = 1.25


class Effects(NamedTuple):
    """What was found for an aim: the table, and every dispatcher against the baseline."""

    aim: Aim
    table: RunMetric
    pairs: Sequence[Pair]


def doubts(found: Sequence[Effects]) -> tuple[str, ...]:
    """Return sentences on what should be doubted of effects on successive parts of one workload."""
    if not found or not found[0].table.kind:
        return ()
    return tuple(text for one in found if one.aim.extreme for text in _growth(one))


def cut_off(table: RunMetric) -> tuple[str, ...]:
    """Return a sentence on jobs that still waited when they were no longer watched.

    Args:
        table: how many of them there were in each run.
    """
    totals = {name: np.nansum(table.of(name)) for name in table.dispatchers}
    found = [f"{count:,.0f} of {name}" for name, count in totals.items() if count]
    told = (
        f"Some jobs still waited when the cool-down ended: {', '.join(found)}. Their waits are longer than counted: "
        "the longest wait and perhaps the mean are too low. Take a longer cool-down (--cool-down), or windows of one "
        "simulation of the whole log (--replicate-by windows)."
    )
    return (told,) if found else ()


def _growth(found: Effects) -> Iterator[str]:
    """Yield which dispatchers keep a job waiting the longer, the longer they are watched.

    The longest wait of one part and that of all parts, each relative to the baseline's, agree if no job starves.
    """
    part = found.table.kind
    for pair in found.pairs:
        values = of_both(found.table, pair.ours, pair.theirs)
        if not len(values[0]):
            continue
        one, together = math.exp(found.aim.apart(*values).mean()), ratio_of_longest(found.aim, *values)
        if together > GROWTH * max(one, 1.0):
            yield (
                f"The {found.aim.words} of {pair.ours} grows with the length of what is measured: it is {one:.2f} "
                f"times that of {pair.theirs} in a {part}, and {together:.2f} times over all {pair.n} of them. Some "
                "jobs starve: the longer the log, the longer they may wait."
            )
