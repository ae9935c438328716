"""What a request sequence is, and how one is found by name.

A stochastic job asks for a *limit*, and for a longer one after each attempt that the limit cut short. Its limits
t_1 < t_2 < ... make its request sequence.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Annotated, ClassVar

import msgspec

from batdispatch.abilities.stochastic.requests.laws import Law
from batdispatch.core.jobs.job import Job
from batdispatch.core.line import registry
from batdispatch.core.line.options import Options, Part

#: Entry-point group in which a package announces its request sequences.
GROUP = "batdispatch.requests"
#: Longest limit that can be asked for as the least one.
MAX_LEAST = 1e9
#: Most run times of previous jobs that a sequence looks at.
MAX_HISTORY = 1000


class SequenceOptions(Options, frozen=True, kw_only=True):
    """Options of every request sequence.

    factor: After the last limit of the sequence, make each further limit this many times the one before.
    least: Make no limit shorter than this, in the law's unit of time (seconds in a job). 0: limits may be as short as
        the sequence says.
    """

    factor: Annotated[float, msgspec.Meta(ge=1.01, le=100)] = 1.5
    least: Annotated[float, msgspec.Meta(ge=0, le=MAX_LEAST)] = 0.0


class Plan(msgspec.Struct, frozen=True):
    """What a job asks for, attempt after attempt, and which attempts end in a checkpoint. Times in the law's unit."""

    #: Increasing run times up to which the attempts go, over all attempts that go on from one another.
    limits: tuple[float, ...]
    #: Whether each of these attempts ends in a checkpoint; those beyond the end do not.
    saves: tuple[bool, ...] = ()
    #: How long it takes to write a checkpoint, and to read it before the work goes on.
    checkpoint: float = 0.0
    restart: float = 0.0

    def keeps(self, attempt: int) -> bool:
        """Return whether an attempt, the first being 0, ends in a checkpoint."""
        return attempt < len(self.saves) and self.saves[attempt]

    def length(self, attempt: int, saved: float) -> float:
        """Return what an attempt within the plan asks for if the run time `saved` is saved, 0 for none."""
        return self.around(attempt, saved) + self.limits[attempt] - saved

    def around(self, attempt: int, saved: float) -> float:
        """Return how much of what an attempt asks for is not run time: reading one checkpoint, writing another."""
        return (self.restart if saved > 0 else 0.0) + (self.checkpoint if self.keeps(attempt) else 0.0)


class RequestSequence(Part, ABC):
    """Says how long a limit to ask for, attempt after attempt."""

    options_type: ClassVar[type[Options]] = SequenceOptions
    #: Seconds of the laws' unit of time; a job's law is in seconds.
    unit: float = 1.0
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

    def plan(self, law: Law, zeta: float = 0.0, history: Sequence[float] = ()) -> Plan:
        """Return the limits of `ask`, and which of them end in a checkpoint: none, unless a sequence says so."""
        return Plan(self.ask(law, zeta, history))

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
    """Build a request sequence from its name, with options in brackets if any: ``hpc``, ``toptimal[grid=200]``,
    ``list[5h,40h]``.

    Raises:
        InputError: there is none of that name, or an option is wrong.
    """
    return registry.make(GROUP, text, RequestSequence, "request sequence")
