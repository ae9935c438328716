"""Whether a simulation may be compiled, and if not, why, in words."""

from __future__ import annotations

import numpy as np

from batdispatch.core.line.dispatcher import GROUP, Dispatcher
from batdispatch.core.line.registry import name_of
from batdispatch.core.machine.machine import WEIGHT_PROPERTY, Machine
from batdispatch.dispatchers.backfilling.conservative import Conservative
from batdispatch.dispatchers.backfilling.easy import Easy
from batdispatch.dispatchers.backfilling.fcfs import Fcfs
from batdispatch.dispatchers.backfilling.filler import Filler
from batdispatch.dispatchers.backfilling.queue import PlanningQueue, QueueDispatcher
from batdispatch.dispatchers.slurm.backfill import SlurmBackfill
from batdispatch.engines.compiled import sleepers
from batdispatch.engines.compiled.columns import has_foresight
from batdispatch.engines.compiled.queue_order import NO_KEY, asks_when_shared, formula_of, orderings_of
from batdispatch.engines.compiled.sleepers import inside
from batdispatch.engines.compiled.slurm import FINITE
from batdispatch.inputs.workloads.columns import JobColumns
from batdispatch.layers.power_saving import PowerSaving
from batdispatch.native import library
from batdispatch.parts.ordering.guard import Guard
from batdispatch.parts.placement.consecutive import Consecutive
from batdispatch.parts.placement.first_fit import FirstFit
from batdispatch.parts.prediction.last_two import LastTwo, LastTwoAsPublishedCode
from batdispatch.parts.prediction.online import OnlineRegression
from batdispatch.parts.prediction.oracle import Oracle
from batdispatch.parts.prediction.requested import Requested

#: Dispatchers that have a kernel.
DISPATCHERS: tuple[type[QueueDispatcher], ...] = (Fcfs, Filler, Easy, Conservative, SlurmBackfill)
#: Predictions that need no more than a kernel knows.
PREDICTIONS = (Requested, LastTwo, LastTwoAsPublishedCode, OnlineRegression, Oracle)
#: Seconds that no simulation may last: up to here all numbers of the output files fit 64 bits.
LONGEST = 2.0**43


def why_never(dispatcher: Dispatcher, machine: Machine) -> str | None:
    """Return why no simulation by a dispatcher on a machine can be compiled, or None.

    A reason is a sentence without its full stop, here and below.
    """
    inner = inside(dispatcher)
    reason = _of_dispatcher(inner) or sleepers.why_never(dispatcher, machine)
    return reason or _of_machine(machine, inner) or library.why_missing()


def why_not(jobs: JobColumns) -> str | None:
    """Return why no kernel simulates these jobs, or None."""
    return _of_workload(jobs) or _of_requests(jobs)


def calls(dispatcher: Dispatcher, machine: Machine) -> bool:
    """Return whether a dispatcher that has a kernel may ask to be called, or is called for the sake of reservations."""
    inner = inside(dispatcher)
    return (
        isinstance(inner, SlurmBackfill)
        or _has_reservations(machine)
        or (isinstance(dispatcher, PowerSaving) and dispatcher.sleep is not None)
        or (isinstance(inner, QueueDispatcher) and has_foresight(inner))
    )


def _has_reservations(machine: Machine) -> bool:
    return machine.site is not None and bool(machine.site.windows)


def _of_dispatcher(dispatcher: Dispatcher) -> str | None:
    # A class that is derived from one of them may decide otherwise.
    if not isinstance(dispatcher, DISPATCHERS) or type(dispatcher) not in DISPATCHERS:
        names = ", ".join(sorted(map(_name, DISPATCHERS)))
        return f"dispatcher {name_of(GROUP, type(dispatcher))} has no kernel, these have: {names}"
    options = dispatcher.options
    placements = (FirstFit, Consecutive) if isinstance(dispatcher, SlurmBackfill) else (FirstFit,)
    if type(dispatcher.placement) not in placements:
        return f"placement {options.placement} has no kernel, first-fit has, and consecutive under slurm-backfill"
    return _of_prediction(dispatcher) or _of_orderings(dispatcher) or _of_seconds(dispatcher)


def _name(kind: type[QueueDispatcher]) -> str:
    return "slurm-backfill" if kind is SlurmBackfill else kind.__name__.lower()


