"""Predictions of run times: how long a waiting job is expected to run."""

from batdispatch.parts.prediction.base import GROUP, Prediction, make_prediction
from batdispatch.parts.prediction.predictions import Predictions

__all__ = ["GROUP", "Prediction", "Predictions", "make_prediction"]
