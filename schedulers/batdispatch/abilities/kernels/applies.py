"""Whether a simulation may be compiled, and if not, why, in words: what the tables of `knowledge` lack."""

from __future__ import annotations

import numpy as np

from batdispatch.abilities.kernels import sleepers
from batdispatch.abilities.kernels.columns import has_foresight
from batdispatch.abilities.kernels.knowledge import Knowledge, knowledge_of, names
from batdispatch.abilities.kernels.library import why_missing
from batdispatch.abilities.kernels.queue_order import NO_KEY, asks_when_shared, formula_of, orderings_of
from batdispatch.abilities.kernels.sleepers import inside, power_layer
from batdispatch.core.line.dispatcher import GROUP, Dispatcher
from batdispatch.core.line.registry import name_of
from batdispatch.core.machine.machine import WEIGHT_PROPERTY, Machine
from batdispatch.dispatchers.backfilling.queue import PlanningQueue, QueueDispatcher
from batdispatch.inputs.workloads.columns import JobColumns
from batdispatch.parts.ordering.guard import Guard
from batdispatch.parts.prediction.last_two import LastTwo, LastTwoAsPublishedCode
from batdispatch.parts.prediction.online import OnlineRegression
from batdispatch.parts.prediction.oracle import Oracle
from batdispatch.parts.prediction.requested import Requested

#: Predictions that need no more than a kernel knows.
PREDICTIONS = (Requested, LastTwo, LastTwoAsPublishedCode, OnlineRegression, Oracle)
#: Seconds that no simulation may last: up to here all numbers of the output files fit 64 bits.
LONGEST = 2.0**43


def why_never(dispatcher: Dispatcher, machine: Machine) -> str | None:
    """Return why no simulation by a dispatcher on a machine can be compiled, or None.

    A reason is a sentence without its full stop, here and below.
    """
    inner = inside(dispatcher)
    knowledge = knowledge_of(inner)
    if knowledge is None or not isinstance(inner, QueueDispatcher):
        return f"dispatcher {name_of(GROUP, type(inner))} has no kernel, these have: {names()}"
    reason = _of_dispatcher(inner, knowledge) or sleepers.why_never(dispatcher, machine)
    return reason or _of_machine(machine, inner, knowledge) or why_missing()


def why_not(jobs: JobColumns) -> str | None:
    """Return why no kernel simulates these jobs, or None."""
    return _of_workload(jobs) or _of_requests(jobs)


def calls(dispatcher: Dispatcher, machine: Machine) -> bool:
    """Return whether a dispatcher that has a kernel may ask to be called, or is called for the sake of reservations."""
    inner = inside(dispatcher)
    knowledge = knowledge_of(inner)
    return (
        (knowledge is not None and knowledge.is_called)
        or _has_reservations(machine)
        or ((layer := power_layer(dispatcher)) is not None and layer.sleep is not None)
        or (isinstance(inner, QueueDispatcher) and has_foresight(inner))
    )


def _has_reservations(machine: Machine) -> bool:
    return machine.site is not None and bool(machine.site.windows)


def _of_dispatcher(dispatcher: QueueDispatcher, knowledge: Knowledge) -> str | None:
    if type(dispatcher.placement) not in knowledge.placements:
        placement = dispatcher.options.placement
        return f"placement {placement} has no kernel, first-fit has, and consecutive under slurm-backfill"
    reason = _of_prediction(dispatcher, knowledge) or _of_orderings(dispatcher, knowledge)
    return reason or _of_seconds(dispatcher, knowledge)


def _of_seconds(dispatcher: QueueDispatcher, knowledge: Knowledge) -> str | None:
    wrong = next((name for name in knowledge.finite if not getattr(dispatcher.options, name) < LONGEST), None)
    return f"{wrong} is longer than {LONGEST:.0f} s" if wrong else None


