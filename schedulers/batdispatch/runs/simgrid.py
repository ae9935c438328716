"""When a simulation needs SimGrid, and whether it can have it."""

from __future__ import annotations

from batdispatch.core.errors import InputError
from batdispatch.core.jobs.profiles import leaves
from batdispatch.engines.activities import PLATFORM_TYPES
from batdispatch.engines.choices import Clock, UseSimGrid
from batdispatch.engines.simgrid_library import find_simgrid, how_to_install
from batdispatch.inputs.platforms import Platform
from batdispatch.inputs.workloads import Workload


def platform_profile(workload: Workload) -> str | None:
    """Return a profile that a job uses and whose run time depends on the platform, or None."""
    for used in dict.fromkeys(job.profile for job in workload.jobs):
        if workload.profiles[used]["type"] == "delay":
            continue
        for name, profile in leaves(used, workload.profiles):
            if profile["type"] in PLATFORM_TYPES:
                return name
    return None


def needs_simgrid(platform: Platform, workload: Workload, use: UseSimGrid, clock: Clock) -> bool:
    """Return whether a simulation uses SimGrid: for what depends on speeds and links, messages among them.

    Raises:
        InputError: it needs SimGrid, which is not installed, or a master host, which the platform does not have.
    """
    if clock == "batsim" and platform.master is None:
        raise InputError(
            f"jobs tell of their end by messages to the host that carries Batsim, and {platform.path} has no such "
            "host; name it with --master-host",
            source="option --clock batsim",
        )
    name = platform_profile(workload)
    if name is None and use == "auto" and clock != "batsim":
        return False
    if find_simgrid() is not None:
        return True
    install = f"SimGrid is not installed. To install it: {how_to_install()}"
    if name is None:
        raise InputError(install, source="option --simgrid always" if use == "always" else "option --clock batsim")
    raise InputError(
        f"type {workload.profiles[name]['type']!r}: its run time depends on the platform's speeds and links, which "
        f"SimGrid simulates, and {install}",
        source=str(workload.path),
        place=f"profile {name!r}",
    )
