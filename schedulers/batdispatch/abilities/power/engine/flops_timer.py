"""A timer of activities that only compute, for simulations with power states and without SimGrid.

It does what SimGrid's L07 model does where nothing is sent: the executors on a host share its speed evenly, each takes
one core at most, and what one of them cannot use the others get. A task does the same share of each of its
executors' work at any time.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from batdispatch.abilities.power.engine.energy import OwnMeter
from batdispatch.abilities.power.machine.host_states import AlikeHosts
from batdispatch.abilities.power.machine.power import HostPower
from batdispatch.core.errors import InputError
from batdispatch.core.hosts import hostset
from batdispatch.engines.activities import Activity
from batdispatch.engines.mail import EARLY, Delay
from batdispatch.engines.timing import Hosts, HostsInState

#: Share of a host's speed below which nothing is left of it.
_NOTHING = 1e-9


class _Task:
    """An activity in progress."""

    __slots__ = (
        "cores",
        "executors",
        "flops",
        "handle",
        "hosts",
        "left",
        "mask",
        "rate",
        "since",
        "subject",
        "version",
    )

    def __init__(self, activity: Activity, subject: Any, handle: int, now: float) -> None:
        hosts = np.array(activity.hosts, dtype=np.int64)
        busy = activity.flops > 0
        #: Host and flop of each executor that computes.
        self.executors: NDArray[np.int64] = hosts[busy]
        self.cores = activity.flops[busy]
        #: The same, each host once.
        self.hosts: NDArray[np.int64] = self.executors
        self.flops: NDArray[np.float64] = self.cores
        if len(set(activity.hosts)) < len(activity.hosts):
            self.hosts, at = np.unique(self.executors, return_inverse=True)
            self.flops = np.bincount(at, weights=self.cores, minlength=len(self.hosts)).astype(np.float64)
        self.mask = hostset.mask_of(self.hosts.tolist())
        self.subject, self.handle = subject, handle
        #: Share that is left at the time `since`, and shares done in a second from then on.
        self.left, self.rate, self.since = 1.0, 0.0, now
        #: Counts the changes of the rate.
        self.version = 0


class _Switching:
    """Hosts that compute one flop on one core each to get through a virtual power state; nothing else runs there."""

    __slots__ = ("group", "handle", "hosts", "subject", "version")

    #: Nobody shares its hosts.
    mask = 0

    def __init__(self, group: AlikeHosts, hosts: Hosts, subject: Any, handle: int) -> None:
        self.group, self.hosts, self.subject, self.handle = group, hosts, subject, handle
        self.version = 0

    @property
    def speed(self) -> float:
        """Flop/s of a core."""
        return self.group.power.states[self.group.pstate].speed


class FlopsTimer:
    """Times activities that only compute; see `engines.timing.PlatformTimer`."""

    #: SimGrid's; it is not used.
    version = ""
    sends = False

    def __init__(self, powers: Sequence[HostPower], meter: OwnMeter) -> None:
        """Begin at 0 s.

        Args:
            powers: of each host.
            meter: is told the load of each host.
        """
        self._meter = meter
        self._speed = np.array([power.states[power.start].speed for power in powers])
        self._size = np.array([power.cores for power in powers])
        #: Number of tasks on each host.
        self._tasks_on = np.zeros(len(powers), dtype=np.int64)
        self._tasks: dict[int, _Task | _Switching] = {}
        #: (end, handle, version of the task).
        self._ends: list[tuple[float, int, int]] = []
        self._count = 0
        self.clock = 0.0
        # What changed at this very moment: loads follow before time passes, as in SimGrid.
        self._left: list[Hosts] = []
        self._fresh: list[_Task | _Switching] = []
        self._shaken = 0

    @property
    def running(self) -> int:
        """Number of activities that have not ended, and of changes that no load follows yet."""
        return len(self._tasks) + len(self._left)

    def run(self, loop: Callable[[], None]) -> None:
        loop()

    def delay(self, host: int | None, to: int | None = None) -> Delay:
        raise InputError("how long messages take is only known to SimGrid", source="option --clock batsim")

    def follow(self) -> None:
        """It follows any clock."""

    def start(self, activity: Activity, subject: Any, now: float) -> int:
        assert activity.traffic is None, "what communicates is refused without SimGrid"
        self.clock = max(self.clock, now)
        self._count += 1
        task = self._tasks[self._count] = _Task(activity, subject, self._count, self.clock)
        if len(activity.hosts) == 1:
            self._meter.look(task.hosts, now)
        if self._tasks_on[task.hosts].any():
            self._shaken |= task.mask
        else:
            self._fresh.append(task)
        self._tasks_on[task.hosts] += 1
        return self._count

    def switch(self, group: AlikeHosts, hosts: Hosts, subject: Any, now: float) -> None:
        """Let hosts go through a virtual power state, which they have been set to, on behalf of `subject`."""
        self.clock = max(self.clock, now)
        self._count += 1
        switching = self._tasks[self._count] = _Switching(group, hosts, subject, self._count)
        self._fresh.append(switching)

    def set_pstates(self, group: HostsInState, hosts: Hosts, now: float) -> None:
        """Let hosts that are alike have the speed of another power state, the group's, from now on."""
        self.clock = max(self.clock, now)
        self._speed[hosts] = group.power.states[group.pstate].speed
        if np.count_nonzero(self._tasks_on[hosts]):
            self._shaken |= hostset.mask_of(host for host in hostset.ids(group.hosts) if self._tasks_on[host])

    def joules(self, host: int, now: float) -> float:
        return self._meter.joules(np.array([host]), now)

    def cancel(self, handle: int) -> float:
        task = self._tasks.get(handle)
        if task is None or isinstance(task, _Switching):
            return 1.0
        self._leave(task)
        return min(max(1.0 - task.left + task.rate * (self.clock - task.since), 0.0), 1.0)

    def _leave(self, task: _Task | _Switching) -> None:
        del self._tasks[task.handle]
        if isinstance(task, _Task):
            self._tasks_on[task.hosts] -= 1
            if self._tasks_on[task.hosts].any():
                self._shaken |= task.mask
        self._left.append(task.hosts)

    def advance(self, until: float) -> list[Any]:
        self._settle()
        ends = self._ends
        ended: list[_Task | _Switching] = []
        while ends and ends[0][0] <= (self.clock + EARLY if ended else until):
            end, handle, version = heapq.heappop(ends)
            task = self._tasks.get(handle)
            if task is None or task.version != version:
                continue
            if not ended:
                self.clock = max(self.clock, end)
            ended.append(task)
            task.version += 1
        if not ended:
            self.clock = until if until < math.inf else self.clock
        for task in ended:
            self._meter.look(task.hosts, self.clock)
            self._leave(task)
        return [task.subject for task in sorted(ended, key=lambda task: task.handle)]

    def _settle(self) -> None:
        """Let loads and rates follow what changed at this moment."""
        for hosts in self._left:
            self._meter.unload(hosts, self.clock)
        self._left.clear()
        for task in self._fresh:
            if isinstance(task, _Switching):
                task.version = 1
                heapq.heappush(self._ends, (self.clock + 1 / task.speed, task.handle, 1))
                self._meter.load_alike(task.group, task.hosts, task.speed, self.clock)
            elif task.handle in self._tasks:
                self._go(task, min(self._bound(task), self._alone(task)))
                self._meter.load(task.hosts, task.flops * task.rate, self.clock)
        self._fresh.clear()
        if self._shaken:
            self._share(self._neighbours())
            self._shaken = 0

    def _alone(self, task: _Task) -> float:
        hosts = task.hosts
        return float((self._speed[hosts] * self._size[hosts] / task.flops).min(initial=math.inf))

    def _bound(self, task: _Task) -> float:
        """Return the rate at which an executor has a core of its own."""
        return float((self._speed[task.executors] / task.cores).min(initial=math.inf))

    def _neighbours(self) -> list[_Task]:
        """Return the tasks whose rates may change: on hosts that changed, on hosts of such tasks, and so on."""
        found: dict[int, _Task] = {}
        grown = True
        while grown:
            tasks = (task for task in self._tasks.values() if isinstance(task, _Task))
            more = [task for task in tasks if task.mask & self._shaken and task.handle not in found]
            for task in more:
                found[task.handle] = task
                self._shaken |= task.mask
            grown = bool(more)
        return sorted(found.values(), key=lambda task: task.handle)

    def _share(self, tasks: list[_Task]) -> None:
        """Give each task its rate: it grows until a host is full, which executors share evenly, or to its bound."""
        hosts = np.array(hostset.ids(self._shaken), dtype=np.int64)
        room = dict(zip(hosts.tolist(), (self._speed[hosts] * self._size[hosts]).tolist(), strict=True))
        size = dict(room)
        rates = dict.fromkeys(tasks, 0.0)
        bounds = {task: self._bound(task) for task in tasks}
        needs = {task: dict(zip(task.hosts.tolist(), task.flops.tolist(), strict=True)) for task in tasks}
        executors = {task: [*zip(task.executors.tolist(), task.cores.tolist(), strict=True)] for task in tasks}
        growing = tasks
        while growing:
            count: dict[int, int] = {}
            for task in growing:
                for host, _ in executors[task]:
                    count[host] = count.get(host, 0) + 1
            steps = {
                task: min([room[h] / count[h] / f for h, f in executors[task]] + [bounds[task] - rates[task]])
                for task in growing
            }
            for task, step in steps.items():
                rates[task] += step
                for host, flops in needs[task].items():
                    room[host] -= flops * step
            full = {host for host in count if room[host] <= _NOTHING * size[host]}
            growing = [
                task for task in growing if rates[task] < bounds[task] * (1 - 1e-12) and not full & needs[task].keys()
            ]
        for task, rate in rates.items():
            self._go(task, rate)
        used = [sum(needs[task].get(host, 0.0) * rate for task, rate in rates.items()) for host in hosts.tolist()]
        self._meter.load(hosts, np.array(used), self.clock)

    def _go(self, task: _Task, rate: float) -> None:
        """Let a task go on at another rate."""
        now = self.clock
        if rate != task.rate or not task.version:
            task.left = max(task.left - task.rate * (now - task.since), 0.0) if now > task.since else task.left
            task.rate, task.since = rate, now
            task.version += 1
            end = now + task.left / rate if rate > 0 else math.inf
            heapq.heappush(self._ends, (end, task.handle, task.version))
