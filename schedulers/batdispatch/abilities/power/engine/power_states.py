"""Power states in a simulation: hosts that are set to them, sleep and wake up, and what all of it burns.

Times and rows follow Batsim 4.2.1. Between two power states to compute in, a host changes at once. To sleep or to wake
up it computes one flop on one core in a virtual power state, and then sends a message. The request is answered when
all its hosts have done so.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from batdispatch.abilities.power.engine.energy import EVERY_HOST, Meter, OwnMeter, TimerMeter, index_of
from batdispatch.abilities.power.engine.energy_files import EnergyFiles
from batdispatch.abilities.power.engine.flops_timer import FlopsTimer
from batdispatch.abilities.power.machine.host_states import AlikeHosts, HostStates
from batdispatch.core.hosts.allocation import Allocation
from batdispatch.core.line import decisions as d
from batdispatch.core.line import events as e
from batdispatch.core.machine.machine import Machine
from batdispatch.engines.activities import Activity
from batdispatch.engines.choices import CountEnergy
from batdispatch.engines.facet import EngineFacet, Surroundings
from batdispatch.engines.outputs import Outputs
from batdispatch.engines.records import Record
from batdispatch.engines.timing import Hosts, PlatformTimer

#: What Batsim writes when a power state is decided: to compute in, to sleep in, any other.
COMPUTE, SLEEP, _OTHER = -1, -2, -42
#: In the order in which masks are given.
STATES = ("sleeping", "switching_on", "switching_off")


class Request:
    """Hosts that were set to a power state together."""

    __slots__ = ("hosts", "left", "state", "switched")

    def __init__(self, hosts: Allocation, state: str, switched: bool | None) -> None:
        self.hosts, self.state, self.switched = hosts, state, switched
        #: Hosts that have not said that they are there.
        self.left = hosts.size


class Switch:
    """Hosts that are alike and switch together; the subject of their activity."""

    __slots__ = ("due", "group", "hosts", "index", "request")

    def __init__(self, group: AlikeHosts, hosts: Allocation, index: Hosts, request: Request) -> None:
        self.group, self.hosts, self.index, self.request = group, hosts, index, request
        self.due = math.inf


class StateTimes:
    """Sums over the hosts of the seconds in each state; a host's time in a state counts when it leaves the state."""

    def __init__(self, hosts: int) -> None:
        """Start at 0 s with none of so many hosts in any of them."""
        self._since = np.zeros(hosts)
        self._masks = (0,) * len(STATES)
        self.seconds = dict.fromkeys(STATES, 0.0)

    def change(self, now: float, *masks: int) -> None:
        """Note which hosts are in which of `STATES` from now on."""
        if masks == self._masks:
            return
        for name, old, new in zip(STATES, self._masks, masks, strict=True):
            left = old & ~new
            if left:
                since = self._since[index_of(Allocation(left))]
                self.seconds[name] += now * len(since) - float(np.add.reduce(since))
        for old, new in zip(self._masks, masks, strict=True):
            come = new & ~old
            if come:
                self._since[index_of(Allocation(come))] = now
        self._masks = masks


