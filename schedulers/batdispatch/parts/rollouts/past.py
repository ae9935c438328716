"""What was seen of the workload so far, and what may follow from it: how long jobs run, and which jobs come next."""

from __future__ import annotations

import math
from collections import deque
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from batdispatch.core.jobs.job import Job

Floats = NDArray[np.float64]

#: How many of the jobs that came last, and of those that ended last, are remembered.
MEMORY = 300
#: Weight of another user's job beside one of the same user.
STRANGER = 0.05
#: By what the weight of a user's job falls with each later one.
FADE = 0.9
#: How long a job is taken to run of which nothing is known, s.
UNKNOWN = 3600.0


class Arrival(NamedTuple):
    """A job that came.

    Attributes:
        job: the job.
        came: when, s.
        expected: how long it was expected to run, s; may be infinite.
        guesses: how long it may run, s, float64 [sample].
        need: what it takes of the sums over the machine, int64 [resource].
        key: its place in the order when it came.
    """

    job: Job
    came: float
    expected: float
    guesses: Floats
    need: NDArray[np.int64]
    key: tuple[float, ...]


class Past:
    """Remembers jobs that came and that ended.

    A guess of how long a job runs is drawn from the jobs that ended: one of these is taken at random, and ran for some
    share of what it had been expected to run for; the job is guessed to run for the same share of its own expected
    time, and never beyond its walltime. Jobs of the same user are taken with the weight 1, twice that if they asked for
    as many units, and less the longer ago they ended; others with a small weight that falls with the ratio of
    the expected times. An exact prediction thus leads to exact guesses.

    Time: O(m) for each job, m = `MEMORY`.

    Attributes:
        arrivals: the jobs that came last, in order.
        ended: number of jobs that have ended.
    """

    def __init__(self, samples: int) -> None:
        self.arrivals: deque[Arrival] = deque(maxlen=MEMORY)
        self.ended = 0
        self._samples = samples
        #: Of the jobs that ended last: share of the expected time, run time (s), expected time (s), units, and user.
        self._shares: Floats = np.zeros(MEMORY)
        self._runs: Floats = np.zeros(MEMORY)
        self._expected: Floats = np.zeros(MEMORY)
        self._units: NDArray[np.int64] = np.zeros(MEMORY, dtype=np.int64)
        self._users: NDArray[np.int64] = np.zeros(MEMORY, dtype=np.int64)
        self._numbers: dict[str, int] = {}

    def end(self, job: Job, runtime: float, expected: float) -> None:
        """Remember a job that ended by itself or at its walltime; times in s."""
        at = self.ended % MEMORY
        self.ended += 1
        self._runs[at] = runtime
        self._shares[at] = runtime / expected if expected < math.inf else math.nan
        self._expected[at] = expected
        self._units[at] = job.units
        self._users[at] = self._number(job.user)

    def guess(self, job: Job, expected: float, rng: np.random.Generator) -> Floats:
        """Return how long a job may run, s, float64 [sample].

        Args:
            job: a job that has just come.
            expected: how long it is expected to run, s; may be infinite.
            rng: source of chance; draws as many numbers whatever is known.
        """
        chance = rng.random(self._samples)
        known = min(self.ended, MEMORY)
        weights, runs = self._alike(job, expected, known)
        if not len(weights):
            return np.full(self._samples, min(UNKNOWN if math.isinf(expected) else expected, job.walltime))
        total = np.cumsum(weights)
        chosen = np.minimum(total.searchsorted(chance * total[-1], side="right"), len(total) - 1)
        found: Floats = np.minimum(np.maximum(runs[chosen], 1.0), job.walltime)
        return found

    def _alike(self, job: Job, expected: float, known: int) -> tuple[Floats, Floats]:
        """Return weights of the jobs that ended, and how long the job would run if it ran like each of them, s."""
        # The last that ended first.
        order = (self.ended - 1 - np.arange(known)) % MEMORY
        if math.isinf(expected):
            weights, runs = np.full(known, STRANGER), self._runs[order]
        else:
            usable = order[np.isfinite(self._expected[order])]
            order, known = usable, len(usable)
            ratio = np.maximum(self._expected[order], 1.0) / max(expected, 1.0)
            alike = np.minimum(ratio, 1 / ratio) ** 2
            weights, runs = STRANGER * alike, self._shares[order] * expected
        if job.user:
            same = self._users[order] == self._number(job.user)
            own = (1.0 + (self._units[order] == job.units)) * FADE ** np.cumsum(same)
            weights = np.where(same, own if math.isinf(expected) else own * alike, weights)
            runs = np.where(same, self._runs[order], runs)
        return weights, runs

    def _number(self, user: str) -> int:
        return self._numbers.setdefault(user, len(self._numbers))
