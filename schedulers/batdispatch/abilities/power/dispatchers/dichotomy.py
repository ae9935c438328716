"""Conservative backfilling that searches how many hosts to let sleep or to wake, by energy and slowdown of its plan."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from statistics import fmean
from typing import Annotated, ClassVar, Literal, NamedTuple

import msgspec

from batdispatch.abilities.power.dispatchers.energy_bf import EnergyBf
from batdispatch.abilities.power.dispatchers.switch_times import SwitchOptions
from batdispatch.abilities.power.machine.power import HostPower
from batdispatch.core.hosts import hostset
from batdispatch.core.jobs.job import Stay
from batdispatch.core.line.events import Event, ResourceStateChanged
from batdispatch.core.line.ledger import Ledger
from batdispatch.core.line.options import Options

#: (mask of hosts, when they are woken, s).
Wakings = list[tuple[int, float]]


class DichotomyOptions(SwitchOptions, frozen=True, kw_only=True):
    """Options of the dispatcher that searches how many hosts to let sleep or to wake.

    tolerated_slowdown_loss_ratio: Let hosts sleep as long as the mean slowdown of the plan is at most this many times
        that of a plan for which all hosts are woken.
    comparison_type: `switch_on`: in that plan sleeping hosts wake up as soon as they may. `remove_sleep_jobs`: they are
        awake.
    """

    tolerated_slowdown_loss_ratio: Annotated[float, msgspec.Meta(ge=0, le=1e9)] = 1.0
    comparison_type: Literal["switch_on", "remove_sleep_jobs"] = "remove_sleep_jobs"


class Trial(NamedTuple):
    """A plan in which some hosts, a mask, go to sleep now and others are woken.

    Attributes:
        slowdown: mean of the jobs in it.
        spans: (mask of hosts, from, to, s, what they do) where they are not idle.
    """

    asleep: int
    wakings: Wakings
    slowdown: float
    spans: Sequence[tuple[int, float, float, str]]

    @property
    def horizon(self) -> float:
        """The last moment at which something is planned, s."""
        return max((end for hosts, _, end, _ in self.spans if hosts and end < math.inf), default=-math.inf)


class Dichotomy(EnergyBf):
    """Plans as `energy-bf`, and searches how many hosts should go to sleep now, or wake up, besides.

    At each event it makes the plan as it stands, and one for which all hosts are woken. If the mean slowdown of the
    first one is at most `tolerated_slowdown_loss_ratio` times that of the second, it searches by halving for the number
    of idle hosts, the lowest ones, that may sleep; else for the number of sleeping hosts that should be woken. Of the
    plans that it meets and that keep the ratio, that of the least energy is carried out.

    Typical use: as the reference that batsched's energy_bf_dicho is.
    Limits: as `energy-bf`.
    Guarantee: no job is lost, whenever hosts sleep, wake up, go away or come back.
    Time: `O(q s log h)` for a decision, with h hosts, q waiting jobs and a plan of s steps.
    Deviations:
        - Watts, times and jobs that do not take whole hosts as in `energy-bf`. batsched has no default for the ratio.
        - A host that woke up and that the head of the queue is to run on does not go to sleep before. In batsched it
          may, so that hosts may sleep and wake up in turn for ever while a job waits for them.
        - A job without a walltime does not count in the mean slowdown. batsched knows no such jobs.
    References:
        [1] batsched 1.4.0, `energy_bf_dicho`.
    """

    options_type: ClassVar[type[Options]] = DichotomyOptions

    def begin(self, ledger: Ledger) -> None:
        super().begin(ledger)
        states = self.times.states
        self._watts = [] if states is None else [(members, _more_than_idle(power)) for power, members in states.kinds]
        #: Mask of the hosts that go to sleep in this decision, and of those that woke up and have run no job since.
        self._chosen, self._woken = 0, 0

    def on_start(self, ledger: Ledger, stay: Stay) -> None:
        super().on_start(ledger, stay)
        self._woken &= ~stay.allocation.mask

    def on_event(self, ledger: Ledger, event: Event) -> None:
        super().on_event(ledger, event)
        if isinstance(event, ResourceStateChanged):
            self._woken = (self._woken | event.hosts.mask) & ~self.times.sleeping

    def unneeded(self, ledger: Ledger) -> int:
        self.times.suppose(0)
        return self._chosen

    def first_wakings(self, ledger: Ledger) -> Wakings:
        self._chosen = 0
        idle = (
            super().unneeded(ledger) if self.times.states is None else ledger.idle_hosts & self.times.states.can_sleep
        )
        asleep = self.times.sleeping & ~self.times.falling
        if not idle | asleep:
            return []
        self.plan.timeline.advance(ledger.now)
        self._extend_overdue(ledger)
        soonest = self.times.by_wakeable(asleep)
        if self.options.comparison_type == "switch_on":
            awake = self._plan_trial(ledger, 0, soonest)
        else:
            awake = self._plan_trial(ledger, 0, [], present=asleep)
        most = awake.slowdown * self.options.tolerated_slowdown_loss_ratio
        best = self._plan_trial(ledger, 0, [])
        if best.slowdown <= most:
            head = next((self.plan.planned.get(job.id) for job in self.in_order(ledger)), None)
            idle &= ~(0 if head is None else head.place.allocation.mask & self._woken)
            best = self._search(best, most, idle, partial(self._plan_trial, ledger, wakings=[]), sleeps=True)
        else:
            due = sum(hosts for hosts, moment in soonest if moment <= ledger.now)
            best = self._search(
                best, most, due, lambda hosts: self._plan_trial(ledger, 0, [(hosts, ledger.now)]), sleeps=False
            )
        self._chosen = best.asleep
        self.times.suppose(best.asleep)
        return best.wakings

    def _search(self, best: Trial, most: float, hosts: int, trial_of: Callable[[int], Trial], *, sleeps: bool) -> Trial:
        """Return the plan of least energy among those met by halving; of two alike, the one in which more hosts sleep.

        Args:
            best: the plan as it stands.
            most: the largest mean slowdown.
            hosts: mask of those of which the lowest ones sleep or wake up.
            trial_of: makes the plan in which some of them do.
            sleeps: whether they go to sleep, else they wake up.
        """
        low, high = 1, hosts.bit_count()
        while low < high:
            count = (low + high) // 2
            trial = trial_of(hostset.lowest(hosts, count))
            keeps = trial.slowdown <= most
            if keeps:
                horizon = max(best.horizon, trial.horizon)
                before, joules = self._joules(best, horizon), self._joules(trial, horizon)
                if joules < before or (sleeps and joules == before):
                    best = trial
            if keeps is sleeps:
                low = count + 1
            else:
                high = count - 1
        return best

    def _plan_trial(self, ledger: Ledger, asleep: int, wakings: Wakings, *, present: int = 0) -> Trial:
        """Plan all waiting jobs; hosts of the mask `present` are taken for awake."""
        self.times.suppose(asleep)
        self._wakings = wakings
        self.plan.away = [(hosts & ~present, begin, end) for hosts, begin, end in self.times.away(wakings)]
        self.plan.renew()
        for job in self.in_order(ledger):
            if self.plan.replan(job.id, job, self.booked(job), keep=False, stable=False) is None:
                self._wake_for(ledger, job)
        jobs = [*self.plan.held.values(), *self.plan.planned.values()]
        spans = [(each.place.allocation.mask, max(each.start, ledger.now), each.expected_end, "busy") for each in jobs]
        slowdowns = [
            (end - each.job.submission) / (end - start)
            for each, (_, start, end, _) in zip(jobs, spans, strict=True)
            if start < end < math.inf
        ]
        return Trial(
            asleep, wakings, fmean(slowdowns) if slowdowns else 0.0, [*spans, *self.times.stages(self._wakings)]
        )

    def _joules(self, trial: Trial, horizon: float) -> float:
        """Return what a plan burns until a moment, in s, beyond what idle hosts would, in joules."""
        joules = (
            max(min(end, horizon) - begin, 0.0)
            * sum((hosts & members).bit_count() * watts.get(stage, 0.0) for members, watts in self._watts)
            for hosts, begin, end, stage in trial.spans
            if hosts
        )
        # Of plans that are alike, the last digit tells nothing.
        return round(sum(joules), 6)


def _more_than_idle(power: HostPower) -> dict[str, float]:
    """Return how many watts more than idle a host burns, by what it does."""
    idle, sleep = power.states[power.usual].idle, power.deepest
    watts = {"busy": power.watts(power.usual, 1.0) - idle}
    if sleep is not None:
        down, up = power.sleeps[sleep]
        watts |= {"asleep": power.watts(sleep, 0.0) - idle, "down": power.switch_watts(down) - idle}
        watts |= {"up": power.switch_watts(up) - idle}
    return watts