class Power(EngineFacet):
    """The hosts' power states in a simulation.

    Attributes:
        states: of the hosts.
        switching: number of hosts that switch, or whose word of it is on its way.
    """

    def __init__(
        self, machine: Machine, states: HostStates, meter: Meter, timer: PlatformTimer, files: EnergyFiles
    ) -> None:
        """Begin at 0 s.

        Args:
            machine: the hosts.
            states: theirs.
            meter: counts joules.
            timer: times what depends on the speed of a power state.
            files: where rows go.
        """
        self.states, self.switching = states, 0
        self._meter, self._timer, self._files = meter, timer, files
        #: Requests, and hosts in them.
        self.switches = [0, 0]
        self.times = StateTimes(len(machine.hosts))
        #: J at the first submission and at the last end.
        self.span: tuple[float, float] | None = None
        #: Watts that the hosts burn at the least when they compute.
        self._least = least_watts(states)
        files.begin([power.start for power in states.powers])

    def begin_simulation(self) -> None:
        """Let the timer know the power states in which hosts begin; SimGrid's plug-in takes all of them for 0 else."""
        for group in self.states.alike((1 << len(self.states.powers)) - 1):
            if group.pstate:
                self._timer.set_pstates(group, index_of(Allocation(group.hosts)), 0.0)

    # ------------------------------------------------------------------ jobs

    def submitted(self, now: float) -> None:
        """Note that a job was submitted."""
        if self.span is None:
            joules = self._meter.joules(EVERY_HOST, now)
            self.span = joules, joules

    def why_not_start(self, hosts: int) -> str | None:
        return self.states.why_not_computing(hosts) if hosts & self.states.away else None

    def begin(self, record: Record, now: float) -> None:
        """Write that a job starts."""
        assert record.allocation is not None
        self._row("s", now)
        record.joules = self._meter.burnt(index_of(record.allocation), now)

    def end(self, record: Record, now: float) -> float:
        """Write that a job ends, and return the joules of its hosts while it ran."""
        assert record.allocation is not None
        total = self._row("e", now)
        self.span = (0.0 if self.span is None else self.span[0]), total
        return self._meter.burnt(index_of(record.allocation), now) - record.joules

    def phase_ends(self, record: Record, now: float) -> None:
        """Look where Batsim looks when a delay of a job ends; whoever times an activity looks where that ends."""
        execution = record.execution
        if execution is not None and execution.activity is None:
            self._meter.look(np.array([record.first_host]), now)

    # ------------------------------------------------------------------ decisions

    def why_not_set(self, world: Surroundings, decision: d.SetResourceState) -> str | None:
        mask, states = decision.hosts.mask, self.states
        # As with starts: of hosts that went away, the peer cannot know before it is told.
        problem = states.refusal(mask, decision.state, world.hosts.busy, world.hosts.away)
        if problem is None and world.options.turns_hosts:
            problem = states.wrong_event(mask, int(decision.state), decision.switched is True)
        return problem

    def set_state(self, world: Surroundings, decision: d.SetResourceState) -> None:
        hosts = decision.hosts
        now, target = world.now, int(decision.state)
        self._row("p", now)
        request = Request(hosts, decision.state, decision.switched)
        if not self._is_one_row(world, request):
            power = self.states.powers[hosts.bounds[0]]
            kind = COMPUTE if target in power.computing else SLEEP if target in power.sleeps else _OTHER
            self._files.pstates(now, str(hosts), kind)
        self.switches[0] += 1
        self.switches[1] += hosts.size
        for group in self._alike(world, hosts):
            self._begin_switch(world, group, target, request)
        self._enter_states(world, hosts)
        if not self._is_one_row(world, request):
            world.note_states(())
        if not request.left:
            self._reached(world, request)

    def _begin_switch(self, world: Surroundings, group: AlikeHosts, target: int, request: Request) -> None:
        """Let hosts that are alike go to a power state, at once or through a virtual one."""
        now, timer = world.now, self._timer
        hosts = request.hosts if group.hosts == request.hosts.mask else Allocation(group.hosts)
        index = index_of(hosts)
        virtual = self.states.begin(group, target)
        if virtual is None:
            self._change(group, index, target, None, now)
            request.left -= hosts.size
            return
        passed = self._change(group, index, virtual, 0.0, now)
        self.switching += hosts.size
        switch = Switch(passed, hosts, index, request)
        if isinstance(timer, FlopsTimer):
            timer.switch(passed, index, switch, now)
        else:
            timer.start(Activity(tuple(hosts.ids), np.ones(hosts.size), None), switch, now)

    def _alike(self, world: Surroundings, hosts: Allocation) -> list[AlikeHosts]:
        """Return the hosts in groups that switch as one: each by itself if it sends word of it."""
        if world.mail is not None or not isinstance(self._timer, FlopsTimer):
            return [group for host in hosts.ids for group in self.states.alike(1 << host)]
        return self.states.alike(hosts.mask)

    def activity_ended(self, world: Surroundings, subject: Switch) -> None:
        """Let hosts be in their new power state, and say so."""
        switch = subject
        group, request = switch.group, switch.request
        self.states.end(group.hosts)
        self._change(group, switch.index, int(request.state), group.power.states[group.pstate].speed, world.now)
        self._enter_states(world, switch.hosts)
        world.post(switch.hosts.bounds[0], lambda: self._arrived(world, switch))

    def _arrived(self, world: Surroundings, switch: Switch) -> None:
        request = switch.request
        self.switching -= switch.hosts.size
        request.left -= switch.hosts.size
        if not request.left:
            world.note_states(())
            self._reached(world, request)

    def _reached(self, world: Surroundings, request: Request) -> None:
        now = world.now
        if not self._is_one_row(world, request):
            self._row("p", now)
        self._files.pstates(now, str(request.hosts), int(request.state))
        world.told.append(e.ResourceStateChanged(now, request.hosts, request.state, request.switched))

    @staticmethod
    def _is_one_row(world: Surroundings, request: Request) -> bool:
        """Return whether decision and arrival are one row: for a change among states to compute in of Batsim 5."""
        return world.options.turns_hosts and not request.switched

    def _change(self, group: AlikeHosts, hosts: Hosts, pstate: int, load: float | None, now: float) -> AlikeHosts:
        """Let hosts that are alike be in another power state, and return them so; for `load` see `Meter.change`."""
        kind, power, before, mask = group
        changed = AlikeHosts(kind, power, pstate, mask)
        self._meter.change(changed, hosts, now, load)
        self._timer.set_pstates(changed, hosts, now)
        # Batsim adds host by host, which the last digits tell.
        for _ in range(mask.bit_count()):
            self._least += power.states[pstate].epsilon - power.states[before].epsilon
        return changed

    def _enter_states(self, world: Surroundings, hosts: Allocation) -> None:
        self.times.change(world.now, self._slept, self.states.rising, self.states.falling)
        world.enter(hosts.bounds)

    def consumed(self, now: float) -> float:
        """Return the joules of all hosts since 0 s, after a look at them."""
        return self._meter.joules(EVERY_HOST, now)

    def probed(self, hosts: Allocation, aggregate: e.Aggregate, now: float) -> list[float]:
        """Return the joules of some hosts since 0 s, after a look at them: each one's, or one number for all."""
        each = [self._meter.joules(np.array([host]), now) for host in hosts.ids]
        if not aggregate:
            return each
        return [sum(each) if aggregate == "sum" else sum(each) / len(each)]

    # ------------------------------------------------------------------ accounts

    def _row(self, kind: str, now: float) -> float:
        joules = self._meter.joules(EVERY_HOST, now)
        self._files.energy(now, joules, kind, self._least)
        return joules

    @property
    def _slept(self) -> int:
        # Batsim takes a host for idle that sleeps from the beginning, until it is woken.
        return self.states.asleep & ~self.states.from_start

    @property
    def resting(self) -> int:
        """Mask of the hosts that sleep or switch, as Batsim counts them."""
        return self._slept | self.states.rising | self.states.falling

    def counts(self, idle: int, computing: int) -> tuple[int, ...]:
        """Return how many hosts sleep, switch on, switch off, idle and compute.

        Args:
            idle: how many do not compute and are there.
            computing: how many compute.
        """
        states = self.states
        resting = [mask.bit_count() for mask in (self._slept, states.rising, states.falling)]
        return (*resting, idle - sum(resting), computing)

    def totals(self, idle: float) -> dict[str, float]:
        """Return what schedule.csv says of it; `idle`: seconds that hosts neither computed nor were away."""
        first, last = (-1.0, -1.0) if self.span is None else self.span
        return totals_of(last - first, (self.switches[0], self.switches[1]), idle, self.times.seconds)


