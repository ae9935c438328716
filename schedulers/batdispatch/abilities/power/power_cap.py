"""A cap on power: how much of it each job takes, and what hosts that switch draw beside.

What hosts burn at any moment is counted as the sum of three:

1. *Rest.* Each host counts with the most that it burns without a job: idle, or asleep. A host that sleeps may lend what
   it saves (`lend`); then nothing can wake it until that is given back.
2. *Jobs.* A job counts, from its decision to its end, with what its hosts burn beyond that: all that they can at its
   level of speed (`core.machine.levels`), or what a field of the job says. What the cap leaves beyond the rest is a
   resource that jobs share (`SharedPower.cap_power`), so that every dispatcher plans with it.
3. *Draw.* A host that falls asleep or wakes up may burn more than that. So much is drawn from the same resource until
   it has switched (`SharedPower.draw`). A job takes what it would need if all its hosts had to wake up, and gives the
   rest back as soon as it is started.

Where the cap changes over time, a job must leave as much power beside it as the cap falls before the job ends, by its
walltime. So what a waiting job asks for changes as time goes by, and it is shown anew.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import chain
from typing import NamedTuple

import msgspec

from batdispatch.abilities.power.concerns.power_states import PowerStates
from batdispatch.abilities.power.concerns.shared_power import SharedPower
from batdispatch.abilities.power.machine.facet import powers_of
from batdispatch.abilities.power.machine.host_states import HostStates
from batdispatch.abilities.power.machine.power import HostPower
from batdispatch.abilities.power.machine.series import Series
from batdispatch.core.errors import InputError
from batdispatch.core.hosts import hostset
from batdispatch.core.jobs.job import Job
from batdispatch.core.jobs.request import Request
from batdispatch.core.line.concerns.holds import Holds
from batdispatch.core.line.hindsight import Reason
from batdispatch.core.line.ledger import Ledger
from batdispatch.core.machine.machine import POWER, Machine

#: mW in a watt. Demands are rounded up, what there is is rounded down.
_MILLI = 1000
#: The most that counts, in mW: more would not fit into what counts resources, and no machine burns it.
_LARGEST = 2**52
#: Seconds by which a job may start, switch or end later than it was decided.
LATE = 1.0
#: Field of a job that says at which level of speed it runs, see `core.machine.levels`; without it, at the usual one.
LEVEL = "speed_level"


class PowerCap:
    """A cap, and what jobs and hosts count under it. Powers are in mW but where they are said to be watts."""

    def __init__(self, cap: Series, field: str, name: str, *, slows: bool = False) -> None:
        """Take a cap and the field of a job with the watts of its hosts; empty: all that they can burn.

        Args:
            cap: in watts, or in per cent of what all hosts can burn.
            field: as above.
            name: the option's text, which ends with ``%`` in that case.
            slows: whether jobs may run at other levels of speed than the usual one.
        """
        self._given, self._field, self._name, self._slows = cap, field, name, slows
        #: Whether it changes over time.
        self.changes = len(set(cap.values)) > 1
        #: (when what it asks for changes, id) of waiting jobs.
        self._changes: list[tuple[float, str]] = []
        #: Mask of the sleeping hosts that lend what they save.
        self.lent = 0

    def begin(self, ledger: Ledger, *, sleeps: bool) -> None:
        """Share the power that the cap leaves beyond the rest; `sleeps`: whether hosts may sleep.

        Raises:
            InputError: a host states no watts, or the cap is below what all hosts burn at rest, or never leaves the
                power for a job.
        """
        self.measure(ledger.machine, sleeps=sleeps)
        if self._slows and len(self.levels) == 1:
            raise InputError(
                "dispatcher powered: found states=lower, but no host computes in a slower power state, expected speeds "
                "of several (Batsim 4 does not tell them: say --platform)"
            )
        states = PowerStates.of(ledger).states
        if sleeps and states is not None:
            self._delay = states.longest_wake
        SharedPower.of(ledger).cap_power(int(self._most) - self._base)

    def measure(self, machine: Machine, *, sleeps: bool) -> None:
        """Work out what hosts burn.

        Raises:
            InputError: as `begin`.
        """
        peak = sum(power.most for power in powers_of(machine))
        unit = peak / 100 if self._name.endswith("%") else 1.0
        # What is exact in mW stays so.
        values = [math.floor(min(round(value * unit * _MILLI, 6), _LARGEST)) for value in self._given.values]
        self._cap, self._most = Series(self._given.times, values), max(values)
        self._at_rest = [_milliwatts(_rest(power)) for power in powers_of(machine)]
        base = sum(self._at_rest)
        low = min(self._cap.values)
        if low < base:
            at = self._cap.times[self._cap.values.index(low)]
            raise InputError(
                f"found {low / _MILLI:g} W, expected at least the {base / _MILLI:g} W that all hosts burn at rest, "
                "idle or asleep",
                source=f"dispatcher powered, option cap={self._name}",
                place=f"from {at:g} s on" if len(values) > 1 else "",
            )
        self._base = base
        compute = hostset.ids(machine.compute)
        self.levels = levels_of(machine)[: None if self._slows else 1]
        self._per_unit = [
            max(_unit_power(machine, host, each.states[host]) for host in compute) for each in self.levels
        ]
        self._least_rest = min(self._at_rest[host] for host in compute)
        self._beyond = [
            _beyond_rest(power, rest) for power, rest in zip(powers_of(machine), self._at_rest, strict=True)
        ]
        self._switching = max(self._beyond[host] for host in compute) if sleeps else 0
        self._delay = 0.0
        added = 0 if self._field else max(min(self._per_unit), self._switching)
        if self._most < base + added:
            raise InputError(
                f"found {self._most / _MILLI:g} W, expected at least {(base + added) / _MILLI:g} W: all hosts burn "
                f"{base / _MILLI:g} W at rest, and a job adds {added / _MILLI:g} W or more",
                source=f"dispatcher powered, option cap={self._name}",
            )

    # ------------------------------------------------------------------ jobs

    def added(self, job: Job) -> int:
        """Return what a job counts with.

        Raises:
            InputError: the field that is to say it is no number of watts.
        """
        if not self._field:
            return job.request.units * self._per_unit[self.level_of(job)]
        watts = job.extra.get(self._field)
        if isinstance(watts, bool) or not isinstance(watts, int | float) or not 0 <= watts < math.inf:
            raise InputError(
                f"found {watts!r}, expected the watts of its hosts in all", place=f"job {job.id}, field {self._field!r}"
            )
        # On shared nodes it may be alone on none of them: what others leave idle is counted at rest already.
        return max(_milliwatts(watts) - (job.request.units * self._least_rest if not job.request.per_unit else 0), 0)

    def level_of(self, job: Job) -> int:
        """Return at which level of speed a job runs that was started as it is."""
        level = job.extra.get(LEVEL, 0)
        return level if type(level) is int and 0 < level < len(self.levels) else 0

    def _slower(self, ledger: Ledger, job: Job) -> Iterator[Job]:
        """Yield a waiting job at each level of less power than its own that its queues allow, the fastest first."""
        own = least = self.level_of(job)
        longest, site = ledger.concerns.longest(job), ledger.machine.site
        longest = longest if site is None else min(longest, site.longest_there(job))
        for level in range(own + 1, len(self.levels)):
            if self._per_unit[level] < self._per_unit[least]:
                least, ratio = level, self.levels[level].ratio / self.levels[own].ratio
                walltime = job.walltime if job.walltime == math.inf else math.ceil(job.walltime * ratio * 1e3) / 1e3
                if walltime <= longest:
                    yield msgspec.structs.replace(job, walltime=walltime, extra={**job.extra, LEVEL: level})

    def why_never(self, job: Job, now: float) -> str:
        """Return why a job can never start under the cap from now on, or an empty text."""
        needed = self._base + self._needed(job)
        if self._cap.first_window(self._length(job), needed, now) < math.inf:
            return ""
        return f"needs {needed / _MILLI:g} W with all hosts at rest, for {job.walltime:g} s: the cap never leaves that"

    def possible(self, ledger: Ledger, job: Job) -> Job | None:
        """Return a waiting job at the fastest level at which it can ever start, or None."""
        levels = chain((job,), self._slower(ledger, job))
        return next((each for each in levels if not self.why_never(each, ledger.now)), None)

    def fitting(self, ledger: Ledger, job: Job) -> Job | None:
        """Return a waiting job that does not fit now at the fastest level at which it does, or None."""
        asking = (self.asking(each, ledger.now) for each in self._slower(ledger, job))
        return next((each for each in asking if ledger.fits(each)), None)

    def usual(self, ledger: Ledger, job: Job) -> Job:
        """Return a waiting job with the walltime that the simulator enforces, at a level at which that is enough."""
        fields = {name: value for name, value in job.extra.items() if name != LEVEL}
        usual = msgspec.structs.replace(job, walltime=ledger.roll.enforced(job), extra=fields)
        return self.asking(self.possible(ledger, usual) or usual, ledger.now)

    def why_waits(self, job: Job, now: float, running: Iterable[Job], ahead: Iterable[Job] = ()) -> Reason | None:
        """Return why the cap keeps a job from starting beside those that run; None: it does not.

        Args:
            job: the job.
            now: s.
            running: jobs that run.
            ahead: waiting jobs before it that it leaves hosts enough for.
        """
        cap, needed = int(self._cap.least(now, now + self._length(job))), self._needed(job)
        left = cap - self._base - sum(self.added(other) for other in running)
        if needed > left:
            return Reason(
                "the cap on power left too little",
                f"it adds {_watts(needed)}, and {_watts(max(left, 0))} were left of {_watts(cap)}",
            )
        for other in ahead:
            if needed + self._needed(other) > left:
                return Reason(
                    "the power was kept for a job before it",
                    f"it adds {_watts(needed)} of the {_watts(left)} that were left, and job {other.id}, before it, "
                    f"adds {_watts(self._needed(other))}",
                )
        return None

    def _needed(self, job: Job) -> int:
        """Return what a job counts with when it starts, if all its hosts have to wake up."""
        return self.added(job) + self._switch_power(job)

    def _switch_power(self, job: Job) -> int:
        return max(job.request.units * self._switching - self.added(job), 0)

    def _spare(self, job: Job) -> int:
        """Return how much more a job has taken than it burns when its hosts are awake."""
        return 0 if job.request.power is None else job.request.power[0] - self.added(job)

    def awake(self, job: Job) -> Request:
        """Return the request of a job with no more power than it burns on hosts that are awake."""
        return msgspec.structs.replace(job.request, power=(self.added(job), 0))

    def _length(self, job: Job) -> float:
        return job.walltime + self._delay + LATE

    def shown(self, ledger: Ledger, job: Job) -> Job:
        """Return a waiting job as it asks for power now."""
        now, until = ledger.now, ledger.now + self._length(job)
        change = min(self._cap.next_change(now), self._cap.next_change(until) - self._length(job))
        if change < math.inf:
            heapq.heappush(self._changes, (change, job.id))
        asked = self.asking(job, now)
        return job if asked is job else ledger.amend(job, request=asked.request)

    def asking(self, job: Job, now: float) -> Job:
        """Return a job that asks for the power that it needs if it starts now."""
        falls = int(self._most - self._cap.least(now, now + self._length(job)))
        power = self._needed(job), falls
        if power == job.request.power:
            return job
        return msgspec.structs.replace(job, request=msgspec.structs.replace(job.request, power=power))

    def refresh(self, ledger: Ledger, turn: Callable[[Job, Job | None], None]) -> None:
        """Show the waiting jobs anew whose demand has changed, and reject those that can never start by now.

        `turn(before, after)` is told of each.
        """
        due = list[str]()
        while self._changes and self._changes[0][0] <= ledger.now:
            due.append(heapq.heappop(self._changes)[1])
        for job_id in dict.fromkeys(due):
            before = ledger.queue.get(job_id)
            if before is None:
                continue
            possible = self.possible(ledger, before)
            if possible is None:
                turn(before, None)
                ledger.reject(before, self.why_never(before, ledger.now))
                continue
            after = self.shown(ledger, put(ledger, before, possible))
            if after is not before:
                turn(before, after)
                ledger.idle.change()

    def look_again(self, job: Job, now: float) -> None:
        """Look at a job at the next `refresh`, which may have been shown some time ago."""
        heapq.heappush(self._changes, (now, job.id))

    def next_change(self, now: float) -> float:
        """Return when the cap changes next, in s, or infinity."""
        return self._cap.next_change(now)

    # ------------------------------------------------------------------ hosts that switch

    def draw(self, ledger: Ledger) -> bool:
        """Draw what hosts that switch burn beyond the rest and their jobs; return whether that is less than before.

        A job takes what waking its hosts may burn. What it does not need of that is given back here: it is drawn less.
        """
        power, states, boots = SharedPower.of(ledger), PowerStates.of(ledger).states, PowerStates.of(ledger).boots
        if not (self._switching or power.lent or power.drawn) or states is None or boots is None:
            return False
        before, alone = power.drawn, states.falling | states.rising
        drawn = -sum(self._spare(stay.job) for stay in ledger.running.values())
        holds = Holds.of(ledger).holds.values()
        drawn -= sum(self._spare(hold.job) for hold in holds if hold.job.id not in ledger.running)
        for execute in boots.waiting.values():
            hosts = execute.allocation.mask & states.away
            alone &= ~hosts
            drawn += max(self._sum(hosts) - self.added(ledger.running[execute.job_id].job), 0)
        power.draw(drawn + self._sum(alone) - power.lent)
        return power.drawn < before

    def _sum(self, hosts: int) -> int:
        return sum(self._beyond[host] for host in hostset.ids(hosts))

    def _saved(self, states: HostStates, host: int) -> int:
        """Return how much less than at rest a sleeping host burns, in mW."""
        return max(self._at_rest[host] - _milliwatts(states.powers[host].watts(states.pstate(host), 0.0)), 0)

    def saved_by(self, ledger: Ledger, hosts: int) -> int:
        """Return how much less than at rest some sleeping hosts burn, in mW."""
        states = PowerStates.of(ledger).states
        assert states is not None, "hosts sleep"
        return sum(self._saved(states, host) for host in hostset.ids(hosts))

    def to_lend(self, ledger: Ledger, job: Job) -> int:
        """Return further sleeping hosts that save what a waiting job lacks, the highest first, as a mask; 0: none."""
        states, power = PowerStates.of(ledger).states, job.request.power
        if states is None or power is None:
            return 0
        lacking, hosts = sum(power) - self._free(ledger), 0
        for host in reversed(hostset.ids(states.asleep & ledger.machine.compute & ~ledger.unavailable)):
            if lacking <= 0:
                break
            hosts |= 1 << host
            lacking -= self._saved(states, host)
        return hosts if lacking <= 0 else 0

    def to_give_back(self, ledger: Ledger) -> int:
        """Return which hosts need not lend any more until all running jobs end, the lowest first, as a mask."""
        if not self.lent:
            return 0
        states = PowerStates.of(ledger).states
        assert states is not None, "hosts sleep"
        ends = (stay.start + self._length(stay.job) for stay in ledger.running.values())
        left = self._left(ledger, max(ends, default=ledger.now))
        return _within(left, hostset.ids(self.lent), partial(self._saved, states))

    def affordable(self, ledger: Ledger, hosts: int) -> int:
        """Return those of some hosts that can switch now without exceeding the cap, the highest first, as masks."""
        left = self._left(ledger, ledger.now + self._delay + LATE)
        return _within(left, reversed(hostset.ids(hosts)), self._beyond.__getitem__)

    def _left(self, ledger: Ledger, until: float) -> int:
        """Return how much power is left from now on and until a time, in s, if nothing else starts or ends."""
        return self._free(ledger) - int(self._most - self._cap.least(ledger.now, until))

    def _free(self, ledger: Ledger) -> int:
        """Return how much power is free now, of the most that the cap ever leaves."""
        pools = dict(zip(ledger.space.pools, ledger.space.pooled(ledger.free).tolist(), strict=True))
        return int(pools[POWER])


def put(ledger: Ledger, job: Job, other: Job) -> Job:
    """Put a waiting job at another level, or asking for other power, in the place of one, and return it."""
    if other is job:
        return job
    return ledger.amend(job, walltime=other.walltime, request=other.request, extra=other.extra)


def _within(left: int, hosts: Iterable[int], amount: Callable[[int], int]) -> int:
    """Return the first of some hosts, as a mask, whose amounts are together no more than what is left."""
    found = 0
    for host in hosts:
        left -= amount(host)
        if left < 0:
            break
        found |= 1 << host
    return found


def _watts(power: int) -> str:
    return f"{power / _MILLI:g} W"


def _milliwatts(watts: float) -> int:
    # What is exact in mW stays so.
    return math.ceil(min(round(watts * _MILLI, 6), _LARGEST))


def _rest(power: HostPower) -> float:
    """Return the most that a host burns without a job and without switching, in watts."""
    return max(power.watts(state, 0.0) for state in (power.usual, power.start, *power.sleeps))


def _beyond_rest(power: HostPower, rest: int) -> int:
    """Return how much more than at rest, in mW, a host burns at most while it falls asleep or wakes up."""
    ways = [power.switch_watts(virtual) for virtual in power.virtual]
    return max(_milliwatts(max(ways, default=0.0)) - rest, 0)


def _unit_power(machine: Machine, host: int, state: int) -> int:
    """Return how much more than at rest a host burns at most with one unit of a job, in a power state."""
    power = powers_of(machine)[host]
    share = 1.0 if machine.exclusive else 1.0 / power.cores
    most = max(power.watts(state, share), power.watts(state, 0.0))
    return max(_milliwatts(most) - _milliwatts(_rest(power)), 0)


class Level(NamedTuple):
    """A power state to compute in for each host."""

    #: By host.
    states: tuple[int, ...]
    #: How many times as long as at the usual speed a job takes at most, at least 1.
    ratio: float


def levels_of(machine: Machine) -> list[Level]:
    """Return the levels of a machine, the usual one first, each slower than the one before.

    On level n each host is in its n-th state below the usual one or, where it has fewer, in its slowest.
    """
    slower = [power.slower for power in powers_of(machine)]
    compute = hostset.ids(machine.compute)
    found = []
    for level in range(max(len(slower[host]) for host in compute)):
        states = tuple(each[min(level, len(each) - 1)] for each in slower)
        found.append(Level(states, max(_ratio(machine, host, states[host]) for host in compute)))
    return found


def _ratio(machine: Machine, host: int, state: int) -> float:
    power = powers_of(machine)[host]
    return 1.0 if state == power.usual else power.states[power.usual].speed / power.states[state].speed
