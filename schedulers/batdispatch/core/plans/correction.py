"""How long a job is expected to run in all that has outlived what was expected of it.

A prediction may be too short, and so may the time that is assumed of a job without a walltime. A plan that goes on
expecting the end of such a job at any moment keeps nodes idle for whoever is to follow it, for as long as it runs.
Therefore more is expected of it then, by one of the rules of `Correction`, and never more than its walltime.

References:
    [1] D. Tsafrir, Y. Etsion, D. G. Feitelson. Backfilling using system-generated predictions rather than user runtime
        estimates. IEEE TPDS, 18(6), 2007, pp. 789-803. (`steps`)
    [2] E. Gaussier, D. Glesser, V. Reis, D. Trystram. Improving backfilling by using machine learning to predict
        running times. SC 2015. (Compares `walltime`, `steps` and `doubling`.)
    [3] C. Galleguillos, Z. Kiziltan, R. Soto. A constraint programming-based job dispatcher for modern HPC systems and
        applications. 2020, section 2.2. (`second`)
"""

from __future__ import annotations

import math
from typing import Literal

from batdispatch.core.plans.lateness import overdue

#: Names of the rules, see `correct_runtime`.
Correction = Literal["steps", "doubling", "walltime", "second"]
#: Those by which a job becomes late only now and then, so that a plan can be made anew each time.
GrowthRule = Literal["walltime", "steps", "doubling"]
#: The rule of dispatchers unless told otherwise: on KTH-SP2 it serves backfilling best
#: (docs/dispatchers/parts-measured.md).
DEFAULT: GrowthRule = "walltime"
#: What is added to a prediction in turn, s: 1, 5, 15 and 30 minutes, 1, 2, 5, 10, 20, 50 and 100 hours [1].
STEPS = tuple(60.0 * minutes for minutes in (1, 5, 15, 30, 60, 120, 300, 600, 1200, 3000, 6000))
#: Shortest expected run time, and the least that a job which outlived its expected end is still given, in seconds.
LEAST = 1.0


def correct_runtime(rule: Correction, expected: float, elapsed: float, limit: float) -> float:
    """Return how long a running job is expected to run in all, in seconds.

    That is what was expected of it, unless it has outlived that. Then, and at most its walltime:

    `walltime`: its walltime. `steps`: what was expected and the first of `STEPS` that it has not outlived; its walltime
    if it has outlived the last. `doubling`: twice what was expected, or four times, and so on. `second`: a second more
    than it has run.

    Where neither a rule nor a walltime says when it ends, `doubling` does. If it has outlived its walltime too, which
    ends a job as a rule, a second more than that is expected, or two seconds, or four, and so on.

    Time: O(log(elapsed / expected)).

    Args:
        rule: as above.
        expected: how long the job was expected to run, s, at least `LEAST`.
        elapsed: how long it has been running, s.
        limit: its walltime, s; infinite without one.
    """
    if not overdue(expected, elapsed):
        return expected
    if overdue(limit, elapsed):
        return limit + _doubled(LEAST, elapsed - limit)
    longer = math.inf
    if rule == "second":
        longer = elapsed + LEAST
    elif rule == "steps":
        longer = next((expected + step for step in STEPS if not overdue(expected + step, elapsed)), math.inf)
    if rule == "doubling" or longer == limit == math.inf:
        longer = _doubled(expected, elapsed)
    return min(longer, limit)


def _doubled(length: float, elapsed: float) -> float:
    """Return the first of `length`, 2 `length`, 4 `length`, ... that has not been outlived, in seconds."""
    while overdue(length, elapsed):
        length *= 2
    return length
