"""Any ordering, with a bound on waits that EASY in order of arrival sets."""

from __future__ import annotations

from typing import Annotated

import msgspec

from batdispatch.core.jobs.job import Job, Stay
from batdispatch.core.line.ledger import Ledger
from batdispatch.core.line.options import Options
from batdispatch.parts.ordering.base import Ordering, make_ordering
from batdispatch.parts.ordering.beside import EasyBeside, Twin


class GuardedOptions(Options, frozen=True, kw_only=True):
    """Options of guarded.

    ordering: Take the jobs that are not late in this order (`batdispatch list orderings`).
    share: Count a job as late once it has waited for this share of the longest wait so far under EASY.
    floor: Count no job as late before it has waited for this many seconds.
    """

    ordering: str = "unicef"
    share: Annotated[float, msgspec.Meta(ge=0)] = 0.65
    floor: Annotated[float, msgspec.Meta(ge=0)] = 3600.0


class Guarded(Ordering):
    """Puts late jobs first, by arrival, and then the others in an ordering of choice.

    EASY in order of arrival is simulated beside, with the same jobs, as far as it is certain (see `EasyBeside`). A job
    is late once it has waited longer than max(`floor`, `share` x the longest wait so far under that EASY). Only a late
    job, and one that EASY has started already, may have room reserved for it. For the others nothing is reserved.

    Typical use: under `easy`, to serve short and small jobs quickly, while no job waits much longer than under EASY in
        order of arrival.
    Guarantee: the threshold of lateness is never above max(`floor`, `share` x the longest wait that EASY in order of
        arrival gives these jobs), and no other job goes before a late one. So with `easy` a late job only waits for
        late jobs that came before it, and for those that run.
    Deviations: EASY beside pools the hosts. It knows no hosts that are away, no limits and no reservations.
    """

    options_type = GuardedOptions
    dynamic = True

    def begin(self, ledger: Ledger) -> None:
        super().begin(ledger)
        self._inner = make_ordering(self.options.ordering)
        self._inner.begin(ledger)
        self._beside = EasyBeside([int(amount) for amount in ledger.space.pooled(ledger.space.whole())])
        self._twins: dict[str, Twin] = {}
        self._at = -1.0

    def ended(self, stay: Stay, now: float) -> None:
        self._inner.ended(stay, now)
        twin = self._twins.pop(stay.job.id, None)
        if twin is not None:
            if twin.real is None:
                self._beside.start(twin, stay.start)
            self._beside.end(twin, now - stay.start)

    def patience(self) -> float:
        """Return for how long a job may wait now before it is late, in seconds."""
        patience: float = max(self.options.floor, self.options.share * self._beside.longest)
        return patience

    def is_late(self, job: Job, now: float) -> bool:
        self._look(now)
        return now - job.submission > self.patience()

    def reserves(self, job: Job, now: float) -> bool:
        return self.is_late(job, now) or self._twins.get(job.id) in self._beside.overdue

    def key(self, job: Job, now: float, expected: float) -> tuple[float, ...]:
        if job.id not in self._twins:
            self._meet(job)
        if self.is_late(job, now):
            return 0.0, job.submission
        key = self._inner.key(job, now, expected)
        return (1.0, *key) if isinstance(key, tuple) else (1.0, key)

    def _meet(self, job: Job) -> None:
        """Let a job that is seen for the first time come beside as well."""
        needs = [int(amount) for amount in self.ledger.space.sums_needed(job)]
        twin = self._twins[job.id] = Twin(self.ledger.now, needs, job.walltime)
        self._beside.submit(twin)

    def _look(self, now: float) -> None:
        """Let EASY beside go on, once for each moment, as far as is certain by then."""
        if now == self._at:
            return
        self._at = now
        running, waiting = self.ledger.running, self.ledger.queue
        for name, twin in list(self._twins.items()):
            if twin.real is None and name in running:
                self._beside.start(twin, running[name].start)
            elif twin.real is None and name not in waiting:
                self._beside.end(self._twins.pop(name), 0.0)
        self._beside.advance(now)
