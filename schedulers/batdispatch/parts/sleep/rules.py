"""Sleep rules that look at the hosts and the queue."""

from __future__ import annotations

from batdispatch.parts.sleep.base import IdleHosts, SleepRule


class Idle(SleepRule):
    """Lets every host sleep that has been idle for long enough.

    Typical use: on machines with little load, or where hosts wake up quickly.
    """

    def choose(self, idle: IdleHosts) -> int:
        return idle.highest(idle.most)


class Quiet(SleepRule):
    """Lets idle hosts sleep only while no job waits.

    While jobs wait, idle hosts are those that a larger job is collecting: it would have to wake them.

    Typical use: on machines with high load, or where hosts take long to wake up.
    """

    def choose(self, idle: IdleHosts) -> int:
        return 0 if idle.ledger.queue else idle.highest(idle.most)
