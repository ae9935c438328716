"""Expected run times of the jobs of one simulation, and how good they were."""

from __future__ import annotations

import math
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from batdispatch.core.jobs.job import Job, JobState, Stay
from batdispatch.core.line.ledger import Ledger
from batdispatch.core.plans.correction import DEFAULT, LEAST, Correction, correct_runtime
from batdispatch.core.plans.lateness import TOLERANCE, Lateness
from batdispatch.core.plans.moments import end_of
from batdispatch.parts.prediction.base import Prediction, make_prediction
from batdispatch.parts.prediction.requested import Requested

_KILLED = JobState.COMPLETED_KILLED
#: Most jobs that ended whose errors are worked out together.
_BLOCK = 4096


class Predictions:
    """Asks a prediction once for each job, at submission, and tells it how long the jobs that ended ran.

    What is expected is at most the walltime and at least a second; where nothing is known it is the walltime, or
    `default_walltime` where there is none.

    Jobs that end at one moment are learned from in order of their arrival, whatever the order in which they are told.

    Attributes:
        exact_requests: True when the walltimes are taken as they stand.
        correction: what is expected of a job that outlived its prediction, see `batdispatch.core.plans.correction`.
        sure: whether no job outlives what is expected of it: the simulator ends it then.
    """

    def __init__(self, name: str, default_walltime: float = math.inf) -> None:
        """Build the prediction registered as `name`.

        Raises:
            InputError: there is none of that name.
        """
        self.name = name
        self.prediction: Prediction = make_prediction(name)
        self.exact_requests = isinstance(self.prediction, Requested)
        self.sure = self.exact_requests and default_walltime == math.inf
        self._learns = type(self.prediction).learn is not Prediction.learn
        self._default = default_walltime
        self.correction: Correction = DEFAULT
        self._of: dict[str, float] = {}
        #: (time of the end, rank, job, run time, expected run time) of the jobs not yet learned from.
        self._fresh: list[tuple[float, int, Job, float, float]] = []
        #: Expected run times and run times of jobs that ended, in seconds, whose errors are yet to be worked out.
        self._predicted: list[float] = []
        self._runtimes: list[float] = []
        self._ended = self._under = self._unknown = 0
        self._error = 0.0

    def begin(self, ledger: Ledger) -> None:
        """Prepare for a simulation."""
        self.prediction.begin(ledger)

    def requested(self, job: Job) -> float:
        """Return a job's walltime, or the default, in seconds."""
        return job.walltime if job.walltime < math.inf else self._default

    def of(self, job: Job) -> float:
        """Return how long a job is expected to run, in seconds; predicted at the first call, then kept."""
        if self.exact_requests:
            walltime = job.walltime
            return walltime if walltime < math.inf else self._default
        known = self._of.get(job.id)
        if known is None:
            if self._fresh:
                self._learn()
            predicted = self.prediction.predict(job)
            self._unknown += predicted is None
            known = self.requested(job) if predicted is None else predicted
            known = self._of[job.id] = max(min(known, job.walltime), LEAST)
        # A layer may have amended the walltime since.
        return known if known <= job.walltime else max(job.walltime, LEAST)

    def end(self, stay: Stay, now: float, lateness: Lateness) -> float:
        """Return when a running job is expected to end as things stand, in seconds.

        At the soonest `batdispatch.core.plans.lateness.TOLERANCE` before now.
        """
        job, elapsed = stay.job, now - stay.start - lateness.delay
        expected = correct_runtime(self.correction, self.of(job), elapsed, job.walltime)
        return end_of(stay.start, lateness.booked(expected))

    def ended(self, stay: Stay, now: float) -> None:
        """Learn from a job that ended; one that was killed says nothing about run times."""
        job = stay.job
        predicted = self.of(job)
        if not self.exact_requests:
            self._of.pop(job.id, None)
        if stay.state is _KILLED:
            self.prediction.forget(job)
            return
        runtime = now - stay.start
        self._predicted.append(predicted)
        self._runtimes.append(runtime)
        if len(self._runtimes) == _BLOCK:
            self._sum_up()
        if self._learns:
            self._fresh.append((now, stay.rank, job, runtime, predicted))

    def _learn(self) -> None:
        """Tell the prediction of the jobs that ended since it was last asked."""
        for ended, _, job, runtime, predicted in sorted(self._fresh, key=itemgetter(0, 1)):
            self.prediction.learn(job, runtime, predicted, ended)
        self._fresh.clear()

    def _sum_up(self) -> None:
        """Add the errors of the jobs that ended since the last call."""
        self.ended_at(np.array(self._predicted), np.array(self._runtimes))
        self._predicted.clear()
        self._runtimes.clear()

    def ended_at(self, predicted: NDArray[np.float64], runtimes: NDArray[np.float64]) -> None:
        """Note how long jobs ran that nobody killed, where the requests are taken as they stand.

        Args:
            predicted: seconds that each job was expected to run, float64 [job].
            runtimes: seconds that each ran, in order of their end.
        """
        known = predicted < math.inf
        expected, ran = predicted[known], runtimes[known]
        self._ended += len(ran)
        # One by one, so that the sum is the same wherever blocks begin. A job that is killed at its walltime is told to
        # have ended a little later, hence the tolerance.
        self._error = float(np.add.accumulate(np.concatenate(([self._error], np.abs(expected - ran))))[-1])
        self._under += int(np.count_nonzero(ran > expected + TOLERANCE))

    def report(self) -> dict[str, Any]:
        """Return how good the predictions for the jobs that ended by themselves or at their walltime were.

        `mean_absolute_error` is mean |predicted - run time| in seconds, `share_underestimated` the share that ran
        longer than predicted; jobs expected to run for ever are left out. `unpredicted` counts the jobs of which
        nothing was known.
        """
        self._sum_up()
        count = self._ended
        return {
            "name": self.name,
            "jobs": count,
            "mean_absolute_error": self._error / count if count else None,
            "share_underestimated": self._under / count if count else None,
            "unpredicted": self._unknown,
        }
