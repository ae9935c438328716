"""What a kernel knows of Slurm's multifactor priority: what the structure of native/multifactor.h holds.

The header says what each field is. What is the same at all times, the ordering works out.
"""

from __future__ import annotations

import math

import numpy as np

from batdispatch.abilities.kernels.library import structure_of
from batdispatch.abilities.kernels.nodes import Demands
from batdispatch.abilities.kernels.queue_order import orderings_of
from batdispatch.abilities.kernels.state import Jobs
from batdispatch.core.errors import InputError
from batdispatch.core.line.events import SimulationBegins
from batdispatch.core.line.ledger import Ledger
from batdispatch.core.machine.machine import Machine
from batdispatch.dispatchers.backfilling.queue import QueueDispatcher
from batdispatch.engines.simulation import Refusal
from batdispatch.native.record import Record
from batdispatch.parts.ordering.fair_tree import Association
from batdispatch.parts.ordering.multifactor import Multifactor, nice_of


class Factors(Record):
    """Weights, what jobs gain by what they are, and who has used how much."""

    kinds, _fields_ = structure_of("multifactor.h", "Factors")


def with_factors(jobs: Jobs, dispatcher: QueueDispatcher, machine: Machine, demands: Demands | None) -> Jobs:
    """Return jobs whose keys have the factors of multifactor, before anything happens, where the keys are made by it.

    Args:
        jobs: the jobs.
        dispatcher: whose keys they are.
        machine: the hosts.
        demands: what the jobs ask for, if that is not a number of whole hosts, any ones.

    Raises:
        Refusal: a job's `nice` is wrong, which Python says once it looks at the job.
    """
    changed = {}
    for name, ordering in zip(("key", "ahead"), orderings_of(dispatcher), strict=False):
        if isinstance(ordering, Multifactor):
            changed[name] = getattr(jobs, name)._replace(factors=_factors_of(ordering, jobs, machine, demands))
    return jobs._replace(**changed)


def _factors_of(ordering: Multifactor, jobs: Jobs, machine: Machine, demands: Demands | None) -> Factors:
    options, count = ordering.options, len(jobs.units)
    ordering.begin(Ledger(SimulationBegins(0.0, machine)))
    factors = Factors(half_life=options.half_life or math.inf, moment=-1.0, axis=ordering.axis)
    for name in ("age", "max_age", "fairshare", "period", "fair_tree"):
        setattr(factors, name, getattr(options, name))
    factors.hold_zeros(count, "running_job", "cores")
    try:
        owners = _tell_of_jobs(factors, ordering, jobs, {} if demands is None else demands.never)
    except InputError as problem:
        raise Refusal(str(problem)) from None
    accounts: dict[str, int] = {}
    account = [accounts.setdefault(name, len(accounts)) for name, _ in owners]
    factors.owners, factors.accounts = len(owners), len(accounts)
    factors.hold(account=np.array(account, dtype=np.int32), since=np.full(len(owners), np.nan))
    factors.hold_zeros(len(owners), "ended", "came_by", "user", "used", "factor", "present")
    # A level takes three numbers.
    factors.hold_zeros(3 * len(owners), "levels")
    factors.hold_zeros(len(accounts), "account_used", "account_users")
    return factors


def _tell_of_jobs(factors: Factors, ordering: Multifactor, jobs: Jobs, never: dict[int, str]) -> list[Association]:
    """Tell what jobs gain that may run, and whose they are; return the owners."""
    site, said, owners = ordering.ledger.machine.site, jobs.said, dict[Association, int]()
    # Jobs that have no further fields differ by their columns alone.
    columns = zip(said.units.tolist(), said.walltime.tolist(), said.user.tolist(), strict=True)
    rows: dict[object, tuple[float, ...]] = {}
    table = np.zeros((len(said), 5))
    for rank, row in enumerate(columns if said.extra is None else range(len(said))):
        if rank in never:
            continue
        if row not in rows:
            job = said.job(rank)
            # Queues bound the number of nodes.
            job = job if site is None else site.fitted(job)
            owner = owners.setdefault(ordering.owner(job), len(owners))
            sizes = (ordering.for_size(job, untried=untried) for untried in (False, True))
            rows[row] = (-float(nice_of(job)), *sizes, ordering.for_queues(job), owner)
        table[rank] = rows[row]
    base, size, first_size, queue, owner_of = table.T.copy()
    factors.hold(base=base, size=size, first_size=first_size, queue=queue, owner=owner_of.astype(np.int32))
    return list(owners) or [("", "")]
