"""Predictions from the last two jobs of the same user."""

from __future__ import annotations

import math
from collections import deque

from batdispatch.core.job import Job
from batdispatch.core.ledger import Ledger
from batdispatch.parts.prediction.base import Prediction


class LastTwo(Prediction):
    """Mean run time of the user's last two jobs that ended.

    Tsafrir, Etsion, Feitelson: "Backfilling using system-generated predictions rather than user runtime estimates",
    TPDS 2007. After one job, that one's run time; before, and for jobs without a user, the walltime.
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
    """Mean of what the user's last two jobs that ended had been *expected* to run, in whole seconds.

    What the published code of the constraint-programming dispatchers does in place of `last-two`: it never looks at a
    run time, so that each user's predictions stay with the first requests. For comparisons with its figures.
    """

    def predict(self, job: Job) -> float | None:
        mean = super().predict(job)
        return mean if mean is None or math.isinf(mean) else float(int(mean))

    def learn(self, job: Job, runtime: float, predicted: float, ended: float) -> None:
        super().learn(job, predicted, predicted, ended)
