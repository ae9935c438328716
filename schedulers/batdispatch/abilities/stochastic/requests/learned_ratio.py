"""Requests learned while jobs end, for jobs that state no law but a walltime."""

from __future__ import annotations

import math
from collections import defaultdict, deque
from collections.abc import Sequence
from typing import Annotated, ClassVar

import msgspec

from batdispatch.abilities.stochastic.requests.base import (
    MAX_HISTORY,
    Plan,
    RequestSequence,
    SequenceOptions,
    make_sequence,
)
from batdispatch.abilities.stochastic.requests.laws import Empirical, Law
from batdispatch.core.errors import InputError
from batdispatch.core.jobs.job import Job
from batdispatch.core.line.options import Options


class LearnedRatioOptions(SequenceOptions, frozen=True, kw_only=True):
    """Options of learned-ratio.

    requests: Make the limits from the learned law by this request sequence, with its options in brackets.
    runs: Learn from this many ended runs of each user, the latest ones.
    fewest: If a user has fewer ended runs than this, learn from the runs of all users together. If those are fewer too,
        the job asks for its walltime.
    final: Let the walltime end the job, as it ends any other. `false`: the job is tried again beyond its walltime, with
        limits that grow by `factor`, as if its user submitted it again.
    """

    requests: str = "toptimal[alpha=0.1,beta=1,overhead=300]"
    runs: Annotated[int, msgspec.Meta(ge=1, le=MAX_HISTORY)] = 60
    fewest: Annotated[int, msgspec.Meta(ge=1, le=MAX_HISTORY)] = 5
    final: bool = True


class LearnedRatio(RequestSequence):
    """Learns from the user's ended runs which share of its walltime a job will use, and asks for that.

    It needs no law: the law of a job is that of the ratio of run time to walltime among the user's last runs that ended
    before the job was submitted, times the job's walltime. One run that takes all of the walltime is added, so that the
    walltime stays the last request. A job that outlives it is over, unless the option `final` is off. Another sequence,
    the option `requests`, makes the limits from the law; jobs that state a law are left to it as well.

    Typical use: on logs whose jobs have users and walltimes, and state no law.
    Guarantee: a job is over at its user's walltime and not before, as it would be without request sequences.
    Time: that of the other sequence, once per job.
    References: none, the sequence is this package's.
    """

    options_type: ClassVar[type[Options]] = LearnedRatioOptions
    learns = True

    def __init__(self, options: Options | None = None) -> None:
        super().__init__(options)
        self._sequence = make_sequence(self.options.requests)
        if self._sequence.learns:
            raise InputError("request sequence learned-ratio: option requests names a sequence that learns itself")
        self.final = self.options.final
        self.uses_rate = self._sequence.uses_rate
        self.uses_history = self._sequence.uses_history
        #: Ratios of run time to walltime of the last runs, the latest last: by user, and of all.
        self._of_user: dict[str, deque[float]] = defaultdict(self._ratios)
        self._of_all = self._ratios()

    def _ratios(self) -> deque[float]:
        return deque(maxlen=self.options.runs)

    def limits(self, law: Law, zeta: float = 0.0, history: Sequence[float] = ()) -> tuple[float, ...]:
        return self._sequence.ask(law, zeta, history)

    def plan(self, law: Law, zeta: float = 0.0, history: Sequence[float] = ()) -> Plan:
        return self._sequence.plan(law, zeta, history)

    def law_of(self, job: Job) -> Law | None:
        if not job.walltime < math.inf:
            return None
        own = self._of_user.get(job.user, ())
        ratios = own if job.user and len(own) >= self.options.fewest else self._of_all
        if len(ratios) < self.options.fewest:
            return None
        return Empirical([*(ratio * job.walltime for ratio in ratios), job.walltime])

    def learn(self, job: Job, ran: float) -> None:
        if ran > 0 and job.walltime < math.inf:
            ratio = min(ran / job.walltime, 1.0)
            self._of_all.append(ratio)
            if job.user:
                self._of_user[job.user].append(ratio)
