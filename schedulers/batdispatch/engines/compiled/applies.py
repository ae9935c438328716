"""Whether a simulation may be compiled, and if not, why, in words."""

from __future__ import annotations

import math
from importlib.util import find_spec

from batdispatch.core.dispatcher import Dispatcher
from batdispatch.core.machine import Machine
from batdispatch.core.request import Request
from batdispatch.dispatchers.backfilling.conservative import Conservative
from batdispatch.dispatchers.backfilling.easy import Easy
from batdispatch.dispatchers.backfilling.fcfs import Fcfs
from batdispatch.dispatchers.backfilling.filler import Filler
from batdispatch.dispatchers.backfilling.queue import QueueDispatcher
from batdispatch.inputs.workloads import Workload
from batdispatch.parts.ordering import Ordering
from batdispatch.parts.placement.first_fit import FirstFit

#: Dispatchers that have a kernel.
DISPATCHERS: tuple[type[QueueDispatcher], ...] = (Fcfs, Filler, Easy, Conservative)
#: Seconds that no simulation may last: up to here all numbers of the output files fit 64 bits.
LONGEST = 2.0**43


def why_not(dispatcher: Dispatcher, machine: Machine, workload: Workload) -> str | None:
    """Return why a simulation cannot be compiled, as a sentence without its full stop, or None."""
    return (
        _of_dispatcher(dispatcher)
        or _of_machine(machine)
        or _of_workload(workload)
        or _of_plan(dispatcher, workload)
        or _of_numba()
    )


def _of_dispatcher(dispatcher: Dispatcher) -> str | None:
    # A class that is derived from one of them may decide otherwise.
    if not isinstance(dispatcher, DISPATCHERS) or type(dispatcher) not in DISPATCHERS:
        names = ", ".join(sorted(kind.__name__.lower() for kind in DISPATCHERS))
        return f"dispatcher {type(dispatcher.innermost()).__name__} has no kernel, these have: {names}"
    options = dispatcher.options
    ordering = type(dispatcher.ordering)
    if ordering.dynamic:
        return f"ordering {options.ordering} changes while jobs wait"
    if not ordering.__module__.startswith(Ordering.__module__.rpartition(".")[0] + "."):
        return f"ordering {options.ordering} is not one of this package"
    if type(dispatcher.placement) is not FirstFit:
        return f"placement {options.placement} has no kernel, first-fit has"
    if not dispatcher.predictions.exact_requests:
        return f"prediction {options.prediction} has no kernel, requested has"
    return None


def _of_machine(machine: Machine) -> str | None:
    if not machine.exclusive:
        return "the hosts of the platform state capacities, kernels count whole hosts"
    if machine.licences:
        return "the platform has licences, kernels count whole hosts"
    return None


def _of_workload(workload: Workload) -> str | None:
    for name, profile in workload.profiles.items():
        if profile["type"] != "delay":
            return f"profile {name!r} is of type {profile['type']!r}, kernels know delays only"
    plain = {id(job.request): job.request for job in workload.jobs}
    if any(request != Request(units=request.units) for request in plain.values()) or any(
        job.parent for job in workload.jobs
    ):
        job = next(job for job in workload.jobs if job.parent or job.request != Request(units=job.units))
        return f"job {job.id!r} asks for more than a number of whole hosts"
    longest = max((float(profile["delay"]) for profile in workload.profiles.values()), default=0.0)
    last = workload.jobs[-1].submission if workload.jobs else 0.0
    # As if all jobs ran one after the other.
    if not last + longest * len(workload.jobs) < LONGEST:
        return f"times may add up to more than {LONGEST:.0f} s"
    limit = max((job.walltime for job in workload.jobs if job.walltime < math.inf), default=0.0)
    if not limit < LONGEST:
        return f"a walltime is longer than {LONGEST:.0f} s"
    return None


def _of_plan(dispatcher: Dispatcher, workload: Workload) -> str | None:
    if not isinstance(dispatcher, Conservative) or dispatcher.options.default_walltime == math.inf:
        return None
    job = next((job for job in workload.jobs if job.walltime == math.inf), None)
    if job is not None:
        return f"job {job.id!r} has no walltime: it may outlive default_walltime, and then conservative plans anew"
    return None


def _of_numba() -> str | None:
    if find_spec("numba") is None:
        return "Numba is not installed (pip install 'batdispatch[compiled]')"
    return None
