"""What a reservation strategy is, and how one is found by name."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Annotated, ClassVar

import msgspec

from batdispatch.core import registry
from batdispatch.parts.requests.laws import Law

#: Entry-point group in which a package announces its reservation strategies.
GROUP = "batdispatch.requests"


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """What strategies can be told; each uses what it understands."""

    #: Points of the grid on which a sequence is optimised; None: the continuous optimum.
    grid: int | None = None
    #: Previous runs that count.
    runs: Annotated[int, msgspec.Meta(ge=1)] = 5
    #: By how much a request grows when the one before failed and no other is planned.
    factor: Annotated[float, msgspec.Meta(ge=1.01)] = 1.5


class Requests(ABC):
    """Says how long to ask for, attempt after attempt."""

    #: Whether the backfilling rate matters, and whether the run times of previous jobs do.
    uses_rate: ClassVar[bool] = False
    uses_history: ClassVar[bool] = False

    def __init__(self, settings: Settings | None = None) -> None:
        self.settings = settings or Settings()

    @abstractmethod
    def sequence(self, law: Law, zeta: float = 0.0, history: Sequence[float] = ()) -> tuple[float, ...]:
        """Return increasing requests, in the law's unit of time; `request` says what follows the last.

        Args:
            law: of the run time.
            zeta: backfilling rate of the job, 0 to 1.
            history: run times of previous jobs of this kind, the latest last.
        """


def request(sequence: Sequence[float], attempt: int, factor: float) -> float:
    """Return the request of an attempt, the first being 0; beyond the sequence's end they grow by `factor`."""
    if attempt < len(sequence):
        return sequence[attempt]
    return sequence[-1] * factor ** (attempt - len(sequence) + 1)


def find_requests(name: str) -> type[Requests]:
    """Return a reservation strategy by registered name, ``module:Class`` or ``path/to/file.py:Class``.

    Raises:
        InputError: there is none.
    """
    return registry.find(GROUP, name, Requests, "reservation strategy")
