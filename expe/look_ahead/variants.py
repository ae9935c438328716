"""Dispatchers that were tried for look-ahead and are not shipped; the campaign beside this file measures them.

Each is named in an option by its file: ``expe/look_ahead/variants.py:AmongOrders``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from batdispatch.core.jobs.job import Job, Stay
from batdispatch.core.line.ledger import Ledger
from batdispatch.core.line.options import Options, split_list
from batdispatch.dispatchers.backfilling.look_ahead import LookAhead, LookAheadOptions
from batdispatch.parts.ordering import Ordering, make_ordering
from batdispatch.parts.rollouts.rollouts import Policy, enough, places_in_order

Key = tuple[float, ...]


class FixedRoom(LookAhead):
    """look-ahead without looking ahead: all of `room` is always kept."""

    def _choose_share(self, ledger: Ledger, jobs: Sequence[Job], plausible: set[str]) -> float:
        return float(self.options.room) if enough(self._past) else 0.0


class AmongOrdersOptions(LookAheadOptions, frozen=True, kw_only=True):
    """Options of AmongOrders.

    ordering, room, shorter, samples, arrivals, and those of easy: as for look-ahead.
    orders: orderings that a decision may take in place of `ordering`, in brackets with commas between them. Late jobs
        go first in each of them.
    """

    orders: str = "[sjf,fcfs,f1,wfp3,smallest-first]"


class AmongOrders(LookAhead):
    """look-ahead that chooses among orders, too: the order, or share of room, that costs least in drawn futures.

    In a future, EASY keeps to the order until all jobs have started. A dynamic order (wfp3) stays there as it is at the
    decision; jobs that come have waited for no time. The first job is reserved for in the chosen order, so that a
    reservation may be given up at the next decision: only late jobs are sure of theirs.

    Time: O(s k) rollouts at each decision at which a job may start, for s samples and k orders and shares.
    """

    options_type: ClassVar[type[Options]] = AmongOrdersOptions

    def begin(self, ledger: Ledger) -> None:
        super().begin(ledger)
        self._names = split_list(self.options.orders.strip()[1:-1])
        self._orders = [make_ordering(name) for name in self._names]
        for order in self._orders:
            order.begin(ledger)
        self._taken = [0] * len(self._names)

    def on_end(self, ledger: Ledger, stay: Stay) -> None:
        super().on_end(ledger, stay)
        for order in self._orders:
            order.ended(stay, ledger.now)

    def _go_on(self, ledger: Ledger, jobs: Sequence[Job], plausible: set[str]) -> list[Job]:
        if len(jobs) < 2 or not enough(self._past):
            return super()._go_on(ledger, jobs, plausible)
        now = ledger.now
        past = [one.job for one in self._past.arrivals]
        # As if they came now: an order that looks at the arrival must not put them before those that wait.
        again = [msgspec.structs.replace(job, submission=now) for job in past]
        orders: list[list[int]] = []
        policies = [Policy(share) for share in self._shares]
        for order in self._orders:
            keys = [self._key_of(order, job, now, late=self.ordering.is_late(job, now)) for job in jobs]
            come = [self._key_of(order, job, now, late=False) for job in again]
            orders.append(sorted(range(len(jobs)), key=lambda index: (keys[index], ledger.rank(jobs[index]))))
            policies.append(Policy(0.0, _places(keys, orders[-1], come)))
        best = int(self._costs(ledger, jobs, policies).argmin())
        if best < len(self._shares):
            self._chosen[best] += 1
            return self._start(ledger, jobs, plausible, self._shares[best])
        taken = best - len(self._shares)
        self._taken[taken] += 1
        return self._start(ledger, [jobs[index] for index in orders[taken]], plausible, 0.0)

    def _key_of(self, order: Ordering, job: Job, now: float, *, late: bool) -> Key:
        """Return a job's key in an order in which the late jobs, by arrival, go before the others."""
        if late:
            return 0.0, job.submission
        key = order.key(job, now, self.expected(job))
        return (1.0, *key) if isinstance(key, tuple) else (1.0, key)

    def report(self) -> dict[str, object]:
        return {**super().report(), "orders_chosen": dict(zip(self._names, self._taken, strict=True))}


def _places(keys: Sequence[Key], order: Sequence[int], come: Sequence[Key]) -> NDArray[np.int64]:
    """Return the places of waiting jobs, `order` being their order, then of those that come; see `Policy`."""
    found = places_in_order([keys[index] for index in order], come)
    places = found.copy()
    places[list(order)] = found[: len(keys)]
    return places
