"""EASY backfilling under which hosts sleep that have been idle for a while."""

from __future__ import annotations

from typing import Annotated, ClassVar

import msgspec

from batdispatch.abilities.power.dispatchers.energy_bf import EnergyBf
from batdispatch.abilities.power.dispatchers.switch_times import SwitchOptions
from batdispatch.abilities.power.idle_times import IdleTimes
from batdispatch.core.hosts import hostset
from batdispatch.core.jobs.job import Job
from batdispatch.core.line.events import Event, RequestedCall
from batdispatch.core.line.ledger import Ledger
from batdispatch.core.line.options import Options
from batdispatch.core.plans.reservations import Reservation


class IdleSleeperOptions(SwitchOptions, frozen=True, kw_only=True):
    """Options of the dispatchers that look at idle hosts again and again.

    monitoring_period: Look for idle hosts once in this many seconds.
    idle_time_to_sedate: Let a host sleep when it has been idle for this many seconds.
    sedate_idle_on_classical_events: Look for them when jobs come and end and hosts switch, too.
    """

    monitoring_period: Annotated[float, msgspec.Meta(gt=0, le=1e9)] = 600.0
    idle_time_to_sedate: Annotated[float, msgspec.Meta(ge=0, le=1e9)] = 120.0
    sedate_idle_on_classical_events: bool = False


