"""The requested time."""

from batdispatch.core.jobs.job import Job
from batdispatch.parts.prediction.base import Prediction


class Requested(Prediction):
    """Predicts that a job runs for the walltime that it asked for.

    Typical use: where walltimes are all that is known, as on most production systems. It is the default.
    """

    def predict(self, job: Job) -> float | None:
        return None
