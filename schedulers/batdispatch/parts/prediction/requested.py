"""The requested time."""

from batdispatch.core.job import Job
from batdispatch.parts.prediction.base import Prediction


class Requested(Prediction):
    """The walltime that was asked for."""

    def predict(self, job: Job) -> float | None:
        return None
