"""Drawn futures, and what keeping more or less room free would cost in them."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from batdispatch.parts.rollouts.kernel import LATE, Futures, delay_costs
from batdispatch.parts.rollouts.past import MEMORY, Arrival, Floats, Past

Ints = NDArray[np.int64]

#: Fewest jobs that must have come before a future is drawn.
FEWEST = 20
#: For how long a job without a walltime or prediction is expected to run in a plan, s: longer than any rollout.
FOR_EVER = 1e12


class Runner(NamedTuple):
    """A job that runs: since when (s), what was seen of it when it came, and what it gives back, int64 [resource]."""

    start: float
    seen: Arrival
    gives: Ints


class Waiter(NamedTuple):
    """A job that waits: what was seen of it when it came, its place in the order now, and whether it leaves room."""

    seen: Arrival
    key: tuple[float, ...]
    leaves_room: bool


class Policy(NamedTuple):
    """A way to go on.

    Attributes:
        share: of each resource, that is kept free for shorter jobs.
        places: place of each job in the order, int64 [job]: first the waiting ones, then those that came last, if they
            come again (see `places_in_order`); none: as the keys say that were seen of them.
    """

    share: float
    places: Ints | None = None


class Moment(NamedTuple):
    """A decision to be made.

    Attributes:
        now: s.
        total: capacity that is there, int64 [resource].
        free: what is free of it, int64 [resource].
        running: the running jobs.
        waiting: the waiting jobs, in order.
    """

    now: float
    total: Ints
    free: Ints
    running: Sequence[Runner]
    waiting: Sequence[Waiter]


class Room:
    """How much of the machine a job leaves free for the shorter ones among the jobs that came last.

    A job may use up to 1 - `share` x f of each resource, where f is the part of the last `MEMORY` jobs that were
    expected to run for at most a `shorter`-th of its own expected time. So the longest jobs leave all of the share, and
    the shortest nothing.
    """

    def __init__(self, past: Past, shorter: float) -> None:
        self._past = past
        self._shorter = shorter
        self._ascending: Floats = np.empty(0)
        self._came = -1

    def parts(self, expected: Floats, came: int) -> Floats:
        """Return f of jobs that are expected to run for so many seconds; `came`: how many jobs have come."""
        if came != self._came:
            self._ascending = np.sort([one.expected for one in self._past.arrivals])
            self._came = came
        count = len(self._ascending)
        if not count:
            return np.zeros(len(expected))
        found: Floats = self._ascending.searchsorted(expected / self._shorter, side="right") / count
        return found


class Rollouts:
    """Says what it would cost to go on in each of several ways: orders, and shares of room kept free.

    Each sample is a future: every waiting or running job gets one of its guessed run times (a running one a guess that
    it has not outlived yet), and jobs come as they came from some moment of the recent past on, drawn at random. In
    each future, EASY runs with each policy until all of these jobs have started. The futures are the same for all
    policies, so that chance favours none.

    Deviations: nodes are pooled. Jobs that become late in a future are not given way.
    Time: O(samples x policies) rollouts, see `kernel.delay_costs`.
    References: [1] Bertsekas, Tsitsiklis, Wu: "Rollout algorithms for combinatorial optimization", Journal of
        Heuristics 3, 1997. [2] Carastan-Santos, de Camargo: SC 2017 (orderings judged by simulation, ahead of time).
    """

    def __init__(self, past: Past, room: Room, samples: int, arrivals: int) -> None:
        self._past = past
        self._room = room
        self._samples = samples
        self._arrivals = arrivals

    def costs(self, moment: Moment, policies: Sequence[Policy], came: int, rng: np.random.Generator) -> Floats:
        """Return the cost of each policy in each future, float64 [policy, sample].

        Args:
            moment: what is to be decided.
            policies: what to compare.
            came: how many jobs have come so far.
            rng: source of chance.
        """
        past, waiting, running = list(self._past.arrivals), moment.waiting, moment.running
        begins = rng.integers(1, len(past), size=self._samples)
        chance = rng.random((self._samples, 2))
        drawn = np.arange(min(self._arrivals, len(past) - 1))
        # First those that wait now, then those of the past, to come once more.
        known = [*(one.seen for one in waiting), *past]
        needs = np.array([one.need for one in known])
        expected = _planned(known)
        guesses = np.array([one.guesses for one in known])
        parts = self._room.parts(expected, came)
        parts[: len(waiting)] *= [one.leaves_room for one in waiting]
        places = places_in_order([one.key for one in waiting], [one.key for one in past])
        gaps = np.diff([one.came for one in past])
        here = np.arange(len(waiting))
        since = np.array([one.start for one in running])
        run_needs = np.array([one.gives for one in running], dtype=np.int64).reshape(len(running), len(moment.total))
        run_expected = np.maximum(since + _planned([one.seen for one in running]), moment.now + LATE)
        run_lasts = _outlasting([one.seen for one in running], moment.now - since, chance[:, 1])
        # A drawn past that reaches the present goes on at its beginning; [sample, job].
        taken = 1 + (begins[:, None] - 1 + drawn) % (len(past) - 1)
        waits = gaps[taken - 1]
        waits[:, 0] *= chance[:, 0]
        rows = np.hstack((np.tile(here, (self._samples, 1)), len(waiting) + taken))
        # The guesses of one sample are not always the same ones of each job of the past.
        samples = np.arange(self._samples)[:, None]
        which = np.hstack((np.tile(samples, (1, len(waiting))), (samples + taken) % self._samples))
        futures = Futures(
            moment.now,
            moment.total,
            moment.free,
            run_needs,
            np.ascontiguousarray((since[:, None] + run_lasts).T),
            run_expected,
            needs[rows],
            expected[rows],
            guesses[rows, which],
            moment.now + np.hstack((np.zeros((self._samples, len(waiting))), np.cumsum(waits, axis=1))),
            np.stack([1.0 - share * parts[rows] for share, _ in policies]),
            np.stack([(places if own is None else own)[rows] for _, own in policies]),
            len(waiting),
        )
        return delay_costs(futures)


def _planned(seen: Sequence[Arrival]) -> Floats:
    """Return how long jobs are expected to run, as plans have it, s."""
    return np.array([min(one.expected, FOR_EVER) for one in seen], dtype=np.float64)


def places_in_order(waiting: Sequence[tuple[float, ...]], past: Sequence[tuple[float, ...]]) -> Ints:
    """Return the place of each waiting job, then of each job of the past if it came again, int64 [job].

    A job that comes goes behind the waiting jobs whose keys are not larger than its own.

    Args:
        waiting: keys, ascending.
        past: keys, as they were when the jobs came.
    """
    behind = [bisect_right(waiting, key) for key in past]
    ranked = sorted(range(len(past)), key=lambda index: (behind[index], past[index], index))
    step = len(past) + 1
    places = np.empty(len(waiting) + len(past), dtype=np.int64)
    places[: len(waiting)] = step * np.arange(1, len(waiting) + 1)
    for rank, index in enumerate(ranked):
        places[len(waiting) + index] = step * behind[index] + 1 + rank
    return places


def _outlasting(seen: Sequence[Arrival], elapsed: Floats, chance: Floats) -> Floats:
    """Return run times of the running jobs in each sample, s, float64 [job, sample].

    That is, of each job, the first of its guesses that it has not outlived, beginning with the sample's own. If it has
    outlived all of them, it may end at any moment until its walltime, or until it has run twice as long.

    Args:
        seen: the jobs.
        elapsed: for how long each has run, s.
        chance: of each sample, from 0 to 1.
    """
    samples = len(chance)
    guesses = np.array([one.guesses for one in seen]).reshape(len(seen), samples)
    walltimes = np.array([one.job.walltime for one in seen], dtype=np.float64)
    limits = np.where((elapsed < walltimes) & (walltimes < math.inf), walltimes, 2.0 * elapsed)
    found: Floats = elapsed[:, None] + np.maximum(1.0, chance * (limits - elapsed)[:, None])
    longer = guesses > elapsed[:, None]
    jobs = np.flatnonzero(longer.any(axis=1))
    for sample in range(samples):
        first = np.roll(longer[jobs], -sample, axis=1).argmax(axis=1)
        found[jobs, sample] = guesses[jobs, (first + sample) % samples]
    return found


def enough(past: Past) -> bool:
    """Return whether enough is known to draw futures from."""
    return min(len(past.arrivals), MEMORY) >= FEWEST and past.ended > 0
