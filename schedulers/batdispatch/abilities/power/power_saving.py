"""Power saving: the layer under which hosts sleep, power has a cap, and jobs wait for cheap hours.

Theory of operation
-------------------

A job that comes goes through these states; the dispatcher inside sees it from `SHOWN` on:

===========  ========================================  =============================================================
state        what holds                                what ends it
===========  ========================================  =============================================================
`KEPT BACK`  Its start rule said until when            That time comes: `SHOWN` (`layers.cheap_hours`).
             (`Dependencies.keep_back`).
`SHOWN`      It waits, and asks for the power that     The dispatcher inside starts it: `BOOTING` if some of its
             it counts with (`layers.power_cap`).      hosts do not compute, else it runs. The cap that it meets
                                                       changes: `SHOWN` anew, or rejected if it never fits any more.
`BOOTING`    It has its hosts, and they wake up        All are awake: it runs. One goes away: `SHOWN` in its old place.
             (`concerns.boots`).
===========  ========================================  =============================================================

Hosts go through the states of `machine.host_states`. In each decision, in this order: jobs are shown whose time
has come or whose demand has changed, the dispatcher inside decides, hosts are woken for what it plans, others fall
asleep. Whenever a job starts or ends and whenever hosts begin or end to switch, what they draw beyond the jobs is
counted anew.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import Annotated, Any, ClassVar, Literal

import msgspec

from batdispatch.abilities.power.cheap_hours import CheapHours
from batdispatch.abilities.power.concerns.power_states import PowerStates
from batdispatch.abilities.power.concerns.shared_power import SharedPower
from batdispatch.abilities.power.idle_times import IdleTimes
from batdispatch.abilities.power.machine.host_states import HostStates
from batdispatch.abilities.power.machine.series import Series
from batdispatch.abilities.power.power_cap import PowerCap, put
from batdispatch.abilities.power.sleep import IdleHosts, make_sleep
from batdispatch.abilities.power.slow_jobs import SlowJobs
from batdispatch.core.errors import InputError
from batdispatch.core.hosts.allocation import Allocation, Place
from batdispatch.core.jobs.fields import MAX_MOMENT
from batdispatch.core.jobs.job import Job, Stay
from batdispatch.core.line import registry
from batdispatch.core.line.concerns.dependencies import Dependencies
from batdispatch.core.line.concerns.holds import Holds
from batdispatch.core.line.events import (
    Event,
    JobsKilled,
    MachinesAvailable,
    MachinesUnavailable,
    RequestedCall,
    ResourceStateChanged,
)
from batdispatch.core.line.hindsight import Hindsight, Reason
from batdispatch.core.line.ledger import SOONEST, Ledger
from batdispatch.core.line.options import Options
from batdispatch.core.line.scene import Scene
from batdispatch.core.machine.machine import SLEEP_PROPERTY, Machine
from batdispatch.core.numerals import number_of
from batdispatch.layers.base import Layer, chain
from batdispatch.parts.prediction import Predictions

#: Entry-point group of what reads the files that options name.
FILES = "batdispatch.files"


class PowerSavingOptions(Options, frozen=True, kw_only=True):
    """Options of the layer that saves power, keeps a cap on it, and moves jobs to where it is cheap.

    dispatcher: Start the jobs by this dispatcher, with its options in brackets: `easy[ordering=sjf]`.
    sleep: Let idle hosts sleep by this rule (`batdispatch list sleeps`). `none` (the default): no host ever sleeps.
    after: Let a host sleep when it has been idle for this many seconds.
    keep: Keep this many idle hosts awake; below 1, this share of the machine.
    ahead: Let hosts wake up in time for the starts that the dispatcher inside plans, where it says them. `false`: only
        when a job has been started on them.
    cap: Let all hosts together never burn more than this many watts, or than `80%` of what they can. A file: as many
        watts as a series says (`FILE` or `FILE:COLUMN`). `none` (the default): there is no cap.
    watts: Take the watts that all hosts of a job burn from this field of the job. Unless given, a job may burn all that
        its hosts can.
    states: `usual`: jobs run at the usual speed of their hosts. `lower`: if only the cap keeps the first waiting job
        from starting, it starts with its hosts in a slower power state, and its walltime becomes longer by as much.
    price: Keep jobs back by this series of what a kilowatt-hour costs, in money, carbon or water (`FILE` or
        `FILE:COLUMN`). `none` (the default): there is no price.
    carbon: Count what all energy emits by this series of carbon per kilowatt-hour (`FILE` or `FILE:COLUMN`). Nothing is
        decided by it. `none` (the default): it is not told.
    start: Keep jobs back by this rule (`batdispatch list starts`). It needs a price.
    slack: Keep a job back for at most this many seconds, or as many as the field of this name says.
    prediction: Expect jobs to run as long as this method says (`batdispatch list predictions`), to see what they pay.
    origin: Take this date for the moment 0 s of series with dates. Unless given, it is their first date.
    """

    dispatcher: str = "easy"
    sleep: str = "none"
    after: Annotated[float, msgspec.Meta(ge=0, le=1e9)] = 300.0
    keep: Annotated[float, msgspec.Meta(ge=0, le=1e9)] = 0.0
    ahead: bool = True
    cap: str = "none"
    watts: str = ""
    states: Literal["usual", "lower"] = "usual"
    price: str = "none"
    carbon: str = "none"
    start: str = "cheapest"
    slack: str = "0"
    prediction: str = "requested"
    origin: str = ""


class PowerSaving(Layer):
    """Lets idle hosts sleep, keeps a cap on power, and moves jobs into cheap hours, under any dispatcher.

    To the dispatcher inside, a host that sleeps is free. If it starts a job there, the layer wakes the hosts, and the
    job begins to run when all of its hosts are awake. The dispatcher inside takes that moment for the start of the job,
    so that its plans count the time that hosts take to wake up. If a host goes away while it wakes up, the job waits
    again in its old place. Where the dispatcher inside says which starts it plans, hosts are woken in time for them,
    and none falls asleep that could not be awake again by then.

    With `cap`, power is a resource that jobs share, so that the dispatcher inside plans with it. With `states=lower`,
    the first waiting job runs more slowly if only power keeps it waiting. With `price`, a job that may wait is kept
    from the dispatcher inside until its start rule shows it.

    Typical use: to see what letting hosts sleep, a cap or cheap hours would save, and what it would cost in wait.
    Limits: The platform must state watts, and power states to sleep in (`batdispatch platform generate --power`). It
        may not stand inside `resizing`. Advance reservations are refused.
    Guarantee: every job ends as under the dispatcher inside: none is lost, whenever hosts sleep, wake up, go away or
        come back, but for those that the cap never leaves the power for. With everything off every decision is that of
        the dispatcher inside. Without a cap no host wakes up later than the dispatcher inside plans, but where a start
        moves ahead while the host sleeps. A job starts at most as long after its decision as its slowest host takes to
        fall asleep and to wake up. `sum over hosts of watts <= cap` at every moment, if decisions take at most a
        second. A job is kept back for at most its slack.
    Time: `O(h)` for a host that switches; `O(g)` for a decision, with g groups of hosts that became idle together.
    Deviations: a job that is started on hosts which sleep ends later than the dispatcher inside reckoned when it chose
        the job. The job may therefore delay a job with a reservation by as long as hosts take to wake up.
    References:
        [1] Slurm: "Power saving guide" (`SuspendTime`, `SuspendExcNodes`, `ResumeTimeout`), for hosts that sleep when
            they have been idle for some time, and jobs that hold their hosts while these wake up.

    Attributes:
        sleep: the sleep rule; None: no host ever sleeps.
        switches: hosts that were put to sleep until now.
        booted: jobs that were started on hosts which had to wake up.
    """

    options_type: ClassVar[type[Options]] = PowerSavingOptions
    gives_way = False

    def __init__(self, options: Options | None = None, seed: int = 0) -> None:
        super().__init__(options, seed)
        if any(isinstance(inside, PowerSaving) for inside in chain(self.inner)):
            raise InputError(
                f"dispatcher powered: found {self.options.dispatcher} inside it, expected one without powered: "
                "both would decide what becomes of the same hosts"
            )
        if self.options.watts and any(isinstance(inside, Layer) and inside.resizes for inside in chain(self.inner)):
            raise InputError(
                f"dispatcher powered: found watts={self.options.watts} around {self.options.dispatcher}, expected no "
                "watts: a field does not say what jobs burn on other numbers of hosts"
            )
        self.sleep = None if self.options.sleep == "none" else make_sleep(self.options.sleep)
        self._price, self._cap = self._read_series()
        self._hours = self._make_hours()
        self._slow = self._make_slow()
        #: Whether it does anything.
        self._on = self.sleep is not None or self._cap is not None or self._hours is not None
        if self._on and self.inner.needs_energy:
            found = next(name for name in ("cap", "sleep", "price") if getattr(self.options, name) != "none")
            raise InputError(
                f"dispatcher powered: found {found}={getattr(self.options, found)} around {self.options.dispatcher}, "
                "which sets power states by itself, expected a dispatcher that does not"
            )
        vars(self)["needs_energy"] = self._on or self.options.carbon != "none" or self.inner.needs_energy
        if self._slow is not None:
            vars(self)["registers_jobs"] = vars(self)["reuses_profiles"] = True
        #: Whether something has happened since the last decision that may concern the dispatcher inside.
        self._news = True
        #: When the call comes that was asked for last, s.
        self._called = -math.inf
        #: What the dispatcher inside plans; None: it has not been asked since it decided.
        self._planned: list[tuple[float, int]] | None = None
        #: Mask of the hosts that are to be awake for starts that are planned.
        self._wanted = 0
        #: Whether hosts went to sleep in the last decision, which may be among those of planned starts.
        self._slept = False
        #: Whether hosts woke up since then, or could have gone to sleep and did not, and when there is more to do, s.
        self._woken, self._left, self._next = False, False, -math.inf
        self.switches = self.booted = 0

    def kept_awake(self, machine: Machine) -> int:
        """Return how many idle hosts of a machine stay awake."""
        keep = self.options.keep
        return math.ceil(keep * machine.size) if keep < 1 else int(keep)

    def _read_series(self) -> tuple[Series | None, PowerCap | None]:
        """Return the price and the cap, if they are given."""
        options = self.options
        watts = number_of(options.cap.removesuffix("%"))
        is_file = math.isnan(watts) and not options.cap.endswith("%") and options.cap not in ("", "nan")
        # Nobody's file is called 15kW.
        is_file &= math.isnan(number_of(options.cap.rstrip("kMW")))
        if not (is_file or 0 <= watts < math.inf):
            raise InputError(
                f"dispatcher powered: found cap={options.cap}, expected a number of watts of at least 0, a share such "
                "as 80%, or a file"
            )
        files = [
            *([(options.price, True)] if options.price != "none" else ()),
            *([(options.cap, False)] if options.cap != "none" and is_file else ()),
            # It decides nothing, but a run whose metrics could not be told had better not begin.
            *([(options.carbon, True)] if options.carbon != "none" else ()),
        ]
        series = registry.load(FILES, "series", "reader of files")(files, options.origin) if files else []
        price = series.pop(0) if options.price != "none" else None
        if options.cap == "none":
            return price, None
        cap = series[0] if is_file else Series.constant(watts)
        return price, PowerCap(cap, options.watts, options.cap, slows=options.states == "lower")

    def _make_slow(self) -> SlowJobs | None:
        if self.options.states == "usual":
            return None
        if self._cap is None:
            raise InputError("dispatcher powered: found states=lower without a cap, expected cap=WATTS")
        if self.options.watts:
            raise InputError(
                f"dispatcher powered: found states=lower beside watts={self.options.watts}, expected no watts: a field "
                "does not say what jobs burn in slower power states"
            )
        return SlowJobs(self._cap)

    def _make_hours(self) -> CheapHours | None:
        options = self.options
        if self._price is None:
            needs = "slack" if options.slack != "0" else "sleep" if self.sleep and self.sleep.needs_price else ""
            if needs:
                value = getattr(options, needs)
                raise InputError(f"dispatcher powered: found {needs}={value} without a price, expected price=FILE")
            return None
        return CheapHours(self._price, options.start, options.slack, Predictions(options.prediction))

    def begin(self, ledger: Ledger) -> None:
        if self._on:
            PowerStates.of(ledger).wake_for_jobs()
        if self.sleep is not None:
            states = PowerStates.of(ledger).states
            assert states is not None, "wake_for_jobs was called"
            if not states.can_sleep & ledger.machine.compute:
                raise InputError(
                    f"dispatcher powered: sleep={self.options.sleep}, but no host of the platform can sleep, expected "
                    f"the property {SLEEP_PROPERTY} of some hosts (such as `platform generate --power batsim-cluster` "
                    "writes)"
                )
            self._idle = IdleTimes(self.options.after)
            self._keep = self.kept_awake(ledger.machine)
        if self._cap is not None:
            changes = f"cap={self.options.cap}, which changes over time" if self._cap.changes else ""
            changes = changes if self._slow is None else "states=lower"
            if changes and not all(inside.heeds_reservations for inside in chain(self.inner)):
                raise InputError(
                    f"dispatcher powered: found {changes}, around {self.options.dispatcher}, expected a constant cap "
                    "and states=usual: it cannot do with waiting jobs whose demand changes"
                )
            if self._slow is not None and not ledger.machine.exclusive:
                raise InputError(
                    "dispatcher powered: found states=lower on a platform that states what its hosts offer, expected "
                    "one where jobs take whole hosts: others would be slowed down with a job"
                )
            states = PowerStates.of(ledger).states
            assert states is not None, "wake_for_jobs was called"
            self._cap.begin(ledger, sleeps=self.sleep is not None or bool(states.asleep))
        if self._hours is not None:
            self._hours.predictions.begin(ledger)
        super().begin(ledger)

    # ------------------------------------------------------------------ events

    def on_submit(self, ledger: Ledger, job: Job) -> None:
        stay = None if self._slow is None else self._slow.came(job)
        if stay is not None:
            self._go_on(ledger, job, stay)
        elif self._hours is None or not self._hours.keep(ledger, job):
            self._show(ledger, job)

    def _show(self, ledger: Ledger, job: Job) -> None:
        """Let the dispatcher inside see a job, with the power that it asks for."""
        self._news = True
        if self._cap is not None and Holds.of(ledger).held_for(job) is not None:
            self._show_on_held(ledger, job, self._cap)
            return
        if self._cap is not None:
            possible = self._cap.possible(ledger, job)
            if possible is None:
                ledger.reject(job, self._cap.why_never(job, ledger.now))
                return
            job = self._cap.shown(ledger, put(ledger, job, possible))
        super().on_submit(ledger, job)

    def _show_on_held(self, ledger: Ledger, job: Job, cap: PowerCap) -> None:
        """Let the dispatcher inside see a job that is to go on at once, on hosts which are held for it and awake."""
        job = ledger.amend(job, request=cap.awake(job))
        super().on_submit(ledger, job)
        if job.id in ledger.queue:
            self._put(ledger, job, cap.asking(job, ledger.now))

    def _go_on(self, ledger: Ledger, job: Job, stay: Stay) -> None:
        """Start a job on the hosts of the one that it continues, which was killed as it began."""
        self._news = True
        super().on_end(ledger, stay)
        assert self._cap is not None, "jobs are slowed down under a cap"
        before = stay.job
        job = ledger.amend(job, submission=before.submission, rank=stay.rank, request=self._cap.awake(before))
        if stay.allocation.mask & ledger.unavailable:
            Holds.of(ledger).release(before.id)
            self._show(ledger, job)
            return
        super().on_submit(ledger, job)
        if job.id in ledger.queue:
            place = Place(stay.allocation)
            self.inner.give_way(ledger, job, place)
            ledger.start(job, place)

    def on_start(self, ledger: Ledger, stay: Stay) -> None:
        self.booted += stay.start > ledger.now
        if self._cap is not None:
            self._cap.draw(ledger)
        super().on_start(ledger, stay)
        if self._slow is not None:
            self._slow.started(ledger, stay)

    def on_end(self, ledger: Ledger, stay: Stay) -> None:
        self._news = True
        if self._cap is not None:
            self._cap.draw(ledger)
        if self._slow is not None and self._slow.ended(stay):
            return
        if self._hours is not None:
            self._hours.predictions.ended(stay, ledger.now)
        super().on_end(ledger, stay)

    def on_called_off(self, ledger: Ledger, stay: Stay) -> None:
        self._news = True
        if self._cap is not None:
            self._cap.draw(ledger)
            self._cap.look_again(stay.job, ledger.now)
        super().on_called_off(ledger, stay)
        if self._slow is not None and self._slow.called_off(stay) and stay.job.id in ledger.queue:
            assert self._cap is not None, "jobs are slowed down under a cap"
            self._put(ledger, stay.job, self._cap.usual(ledger, stay.job))

    def on_killed(self, ledger: Ledger, event: JobsKilled) -> None:
        super().on_killed(ledger, event)
        if self._slow is not None:
            self._slow.register(ledger, event)

    def on_event(self, ledger: Ledger, event: Event) -> None:
        if isinstance(event, ResourceStateChanged):
            states = PowerStates.of(ledger).states
            assert states is not None or not self._on, "wake_for_jobs was called"
            self._woken |= states is None or bool(event.hosts.mask & ~states.away)
            if self._slow is not None:
                self._slow.answered(event)
        else:
            self._news |= not isinstance(event, RequestedCall)
        super().on_event(ledger, event)
        if self._cap is not None and self._cap.draw(ledger):
            self._news = True
            # Power is free again; dispatchers know hosts that come back.
            super().on_event(ledger, MachinesAvailable(ledger.now, Allocation(0)))

    # ------------------------------------------------------------------ decisions

    def decide(self, ledger: Ledger) -> None:
        if self._hours is not None:
            for job in self._hours.due(ledger.now):
                Dependencies.of(ledger).bring_back(job)
                self._show(ledger, job)
        if self._cap is not None and self._cap.changes:
            self._cap.refresh(ledger, partial(self._turn, ledger))
        if self.sleep is None or self._news or self.inner.idle_until(ledger) <= ledger.now:
            self._news |= self.sleep is not None
            self._planned = None
            self._decide_inside(ledger)
        if self._slow is not None:
            self._slow.set_hosts(ledger)
        if self.sleep is None:
            self._call(ledger, self._next_moment(ledger))
            self._news = False
            return
        if self._news or self._woken or self._slept or self._wanted or self._left or self._next <= ledger.now:
            self._switch(ledger)
        self._news = self._woken = False

    def _decide_inside(self, ledger: Ledger) -> None:
        """Let the dispatcher inside decide and, as long as that lets it start, find power for the first waiting job."""
        cap = self._cap
        self._give_back(ledger)
        self.inner.decide(ledger)
        while self._news and cap is not None and (found := self._find_power(ledger, cap)):
            first, undo = found
            self.inner.decide(ledger)
            if first.id in ledger.queue:
                undo()
                self.inner.decide(ledger)
                break

    def _find_power(self, ledger: Ledger, cap: PowerCap) -> tuple[Job, Callable[[], object]] | None:
        """Let the first waiting job fit that only lacks power, and return it, and how to undo that; None: it cannot.

        Sleeping hosts lend it what they save, or it is shown at the fastest level at which it fits.
        """
        first = next(iter(self.in_order(ledger, ledger.queue.values())), None) if self._may_find(ledger) else None
        if first is None or ledger.fits(first):
            return None
        lent, hosts = cap.lent, cap.to_lend(ledger, first)
        if hosts:
            self._lend(ledger, lent | hosts)
            if ledger.fits(first):
                # Others may have taken of what is lent by then.
                return first, partial(self._give_back, ledger)
            self._lend(ledger, lent)
        slow = None if self._slow is None else cap.fitting(ledger, first)
        if slow is None:
            return None
        return first, partial(self._put, ledger, self._put(ledger, first, slow), first)

    def _give_back(self, ledger: Ledger) -> None:
        """Let those hosts lend no more whose power is free."""
        hosts = 0 if self._cap is None else self._cap.to_give_back(ledger)
        if self._cap is not None and hosts:
            self._lend(ledger, self._cap.lent & ~hosts)

    def _may_find(self, ledger: Ledger) -> bool:
        states = PowerStates.of(ledger).states
        return self._slow is not None or (states is not None and bool(states.asleep))

    def _lend(self, ledger: Ledger, hosts: int) -> None:
        """Let some sleeping hosts, a mask, lend what they save."""
        assert self._cap is not None, "hosts lend power under a cap"
        changed, self._cap.lent = self._cap.lent ^ hosts, hosts
        SharedPower.of(ledger).close(hosts, self._cap.saved_by(ledger, hosts))
        self._cap.draw(ledger)
        self._news = True
        # Other hosts and more or less power are free now; dispatchers know hosts that come and go.
        kind = MachinesUnavailable if changed & hosts else MachinesAvailable
        super().on_event(ledger, kind(ledger.now, Allocation(changed)))

    def _put(self, ledger: Ledger, before: Job, other: Job) -> Job:
        """Show a waiting job at another level."""
        after = put(ledger, before, other)
        self._turn(ledger, before, after)
        ledger.idle.change()
        return after

    def _turn(self, ledger: Ledger, before: Job, after: Job | None) -> None:
        """Show a waiting job anew that asks for another amount of power; None: it can never start."""
        self._news = True
        super().on_withdrawn(ledger, before)
        if after is not None:
            super().on_submit(ledger, after)

    def _next_moment(self, ledger: Ledger) -> float:
        """Return when the layer has something to do that no event tells, hosts that switch apart, in s."""
        moment = math.inf if self._hours is None else self._hours.next_due()
        if self._cap is not None and ledger.queue:
            moment = min(moment, self._cap.next_change(ledger.now))
        return moment

    def _switch(self, ledger: Ledger) -> None:
        """Wake hosts for what is planned, let others sleep, and ask for a call when there is more to do."""
        power = PowerStates.of(ledger)
        assert power.states is not None, "wake_for_jobs was called"
        idle = self._idle_hosts(ledger)
        self._idle.see(idle, ledger.now)
        wake_due, self._wanted = math.inf, 0
        if self.options.ahead and ledger.queue and (idle or power.states.away):
            wake_due, self._wanted = self._wake_ahead(ledger, idle)
        self._slept = False
        may = self._idle.since(ledger.now) & ~self._wanted & ~ledger.unavailable
        if self._slow is not None:
            may &= ~self._slow.unanswered
        chosen = 0
        most = min(may.bit_count(), idle.bit_count() - self._keep)
        assert self.sleep is not None, "hosts sleep by a rule"
        asked = not (self.sleep.needs_empty_queue and ledger.queue)
        if may and most > 0 and asked:
            view = IdleHosts(hosts=may, awake=idle, most=most, ledger=ledger, price=self._price)
            chosen = self._affordable(ledger, self.sleep.choose(view))
            if chosen:
                self.switches += chosen.bit_count()
                power.let_sleep(chosen)
                if self._cap is not None:
                    self._cap.draw(ledger)
                self._slept = bool(ledger.queue)
                self._idle.see(idle & ~chosen, ledger.now)
        self._left = bool(may & ~chosen)
        self._next = min(wake_due, self._idle.next_due(ledger.now)) if asked else wake_due
        if ledger.queue or ledger.running or ledger.blocked or not ledger.roll.no_more:
            due = min(self._next, self._next_moment(ledger))
            if may and self._price is not None and self.sleep.needs_price:
                due = min(due, self._price.next_change(ledger.now))
            self._call(ledger, due)
            # An earlier call may come first: then the next one is to be asked for.
            self._next = min(self._next, self._called) if self._called > ledger.now else self._next

    def _affordable(self, ledger: Ledger, hosts: int) -> int:
        """Return those of some hosts, a mask, that can switch now without exceeding the cap."""
        return hosts if self._cap is None or not hosts else self._cap.affordable(ledger, hosts)

    def _wake_ahead(self, ledger: Ledger, idle: int) -> tuple[float, int]:
        """Wake hosts for starts that are planned soon.

        Return when to wake more, in s, and the mask of the hosts that are wanted: those, and idle ones that could not
        sleep and be awake again by then; `idle` is the mask of the hosts that are idle and can sleep.
        """
        boots, states, now = PowerStates.of(ledger).boots, PowerStates.of(ledger).states, ledger.now
        assert boots is not None, "wake_for_jobs was called"
        assert states is not None, "wake_for_jobs was called"
        wanted, next_due = 0, math.inf
        # A call for a moment before this one would come too late.
        soon = round(now + SOONEST, 6)
        if self._planned is None:
            self._planned = [*self.inner.planned_starts(ledger)]
        for start, hosts in self._planned:
            wanted |= self._too_soon(states, start - now, hosts & idle)
            away = hosts & states.away
            if not away:
                continue
            soonest = ledger.call_by(start - states.longest_wake)
            if soonest >= soon:
                next_due = min(next_due, soonest)
                continue
            due = ledger.call_by(start - (boots.awake_at(away, now) - now))
            if due < soon:
                wanted |= hosts
            elif asleep := away & ~states.rising:
                # Hosts that switch will not be awake any later if they are looked at later.
                next_due = min(next_due, max(due, ledger.call_by(start - boots.seconds_up(asleep))))
        asleep = self._affordable(ledger, wanted & states.asleep & ~ledger.unavailable)
        if asleep:
            PowerStates.of(ledger).wake(asleep)
            if self._cap is not None:
                self._cap.draw(ledger)
        return next_due, wanted

    @staticmethod
    def _too_soon(states: HostStates, seconds: float, hosts: int) -> int:
        """Return those of some hosts, a mask, that cannot fall asleep and wake up again within some seconds."""
        if not hosts or seconds >= states.longest_wake + SOONEST:
            return 0
        # They are called to wake up when they sleep, and no call comes sooner than in `SOONEST`.
        kinds = ((power, hosts & members) for power, members in states.kinds if hosts & members)
        return sum(part for power, part in kinds if seconds < power.seconds_to_nap + SOONEST)

    def _idle_hosts(self, ledger: Ledger) -> int:
        """Return the mask of the hosts that can sleep, are there and awake, and on which nothing runs or is held."""
        states = PowerStates.of(ledger).states
        assert states is not None, "wake_for_jobs was called"
        return states.can_sleep & ledger.idle_hosts & ~states.away

    def _call(self, ledger: Ledger, due: float) -> None:
        """Ask for a call at a time, in seconds, unless one comes by then anyhow, or no simulation lasts that long."""
        if due < MAX_MOMENT and not ledger.now < self._called <= ledger.call_from(due):
            self._called = ledger.wake_at(due)

    # ------------------------------------------------------------------ hindsight

    def measure(self, ledger: Ledger) -> None:
        """Prepare to be asked `why_waited` and `kept_until`, instead of `begin`."""
        if self._cap is not None:
            self._cap.measure(ledger.machine, sleeps=self.sleep is not None)
        if self._hours is not None:
            self._hours.predictions.begin(ledger)

    def kept_until(self, ledger: Ledger, job: Job) -> float:
        """Return until when a job is kept back that comes now, in s."""
        return ledger.now if self._hours is None else self._hours.until(job, ledger.now)

    def why_waited(self, job: Job, decision: Hindsight) -> Reason | None:
        if self._cap is None:
            return None
        ledger = decision.ledger
        starts = [other for other, _ in decision.started]
        running = [*(stay.job for stay in ledger.running.values()), *starts]
        return self._cap.why_waits(job, ledger.now, running, _before_it(job, decision))

    def registration_done(self, ledger: Ledger) -> bool:
        return super().registration_done(ledger) and not self._slow

    def report(self) -> dict[str, Any]:
        report = super().report()
        if self._slow is not None:
            report["jobs_slowed_down"] = self._slow.count
        if self._hours is not None:
            report["jobs_kept_back"] = self._hours.count
            if self._hours.told is not None:
                report["jobs_that_say_slack"] = self._hours.told
        if self.sleep is None:
            return report
        return {**report, "hosts_put_to_sleep": self.switches, "jobs_that_woke_hosts": self.booted}


def _before_it(job: Job, decision: Hindsight) -> Iterator[Job]:
    """Yield the jobs that came before one and wait on after a decision, and for which there are hosts beside it."""
    ledger, free = decision.ledger, decision.ledger.free
    starts = {other.id for other, _ in decision.started}
    for other, allocation in decision.started:
        free = ledger.space.take(free, other, allocation)
    place = Scene(ledger, free).lowest(job)
    if place is None:
        return
    free = ledger.space.take(free, job, place.allocation)
    waiting = (other for other in ledger.queue.values() if ledger.rank(other) < ledger.rank(job))
    yield from (other for other in waiting if other.id not in starts and ledger.space.fits(free, other))