def least_watts(states: HostStates) -> float:
    """Return the watts that all hosts burn at the least when they compute, at 0 s."""
    return sum(power.states[power.start].epsilon for power in states.powers)


def totals_of(joules: float, switches: tuple[int, int], idle: float, spent: Mapping[str, float]) -> dict[str, float]:
    """Return what schedule.csv says of power states.

    Args:
        joules: of all hosts, from the first submission to the last end.
        switches: requests, and hosts in them.
        idle: seconds that hosts neither computed nor were away, summed over the hosts.
        spent: seconds in each of `STATES`.
    """
    return {
        "consumed_joules": joules,
        "nb_grouped_switches": switches[0],
        "nb_machine_switches": switches[1],
        "time_idle": idle - sum(spent.values()),
        **{f"time_{name}": seconds for name, seconds in spent.items()},
    }


def power_of(
    machine: Machine, count: CountEnergy, timer: PlatformTimer | None, outputs: Outputs
) -> tuple[Power, PlatformTimer]:
    """Return the power states of a machine at 0 s, and the timer of what depends on them.

    Args:
        machine: the hosts.
        count: how energy is counted.
        timer: SimGrid's, which counts as Batsim does; None: activities only compute, and are timed here.
        outputs: has the files.

    Raises:
        InputError: a host states no watts, or wrong ones.
    """
    states = HostStates(machine)
    meter: Meter
    if timer is None:
        meter = own = OwnMeter(states, exact=count == "exact")
        timer = FlopsTimer(states.powers, own)
    else:
        meter = TimerMeter(timer, len(machine.hosts))
    return Power(machine, states, meter, timer, EnergyFiles(outputs)), timer
