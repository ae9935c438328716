"""HPC job dispatchers as event-reactive schedulers for Batsim.

What an author of dispatchers and parts needs can be imported from here, and stays: a name that stands here is not
renamed or removed without a release that warns of it. The manual's page "For authors" describes each of them.
`batdispatch.testing` holds what the tests of a plug-in need.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from batdispatch.core.capacity.filling import fill
    from batdispatch.core.capacity.space import Space
    from batdispatch.core.errors import InputError
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
    from batdispatch.parts.ordering import Ordering
    from batdispatch.parts.placement import HostPlacement, Placement
    from batdispatch.parts.policy import Action, Policy, Situation
    from batdispatch.parts.prediction import Prediction
    from batdispatch.parts.requests import RequestSequence, SequenceOptions
    from batdispatch.parts.requests.laws import Law
    from batdispatch.report.notebook import load

__version__ = "0.1.0"

#: Name -> the module that holds it; a module stands for itself.
_HOMES = {
    "Action": "parts.policy",
    "Allocation": "core.hosts.allocation",
    "Dispatcher": "core.line.dispatcher",
    "Host": "core.machine.machine",
    "HostPlacement": "parts.placement",
    "InputError": "core.errors",
    "Job": "core.jobs.job",
    "JobState": "core.jobs.job",
    "Law": "parts.requests.laws",
    "Ledger": "core.line.ledger",
    "Machine": "core.machine.machine",
    "Options": "core.line.options",
    "Ordering": "parts.ordering",
    "Place": "core.hosts.allocation",
    "Placement": "parts.placement",
    "Policy": "parts.policy",
    "Prediction": "parts.prediction",
    "QueueDispatcher": "dispatchers.backfilling.queue",
    "QueueOptions": "dispatchers.backfilling.queue",
    "Request": "core.jobs.request",
    "RequestSequence": "parts.requests",
    "Reservation": "core.plans.reservations",
    "Reservations": "core.plans.reservations",
    "Scene": "core.line.scene",
    "SequenceOptions": "parts.requests",
    "Situation": "parts.policy",
    "Space": "core.capacity.space",
    "Stay": "core.jobs.job",
    "Timeline": "core.plans.timeline",
    "events": "core.line",
    "fill": "core.capacity.filling",
    "hostset": "core.hosts",
    "load": "report.notebook",
}

__all__ = [
    "Action",
    "Allocation",
    "Dispatcher",
    "Host",
    "HostPlacement",
    "InputError",
    "Job",
    "JobState",
    "Law",
    "Ledger",
    "Machine",
    "Options",
    "Ordering",
    "Place",
    "Placement",
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
    "Situation",
    "Space",
    "Stay",
    "Timeline",
    "__version__",
    "events",
    "fill",
    "hostset",
    "load",
]


#: Former name -> the present one, and the release that deprecated the former one. The next minor
#: release knows both.
_FORMER: dict[str, tuple[str, str]] = {}


def __getattr__(name: str) -> Any:
    # Imported when asked for: `batdispatch --help` and shell completion need none of it.
    if name in _FORMER:
        from batdispatch.core.deprecation import Deprecated

        present, since = _FORMER[name]
        Deprecated.after(since, f"{__name__}.{name}", f"{__name__}.{present}").warn()
        return __getattr__(present)
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = f"{__name__}.{_HOMES[name]}"
    if _HOMES[name] == "core":
        return import_module(f"{home}.{name}")
    return getattr(import_module(home), name)
