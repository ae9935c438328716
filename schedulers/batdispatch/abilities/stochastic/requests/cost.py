"""What a request sequence costs, in closed form.

X ~ law with distribution function F on [a, b]; limits t_1 < ... < t_m; J = min{j: t_j >= X}; S_j = t_1 + ... + t_j.

- The user's cost: each attempt costs alpha t + beta min(X, t) + gamma. alpha = 1 is the time reserved, S_J; beta = 1 is
  pay what you use. Each attempt after the first also reserves and uses an overhead of o: (alpha + beta) o.
- The machine's cost with a backfilling rate zeta: while the job holds its processors, small work arrives at rate zeta
  from the start of its first attempt on; the idle tail of the last one is filled with the backlog. All is done
  after max(S_J, (S_{J-1} + X) / (1 - zeta)).

References:
    Aupy, Gainaru, Honore, Raghavan, Robert, Sun: "Reservation strategies for stochastic jobs", IPDPS 2019.
    Gainaru, Pallez, Sun, Raghavan: "Speculative scheduling for stochastic HPC applications", ICPP 2019.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np

from batdispatch.abilities.stochastic.requests.laws import Floats, Law


class Price(msgspec.Struct, frozen=True):
    """Cost of an attempt: ``alpha * limit + beta * time used + gamma``; gamma in the law's unit of time.

    Each attempt after the first costs ``(alpha + beta) * overhead`` more: time that it reserves and uses to start anew,
    in the law's unit of time. The first attempt has no overhead of its own, since the run time covers its start.
    """

    alpha: float = 1.0
    beta: float = 0.0
    gamma: float = 0.0
    overhead: float = 0.0

    @property
    def again(self) -> float:
        """What a further attempt costs whatever its length."""
        return self.gamma + (self.alpha + self.beta) * self.overhead


RESERVED_PRICE = Price()


def _grids(law: Law, limits: Sequence[float]) -> tuple[Floats, Floats, Floats]:
    """Return the limits, and F and E[X; X <= t] at 0 (as t_0) and at each of them."""
    times = np.asarray(limits, dtype=np.float64)
    values = [law.at(float(t)) for t in times]
    return times, np.array([0.0, *(v[0] for v in values)]), np.array([0.0, *(v[1] for v in values)])


def expected_cost(law: Law, limits: Sequence[float], price: Price = RESERVED_PRICE) -> float:
    """Return the user's expected cost of a sequence whose last limit is at least the law's upper bound."""
    times, f, m = _grids(law, limits)
    used = price.beta * (np.diff(m) + times * (1.0 - f[1:]))
    once = price.gamma - price.again
    return once + float(np.sum((price.alpha * times + price.again) * (1.0 - f[:-1]) + used))


def expected_makespan(law: Law, limits: Sequence[float], zeta: float) -> float:
    """Return E[max(S_J, (S_{J-1} + X) / (1 - zeta))]; at zeta = 1, where that is infinite, times 1 - zeta.

    Args:
        law: of the run time.
        limits: increasing; the last is at least the law's upper bound.
        zeta: backfilling rate, 0 to 1.
    """
    times, f, m = _grids(law, limits)
    total, before, previous = 0.0, 0.0, 0.0
    for j, t in enumerate(times.tolist()):
        # Up to this run time the backlog fits into the idle tail.
        edge = min(max((1.0 - zeta) * (before + t) - before, previous), t)
        f_edge, m_edge = (f[j], m[j]) if edge == previous else (f[j + 1], m[j + 1]) if edge == t else law.at(edge)
        total += (1.0 - zeta) * (before + t) * (f_edge - f[j])
        total += before * (f[j + 1] - f_edge) + (m[j + 1] - m_edge)
        before, previous = before + t, t
    return float(total if zeta == 1.0 else total / (1.0 - zeta))


def failure_probability(law: Law, limits: Sequence[float]) -> float:
    """Return the probability that the first limit is not enough, P(X > t_1)."""
    return 1.0 - law.at(float(limits[0]))[0]


def failures_per_job(law: Law, limits: Sequence[float]) -> float:
    """Return the expected number of failed attempts, sum_j P(X > t_j)."""
    return float(sum(1.0 - law.at(float(t))[0] for t in limits))
