"""What users do today: ask for the most, for what the last runs took, or for the mean."""

from __future__ import annotations

from collections.abc import Sequence

from batdispatch.parts.requests.base import Requests
from batdispatch.parts.requests.laws import Law


class Hpc(Requests):
    """One request of the law's upper bound, which never fails."""

    def sequence(self, law: Law, zeta: float = 0.0, history: Sequence[float] = ()) -> tuple[float, ...]:
        return (law.upper,)


class Neuroscience(Requests):
    """The longest of the last runs (`runs`, 5 unless said), then `factor` (1.5) times as much after each failure.

    Without a previous run, the upper bound.
    """

    uses_history = True

    def sequence(self, law: Law, zeta: float = 0.0, history: Sequence[float] = ()) -> tuple[float, ...]:
        recent = history[-self.settings.runs :]
        return (max(recent) if recent else law.upper,)


class Factor(Requests):
    """The mean run time, then `factor` (1.5) times as much after each failure."""

    def sequence(self, law: Law, zeta: float = 0.0, history: Sequence[float] = ()) -> tuple[float, ...]:
        return (law.mean,)
