"""What users do today: ask for the most, for what the last runs took, for the mean, or for what they think fit."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Annotated, ClassVar

import msgspec

from batdispatch.core.job import Job
from batdispatch.core.options import Options
from batdispatch.parts.requests.base import MAX_HISTORY, RequestSequence, SequenceOptions
from batdispatch.parts.requests.laws import Empirical, Law


class Hpc(RequestSequence):
    """The law's upper bound, once: an attempt never fails."""

    def limits(self, law: Law, zeta: float = 0.0, history: Sequence[float] = ()) -> tuple[float, ...]:
        return (law.upper,)


class NeuroscienceOptions(SequenceOptions, frozen=True, kw_only=True):
    """Options of neuroscience.

    runs: Count this many previous runs, the latest ones.
    """

    runs: Annotated[int, msgspec.Meta(ge=1, le=MAX_HISTORY)] = 5


class Neuroscience(RequestSequence):
    """The longest of the last runs, then `factor` times as much after each failure.

    If there is no previous run, the law's upper bound.
    """

    options_type: ClassVar[type[Options]] = NeuroscienceOptions
    uses_history = True

    def limits(self, law: Law, zeta: float = 0.0, history: Sequence[float] = ()) -> tuple[float, ...]:
        recent = history[-self.options.runs :]
        return (max(recent) if recent else law.upper,)


class Factor(RequestSequence):
    """The mean run time, then `factor` times as much after each failure."""

    def limits(self, law: Law, zeta: float = 0.0, history: Sequence[float] = ()) -> tuple[float, ...]:
        return (law.mean,)


class Walltime(RequestSequence):
    """The user's walltime, then `factor` times as much after each failure; a job that states a law asks for its most.

    It needs no law. Without request sequences a job that outlives its walltime is over; here its user submits it again.
    """

    learns = True
    final = False

    def limits(self, law: Law, zeta: float = 0.0, history: Sequence[float] = ()) -> tuple[float, ...]:
        return (law.upper,)

    def law_of(self, job: Job) -> Law | None:
        return Empirical([job.walltime]) if job.walltime < math.inf else None
