"""The real run time."""

from __future__ import annotations

from batdispatch.core.jobs.job import Job
from batdispatch.core.jobs.profiles import runtime_of
from batdispatch.core.line.ledger import Ledger
from batdispatch.parts.prediction.base import Prediction


class Oracle(Prediction):
    """Predicts the real run time, which the job's profile states.

    If the run time depends on the platform, or the simulator does not tell the profiles, nothing is predicted.

    Typical use: to ask what perfect predictions would bring. No real system can use it.
    """

    def begin(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._known: dict[tuple[str, str], float | None] = {}

    def predict(self, job: Job) -> float | None:
        workload = job.id.partition("!")[0]
        key = (workload, job.profile)
        if key not in self._known:
            profiles = self._ledger.profiles.get(workload, {})
            profile = profiles.get(job.profile)
            self._known[key] = None if profile is None else runtime_of(profile, profiles)
        return self._known[key]
