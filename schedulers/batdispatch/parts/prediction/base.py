"""What a prediction is, and how one is found by name."""

from __future__ import annotations

from abc import ABC, abstractmethod

from batdispatch.core.jobs.job import Job
from batdispatch.core.line import registry
from batdispatch.core.line.ledger import Ledger
from batdispatch.core.line.options import Part

#: Entry-point group in which a package announces its predictions.
GROUP = "batdispatch.predictions"


class Prediction(Part, ABC):
    """Says how long jobs will run, and learns from those that ended.

    What it says is used capped by the walltime and at least one second, see `Predictions`.
    """

    def begin(self, ledger: Ledger) -> None:
        """Prepare for a simulation; called once, before any job."""

    @abstractmethod
    def predict(self, job: Job) -> float | None:
        """Return how long a job just submitted will run, in seconds, or None where nothing is known."""

    def learn(self, job: Job, runtime: float, predicted: float, ended: float) -> None:
        """Take note of a job that ended.

        Jobs are told in order of their ends; those that end at one moment, in order of their arrival.

        Args:
            job: the job.
            runtime: seconds that it ran.
            predicted: seconds that it was expected to run.
            ended: simulated time of its end, s.
        """

    def forget(self, job: Job) -> None:
        """Take note that there is nothing to learn from a job: it was killed."""


def make_prediction(text: str) -> Prediction:
    """Build a prediction from its name, with options in brackets if any.

    Raises:
        InputError: there is none of that name, or an option is wrong.
    """
    return registry.make(GROUP, text, Prediction, "prediction")


def name_of(job: Job) -> str:
    """Return the name under which a job's program is known; empty where the log does not say.

    Read from the job's own fields ``name`` or, as importers write it, ``executable``.
    """
    return str(job.extra.get("name", job.extra.get("executable", "")))