def _of_prediction(dispatcher: QueueDispatcher, knowledge: Knowledge) -> str | None:
    options, prediction = dispatcher.options, dispatcher.predictions.prediction
    if type(prediction) not in PREDICTIONS:
        return f"prediction {options.prediction} has no kernel, requested, last-two, online-regression and oracle have"
    foresight, plans = knowledge.foresight, isinstance(dispatcher, PlanningQueue) and not dispatcher.predictions.sure
    if plans and (type(dispatcher.ordering) is Guard or foresight is None):
        return "guarded and conservative have kernels only with prediction=requested and without default_walltime"
    if dispatcher.predictions.exact_requests:
        return None
    if foresight is None:
        return f"prediction {options.prediction} has a kernel only under easy and slurm-backfill"
    if dispatcher.ordering.dynamic and not foresight.changing_order:
        return f"{knowledge.name} has a kernel with predictions only where its ordering does not change over time"
    return None


def _of_orderings(dispatcher: QueueDispatcher, knowledge: Knowledge) -> str | None:
    ordering = dispatcher.ordering
    texts = (dispatcher.options.ordering, getattr(dispatcher.options, "backfill", ""))
    for text, each in zip(texts, orderings_of(dispatcher), strict=False):
        if formula_of(each) == NO_KEY:
            return f"ordering {text} has no kernel, multifactor and those by wait, walltime and units have"
    is_guarded = type(ordering) is Guard
    if (ordering.dynamic and not knowledge.changing_order) or (is_guarded and not knowledge.guarded):
        name = knowledge.name
        return f"ordering {dispatcher.options.ordering} changes while jobs wait, and the kernel of {name} knows no such"
    return None


def _of_machine(machine: Machine, dispatcher: QueueDispatcher, knowledge: Knowledge) -> str | None:
    for name, (value, reason) in knowledge.fixed.items():
        if getattr(dispatcher.options, name) != value:
            return reason
    if not machine.plain:
        return _of_nodes(machine, dispatcher, knowledge)
    if not knowledge.weights and any(WEIGHT_PROPERTY in host.properties for host in machine.hosts):
        return "hosts have weights, and kernels know none"
    return None


def _of_nodes(machine: Machine, dispatcher: QueueDispatcher, knowledge: Knowledge) -> str | None:
    """Return why no kernel knows nodes that jobs share, hosts of partitions, reservations or licences, or None."""
    name, foresight = knowledge.name, knowledge.foresight
    if _has_reservations(machine):
        if not knowledge.reservations:
            return f"the kernel of {name} knows no reservations"
        if asks_when_shared(dispatcher):
            # Jobs come and go in the queue as reservations have it, and Python counts their users when it first asks.
            return "multifactor with fairshare and period has a kernel only where there are no reservations"
        if type(dispatcher.ordering) is Guard:
            return f"ordering {dispatcher.options.ordering} has a kernel only where there are no reservations"
        if foresight is not None and not foresight.reservations and not dispatcher.predictions.exact_requests:
            return f"{name} has a kernel for reservations only with prediction=requested"
    if machine.exclusive and foresight is not None and not foresight.partitions and has_foresight(dispatcher):
        return (
            f"{name} has a kernel for whole hosts of partitions only with prediction=requested and default_walltime=inf"
        )
    return None


def _of_requests(jobs: JobColumns) -> str | None:
    """Return why jobs ask for what kernels do not know, or None."""
    for request in {job.request for job in jobs.told or ()}:
        for name in ("contiguous", "io_nodes", "dependencies", "sizes"):
            if getattr(request, name):
                return f"a job states {name}, and kernels know none"
    return None


def _of_workload(jobs: JobColumns) -> str | None:
    longest, last = jobs.runtime.max(initial=0.0), jobs.submission.max(initial=0.0)
    # As if all jobs ran one after the other.
    if not last + longest * len(jobs) < LONGEST:
        return f"times may add up to more than {LONGEST:.0f} s"
    limit = jobs.walltime.max(where=np.isfinite(jobs.walltime), initial=0.0)
    if not limit < LONGEST:
        return f"a walltime is longer than {LONGEST:.0f} s"
    return None