class IdleSleeper(EnergyBf):
    """Starts jobs as `easy` does. Hosts that have been idle for a while sleep, and wake up for all waiting jobs.

    If the head of the queue asks for more hosts than are awake, as many are woken as it lacks, those first that may be
    woken soonest. For the other jobs in order, sleeping hosts are woken on which they would fit, those apart that the
    head has reserved. As many hosts stay awake as the head asks for.

    Typical use: as the reference that batsched's energy_bf_idle_sleeper is.
    Limits: as `energy-bf`. A job that does not take whole hosts counts as many hosts as it has units.
    Guarantee: no job is lost, whenever hosts sleep, wake up, go away or come back.
    Time: `O(q s)` for a decision, with q waiting jobs and a plan of s steps.
    Deviations:
        - Watts, times and late jobs as in `energy-bf`. batsched has no default for the period, and by its default no
          host sleeps for being idle; ours are those of its tests.
        - While a host wakes up, or is to, none goes to sleep. In batsched that does not hold at the end of a period, so
          that hosts which take longer to wake up than `idle_time_to_sedate` may sleep and wake up in turn for ever.
        - If the hosts that are awake suffice for the number of hosts that the head asks for, but not for the head, all
          sleeping hosts are woken. batsched knows no such jobs.
        - If fewer hosts are idle than one of the other jobs asks for, batsched takes the rest of the job's hosts from
          the lowest of all that the job may use, idle ones among them, so that fewer are woken than the job lacks. So
          does this.
    References:
        [1] batsched 1.4.0, `energy_bf_idle_sleeper`, and its decisions as recorded with Batsim 4.2.1.
    """

    options_type: ClassVar[type[Options]] = IdleSleeperOptions

    def begin(self, ledger: Ledger) -> None:
        super().begin(ledger)
        self._idle = IdleTimes(self.options.idle_time_to_sedate)
        self._monitors = False
        #: Mask of the hosts that are to be woken as soon as they may be.
        self._to_wake = 0

    def on_submit(self, ledger: Ledger, job: Job) -> None:
        super().on_submit(ledger, job)
        self._call(ledger)

    def on_event(self, ledger: Ledger, event: Event) -> None:
        super().on_event(ledger, event)
        self._monitors |= isinstance(event, RequestedCall)

    def _call(self, ledger: Ledger) -> None:
        if not self._called:
            self._called = True
            ledger.wake_at(ledger.now + self.options.monitoring_period)

    def decide(self, ledger: Ledger) -> None:
        self.plan.timeline.advance(ledger.now)
        self._extend_overdue(ledger)
        if self._monitors:
            self._monitors = False
            self._monitor(ledger)
            if ledger.queue or ledger.running or ledger.blocked or not ledger.roll.no_more:
                self._call(ledger)
        self._plan(ledger, self._to_wake)
        head = self._start_jobs(ledger)
        self._wake(ledger)
        self._see(ledger)
        woken = self._to_wake_for_others(ledger, head)
        if woken:
            self.times.switch(woken, awake=True)
        elif self.options.sedate_idle_on_classical_events:
            self._let_idle_sleep(ledger, head)

    # ------------------------------------------------------------------ jobs

    def _plan(self, ledger: Ledger, woken: int) -> None:
        """Make a plan without waiting jobs in which some sleeping hosts, a mask, are woken as soon as they may be."""
        self._wakings = self.times.by_wakeable(woken)
        self.plan.away = self.times.away(self._wakings)
        self.plan.renew()

    def _start_jobs(self, ledger: Ledger) -> Job | None:
        """Start jobs in order until one has to wait, then those that do not delay it; return that one."""
        started, head = list[Job](), None
        for job in list(self.in_order(ledger)):
            if head is not None and not ledger.fits(job):
                continue
            kept = self.plan.earliest(job, self.booked(job))
            if kept is None and head is None:
                kept = self._make_room(ledger, job)
            now = kept is not None and kept.start <= ledger.now and self.is_free(job, kept.place)
            if kept is not None and (now or head is None):
                self.plan.put(job.id, kept)
            if kept is not None and now:
                self.plan.begin(job.id)
                ledger.start(job, kept.place)
                started.append(job)
            elif head is None:
                head = job
        self.forget_started(started)
        return head

    def _make_room(self, ledger: Ledger, job: Job) -> Reservation | None:
        """Return a place for the head of the queue, for which more hosts are to wake up; None: there is none."""
        asleep, before = self.times.sleeping & ~self._to_wake, self._to_wake
        lacking = job.request.units - (self._awake(ledger) | self._to_wake).bit_count()
        for count in sorted({max(min(lacking, asleep.bit_count()), 0), asleep.bit_count()}):
            self._to_wake = before | self._soonest(asleep, count)
            self._plan(ledger, self._to_wake)
            kept = self.plan.earliest(job, self.booked(job))
            if kept is not None:
                return kept
        self._to_wake = before
        self._plan(ledger, before)
        return None

    def _soonest(self, asleep: int, count: int) -> int:
        """Return the mask of those sleeping hosts that may be woken soonest."""
        soonest = 0
        for hosts, _ in self.times.by_wakeable(asleep):
            soonest |= hostset.at_most(hosts, count - soonest.bit_count())
        return soonest

    def _awake(self, ledger: Ledger) -> int:
        """Return the mask of the hosts that are awake or wake up, and are not away."""
        return ledger.machine.compute & ~(ledger.unavailable & ~self.times.rising)

    # ------------------------------------------------------------------ hosts

    def _wake(self, ledger: Ledger) -> int:
        due = super()._wake(ledger)
        self._to_wake &= ~due
        return due

    def _see(self, ledger: Ledger) -> None:
        self._idle.see(ledger.idle_hosts, ledger.now)

    def _idle_for_long(self, ledger: Ledger, head: Job | None) -> int:
        """Return the mask of the lowest hosts that have been idle for long; as many stay awake as the head asks for."""
        due = self._idle.since(ledger.now)
        spare = (self._awake(ledger) | self._to_wake).bit_count() - (0 if head is None else head.request.units)
        return hostset.at_most(due, spare)

    def _to_wake_for_others(self, ledger: Ledger, head: Job | None) -> int:
        """Return the mask of the sleeping hosts that waiting jobs would start on if they were awake."""
        if head is None:
            return 0
        may_be = self.times.by_wakeable(self.times.sleeping & ~self.times.falling & ~self._to_wake)
        asleep = sum(hosts for hosts, moment in may_be if moment <= ledger.now)
        asleep = hostset.at_most(asleep, self._most_to_wake(ledger))
        before = self.plan.withdraw(head.id)
        kept = self.plan.earliest(head, self.booked(head))
        if before is not None and kept is not None:
            self.plan.put(head.id, kept)
        reserved = 0 if kept is None else kept.place.allocation.mask
        idle, woken = ledger.idle_hosts & ~reserved, 0
        usable = (idle | asleep) & ~reserved
        for job in self.in_order(ledger):
            units = job.request.units
            if units <= usable.bit_count():
                hosts = hostset.at_most(idle, units)
                idle &= ~hosts
                hosts |= hostset.lowest(usable, units - hosts.bit_count())
                usable &= ~hosts
                woken |= hosts & asleep
        return woken

    def _most_to_wake(self, ledger: Ledger) -> int:
        """Return how many hosts may be woken for others than the head of the queue."""
        return (self.times.sleeping & ~self._to_wake).bit_count()

    def _monitor(self, ledger: Ledger) -> None:
        self._plan(ledger, 0)
        self._see(ledger)
        self._let_idle_sleep(ledger, next(iter(self.in_order(ledger)), None))

    def _let_idle_sleep(self, ledger: Ledger, head: Job | None) -> None:
        """Let hosts sleep that have been idle for long, unless others wake up, which would be for the same jobs."""
        if not self.times.rising | self._to_wake:
            self.times.switch(self._idle_for_long(ledger, head) & self.unneeded(ledger), awake=False)
