"""A stochastic job over all its attempts."""

from __future__ import annotations

import math
from typing import NamedTuple

from batdispatch.abilities.stochastic.requests.base import MAX_HISTORY, Plan
from batdispatch.abilities.stochastic.requests.laws import Law
from batdispatch.abilities.stochastic.requests.vocabulary import MAX_TIME, parse_law
from batdispatch.core.errors import InputError
from batdispatch.core.jobs.job import Job


class Position(NamedTuple):
    """A job's position in the queue: its submission time in seconds, and its rank (see `Ledger.rank`)."""

    submission: float
    rank: int


class Course:
    """A stochastic job over all its attempts, of which one at a time waits or runs. Times are seconds."""

    __slots__ = (
        *("attempts", "enforced", "final", "floor", "history", "index", "job", "keeps", "law", "learned", "longest"),
        *("plan", "position", "saved"),
    )

    def __init__(
        self, job: Job, law: Law, history: list[float] | None, *, learned: bool = False, final: float = math.inf
    ) -> None:
        #: The job that was submitted.
        self.job = job
        self.law = law
        #: Whether the request sequence has the law, and the job states none.
        self.learned = learned
        #: Run times of previous jobs, as the job states them.
        self.history = history
        #: What its request sequence says, and which of the limits is the current one.
        self.plan = Plan(())
        self.index = 0
        #: Attempts so far, failed speculations included.
        self.attempts = 1
        #: Longest run time that is known not to suffice, and the run time that the last checkpoint has saved.
        self.floor = 0.0
        self.saved = 0.0
        #: Walltime after which the job is over for good.
        self.final = final
        #: Longest walltime that the job's queues allow.
        self.longest = math.inf
        #: Walltime at which the simulator itself stops the current attempt.
        self.enforced = math.inf
        #: Where the current attempt stands or stood in the queue.
        self.position = Position(job.submission, 0)
        #: Whether the next attempt takes that position, as it does after a failed speculation.
        self.keeps = False


def course_of(job: Job) -> Course | None:
    """Return the course that begins with a job just submitted, or None if the job states no law.

    Raises:
        InputError: its law or history is wrong.
    """
    text = job.extra.get("runtime_law")
    if text is None:
        return None
    place = f"job {job.id}, field 'runtime_law'"
    if not isinstance(text, str):
        raise InputError(f"found {str(text)[:60]!r}, expected a text such as 'tnorm:0,72000,28800,7200'", place=place)
    return Course(job, parse_law(text, place=place), history_of(job))


def history_of(job: Job) -> list[float] | None:
    """Return the previous run times that a job states in the field ``history``, in seconds; None without one.

    Raises:
        InputError: they are no positive numbers, or too many.
    """
    told = job.extra.get("history")
    if told is None:
        return None
    place = f"job {job.id}, field 'history'"
    if not isinstance(told, list) or len(told) > MAX_HISTORY:
        raise InputError(f"expected a list of at most {MAX_HISTORY} run times, the latest last", place=place)
    for value in told:
        if type(value) not in (int, float) or not 0 < value <= MAX_TIME:
            raise InputError(f"found {str(value)[:60]}, expected a run time in seconds", place=place)
    return [float(value) for value in told]
