"""Whether a simulation needs a timer: something in it takes as long as the platform's speeds and links have it."""

from __future__ import annotations

from typing import NamedTuple

from batdispatch.core.errors import InputError
from batdispatch.core.jobs.profiles import leaves
from batdispatch.engines.activities import PLATFORM_TYPES, only_computes
from batdispatch.engines.simulation import Setting
from batdispatch.inputs.workloads import Workload


class TimerNeed(NamedTuple):
    """What of a simulation needs a timer.

    Attributes:
        setting: what is simulated.
        profile: the first profile that does; None: an option does.
    """

    setting: Setting
    profile: str | None

    @property
    def subject(self) -> str:
        """What needs it, for a message."""
        if self.profile is not None:
            return f"profile {self.profile!r} of {self.setting.workload.path}"
        return "--clock batsim" if self.setting.clock == "batsim" else "--simgrid"

    def refusal(self, missing: str, whose: str) -> InputError:
        """Return the error of a simulation that lacks its timer.

        Args:
            missing: what is missing, a sentence without its full stop.
            whose: how platforms come in where a profile needs them, such as ``which SimGrid simulates``.
        """
        if self.profile is None:
            option = "simgrid always" if self.setting.simgrid == "always" else "clock batsim"
            return InputError(missing, source=f"option --{option}")
        workload = self.setting.workload
        kind = workload.profiles[self.profile]["type"]
        return InputError(
            f"type {kind!r}: its run time depends on the platform's speeds and links, {whose}, and {missing}",
            source=str(workload.path),
            place=f"profile {self.profile!r}",
        )


def timer_need(setting: Setting) -> TimerNeed | None:
    """Return what needs a timer, messages of hosts among it, or None. Where energy is counted, speeds alone do not.

    Raises:
        InputError: messages are to be timed, and the platform has no host to which they go.
    """
    platform = setting.platform
    if setting.clock == "batsim" and platform.master is None:
        raise InputError(
            f"jobs tell of their end by messages to the host that carries Batsim, and {platform.path} has no such "
            "host; name it with --master-host",
            source="option --clock batsim",
        )
    profile = _platform_profile(setting.workload, links=setting.energy is not None)
    if profile is None and setting.simgrid == "auto" and setting.clock != "batsim":
        return None
    return TimerNeed(setting, profile)


def _platform_profile(workload: Workload, *, links: bool) -> str | None:
    """Return a profile that a job uses and whose run time depends on the platform, or None.

    Args:
        workload: the jobs.
        links: leave out what depends on speeds alone.
    """
    for used in dict.fromkeys(job.profile for job in workload.jobs):
        if workload.profiles[used]["type"] == "delay":
            continue
        for name, profile in leaves(used, workload.profiles):
            if profile["type"] in PLATFORM_TYPES and not (links and only_computes(profile)):
                return name
    return None
