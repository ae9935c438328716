"""Online regression on what is known of a job and its user."""

from __future__ import annotations

import math
from typing import Annotated, ClassVar, Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from batdispatch.core.jobs.job import Job
from batdispatch.core.line.ledger import Ledger
from batdispatch.core.line.options import Options
from batdispatch.parts.prediction.base import Prediction
from batdispatch.parts.prediction.features import FEATURES, History, features, polynomial_features
from batdispatch.parts.prediction.normalized_descent import NormalizedGradient

Branch = Literal["linear", "squared"]


class OnlineOptions(Options, frozen=True, kw_only=True):
    """Options of online-regression.

    over: Charge a prediction that is too long with its error in seconds (`linear`), or with the square of the error
        (`squared`).
    under: Charge a prediction that is too short with its error in seconds (`linear`), or with the square of the error
        (`squared`).
    weight: Multiply the loss of each job by this. `area`: 1 + log(units x run time in s). `constant`: 1, so that all
        jobs count alike.
    rate: Change the model after each job that ends by steps of this learning rate, in seconds. With a larger rate it
        follows new jobs faster. It must be above 0, so learning cannot be switched off.
    penalty: Keep the model's weights small: add half of this times the sum of their squares to the loss. 0 switches the
        penalty off.
    """

    over: Branch = "squared"
    under: Branch = "linear"
    weight: Literal["area", "constant"] = "area"
    rate: Annotated[float, msgspec.Meta(gt=0, le=1e12)] = 5000.0
    penalty: Annotated[float, msgspec.Meta(ge=0, le=1e18)] = 4e9


class OnlineRegression(Prediction):
    """Predicts by a polynomial of degree 2 in 20 features of a job and its user, which is fitted while jobs end.

    Gaussier, Glesser, Reis, Trystram: "Improving backfilling by using machine learning to predict running times", SC
    2015. The article itself was not among our sources. After its authors' public code (predictsim) are: most features,
    the products of features, normalised online gradient descent with a penalty on the squares of the weights, losses
    that differ for predictions that are too long and too short, the weights of jobs, the learning rate, the penalty,
    and that the absolute value of the polynomial is taken. By default the loss is E-Loss, as the article is known for:
    squared if the prediction is too long, linear if it is too short, by the job's area. In seconds the linear branch
    hardly counts beside the squared one, so that most predictions are far too short (expe/predictions has figures).
    Dispatchers then plan with `correction`: the article's is `steps`.

    Typical use: to compare with the article, together with `correction=steps`.

    Deviations: the means of all, of usual units and of running jobs' units are computed as their names say, and all
    products are taken, where the code leaves some out; the user's last run times are those of jobs that ended; a job
    without a user, or before the first one ended, is expected to run for its walltime; of the weights there are two.

    Time: O(231) for each job, and a look at the running jobs.
    """

    options_type: ClassVar[type[Options]] = OnlineOptions

    def begin(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._model = NormalizedGradient(
            len(polynomial_features(np.zeros(FEATURES))), self.options.rate, self.options.penalty
        )
        self._histories: dict[str, History] = {}
        self._submitted: dict[str, NDArray[np.float64]] = {}

    def predict(self, job: Job) -> float | None:
        if not job.user:
            return None
        found = self._submitted[job.id] = features(job, self._histories.get(job.user), self._ledger)
        expected = abs(self._model.predict(polynomial_features(found))) if self._histories else math.inf
        return expected if expected < math.inf else None

    def learn(self, job: Job, runtime: float, predicted: float, ended: float) -> None:
        found = self._submitted.pop(job.id, None)
        if found is None:
            return
        self._model.learn(polynomial_features(found), lambda value: self._slope(value, runtime, job.units))
        self._histories.setdefault(job.user, History()).add(job, runtime, ended)

    def forget(self, job: Job) -> None:
        self._submitted.pop(job.id, None)

    def _slope(self, predicted: float, runtime: float, units: int) -> float:
        """Return the derivative of the loss by the prediction."""
        weight = 1.0 if self.options.weight == "constant" else 1.0 + math.log(max(units * runtime, 1.0))
        error = predicted - runtime
        branch = self.options.over if error >= 0 else self.options.under
        return weight * (2.0 * error if branch == "squared" else math.copysign(1.0, error))