def _of_seconds(dispatcher: QueueDispatcher) -> str | None:
    names = FINITE if isinstance(dispatcher, SlurmBackfill) else ()
    wrong = next((name for name in names if not getattr(dispatcher.options, name) < LONGEST), None)
    return f"{wrong} is longer than {LONGEST:.0f} s" if wrong else None


def _of_prediction(dispatcher: QueueDispatcher) -> str | None:
    options, prediction = dispatcher.options, dispatcher.predictions.prediction
    if type(prediction) not in PREDICTIONS:
        return f"prediction {options.prediction} has no kernel, requested, last-two, online-regression and oracle have"
    plans = isinstance(dispatcher, PlanningQueue) and not dispatcher.predictions.sure
    if plans and (type(dispatcher.ordering) is Guard or isinstance(dispatcher, Conservative)):
        return "guarded and conservative have kernels only with prediction=requested and without default_walltime"
    predicts = not dispatcher.predictions.exact_requests
    if predicts and not isinstance(dispatcher, Easy | SlurmBackfill):
        return f"prediction {options.prediction} has a kernel only under easy and slurm-backfill"
    if predicts and isinstance(dispatcher, SlurmBackfill) and dispatcher.ordering.dynamic:
        # There, a job's run time is predicted when a loop first looks for the order, and not when the job comes.
        return "slurm-backfill has a kernel with predictions only where its ordering does not change over time"
    return None


def _of_orderings(dispatcher: QueueDispatcher) -> str | None:
    ordering = dispatcher.ordering
    names = (dispatcher.options.ordering, getattr(dispatcher.options, "backfill", ""))
    for name, each in zip(names, orderings_of(dispatcher), strict=False):
        if formula_of(each) == NO_KEY:
            return f"ordering {name} has no kernel, multifactor and those by wait, walltime and units have"
    kind = _name(type(dispatcher))
    if (ordering.dynamic and kind == "conservative") or (type(ordering) is Guard and kind != "easy"):
        return f"ordering {dispatcher.options.ordering} changes while jobs wait, and the kernel of {kind} knows no such"
    return None


def _of_machine(machine: Machine, dispatcher: Dispatcher) -> str | None:
    if isinstance(dispatcher, SlurmBackfill) and dispatcher.options.preempt != "none":
        return "the kernel of slurm-backfill preempts no job"
    for name in ("loop_starts", "loop_part_jobs", "array_tasks"):
        if isinstance(dispatcher, SlurmBackfill) and getattr(dispatcher.options, name):
            return f"the kernel of slurm-backfill knows no {name}"
    if isinstance(dispatcher, SlurmBackfill) and dispatcher.options.notice:
        return "the kernel of slurm-backfill hears of everything at once, and notice is not 0"
    if not machine.plain:
        return _of_nodes(machine, dispatcher)
    if isinstance(dispatcher, SlurmBackfill) and any(WEIGHT_PROPERTY in host.properties for host in machine.hosts):
        return "hosts have weights, and kernels know none"
    return None


def _of_nodes(machine: Machine, dispatcher: Dispatcher) -> str | None:
    """Return why no kernel knows nodes that jobs share, hosts of partitions, reservations or licences, or None."""
    if _has_reservations(machine) and isinstance(dispatcher, Conservative):
        return "the kernel of conservative knows no reservations"
    if _has_reservations(machine) and isinstance(dispatcher, QueueDispatcher) and asks_when_shared(dispatcher):
        # Jobs come and go in the queue as reservations have it, and Python counts their users when it first asks.
        return "multifactor with fairshare and period has a kernel only where there are no reservations"
    if _has_reservations(machine) and isinstance(dispatcher, Easy) and type(dispatcher.ordering) is Guard:
        return f"ordering {dispatcher.options.ordering} has a kernel only where there are no reservations"
    if _has_reservations(machine) and isinstance(dispatcher, Easy) and not dispatcher.predictions.exact_requests:
        # In Python, a run time is predicted when reservations first leave a place to the job.
        return "easy has a kernel for reservations only with prediction=requested"
    if machine.exclusive and isinstance(dispatcher, Easy) and has_foresight(dispatcher):
        # There, in Python it depends on the jobs that have come whether hosts are counted.
        return "easy has a kernel for whole hosts of partitions only with prediction=requested and default_walltime=inf"
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
