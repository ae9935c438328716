"""How far predictions are off: all of them hear the same simulation under EASY, so that they see the same history."""

from __future__ import annotations

import time
from typing import Any, ClassVar

import numpy as np

from batdispatch.core.jobs.job import Job, Stay
from batdispatch.core.line.ledger import Ledger
from batdispatch.core.line.options import Options
from batdispatch.core.plans.lateness import TOLERANCE
from batdispatch.dispatchers.backfilling.easy import Easy, EasyOptions
from batdispatch.parts.prediction import Predictions

#: Jobs of the first of so many parts of a log do not count.
TUNING_PART = 5


class WitnessOptions(EasyOptions, frozen=True, kw_only=True):
    """Options of Witness.

    predictions: which to listen, with + between them.
    """

    predictions: str = "requested"


class Witness(Easy):
    """EASY by requested times, beside which predictions are asked and taught, and nothing follows from them.

    Its report has, for each prediction and over the jobs of the last four fifths of the log: the mean |predicted - run
    time|, s; the share of the jobs that ran longer than predicted; the mean of the smaller over the larger one of
    prediction and run time (Tsafrir et al., 2007); the mean E-Loss: 1 + log(units x run time) times the error, squared
    if the prediction is too long; and the CPU time of predicting and learning, s a job.
    """

    options_type: ClassVar[type[Options]] = WitnessOptions

    def begin(self, ledger: Ledger) -> None:
        super().begin(ledger)
        self._asked = {name: Predictions(name) for name in self.options.predictions.split("+")}
        for found in self._asked.values():
            found.begin(ledger)
        self._said: dict[str, dict[str, float]] = {name: {} for name in self._asked}
        self._spent = dict.fromkeys(self._asked, 0)
        self._ran: dict[str, tuple[int, float]] = {}

    def on_submit(self, ledger: Ledger, job: Job) -> None:
        for name, found in self._asked.items():
            began = time.process_time_ns()
            self._said[name][job.id] = found.of(job)
            self._spent[name] += time.process_time_ns() - began
        super().on_submit(ledger, job)

    def on_end(self, ledger: Ledger, stay: Stay) -> None:
        self._ran[stay.job.id] = (stay.job.units, ledger.now - stay.start)
        for name, found in self._asked.items():
            began = time.process_time_ns()
            found.ended(stay, ledger.now)
            self._spent[name] += time.process_time_ns() - began
        super().on_end(ledger, stay)

    def report(self) -> dict[str, Any]:
        return {"errors": {name.partition(":")[0].removesuffix(".py"): self._errors(name) for name in self._asked}}

    def _errors(self, name: str) -> dict[str, float]:
        jobs = list(self._said[name])
        held_out = jobs[len(jobs) // TUNING_PART :]
        units, runtime = np.array([self._ran[job] for job in held_out], dtype=np.float64).T
        predicted = np.array([self._said[name][job] for job in held_out])
        error = predicted - runtime
        weight = 1 + np.log(np.maximum(units * runtime, 1))
        return {
            "absolute": float(np.abs(error).mean()),
            "under": float((error < -TOLERANCE).mean()),
            "accuracy": float((np.minimum(predicted, runtime) / np.maximum(predicted, runtime)).mean()),
            "e_loss": float((weight * np.where(error >= 0, error**2, -error)).mean()),
            "cpu_seconds": self._spent[name] / 1e9 / len(jobs),
        }
