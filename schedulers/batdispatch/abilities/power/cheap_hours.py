"""Jobs that are kept back for cheaper hours, for as long as they may wait."""

from __future__ import annotations

import heapq
import math
import sys

from batdispatch.abilities.power.machine.series import Series
from batdispatch.abilities.power.start import Flexibility, make_start
from batdispatch.core.errors import InputError
from batdispatch.core.jobs.job import Job
from batdispatch.core.line.concerns.dependencies import Dependencies
from batdispatch.core.line.ledger import Ledger
from batdispatch.core.line.ticks import tick_after
from batdispatch.core.numerals import number_of
from batdispatch.parts.prediction import Predictions


class CheapHours:
    """The jobs that are kept back, and until when."""

    def __init__(self, price: Series, rule: str, slack: str, predictions: Predictions) -> None:
        """Take what a kilowatt-hour costs, the name of a start rule, how long jobs may wait, and predictions.

        Args:
            price: per kWh.
            rule: with options in brackets.
            slack: seconds, or the field of a job that says them; a job without it may not wait.
            predictions: of how long jobs run.

        Raises:
            InputError: there is no such rule, or the slack is a number below 0, or none.
        """
        self._price, self._rule, self.predictions = price, make_start(rule), predictions
        seconds = number_of(slack)
        self._slack: float | str = slack if math.isnan(seconds) else seconds
        if isinstance(self._slack, float) and not 0 <= self._slack < math.inf:
            raise InputError(
                f"dispatcher powered: found slack={slack}, expected a number of seconds of at least 0, or the name of "
                "a field"
            )
        #: (until when, rank, job), and how many there were in all.
        self._back: list[tuple[float, int, Job]] = []
        self.count = 0
        #: How many jobs have the field that says their slack; None: no field says it.
        self.told = 0 if isinstance(self._slack, str) else None

    def slack_of(self, job: Job) -> float:
        """Return how long a job may be kept back, in s.

        Raises:
            InputError: its field is no number of seconds.
        """
        slack = self._slack if isinstance(self._slack, float) else job.extra.get(self._slack, 0.0)
        if isinstance(slack, bool) or not isinstance(slack, int | float) or not 0 <= slack <= sys.float_info.max:
            raise InputError(
                f"found {slack!r}, expected the seconds that it may wait", place=f"job {job.id}, field {self._slack!r}"
            )
        return float(slack)

    def keep(self, ledger: Ledger, job: Job) -> bool:
        """Keep a job back that has come, if its rule says so; return whether it is kept back."""
        if self.told is not None:
            self.told += self._slack in job.extra
        until = tick_after(self.until(job, ledger.now))
        if until <= ledger.now:
            return False
        heapq.heappush(self._back, (until, ledger.rank(job), job))
        self.count += 1
        Dependencies.of(ledger).keep_back(job)
        return True

    def until(self, job: Job, now: float) -> float:
        """Return until when a job is kept back that comes now; times are in s."""
        slack = self.slack_of(job)
        if not slack or job.parent:
            return now
        expected = self.predictions.of(job)
        length = expected if expected < math.inf else 0.0
        wait = Flexibility(job=job, now=now, latest=now + slack, length=length, price=self._price)
        return min(max(self._rule.choose(wait), now), wait.latest)

    def due(self, now: float) -> list[Job]:
        """Take out and return the jobs whose time has come."""
        due = []
        while self._back and self._back[0][0] <= now:
            due.append(heapq.heappop(self._back)[2])
        return due

    def next_due(self) -> float:
        """Return when the next job's time has come, in s, or infinity."""
        return self._back[0][0] if self._back else math.inf
