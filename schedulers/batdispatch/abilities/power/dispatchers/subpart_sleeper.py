"""EASY backfilling under which a share of the machine stays awake, and more only while the queue asks for it."""

from __future__ import annotations

import math
from typing import Annotated, ClassVar

import msgspec

from batdispatch.abilities.power.dispatchers.idle_sleeper import IdleSleeper, IdleSleeperOptions
from batdispatch.core.hosts import hostset
from batdispatch.core.jobs.job import Job
from batdispatch.core.line.ledger import Ledger
from batdispatch.core.line.options import Options
from batdispatch.core.plans.reservations import Reservation


class SubpartSleeperOptions(IdleSleeperOptions, frozen=True, kw_only=True):
    """Options of the dispatcher that keeps a share of the machine awake.

    fraction_of_machines_to_let_awake: Let this share of the hosts stay awake, or as many as the head of the queue asks
        for, if these are more.
    """

    fraction_of_machines_to_let_awake: Annotated[float, msgspec.Meta(ge=0, le=1)] = 0.5


class SubpartSleeper(IdleSleeper):
    """Lets only a share of the hosts stay awake, or as many as the head of the queue asks for.

    Every period the hosts beyond that share are told to sleep, each as soon as no job holds it; those first that are
    idle soonest, and none that the head of the queue needs at its start. Otherwise it is `energy-bf-idle-sleeper`: what
    stays awake sleeps as well when it has been idle for long. Hosts beyond the share are woken for nobody but the head.

    Typical use: as the reference that batsched's energy_bf_subpart_sleeper is.
    Limits: as `energy-bf-idle-sleeper`.
    Guarantee: no job is lost, whenever hosts sleep, wake up, go away or come back.
    Time: `O(q s)` for a decision, with q waiting jobs and a plan of s steps.
    Deviations:
        - As in `energy-bf-idle-sleeper`. batsched has no default for the share; ours is a half.
    References:
        [1] batsched 1.4.0, `energy_bf_subpart_sleeper`, and its decisions as recorded with Batsim 4.2.1.
    """

    options_type: ClassVar[type[Options]] = SubpartSleeperOptions

    def begin(self, ledger: Ledger) -> None:
        super().begin(ledger)
        #: Mask of the hosts that are to sleep as soon as no job holds them.
        self._to_sleep = 0
        #: How many hosts sleep, or are to, because they are beyond the share; the others because they were idle.
        self._beyond = 0

    def _asleep_soon(self) -> int:
        """Return how many hosts sleep, or are to."""
        return (self.times.sleeping & ~self._to_wake | self._to_sleep).bit_count()

    def _most_to_wake(self, ledger: Ledger) -> int:
        return max(self._asleep_soon() - self._beyond, 0)

    def _awake(self, ledger: Ledger) -> int:
        return super()._awake(ledger) & ~self._to_sleep

    def _keep_awake(self, hosts: int) -> None:
        """Let some hosts not sleep, a mask, that were to."""
        self._beyond -= min((hosts & self._to_sleep).bit_count(), self._beyond)
        self._to_sleep &= ~hosts

    def _plan(self, ledger: Ledger, woken: int) -> None:
        super()._plan(ledger, woken)
        if self._to_sleep:
            ends = [
                (stay.allocation.mask, self.plan.held[job_id].expected_end) for job_id, stay in ledger.running.items()
            ]
            self.plan.away += [(hosts & self._to_sleep, end, math.inf) for hosts, end in ends if hosts & self._to_sleep]
            idle = self._to_sleep & ledger.idle_hosts
            self.plan.away += [(idle, -math.inf, math.inf)] if idle else []
            self.plan.renew()

    def _make_room(self, ledger: Ledger, job: Job) -> Reservation | None:
        told, self._to_sleep = self._to_sleep, 0
        self._plan(ledger, self._to_wake)
        kept = self.plan.earliest(job, self.booked(job))
        self._to_sleep = told
        if kept is not None:
            self._keep_awake(kept.place.allocation.mask)
            self._plan(ledger, self._to_wake)
            return kept
        self._keep_awake(told)
        before = self._to_wake
        kept = super()._make_room(ledger, job)
        self._beyond -= min((self._to_wake & ~before).bit_count(), self._beyond)
        return kept

    def _wake(self, ledger: Ledger) -> int:
        due = super()._wake(ledger)
        self._let_sleep(ledger)
        return due

    def _let_sleep(self, ledger: Ledger) -> None:
        """Let those hosts sleep that are to, and that no job holds."""
        hosts = self._to_sleep & self.unneeded(ledger)
        self.times.switch(hosts, awake=False)
        self._to_sleep &= ~hosts

    def _monitor(self, ledger: Ledger) -> None:
        self._keep_awake(self._to_sleep)
        self._plan(ledger, 0)
        head = next(iter(self.in_order(ledger)), None)
        kept = None if head is None else self.plan.earliest(head, self.booked(head))
        most = int(self.options.fraction_of_machines_to_let_awake * ledger.machine.size)
        if head is None or kept is not None:
            most = max(most, 0 if head is None else head.request.units)
            self._shrink(ledger, most, head, kept)
            self._see(ledger)
            self._let_idle_sleep(ledger, head)
        idle = self._asleep_soon() - self._beyond
        self._beyond += max(idle - most, 0)

    def _shrink(self, ledger: Ledger, most: int, head: Job | None, kept: Reservation | None) -> None:
        """Tell the hosts to sleep beyond the number that is to stay awake; `kept`: where the head will start."""
        awake = self._awake(ledger) | self._to_wake
        count = awake.bit_count() - most
        if count <= 0:
            return
        self._beyond += min(self._asleep_soon() - self._beyond, count)
        idle_from = self._idle_from(ledger, awake)
        taken = 0 if kept is None else sum(hosts for since, hosts in idle_from if since <= kept.start)
        spare = max(taken.bit_count() - (0 if head is None else head.request.units), 0)
        chosen = 0
        for _, hosts in idle_from:
            some = hostset.at_most(hosts & taken, min(spare, count))
            some |= hostset.at_most(hosts & ~taken, count - some.bit_count())
            spare -= (some & taken).bit_count()
            count -= some.bit_count()
            chosen |= some
        self._to_sleep |= chosen
        self._beyond += chosen.bit_count()
        self._let_sleep(ledger)

    def _idle_from(self, ledger: Ledger, hosts: int) -> list[tuple[float, int]]:
        """Return when some hosts, a mask, are expected to be idle, in s, with the masks of those; the soonest first."""
        busy = [(kept.expected_end, kept.place.allocation.mask) for kept in self.plan.held.values()]
        busy += [(end, mask) for mask, _, end in self.times.away() if mask & self.times.rising]
        found = []
        for end, mask in sorted(busy, reverse=True):
            if mask & hosts:
                found.append((end, mask & hosts))
                hosts &= ~mask
        return [(ledger.now, hosts), *reversed(found)]
