"""What users do today: ask for the most, for what the last runs took, for the mean, or for what they think fit."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Annotated, ClassVar

import msgspec

from batdispatch.abilities.stochastic.requests.base import MAX_HISTORY, RequestSequence, SequenceOptions
from batdispatch.abilities.stochastic.requests.laws import Empirical, Law
from batdispatch.core.jobs.job import Job
from batdispatch.core.line.options import Options


class Hpc(RequestSequence):
    """Asks once, for the law's upper bound, so no attempt ever fails.

    Typical use: as the baseline for every other request sequence.
    """

    def limits(self, law: Law, zeta: float = 0.0, history: Sequence[float] = ()) -> tuple[float, ...]:
        return (law.upper,)


class NeuroscienceOptions(SequenceOptions, frozen=True, kw_only=True):
    """Options of neuroscience.

    runs: Count this many previous runs, the latest ones.
    """

    runs: Annotated[int, msgspec.Meta(ge=1, le=MAX_HISTORY)] = 5


class Neuroscience(RequestSequence):
    """Asks for the longest of the last runs, and after each failure for `factor` times as much.

    If there is no previous run, it asks for the law's upper bound.

    Typical use: to compare with what users of neuroscience applications do, as the paper describes it.
    """

    options_type: ClassVar[type[Options]] = NeuroscienceOptions
    uses_history = True

    def limits(self, law: Law, zeta: float = 0.0, history: Sequence[float] = ()) -> tuple[float, ...]:
        recent = history[-self.options.runs :]
        return (max(recent) if recent else law.upper,)


class Factor(RequestSequence):
    """Asks for the mean run time, and after each failure for `factor` times as much.

    Typical use: as a simple rule to compare with.
    """

    def limits(self, law: Law, zeta: float = 0.0, history: Sequence[float] = ()) -> tuple[float, ...]:
        return (law.mean,)


class Walltime(RequestSequence):
    """Asks for the user's walltime, and after each failure for `factor` times as much.

    It needs no law. If a job states a law, it asks for the law's upper bound. Without request sequences, a job that
    outlives its walltime is over. Here it is as if its user submitted it again.

    Typical use: as the baseline on logs, whose jobs have walltimes and state no law.
    """

    learns = True
    final = False

    def limits(self, law: Law, zeta: float = 0.0, history: Sequence[float] = ()) -> tuple[float, ...]:
        return (law.upper,)

    def law_of(self, job: Job) -> Law | None:
        return Empirical([job.walltime]) if job.walltime < math.inf else None
