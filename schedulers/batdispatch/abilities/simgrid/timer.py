"""SimGrid as the timer of activities: one actor runs the engine's whole loop and waits for parallel tasks."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from batdispatch.abilities.simgrid.library import SimGrid, find_simgrid, how_to_install
from batdispatch.core.errors import InputError, SimulationError
from batdispatch.core.hosts import hostset
from batdispatch.engines.activities import Activity
from batdispatch.engines.mail import Delay
from batdispatch.engines.timing import Hosts, HostsInState
from batdispatch.inputs.platforms import Platform
from batdispatch.inputs.platforms.simgrid_form import readable

#: Seconds below which the engine's clock and SimGrid's are the same: where it counts microseconds, and with messages.
_TICK, _INSTANT = 1e-6, 5e-11
#: Flops or bytes below which an activity has no work, and above which it never ends. SimGrid divides speeds by these
#: numbers and adds them up; if that overflows, it waits for ever.
_NOTHING, _ENDLESS = 1e-250, 1e250

_started = False


def load_platform(path: Path, *, energy: bool) -> SimGrid:
    """Start SimGrid, and let it load a platform; it ends the process if it refuses the file.

    Raises:
        InputError: SimGrid is not installed, or is of a version that works differently.
    """
    library = find_simgrid()
    if library is None:
        raise InputError(f"SimGrid is not installed. To install it: {how_to_install()}")
    simgrid = SimGrid(library)
    with tempfile.TemporaryDirectory(prefix="batdispatch-") as folder:
        simgrid.begin(str(readable(path, Path(folder), simgrid.version)).encode(), energy=energy)
    return simgrid


class SimGridTimer:
    """Times activities with SimGrid's L07 model on the hosts and links of a platform file.

    SimGrid ends the process on what it finds wrong and cannot start twice in one, so use this in a process of its own
    (`batdispatch.runs.workers`).
    """

    sends = True

    def __init__(self, platform: Platform, *, energy: bool = False) -> None:
        """Start SimGrid and load the platform; `energy`: it counts joules.

        Raises:
            InputError: SimGrid is not installed, or has not the platform's hosts.
            SimulationError: this process has started SimGrid before.
        """
        global _started  # noqa: PLW0603 - the library's state is the process's.
        if _started:
            raise SimulationError("SimGrid can simulate once in a process: run each simulation in a process of its own")
        self._simgrid = load_platform(platform.path, energy=energy)
        self.version = self._simgrid.version
        _started = True
        self._hosts: list[int] = []
        for host in platform.hosts:
            found = self._simgrid.host(host.name)
            if found is None:
                raise InputError(f"SimGrid does not know host {host.name}", source=str(platform.path), place=host.place)
            self._hosts.append(found)
        self._master = None if platform.master is None else self._simgrid.host(platform.master)
        self.clock = 0.0
        self._tick = _TICK
        #: Task -> its handle and on whose behalf it runs, in the order of their starts.
        self._running: dict[int, tuple[int, Any]] = {}
        #: Handle -> task. Handles are never used twice, the addresses of tasks are.
        self._tasks: dict[int, int] = {}
        self._count = 0

    @property
    def running(self) -> int:
        """Number of activities that have started and not ended."""
        return len(self._running)

    def run(self, loop: Callable[[], None]) -> None:
        """Call `loop` as SimGrid's only actor and raise what it raised."""
        raised: list[BaseException] = []

        def guarded() -> None:
            # An exception must not pass through the library's frames.
            try:
                loop()
            except BaseException as problem:
                raised.append(problem)

        self._simgrid.run(self._hosts[0], guarded)
        if raised:
            raise raised[0]

    def delay(self, host: int | None, to: int | None = None) -> Delay:
        """Return how long a message between hosts (None: the platform's master host) takes; only in the loop."""
        assert self._master is not None, "a run with this clock is refused without a master host"
        ends = [self._master if each is None else self._hosts[each] for each in (host, to)]
        latency, bandwidth = self._simgrid.route(*ends)
        # Where there is no link on the way, there is no bandwidth.
        return Delay(latency, 1 / bandwidth if bandwidth > 0 else 0.0)

    def follow(self) -> None:
        """Follow the engine's clock closely, since that does not count microseconds."""
        self._tick = _INSTANT

    def start(self, activity: Activity, subject: Any, now: float) -> int:
        """Start an activity at `now` on behalf of `subject` and return its handle."""
        self._reach(now)
        flops = _amounts(activity.flops)
        traffic = None if activity.traffic is None else _amounts(activity.traffic)
        hosts = [self._hosts[host] for host in activity.hosts]
        task = self._simgrid.start(hosts, flops.ctypes.data, None if traffic is None else traffic.ctypes.data)
        self._count += 1
        self._running[task] = (self._count, subject)
        self._tasks[self._count] = task
        return self._count

    def _reach(self, now: float) -> None:
        if now - self.clock > self._tick:
            # Nothing ran, so SimGrid's clock stood still.
            self._simgrid.sleep(now - self.clock)
            self.clock = self._simgrid.clock()

    def set_pstates(self, group: HostsInState, hosts: Hosts, now: float) -> None:
        """Let hosts have the speed and the watts of another power state, the group's, from now on."""
        self._reach(now)
        for host in hostset.ids(group.hosts):
            self._simgrid.set_pstate(self._hosts[host], group.pstate)

    def joules(self, host: int, now: float) -> float:
        """Return what a host has burnt, as SimGrid charges it."""
        self._reach(now)
        return self._simgrid.joules(self._hosts[host])

    def cancel(self, handle: int) -> float:
        """Stop an activity and return how much of it was done, 0 to 1."""
        task = self._tasks.pop(handle, None)
        if task is None:
            return 1.0
        del self._running[task]
        done = 1.0 - self._simgrid.remaining(task)
        self._simgrid.cancel(task)
        return min(max(done, 0.0), 1.0)

    def advance(self, until: float) -> list[Any]:
        """Let time pass until something ends, at most until `until`; return the subjects of what ended."""
        simgrid, running = self._simgrid, self._running
        timeout = max(until - self.clock, 0.0) if until < math.inf else -1.0
        ended = []
        found = simgrid.first(list(running), timeout)
        if found is None:
            # What ends at the very moment of the time limit has ended too.
            found = simgrid.first(list(running), None)
        while found is not None:
            handle, subject = running.pop(found)
            del self._tasks[handle]
            ended.append(subject)
            found = simgrid.first(list(running), None)
        self.clock = simgrid.clock()
        return ended


def _amounts(of_activity: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return an activity's flops or bytes as SimGrid takes them."""
    amounts = np.ascontiguousarray(of_activity, dtype=np.float64)
    return np.where(amounts < _NOTHING, 0.0, np.minimum(amounts, _ENDLESS))
