"""Predictions of a dispatcher, for a kernel: what the structure of native/foresight.h holds.

The predictions are the dispatcher's own. A kernel stops when jobs come, and tells what happened until then.
"""

from __future__ import annotations

import math
from typing import cast

import msgspec

from batdispatch.abilities.kernels.columns import Glimpse
from batdispatch.abilities.kernels.library import structure_of
from batdispatch.abilities.kernels.queue_order import COLUMN, MULTIFACTOR, column_of, orderings_of
from batdispatch.abilities.kernels.state import ENDS, KINDS, STARTS, Jobs, State, is_refused
from batdispatch.core.hosts.allocation import Allocation
from batdispatch.core.jobs.job import Job, Stay
from batdispatch.core.line.ledger import Ledger
from batdispatch.core.plans.correction import GrowthRule
from batdispatch.dispatchers.backfilling.queue import PlanningQueue
from batdispatch.native.record import Record
from batdispatch.native.texts import PackedTexts

#: Whoever predicts looks at no hosts.
NO_HOSTS = Allocation(0)
#: Rules by their numbers in C.
RULES: dict[GrowthRule, int] = {"walltime": 0, "steps": 1, "doubling": 2}


class Foresight(Record):
    """How long jobs are expected to run, and for how long those that outlive that."""

    kinds, _fields_ = structure_of("foresight.h", "Foresight")


class Forecast:
    """Asks a dispatcher's predictions of the jobs that come."""

    def __init__(self, jobs: Jobs, dispatcher: PlanningQueue, state: State) -> None:
        assert jobs.key is not None
        self._jobs, self._state, self._predictions = jobs, state, dispatcher.predictions
        ids = PackedTexts.of([f"w0!{name}" for name in jobs.said.ids.tolist()])
        said = self._said = msgspec.structs.replace(jobs.said, ids=ids)
        self._delay = dispatcher.lateness.delay
        self._ledger = Glimpse(
            {
                name: {"type": "delay", "delay": delay}
                for name, delay in zip(said.profiles, said.delay.tolist(), strict=True)
                if not math.isnan(delay)
            }
        )
        ledger = cast(Ledger, self._ledger)
        self._predictions.begin(ledger)
        keys = zip((jobs.key, jobs.ahead), orderings_of(dispatcher), strict=False)
        #: Those that depend on what is expected.
        self._keys = [(key, ordering) for key, ordering in keys if key is not None and key.formula != MULTIFACTOR]
        for _, ordering in self._keys:
            ordering.begin(ledger)
        #: An order that changes is first looked for when a message has been heard; others, when a job comes.
        self._hears_ends_first = dispatcher.ordering.dynamic
        self._lines = 0
        self.record = Foresight(rule=RULES[dispatcher.options.correction], delay=self._delay)
        self.record.hold(predicted=jobs.expected, booked=jobs.booked)
        if self._predictions.exact_requests:
            self.record.told = state.jobs

    def predict(self) -> None:
        """Say what is expected of the jobs that came."""
        state = self._state
        self.hear(state.now if self._hears_ends_first else math.nextafter(state.now, -math.inf))
        self._ledger.now = state.now
        for rank in range(self.record.told, state.submissions):
            if not is_refused(state, rank):
                self._expect(rank, self._predictions.of(self._job(rank)))
        self.record.told = state.submissions

    def _expect(self, rank: int, seconds: float) -> None:
        jobs, self._ledger.rank_now = self._jobs, rank
        jobs.expected[rank], jobs.booked[rank] = seconds, seconds + self._delay
        for key, ordering in self._keys:
            if key.formula == COLUMN:
                key.column[rank] = ordering.key(self._job(rank), math.nan, seconds)
            else:
                one = slice(rank, rank + 1)
                key.column[one] = column_of(ordering, jobs.units[one], jobs.expected[one])

    def hear(self, until: float) -> None:
        """Hear what has started, and what has ended until a time, in seconds."""
        if self._predictions.exact_requests:
            return
        state, of = self._state, self._state.arrays
        for line in of["log"][self._lines : state.lines].tolist():
            rank, kind = divmod(line, KINDS)
            if kind == STARTS:
                job = self._job(rank)
                start = float(of["start"][rank])
                self._ledger.running[job.id] = Stay(job=job, start=start, allocation=NO_HOSTS, rank=rank)
            elif kind == ENDS:
                end = float(of["end"][rank])
                if end > until:
                    return
                self._predictions.ended(self._ledger.running.pop(self._job(rank).id), end)
            self._lines += 1

    def _job(self, rank: int) -> Job:
        return self._said.job(rank)
