"""What a simulation lacks that a dispatcher and a machine need: said at its first message, not when it is too late."""

from __future__ import annotations

from batdispatch.core.errors import InputError
from batdispatch.core.line.dispatcher import Dispatcher
from batdispatch.core.line.events import SimulationBegins
from batdispatch.core.machine.storages import uses_storage


def check_features(begins: SimulationBegins, dispatcher: Dispatcher) -> None:
    """Compare what a simulator allows with what the dispatcher says it does and what the machine is.

    What a simulator does not speak of (Batsim 5 always lets jobs share hosts) is not missed.

    Raises:
        InputError: names each option of Batsim that is missing or too much, with the reason.
    """
    changes = [
        f"{change} ({reason})" for key, change, reason in _wanted(begins, dispatcher) if begins.config.get(key) is False
    ]
    if changes:
        raise InputError(f"the simulation is not as this run needs it: start Batsim 4 {' and '.join(changes)}")


def _wanted(begins: SimulationBegins, dispatcher: Dispatcher) -> list[tuple[str, str, str]]:
    """Return (key of Batsim's configuration that must not be false, what to change, why)."""
    wanted = []
    machine = begins.machine
    if dispatcher.registers_jobs:
        wanted.append(("dynamic-jobs-enabled", "with --enable-dynamic-jobs", "the dispatcher registers jobs"))
    if dispatcher.reuses_profiles:
        reason = "the jobs that it registers use profiles of jobs that may have ended"
        wanted.append(("profile-reuse-enabled", "with --enable-profile-reuse", reason))
    if not machine.exclusive:
        reason = "the platform states what its hosts offer, so that jobs share hosts"
        wanted.append(("allow_compute_sharing", "with --enable-compute-sharing", reason))
    if machine.storage:
        for workload, profiles in sorted(begins.profiles.items()):
            name = uses_storage(profiles)
            if name is not None:
                reason = f"profile {workload}!{name} uses storage, which dispatchers let jobs share"
                wanted.append(("allow_storage_sharing", "without --disable-storage-sharing", reason))
                break
    return wanted
