"""A quantile of the run times of recent jobs like this one."""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Sequence
from typing import Annotated, ClassVar

import msgspec

from batdispatch.core.jobs.job import Job
from batdispatch.core.line.ledger import Ledger
from batdispatch.core.line.options import Options
from batdispatch.parts.prediction.base import Prediction, name_of


class QuantileOptions(Options, frozen=True, kw_only=True):
    """Options of quantile.

    q: which quantile. 0.5 is the median; larger ones are too short less often.
    last: look at the last so many jobs of a kind.
    """

    q: Annotated[float, msgspec.Meta(ge=0, le=1)] = 0.5
    last: Annotated[int, msgspec.Meta(ge=1, le=1000)] = 20


class Quantile(Prediction):
    """A quantile of the run times of the last jobs of the same kind that ended.

    Kinds, from the narrowest: the same user, program, queue, walltime and resources; the same user, program and
    walltime; the same user. The narrowest one of which a job has ended is taken. Among jobs of other walltimes, the
    shares of the walltimes that they used are looked at in place of the run times. In a log without users (or programs)
    the first two kinds join whoever asks alike; jobs of nobody are never of the third kind.

    Between two run times the quantile is interpolated linearly. Ours; medians and other quantiles of a user's history
    are an old idea.

    Time: O(last log last) for each job.
    """

    options_type: ClassVar[type[Options]] = QuantileOptions

    def begin(self, ledger: Ledger) -> None:
        self._last: dict[Hashable, deque[float]] = {}

    def predict(self, job: Job) -> float | None:
        for kind, unit in _kinds(job):
            known = self._last.get(kind)
            if known:
                return quantile(known, self.options.q) * unit
        return None

    def learn(self, job: Job, runtime: float, predicted: float, ended: float) -> None:
        for kind, unit in _kinds(job):
            self._last.setdefault(kind, deque(maxlen=self.options.last)).append(runtime / unit)


def quantile(values: Sequence[float], q: float) -> float:
    """Return the q-quantile of some values: of n in order the one at q (n - 1) from 0, interpolated linearly."""
    listed = sorted(values)
    place = q * (len(listed) - 1)
    below = int(place)
    above = min(below + 1, len(listed) - 1)
    return listed[below] + (place - below) * (listed[above] - listed[below])


def _kinds(job: Job) -> list[tuple[Hashable, float]]:
    """Return the kinds of a job, the narrowest first, and in what its run times are counted for each, in s."""
    program, walltime = (job.user, name_of(job)), job.walltime
    kinds: list[tuple[Hashable, float]] = [
        ((program, walltime, str(job.extra.get("queue", "")), job.request), 1.0),
        ((program, walltime), 1.0),
    ]
    if job.user and 0 < walltime < float("inf"):
        kinds.append((job.user, walltime))
    return kinds
