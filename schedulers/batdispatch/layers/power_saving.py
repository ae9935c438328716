"""Power saving: the layer under which hosts sleep while any dispatcher has no use for them."""

from __future__ import annotations

import math
from typing import Annotated, Any, ClassVar

import msgspec

from batdispatch.core.errors import InputError
from batdispatch.core.jobs.job import Job, Stay
from batdispatch.core.line.dispatcher import Dispatcher, create
from batdispatch.core.line.events import Event, RequestedCall, ResourceStateChanged
from batdispatch.core.line.ledger import Ledger
from batdispatch.core.line.options import Options
from batdispatch.core.machine.power import SLEEP_PROPERTY
from batdispatch.layers.base import Layer, chain
from batdispatch.layers.idle_times import IdleTimes
from batdispatch.layers.resizing import Resizing
from batdispatch.parts.sleep import IdleHosts, make_sleep


class PowerSavingOptions(Options, frozen=True, kw_only=True):
    """Options of the layer that lets hosts sleep.

    dispatcher: Start the jobs by this dispatcher, with its options in brackets: `easy[ordering=sjf]`.
    sleep: Let idle hosts sleep by this rule (`batdispatch list sleeps`). `none` (the default): no host ever sleeps.
    after: Let a host sleep when it has been idle for this many seconds.
    keep: Keep this many idle hosts awake; below 1, this share of the machine.
    ahead: Let hosts wake up in time for the starts that the dispatcher inside plans, where it says them. `false`: only
        when a job has been started on them.
    """

    dispatcher: str = "easy"
    sleep: str = "none"
    after: Annotated[float, msgspec.Meta(ge=0, le=1e9)] = 300.0
    keep: Annotated[float, msgspec.Meta(ge=0, le=1e9)] = 0.0
    ahead: bool = True


