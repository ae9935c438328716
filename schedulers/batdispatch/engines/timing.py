"""The seam between the engine and what knows how long activities take on the platform."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from batdispatch.engines.activities import Activity
from batdispatch.engines.mail import Delay

#: Host ids, int64 [any], or all of them as a slice.
Hosts = NDArray[np.int64] | slice


class HostsInState(Protocol):
    """Hosts that are alike, and in the same power state."""

    @property
    def hosts(self) -> int:
        """Mask of the hosts."""

    @property
    def pstate(self) -> int:
        """Number of the state."""

    @property
    def power(self) -> Any:
        """What their states are, for the ability that sets them."""


class PlatformTimer(Protocol):
    """Times activities that compete for hosts and links. Simulated time passes only in `start` and `advance`."""

    #: Simulated time in seconds, to the timer's own precision.
    clock: float
    #: What times, and its version, for the record.
    version: str
    #: Whether it times what hosts send to each other.
    sends: bool

    @property
    def running(self) -> int:
        """Number of activities that have started and not ended."""

    def run(self, loop: Callable[[], None]) -> None:
        """Call `loop` where activities can be started; what it raises is raised here."""

    def delay(self, host: int | None, to: int | None = None) -> Delay:
        """Return how long a message from one host to another one takes; None: the master host."""

    def follow(self) -> None:
        """Follow a clock that does not count microseconds."""

    def start(self, activity: Activity, subject: Any, now: float) -> int:
        """Start an activity at `now` on behalf of `subject` and return its handle."""

    def cancel(self, handle: int) -> float:
        """Stop an activity and return how much of it was done, 0 to 1. One that has ended is 1."""

    def advance(self, until: float) -> list[Any]:
        """Let time pass until something ends, at most until `until`; return the subjects of what ended."""

    def set_pstates(self, group: HostsInState, hosts: Hosts, now: float) -> None:
        """Let hosts that are alike have the speed of another power state, the group's, from now on."""

    def joules(self, host: int, now: float) -> float:
        """Return what a host has burnt since 0 s, in joules."""
