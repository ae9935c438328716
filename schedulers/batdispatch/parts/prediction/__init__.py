"""Predictions of run times: how long a waiting job is expected to run."""

from batdispatch.parts.prediction.base import GROUP, Prediction, make_prediction
from batdispatch.parts.prediction.estimates import Estimates

__all__ = ["GROUP", "Estimates", "Prediction", "make_prediction"]
