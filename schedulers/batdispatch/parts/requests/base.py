"""What a request sequence is, and how one is found by name.

A stochastic job asks for a *limit*, and for a longer one after each attempt that the limit cut short. Its limits
t_1 < t_2 < ... make its request sequence.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Annotated, ClassVar

import msgspec

from batdispatch.core import registry
from batdispatch.core.job import Job
from batdispatch.core.options import Options, Part
from batdispatch.parts.requests.laws import Law

#: Entry-point group in which a package announces its request sequences.
GROUP = "batdispatch.requests"
#: Longest limit that can be asked for as the least one.
MAX_LEAST = 1e9
#: Most run times of previous jobs that a sequence looks at.
MAX_HISTORY = 1000


class SequenceOptions(Options, frozen=True, kw_only=True):
    """Options of every request sequence.

    factor: after the last limit of the sequence, each further limit is this many times the one before.
    least: no limit is shorter than this, in the law's unit of time (seconds in a job).
    """

    factor: Annotated[float, msgspec.Meta(ge=1.01, le=100)] = 1.5
    least: Annotated[float, msgspec.Meta(ge=0, le=MAX_LEAST)] = 0.0


class RequestSequence(Part, ABC):
    """Says how long a limit to ask for, attempt after attempt."""

    options_type: ClassVar[type[Options]] = SequenceOptions
    #: Whether the backfilling rate matters, and whether the run times of previous jobs do.
    uses_rate: bool = False
    uses_history: bool = False
    #: Whether it has laws for jobs that state none, see `law_of`, and whether such a job is over at its walltime.
    learns: ClassVar[bool] = False
    final: bool = True

    @abstractmethod
    def limits(self, law: Law, zeta: float = 0.0, history: Sequence[float] = ()) -> tuple[float, ...]:
        """Return increasing limits, in the law's unit of time; `limit` says what follows the last.

        A sequence that looks for the best limits takes the option `least` into account. Callers use `ask`, which sees
        to it that no limit is shorter in any case.

        Args:
            law: of the run time.
            zeta: backfilling rate of the job, 0 to 1.
            history: run times of previous jobs of this kind, the latest last.
        """

    def ask(self, law: Law, zeta: float = 0.0, history: Sequence[float] = ()) -> tuple[float, ...]:
        """Return `limits` of which none is shorter than the option `least`."""
        found, least = self.limits(law, zeta, history), self.options.least
        longer = tuple(limit for limit in found if limit > least)
        return found if len(longer) == len(found) else (least, *longer)

    def law_of(self, job: Job) -> Law | None:
        """Return the law, in seconds, of a job just submitted that states none; None: it asks for its walltime once.

        Its upper bound is the job's walltime.
        """
        return None

    def learn(self, job: Job, ran: float) -> None:
        """Take note of a job that ended by itself or at its walltime, after `ran` seconds in its last attempt.

        Args:
            job: as it was submitted.
            ran: seconds.
        """

    def limit(self, limits: Sequence[float], attempt: int) -> float:
        """Return the limit of an attempt, the first being 0; beyond the end of `limits` they grow by `factor`."""
        if attempt < len(limits):
            return limits[attempt]
        grown: float = limits[-1] * self.options.factor ** (attempt - len(limits) + 1)
        return grown

    def reaching(self, limits: Sequence[float], enough: float) -> tuple[float, ...]:
        """Return `limits`, and what follows them, up to the first that is at least `enough`."""
        found = list(limits)
        while found[-1] < enough:
            found.append(self.limit(limits, len(found)))
        return tuple(found)


def make_sequence(text: str) -> RequestSequence:
    """Build a request sequence from its name, with options in brackets if any: ``hpc``, ``toptimal[grid=200]``.

    Raises:
        InputError: there is none of that name, or an option is wrong.
    """
    return registry.make(GROUP, text, RequestSequence, "request sequence")
