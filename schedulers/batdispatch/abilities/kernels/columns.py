"""The jobs of a workload as arrays."""

from __future__ import annotations

import math
from typing import cast

import msgspec
import numpy as np
from numpy.typing import NDArray

from batdispatch.abilities.kernels.queue_order import COLUMN, MULTIFACTOR, column_of, formula_of, orderings_of
from batdispatch.abilities.kernels.state import Floats, Jobs, Key
from batdispatch.core.hosts import hostset
from batdispatch.core.jobs.job import Stay
from batdispatch.core.line.ledger import Ledger
from batdispatch.core.machine.machine import Machine
from batdispatch.dispatchers.backfilling.conservative import Conservative
from batdispatch.dispatchers.backfilling.queue import PlanningQueue, QueueDispatcher
from batdispatch.inputs.workloads.columns import JobColumns, on_clock
from batdispatch.parts.ordering import Ordering
from batdispatch.parts.ordering.aging import AgedArea
from batdispatch.parts.ordering.arrival import Fcfs
from batdispatch.parts.ordering.priority import Basic

#: The class of `slurm-backfill`. It is not imported: its ability may be missing, and then nothing has this class.
SLURM = "batdispatch.abilities.sites.slurm.backfill.SlurmBackfill"


def jobs_of(jobs: JobColumns, dispatcher: QueueDispatcher) -> Jobs:
    """Return the jobs as the dispatcher would hear of them, and as it would put them in order and plan them."""
    walltime, submission = on_clock(jobs.walltime), on_clock(jobs.submission)
    expected = np.where(np.isinf(walltime), dispatcher.options.default_walltime, walltime)
    told = msgspec.structs.replace(jobs, submission=submission, walltime=walltime)
    ordering, *ahead = orderings_of(dispatcher)
    is_fixed = not dispatcher.ordering.dynamic
    # A kernel that corrects what it expects has orders by key alone.
    is_placed = is_fixed and not ahead and not has_foresight(dispatcher)
    order = np.arange(len(jobs))
    if is_fixed and type(ordering) not in (Fcfs, Basic):
        order = np.argsort(_keys(told, ordering, expected), kind="stable")
    place = np.empty(len(jobs), dtype=np.int64)
    place[order] = np.arange(len(jobs))
    # That of slurm-backfill looks for its order at each run of a loop, if only among places; so do those on nodes.
    by_key = is_slurm(dispatcher) or jobs.told is not None
    key = Key(COLUMN, place.astype(float)) if by_key else None
    return Jobs(
        submission=submission,
        units=jobs.units,
        delay=jobs.runtime,
        walltime=walltime,
        expected=expected,
        booked=expected + dispatcher.lateness.delay if isinstance(dispatcher, PlanningQueue) else expected,
        place=place,
        of_place=order,
        said=told,
        key=key if is_placed else _key(told, ordering, expected),
        ahead=_key(told, ahead[0], expected) if ahead else None,
    )


def is_slurm(dispatcher: object) -> bool:
    """Return whether a dispatcher is `slurm-backfill` itself; a class that derives from it may decide otherwise."""
    return path_of(type(dispatcher)) == SLURM


def path_of(kind: type) -> str:
    """Return a class's module and name, by which it is known without being imported."""
    return f"{kind.__module__}.{kind.__qualname__}"


def has_foresight(dispatcher: QueueDispatcher) -> bool:
    """Return whether jobs may outlive what a dispatcher that plans expects of them."""
    plans = isinstance(dispatcher, PlanningQueue) and not isinstance(dispatcher, Conservative)
    return plans and not dispatcher.predictions.sure


def runs_of(machine: Machine) -> NDArray[np.int64]:
    """Return first and last host of each run of hosts that run jobs: int64 [run, 2]."""
    return np.array(list(hostset.runs(machine.compute)), dtype=np.int64).reshape(-1, 2)


class Glimpse:
    """Of a ledger, what predictions and orderings that do not change over time ask for.

    Attributes:
        now: simulated time, s.
        running: running jobs by id, in order of their start.
        profiles: of each workload, by name.
        rank_now: place of the job in question in the order of arrival.
    """

    def __init__(self, profiles: dict[str, dict[str, object]] | None = None) -> None:
        self.now = 0.0
        self.running: dict[str, Stay] = {}
        self.profiles = {"w0": profiles or {}}
        self.rank_now = 0

    def rank(self, job: object) -> int:
        return self.rank_now


def _key(jobs: JobColumns, ordering: Ordering, expected: Floats) -> Key:
    """Return how the keys of an ordering are made."""
    formula = formula_of(ordering)
    if formula == COLUMN:
        return Key(formula, _keys(jobs, ordering, expected))
    if formula == MULTIFACTOR:
        return Key(formula, np.empty(0))
    column = column_of(ordering, jobs.units, expected)
    if not isinstance(ordering, AgedArea):
        return Key(formula, column)
    return Key(formula, column, ordering.options.head_start, ordering.options.power)


def _keys(jobs: JobColumns, ordering: Ordering, expected: Floats) -> Floats:
    """Return the keys of an ordering that does not change over time."""
    glimpse = Glimpse()
    ordering.begin(cast(Ledger, glimpse))
    keys = np.empty(len(jobs))
    for rank, seconds in enumerate(expected.tolist()):
        glimpse.rank_now = rank
        keys[rank] = ordering.key(jobs.job(rank), math.nan, seconds)
    return keys
