"""Speculative backfilling: jobs are tried in gaps that are too short for what they ask for."""

from __future__ import annotations

import math
from collections.abc import Iterable

from batdispatch.abilities.stochastic.requests.laws import Law
from batdispatch.core.line.ledger import Ledger
from batdispatch.core.line.roles import Gap
from batdispatch.core.plans.moments import end_of

#: Shortest gap in which a job is tried, in seconds.
SHORTEST = 1.0


def gain(law: Law, share: float, floor: float, length: float) -> float:
    """Return the share of a gap that a job is expected to use well.

        G = p E[X; X <= d | X > a] / (q d)

    with the job's p units, a gap of q units and d seconds, and a the longest time at which the job is known to have
    failed; it is killed at d if it has not ended, and then counts nothing.

    Args:
        law: of the run time, in seconds.
        share: of the gap's units that the job takes, p / q.
        floor: a, seconds; 0 for a job that never failed.
        length: of the gap, d seconds.

    References:
        Gainaru, Pallez, Sun, Raghavan: "Speculative scheduling for stochastic HPC applications", ICPP 2019.
    """
    if length <= floor or share > 1.0:
        return 0.0
    tried, lost = law.at(floor) if floor > law.lower else (0.0, 0.0)
    if tried >= 1.0:
        return 0.0
    return share * (law.at(length)[1] - lost) / ((1.0 - tried) * length)


def until_first(ledger: Ledger) -> Iterable[Gap]:
    """Return what is free until the job that has waited longest could start.

    For dispatchers that do not tell their gaps. That moment is EASY's shadow time, with every running job ending at its
    walltime. If the job fits already, or if its start depends on jobs without a walltime, there is no gap.

    Time: O(r log r) for r running jobs.
    """
    space, free, now = ledger.space, ledger.free, ledger.now
    if not ledger.queue:
        return []
    first = min(ledger.queue.values(), key=ledger.rank)
    if space.fits(free, first):
        return []
    for stay in sorted(ledger.running.values(), key=lambda stay: (end_of(stay.start, stay.job.walltime), stay.job.id)):
        free = space.give(free, stay.job, stay.allocation)
        if ledger.unavailable:
            free = space.only(free, ~ledger.unavailable)
        if space.fits(free, first):
            length = end_of(stay.start, stay.job.walltime) - now
            return [Gap(space, ledger.free, length)] if SHORTEST <= length < math.inf else []
    return []
