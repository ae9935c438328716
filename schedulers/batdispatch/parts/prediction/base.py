"""What a prediction is, and how one is found by name."""

from __future__ import annotations

from abc import ABC, abstractmethod

from batdispatch.core import registry
from batdispatch.core.job import Job
from batdispatch.core.ledger import Ledger

#: Entry-point group in which a package announces its predictions.
GROUP = "batdispatch.predictions"


class Prediction(ABC):
    """Says how long jobs will run, and learns from those that ended.

    What it says is used capped by the walltime and at least one second, see `Estimates`.
    """

    def begin(self, cluster: Ledger) -> None:
        """Prepare for a simulation; called once, before any job."""

    @abstractmethod
    def predict(self, job: Job) -> float | None:
        """Return how long a job just submitted will run, in seconds, or None where nothing is known."""

    def learn(self, job: Job, runtime: float, predicted: float) -> None:
        """Take note of a job that ended.

        Args:
            job: the job.
            runtime: seconds that it ran.
            predicted: seconds that it was expected to run.
        """


def make_prediction(name: str) -> Prediction:
    """Build a prediction by registered name.

    Raises:
        InputError: there is none of that name.
    """
    return registry.find(GROUP, name, Prediction, "prediction")()


def name_of(job: Job) -> str:
    """Return the name under which a job's program is known; empty where the log does not say.

    Read from the job's own fields ``name`` or, as importers write it, ``executable``.
    """
    return str(job.extra.get("name", job.extra.get("executable", "")))
