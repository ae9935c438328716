"""Predictions from the last two jobs of the same user."""

from __future__ import annotations

import math
from collections import deque

from batdispatch.core.jobs.job import Job
from batdispatch.core.line.ledger import Ledger
from batdispatch.parts.prediction.base import Prediction


class LastTwo(Prediction):
    """Predicts the mean run time of the user's last two jobs that ended.

    If only one of the user's jobs has ended, its run time is the prediction. If none has ended, or the job names no
    user, the prediction is the walltime.

    Typical use: where walltimes are far above the run times, and users submit similar jobs one after the other.
    References: Tsafrir, Etsion, Feitelson: "Backfilling using system-generated predictions rather than user runtime
    estimates", TPDS 2007.
    """

    def begin(self, ledger: Ledger) -> None:
        self._last: dict[str, deque[float]] = {}

    def predict(self, job: Job) -> float | None:
        last = self._last.get(job.user)
        return None if last is None else sum(last) / len(last)

    def learn(self, job: Job, runtime: float, predicted: float, ended: float) -> None:
        if job.user:
            self._last.setdefault(job.user, deque(maxlen=2)).append(runtime)


class LastTwoAsPublishedCode(LastTwo):
    """Predicts the mean of what the user's last two jobs that ended had been *expected* to run, in whole seconds.

    The published code of the constraint-programming dispatchers does this in place of `last-two`. It never looks at a
    run time, so each user's predictions stay at the first requests.

    Typical use: to compare with the figures that this code gave. For any other purpose take `last-two`.
    """

    def predict(self, job: Job) -> float | None:
        mean = super().predict(job)
        return mean if mean is None or math.isinf(mean) else float(int(mean))

    def learn(self, job: Job, runtime: float, predicted: float, ended: float) -> None:
        super().learn(job, predicted, predicted, ended)
