"""An ordering that hears job ends: users who used less of the machine lately go first."""

from collections import defaultdict
from typing import Annotated

from msgspec import Meta

from batdispatch import Job, Ledger, Options, Ordering, Stay


class FairShareOptions(Options, frozen=True, kw_only=True):
    """Options of fair share.

    half_life: What a user has used counts half after this many seconds.
    """

    half_life: Annotated[float, Meta(gt=0)] = 86400.0


class FairShare(Ordering):
    """Key: unit-seconds that the job's user has used, each halved for every half-life since its job ended."""

    options_type = FairShareOptions
    dynamic = True

    def begin(self, ledger: Ledger) -> None:
        super().begin(ledger)
        self._used: dict[str, tuple[float, float]] = defaultdict(lambda: (0.0, 0.0))

    def key(self, job: Job, now: float, expected: float) -> float:
        used, at = self._used[job.user]
        return used * float(0.5 ** ((now - at) / self.options.half_life))

    def ended(self, stay: Stay, now: float) -> None:
        work = stay.job.units * (now - stay.start)
        self._used[stay.job.user] = (self.key(stay.job, now, 0.0) + work, now)
