"""Sleep rules: which of the hosts that have been idle for a while go to sleep."""

from batdispatch.abilities.power.sleep.base import GROUP, IdleHosts, SleepRule, make_sleep

__all__ = ["GROUP", "IdleHosts", "SleepRule", "make_sleep"]
