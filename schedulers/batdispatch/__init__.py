"""HPC job dispatchers as event-reactive schedulers for Batsim.

What is public can be imported from here, and stays: a name that stands here is not renamed or removed without a release
that warns of it. `run`, `compare` and the like do what the commands of these names do (the manual's page "In Python");
the rest is for authors of dispatchers and parts (page "For authors"). `batdispatch.testing` holds what the tests of a
plug-in need.
"""

import sys
import warnings
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from batdispatch.abilities.campaigns.python import campaign, replicate
    from batdispatch.abilities.malleable.policy import Action, Policy, Situation
    from batdispatch.abilities.stochastic.requests import RequestSequence, SequenceOptions
    from batdispatch.abilities.stochastic.requests.laws import Law
    from batdispatch.abilities.verify.doors.python import check
    from batdispatch.abilities.whatif.whatif import whatif
    from batdispatch.api.calls import compare, run
    from batdispatch.api.looks import report
    from batdispatch.api.results import load
    from batdispatch.api.server import serve
    from batdispatch.core.capacity.filling import fill
    from batdispatch.core.capacity.space import Space
    from batdispatch.core.errors import BatdispatchError, ImpossibleDecision, InputError, SimulationError
    from batdispatch.core.hosts import hostset
    from batdispatch.core.hosts.allocation import Allocation, Place
    from batdispatch.core.jobs.job import Job, JobState, Stay
    from batdispatch.core.jobs.request import Request
    from batdispatch.core.line import events
    from batdispatch.core.line.dispatcher import Dispatcher
    from batdispatch.core.line.ledger import Ledger
    from batdispatch.core.line.options import Options
    from batdispatch.core.line.scene import Scene
    from batdispatch.core.machine.machine import Host, Machine
    from batdispatch.core.plans.reservations import Reservation, Reservations
    from batdispatch.core.plans.timeline import Timeline
    from batdispatch.dispatchers.backfilling.queue import QueueDispatcher, QueueOptions
    from batdispatch.inputs.platforms import Platform, read_platform
    from batdispatch.inputs.workloads import Workload, read_workload
    from batdispatch.parts.ordering import Ordering
    from batdispatch.parts.placement import HostPlacement, Placement
    from batdispatch.parts.prediction import Prediction
    from batdispatch.runs.listener import Listener

__version__ = "0.1.0"

#: Name -> the module that holds it; a module stands for itself. Abilities say where theirs are.
_HOMES = {
    "Allocation": "core.hosts.allocation",
    "BatdispatchError": "core.errors",
    "Dispatcher": "core.line.dispatcher",
    "Host": "core.machine.machine",
    "HostPlacement": "parts.placement",
    "ImpossibleDecision": "core.errors",
    "InputError": "core.errors",
    "Job": "core.jobs.job",
    "JobState": "core.jobs.job",
    "Ledger": "core.line.ledger",
    "Listener": "runs.listener",
    "Machine": "core.machine.machine",
    "Options": "core.line.options",
    "Ordering": "parts.ordering",
    "Place": "core.hosts.allocation",
    "Placement": "parts.placement",
    "Platform": "inputs.platforms",
    "Prediction": "parts.prediction",
    "QueueDispatcher": "dispatchers.backfilling.queue",
    "QueueOptions": "dispatchers.backfilling.queue",
    "Request": "core.jobs.request",
    "Reservation": "core.plans.reservations",
    "Reservations": "core.plans.reservations",
    "Scene": "core.line.scene",
    "SimulationError": "core.errors",
    "Space": "core.capacity.space",
    "Stay": "core.jobs.job",
    "Timeline": "core.plans.timeline",
    "Workload": "inputs.workloads",
    "compare": "api.calls",
    "events": "core.line.events",
    "fill": "core.capacity.filling",
    "hostset": "core.hosts.hostset",
    "load": "api.results",
    "read_platform": "inputs.platforms",
    "read_workload": "inputs.workloads",
    "report": "api.looks",
    "run": "api.calls",
    "serve": "api.server",
}

__all__ = [
    "Action",
    "Allocation",
    "BatdispatchError",
    "Dispatcher",
    "Host",
    "HostPlacement",
    "ImpossibleDecision",
    "InputError",
    "Job",
    "JobState",
    "Law",
    "Ledger",
    "Listener",
    "Machine",
    "Options",
    "Ordering",
    "Place",
    "Placement",
    "Platform",
    "Policy",
    "Prediction",
    "QueueDispatcher",
    "QueueOptions",
    "Request",
    "RequestSequence",
    "Reservation",
    "Reservations",
    "Scene",
    "SequenceOptions",
    "SimulationError",
    "Situation",
    "Space",
    "Stay",
    "Timeline",
    "Workload",
    "__version__",
    "campaign",
    "check",
    "compare",
    "events",
    "fill",
    "hostset",
    "load",
    "read_platform",
    "read_workload",
    "replicate",
    "report",
    "run",
    "serve",
    "whatif",
]


#: Former name -> the present one, and the release that deprecated the former one. The next minor
#: release knows both.
_FORMER: dict[str, tuple[str, str]] = {}


def __getattr__(name: str) -> Any:
    # Imported when asked for: `batdispatch --help` and shell completion need none of it.
    if name in _FORMER:
        present, since = _FORMER[name]
        major, minor, _ = since.split(".")
        until = f"deprecated since {since} and may be gone in {major}.{int(minor) + 2}.0"
        warnings.warn(f"{__name__}.{name} is {until}: use {__name__}.{present}", DeprecationWarning, stacklevel=2)
        return __getattr__(present)
    if name in _HOMES:
        home = import_module(f"{__name__}.{_HOMES[name]}")
        return getattr(home, name, home)
    if name in __all__:
        from batdispatch.core.abilities import own_abilities

        for ability in own_abilities():
            if name in ability.names:
                return getattr(import_module(ability.names[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    # Neither what this file needs itself nor rooms that happen to be imported.
    return __all__


class _Package(ModuleType):
    """This module, in which `report` is the function, even when the room of this name has been imported."""

    @property
    def report(self) -> Any:
        return __getattr__("report")

    @report.setter
    def report(self, room: ModuleType) -> None:
        # Python enters a room here once it is imported. Whoever imports from that room does not look here for it.
        pass


sys.modules[__name__].__class__ = _Package
