"""Which job to try in a gap that is too short for its request."""

from __future__ import annotations

from batdispatch.parts.requests.laws import Law


def gain(law: Law, units: int, floor: float, width: int, length: float) -> float:
    """Return the share of a gap that a job is expected to use well.

        G = p E[X; X <= d | X > a] / (q d)

    with the job's p units, a gap of q units and d seconds, and a the longest time at which the job is known to have
    failed; it is killed at d if it has not ended, and then counts nothing.

    Args:
        law: of the run time, in seconds.
        units: of the job, p.
        floor: a, seconds; 0 for a job that never failed.
        width: of the gap, q units.
        length: of the gap, d seconds.

    References:
        Gainaru, Pallez, Sun, Raghavan: "Speculative scheduling for stochastic HPC applications", ICPP 2019.
    """
    if length <= floor or units > width:
        return 0.0
    tried, lost = law.at(floor) if floor > law.lower else (0.0, 0.0)
    if tried >= 1.0:
        return 0.0
    return units * (law.at(length)[1] - lost) / ((1.0 - tried) * width * length)