class PowerSaving(Layer):
    """Lets idle hosts sleep and wakes them when they are needed, under any dispatcher.

    To the dispatcher inside, a host that sleeps is free. If it starts a job there, the layer wakes the hosts, and the
    job begins to run when all of its hosts are awake. The dispatcher inside takes that moment for the start of the job,
    so that its plans count the time that hosts take to wake up. If a host goes away while it wakes up, the job waits
    again in its old place. Where the dispatcher inside says which starts it plans, hosts are woken in time for them.

    Typical use: to see what letting hosts sleep would save, and what it would cost in wait.
    Limits: The platform must state watts, and power states to sleep in (`batdispatch platform generate --power`). A
        `resizing` may stand neither inside nor around. Advance reservations are refused.
    Guarantee: every job ends as under the dispatcher inside: none is lost, whenever hosts sleep, wake up, go away or
        come back. With `sleep=none` every decision is that of the dispatcher inside. A job starts at most as long after
        its decision as its slowest host takes to fall asleep and to wake up.
    Time: `O(h)` for a host that switches; `O(g)` for a decision, with g groups of hosts that became idle together.
    Deviations: a job that is started on hosts which sleep ends later than the dispatcher inside reckoned when it chose
        the job. The job may therefore delay a job with a reservation by as long as hosts take to wake up.
    References:
        [1] Slurm: "Power saving guide" (`SuspendTime`, `SuspendExcNodes`, `ResumeTimeout`), for hosts that sleep when
            they have been idle for some time, and jobs that hold their hosts while these wake up.
    """

    options_type: ClassVar[type[Options]] = PowerSavingOptions
    gives_way = False

    def __init__(self, options: Options | None = None, seed: int = 0) -> None:
        super().__init__(options, seed)
        if any(isinstance(inside, PowerSaving | Resizing) for inside in chain(self.inner)):
            raise InputError(
                f"dispatcher powered: found {self.options.dispatcher} inside it, expected a dispatcher without powered "
                "and resizing: both would decide what becomes of the same hosts"
            )
        self._sleep = None if self.options.sleep == "none" else make_sleep(self.options.sleep)
        vars(self)["needs_energy"] = self._sleep is not None or self.inner.needs_energy
        #: Whether something has happened since the last decision that may concern the dispatcher inside.
        self._news = True
        #: When the call comes that was asked for last, s.
        self._called = -math.inf
        #: When hosts are to be woken next for a start that is planned, s, and the mask of those that are wanted by now.
        self._due, self._wanted = math.inf, 0
        #: Whether hosts went to sleep in the last decision, which may be among those of planned starts.
        self._slept = False
        self._switches = self._booted = 0

    def make_inner(self, seed: int) -> Dispatcher:
        return create(self.options.dispatcher, seed=seed)

    def begin(self, ledger: Ledger) -> None:
        if self._sleep is not None:
            ledger.wake_for_jobs()
            assert ledger.states is not None, "wake_for_jobs was called"
            if not ledger.states.can_sleep & ledger.machine.compute:
                raise InputError(
                    f"dispatcher powered: sleep={self.options.sleep}, but no host of the platform can sleep, expected "
                    f"the property {SLEEP_PROPERTY} of some hosts (such as `platform generate --power batsim-cluster` "
                    "writes)"
                )
            self._idle = IdleTimes(self.options.after)
            keep = self.options.keep
            self._keep = math.ceil(keep * ledger.machine.size) if keep < 1 else int(keep)
        super().begin(ledger)

    # ------------------------------------------------------------------ events

    def on_submit(self, ledger: Ledger, job: Job) -> None:
        self._news = True
        super().on_submit(ledger, job)

    def on_start(self, ledger: Ledger, stay: Stay) -> None:
        self._booted += stay.start > ledger.now
        super().on_start(ledger, stay)

    def on_end(self, ledger: Ledger, stay: Stay) -> None:
        self._news = True
        super().on_end(ledger, stay)

    def on_called_off(self, ledger: Ledger, stay: Stay) -> None:
        self._news = True
        super().on_called_off(ledger, stay)

    def on_event(self, ledger: Ledger, event: Event) -> None:
        self._news |= not isinstance(event, RequestedCall | ResourceStateChanged)
        super().on_event(ledger, event)

    # ------------------------------------------------------------------ decisions

    def decide(self, ledger: Ledger) -> None:
        if self._sleep is None:
            super().decide(ledger)
            return
        if self._news or self.inner.idle_until(ledger) <= ledger.now:
            self._news = True
            super().decide(ledger)
        self._switch(ledger)
        self._news = False

    def _switch(self, ledger: Ledger) -> None:
        """Wake hosts for what is planned, let others sleep, and ask for a call when there is more to do."""
        assert ledger.boots is not None, "wake_for_jobs was called"
        assert ledger.states is not None, "wake_for_jobs was called"
        states = ledger.states
        if not (self.options.ahead and ledger.queue and states.away):
            self._due, self._wanted = math.inf, 0
        elif self._news or self._slept or self._wanted or self._due <= ledger.now:
            self._due, self._wanted = self._wake_ahead(ledger)
        self._slept = False
        idle = self._idle_hosts(ledger)
        self._idle.see(idle, ledger.now)
        may = self._idle.since(ledger.now) & ~self._wanted & ~ledger.unavailable
        most = min(may.bit_count(), idle.bit_count() - self._keep)
        if may and most > 0 and self._sleep is not None:
            view = IdleHosts(hosts=may, awake=idle, most=most, ledger=ledger)
            chosen = self._sleep.choose(view)
            if chosen:
                self._switches += chosen.bit_count()
                ledger.let_sleep(chosen)
                self._slept = True
                self._idle.see(idle & ~chosen, ledger.now)
        if ledger.queue or ledger.running or ledger.blocked or not ledger.static_jobs_done:
            self._call(ledger, min(self._due, self._idle.next_due(ledger.now)))

    def _wake_ahead(self, ledger: Ledger) -> tuple[float, int]:
        """Wake hosts for starts that are planned soon; return when to wake more, in s, and the mask of those wanted."""
        boots, states, now = ledger.boots, ledger.states, ledger.now
        assert boots is not None, "wake_for_jobs was called"
        assert states is not None, "wake_for_jobs was called"
        wanted, next_due, soon = 0, math.inf, now + states.longest_wake
        for start, hosts in self.inner.planned_starts(ledger):
            away = hosts & states.away
            if not away:
                continue
            if start > soon:
                next_due = min(next_due, start - states.longest_wake)
                continue
            due = start - (boots.awake_at(away, now) - now)
            if due <= now:
                wanted |= hosts
            else:
                next_due = min(next_due, due)
        asleep = wanted & states.asleep & ~ledger.unavailable
        if asleep:
            ledger.wake(asleep)
        return next_due, wanted

    def _idle_hosts(self, ledger: Ledger) -> int:
        """Return the mask of the hosts that can sleep, are awake, and on which nothing runs or is kept free."""
        states = ledger.states
        assert states is not None, "wake_for_jobs was called"
        busy = states.away
        if ledger.machine.exclusive:
            free = int(ledger.space.nodes(ledger.free))
        else:
            free = ledger.machine.compute
            for stay in ledger.running.values():
                busy |= stay.allocation.mask
            for hold in ledger.holds.values():
                busy |= 0 if hold.hosts is None else hold.hosts.mask
        return states.can_sleep & free & ~busy

    def _call(self, ledger: Ledger, due: float) -> None:
        """Ask for a call at a time, in seconds, unless one comes by then anyhow."""
        if due < math.inf and not ledger.now < self._called <= due:
            self._called = due
            ledger.wake_at(due)

    def report(self) -> dict[str, Any]:
        report = super().report()
        if self._sleep is None:
            return report
        return {**report, "hosts_put_to_sleep": self._switches, "jobs_that_woke_hosts": self._booted}
