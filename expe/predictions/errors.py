"""How far predictions are off: all of them hear the same simulation under EASY, so that they see the same history."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from grid import option
from numpy.typing import NDArray

from batdispatch.core.job import Job, Stay
from batdispatch.core.lateness import TOLERANCE
from batdispatch.core.ledger import Ledger
from batdispatch.core.session import Session
from batdispatch.dispatchers.backfilling.easy import Easy
from batdispatch.engines.embedded import EmbeddedEngine
from batdispatch.engines.outputs import Outputs
from batdispatch.inputs.platforms import Platform
from batdispatch.inputs.workloads import Workload
from batdispatch.parts.prediction import Predictions

Floats = NDArray[np.float64]


class Errors(NamedTuple):
    """How good a prediction was."""

    #: Mean |predicted - run time|, s.
    absolute: float
    #: Share of the jobs that ran longer than predicted.
    under: float
    #: Mean of the smaller over the larger one of prediction and run time (Tsafrir et al., 2007).
    accuracy: float
    #: Mean E-Loss: 1 + log(units x run time) times the error, squared if the prediction is too long.
    e_loss: float
    #: CPU time of predicting and learning, us a job.
    cpu: float


class Witness(Easy):
    """EASY by requested times, beside which predictions are asked and taught, and nothing follows from them."""

    def watch(self, names: Sequence[str]) -> None:
        """Say which predictions; before the simulation."""
        self.asked = {name: Predictions(option(name)) for name in names}
        self.said: dict[str, dict[str, float]] = {name: {} for name in names}
        self.spent = dict.fromkeys(names, 0)
        self.ran: dict[str, tuple[int, float]] = {}

    def begin(self, ledger: Ledger) -> None:
        super().begin(ledger)
        for found in self.asked.values():
            found.begin(ledger)

    def on_submit(self, ledger: Ledger, job: Job) -> None:
        for name, found in self.asked.items():
            began = time.process_time_ns()
            self.said[name][job.id.rpartition("!")[2]] = found.of(job)
            self.spent[name] += time.process_time_ns() - began
        super().on_submit(ledger, job)

    def on_end(self, ledger: Ledger, stay: Stay) -> None:
        self.ran[stay.job.id.rpartition("!")[2]] = (stay.job.units, ledger.now - stay.start)
        for name, found in self.asked.items():
            began = time.process_time_ns()
            found.ended(stay, ledger.now)
            self.spent[name] += time.process_time_ns() - began
        super().on_end(ledger, stay)


def errors(platform: Platform, workload: Workload, names: Sequence[str], held_out: Sequence[str]) -> dict[str, Errors]:
    """Return how good predictions were for the jobs held out, by name; these jobs are given by their numbers."""
    witness = Witness()
    witness.watch(names)
    with tempfile.TemporaryDirectory() as folder:
        outputs = Outputs(Path(folder), platform.machine.size)
        EmbeddedEngine(platform.machine, workload, outputs).run(Session(witness))
    units, runtime = np.array([witness.ran[job] for job in held_out], dtype=np.float64).T
    return {
        name: _errors(
            np.array([witness.said[name][job] for job in held_out]),
            runtime,
            units,
            witness.spent[name] / 1000 / len(workload.jobs),
        )
        for name in names
    }


def _errors(predicted: Floats, runtime: Floats, units: Floats, cpu: float) -> Errors:
    error = predicted - runtime
    weight = 1 + np.log(np.maximum(units * runtime, 1))
    return Errors(
        absolute=float(np.abs(error).mean()),
        under=float((error < -TOLERANCE).mean()),
        accuracy=float((np.minimum(predicted, runtime) / np.maximum(predicted, runtime)).mean()),
        e_loss=float((weight * np.where(error >= 0, error**2, -error)).mean()),
        cpu=cpu,
    )
