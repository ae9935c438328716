"""A list of requests that the user writes down."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import ClassVar

from batdispatch.abilities.stochastic.requests.base import RequestSequence, SequenceOptions
from batdispatch.abilities.stochastic.requests.laws import Empirical, Law
from batdispatch.abilities.stochastic.requests.vocabulary import MAX_TIME
from batdispatch.core.errors import InputError
from batdispatch.core.jobs.job import Job
from batdispatch.core.line.options import Options
from batdispatch.core.numerals import TIME_UNITS, time_of

#: Most requests of a list.
MAX_REQUESTS = 100
_SOURCE = "request sequence list"


class UserListOptions(SequenceOptions, frozen=True, kw_only=True):
    """Options of list.

    times: Ask for these times, one after the other. They stand in the brackets without a key: `list[5h,40h,60h,98h]`.
        Either each of them has a unit (s, m, min, h, d or w) or none has. Without units they are in the law's unit of
        time.
    """

    times: str = ""


class UserList(RequestSequence):
    """Asks for the times that the user lists, one after the other, whatever the law is.

    A job that outlives the last of them asks for `factor` times as much after each further failure, as under every
    sequence. A job that states no law but a walltime asks for the listed times below its walltime, and then for the
    walltime, at which it is over as usual. If its walltime is not longer than the first of the listed times, it asks
    for its walltime once. A job that states neither asks for the listed times.

    Typical use: to price a sequence that users have agreed on, and to run it beside computed ones.
    Guarantee: without `least` and speculation, a job that takes X occupies the machine for S_{J-1} + X, and has S_J
        reserved, S_j being the sum of the first j times and J the first one that suffices; each attempt adds a
        millisecond.
    References: Gainaru, Pallez, Sun, Raghavan: "Speculative scheduling for stochastic HPC applications", ICPP 2019.
    """

    options_type: ClassVar[type[Options]] = UserListOptions
    values_option = "times"
    learns = True

    def __init__(self, options: Options | None = None) -> None:
        super().__init__(options)
        self._times, self._in_seconds = _read(self.options.times)

    def limits(self, law: Law, zeta: float = 0.0, history: Sequence[float] = ()) -> tuple[float, ...]:
        return tuple(time / self.unit for time in self._times) if self._in_seconds else self._times

    def law_of(self, job: Job) -> Law | None:
        if job.walltime == math.inf:
            return Empirical([self._times[-1]])
        return Empirical([job.walltime]) if job.walltime > self._times[0] else None


def _read(text: str) -> tuple[tuple[float, ...], bool]:
    """Return listed times, in seconds if they have units, and whether they have.

    Raises:
        InputError: there is none, one is no time, or they do not increase.
    """
    parts = text.split(",") if text.strip() else []
    if not parts:
        raise InputError("found no times, expected some such as list[5h,40h,60h,98h]", source=_SOURCE)
    if len(parts) > MAX_REQUESTS:
        raise InputError(f"found {len(parts):,} times, expected at most {MAX_REQUESTS}", source=_SOURCE)
    read = [time_of(part.strip()) for part in parts]
    times = tuple(number * TIME_UNITS[unit or "s"] for number, unit in read)
    for part, time in zip(parts, times, strict=True):
        if not 0 < time <= MAX_TIME:
            raise InputError(f"found {part.strip()[:40]!r}, expected a time above 0 and up to 1e9 s", source=_SOURCE)
    units = [bool(unit) for _, unit in read]
    if len(set(units)) > 1:
        plain = parts[units.index(False)].strip()
        raise InputError(f"found {plain!r} without a unit beside times with one, expected a unit", source=_SOURCE)
    for (before, shorter), (part, longer) in pairwise(zip(parts, times, strict=True)):
        if not shorter < longer:
            message = f"found {part.strip()!r} after {before.strip()!r}, expected each time to be longer than the last"
            raise InputError(message, source=_SOURCE)
    return times, units[0]
