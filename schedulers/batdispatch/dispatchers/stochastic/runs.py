"""A stochastic job over all its attempts."""

from __future__ import annotations

import math

from batdispatch.core.errors import InputError
from batdispatch.core.job import Job
from batdispatch.parts.requests.laws import Law
from batdispatch.parts.requests.vocabulary import MAX_TIME, parse_law

#: Between a job's id and the number of an attempt, see `attempt_id`.
MARK = "~"
#: Most previous run times that a job may state.
MAX_HISTORY = 1000


class Run:
    """A stochastic job over all its attempts, of which one at a time waits or runs. Times are seconds."""

    __slots__ = ("attempts", "floor", "history", "index", "job", "law", "limit", "place", "sequence")

    def __init__(self, job: Job, law: Law, history: list[float] | None) -> None:
        #: The job that was submitted.
        self.job = job
        self.law = law
        #: Run times of previous jobs, as the job states them.
        self.history = history
        self.sequence: tuple[float, ...] = ()
        #: Which request of the sequence is the current one.
        self.index = 0
        #: Attempts so far, failed speculations included.
        self.attempts = 1
        #: Longest time that is known not to suffice.
        self.floor = 0.0
        #: Time after which the attempt that runs is stopped; what is set while it waits is for the next start only.
        self.limit = math.inf
        #: Submission and rank that the next attempt keeps, after a failed speculation.
        self.place: tuple[float, int] | None = None


def attempt_id(job_id: str, attempt: int) -> str:
    """Return the id of a job's further attempt, from 2 on: ``w0!7`` -> ``w0!7~2``."""
    return f"{job_id}{MARK}{attempt}"


def run_of(job: Job) -> Run | None:
    """Return a job that was submitted with a law as a run, None for a job without one.

    Raises:
        InputError: its law or history is wrong.
    """
    text = job.extra.get("runtime_law")
    if text is None:
        return None
    place = f"job {job.id}, field 'runtime_law'"
    if not isinstance(text, str):
        raise InputError(f"found {str(text)[:60]!r}, expected a text such as 'tnorm:0,72000,28800,7200'", place=place)
    return Run(job, parse_law(text, place=place), history_of(job))


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
