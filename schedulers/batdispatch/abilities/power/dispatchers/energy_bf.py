"""Conservative backfilling that plans when hosts sleep."""

from __future__ import annotations

import math
from typing import ClassVar

from batdispatch.abilities.power.dispatchers.switch_times import SwitchOptions, SwitchTimes
from batdispatch.core.hosts import hostset
from batdispatch.core.hosts.allocation import Place
from batdispatch.core.jobs.job import Job
from batdispatch.core.line.events import Event, RequestedCall, ResourceStateChanged
from batdispatch.core.line.ledger import Ledger
from batdispatch.core.line.options import Options
from batdispatch.dispatchers.backfilling.conservative import Conservative


class EnergyBf(Conservative):
    """Plans every waiting job, lets each host sleep that the plan does not need, and wakes it when the plan does.

    At each event the plan is made anew in order. If a job finds no place in it, as many sleeping hosts as the job lacks
    are woken as soon as all of them may be, and the job is planned behind that. A host for which nothing is planned
    goes to sleep at once, and sleeps for at least as long as saves what switching burns.

    Typical use: as the reference that batsched's energy_bf is, or where hosts switch quickly and cheaply.
    Limits: hosts that state no watts, or no state to sleep in, stay awake. `powered` stands around it only with
        everything off.
    Guarantee: no job is lost, whenever hosts sleep, wake up, go away or come back.
    Time: `O(q s)` for a decision, with q waiting jobs and a plan of s steps, and as much again for each job that hosts
        are woken for.
    Deviations:
        - The watts, and how long hosts switch, are those that the platform states. batsched reads them from options.
        - For a job that does not take whole hosts, or only some of them, one host is woken in the plan, then two, then
          four, until the job finds a place. batsched knows no such jobs.
        - As in `conservative`, a running job may outlive its expected end.
    References:
        [1] batsched 1.4.0, `energy_bf`, and its decisions as recorded with Batsim 4.2.1.
    """

    options_type: ClassVar[type[Options]] = SwitchOptions
    needs_energy = True

    def begin(self, ledger: Ledger) -> None:
        super().begin(ledger)
        self.times = SwitchTimes(ledger, self.options)
        #: Whether a call was asked for that is to come.
        self._called = False

    def on_event(self, ledger: Ledger, event: Event) -> None:
        super().on_event(ledger, event)
        if isinstance(event, ResourceStateChanged):
            self.times.hear(event.hosts.mask)
        elif isinstance(event, RequestedCall):
            self._called = False

    def decide(self, ledger: Ledger) -> None:
        self._void = True
        #: (mask of the hosts that the plan wakes, when, s).
        self._wakings = self.first_wakings(ledger)
        self.plan.away = self.times.away(self._wakings)
        running = len(ledger.running)
        super().decide(ledger)
        unneeded = self.unneeded(ledger)
        due = self._wake(ledger)
        self.times.switch(unneeded, awake=False)
        if len(ledger.running) == running and not due | unneeded:
            self._call(ledger)

    def first_wakings(self, ledger: Ledger) -> list[tuple[int, float]]:
        """Return which hosts are woken whatever the jobs need, as masks, and when, in seconds."""
        return []

    def _wake(self, ledger: Ledger) -> int:
        """Wake the hosts that the plan wakes and that may be woken by now; return their mask."""
        due = sum(hosts for hosts, moment in self._wakings if moment <= ledger.now) & ~self.times.falling
        self.times.switch(due, awake=True)
        return due

    def idle_until(self, ledger: Ledger) -> float:
        # A call lets it look at its hosts.
        return -math.inf

    def give_way(self, ledger: Ledger, job: Job, place: Place) -> None:
        # Hosts may have woken up since the last decision, sooner than was expected.
        self.plan.away = self.times.away()
        super().give_way(ledger, job, place)

    def _put(self, ledger: Ledger, job: Job) -> bool:
        started = super()._put(ledger, job)
        if not started and job.id not in self.plan.planned:
            self._wake_for(ledger, job)
        return started

    def _wake_for(self, ledger: Ledger, job: Job) -> None:
        """Plan a job that finds no place, on hosts some of which wake up for it."""
        asleep = self.times.sleeping & ~sum(hosts for hosts, _ in self._wakings)
        ids = hostset.ids(asleep if job.request.allowed is None else asleep & job.request.allowed)
        count = 1
        if ledger.counts_hosts:
            free = ledger.space.nodes(self.plan.timeline.at(math.inf))
            count = max(job.request.units - int(free).bit_count(), 1)
        before = list(self._wakings)
        while count <= len(ids):
            woken = hostset.mask_of(ids[:count])
            self._plan_with(ledger, [*before, (woken, self.times.wakeable(woken))])
            if self.plan.replan(job.id, job, self.booked(job), keep=False, stable=False) is not None:
                return
            count = max(min(2 * count, len(ids)), count + 1)
        if len(self._wakings) > len(before):
            self._plan_with(ledger, before)

    def _plan_with(self, ledger: Ledger, wakings: list[tuple[int, float]]) -> None:
        """Make the plan anew, with the same starts, where some hosts are woken at some moments."""
        self._wakings, planned = wakings, dict(self.plan.planned)
        self.plan.away = self.times.away(wakings)
        self.plan.renew()
        for key, kept in planned.items():
            self.plan.put(key, kept)

    def unneeded(self, ledger: Ledger) -> int:
        """Return the mask of the hosts that can sleep, are awake and idle, and that the plan keeps for nobody."""
        idle = 0 if self.times.states is None else ledger.idle_hosts & self.times.states.can_sleep
        for kept in self.plan.planned.values():
            idle &= ~kept.place.allocation.mask
        return idle

    def _call(self, ledger: Ledger) -> None:
        """Ask for a call a second after the next moment at which something is expected, unless one is to come."""
        ends = [kept.expected_end for kept in self.plan.held.values()]
        moment = min([*ends, self.times.next_end()])
        if not self._called and (ledger.queue or ledger.running) and moment < math.inf:
            self._called = True
            ledger.wake_at(max(moment, ledger.now) + 1.0)
