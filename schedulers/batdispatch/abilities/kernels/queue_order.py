"""Orders of the queue that a kernel looks for at each decision: what the structures of native/queue_order.h hold.

A key is made of the time that a job has waited and of one number for each job, which Python works out beforehand: so
its logarithms are Python's.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable

import numpy as np

from batdispatch.abilities.kernels.library import structure_of
from batdispatch.abilities.kernels.nodes import Nodes
from batdispatch.abilities.kernels.state import Floats, Ints, Jobs, State
from batdispatch.core.line.ticks import TICK
from batdispatch.dispatchers.backfilling.queue import QueueDispatcher
from batdispatch.native.record import Record
from batdispatch.parts.ordering import Ordering, make_ordering
from batdispatch.parts.ordering.aging import AgedArea, Slowdown, Unicef, Wfp3
from batdispatch.parts.ordering.guard import Guard
from batdispatch.parts.ordering.multifactor import Multifactor

# How a key is made.
NO_KEY, COLUMN, SLOWDOWN, WFP3, UNICEF, AGED_AREA, MULTIFACTOR = range(7)
#: Orderings whose keys change while jobs wait.
FORMULAS: dict[type[Ordering], int] = {
    **{Slowdown: SLOWDOWN, Wfp3: WFP3, Unicef: UNICEF, AgedArea: AGED_AREA, Multifactor: MULTIFACTOR},
}
_PACKAGE = Ordering.__module__.rpartition(".")[0] + "."


class Order(Record):
    """The order of the queue, and of the jobs that run ahead of its head; `records`: to which it points."""

    records: list[Record]

    kinds, _fields_ = structure_of("queue_order.h", "Order")


class Beside(Record):
    """EASY in order of arrival, which guards an order: see native/easy_beside.h."""

    kinds, _fields_ = structure_of("easy_beside.h", "Beside")


def formula_of(ordering: Ordering) -> int:
    """Return how a kernel makes the keys of an ordering; `NO_KEY`: it cannot."""
    if type(ordering) in FORMULAS:
        return FORMULAS[type(ordering)]
    return COLUMN if not ordering.dynamic and type(ordering).__module__.startswith(_PACKAGE) else NO_KEY


def inner_of(ordering: Ordering) -> Ordering:
    """Return the ordering of the jobs that are not late."""
    return make_ordering(ordering.options.ordering) if type(ordering) is Guard else ordering


def orderings_of(dispatcher: QueueDispatcher) -> list[Ordering]:
    """Return the ordering of the jobs that are not late and, if there is one, that of those that run ahead."""
    ahead = getattr(dispatcher.options, "backfill", "")
    return [inner_of(dispatcher.ordering), *([make_ordering(ahead)] if ahead else [])]


def fields_asked(dispatcher: QueueDispatcher) -> set[str]:
    """Return the fields of jobs that matter to a dispatcher's orderings, beside those that columns have."""
    found = [each for each in orderings_of(dispatcher) if isinstance(each, Multifactor)]
    return {"nice" for _ in found} | {"account" for each in found if each.options.fair_tree}


def asks_when_shared(dispatcher: QueueDispatcher) -> bool:
    """Return whether any of a dispatcher's orderings works out a fair share once in a period."""
    found = [each.options for each in orderings_of(dispatcher) if isinstance(each, Multifactor)]
    return any(options.fairshare and options.period for options in found)


def column_of(ordering: Ordering, units: Ints, expected: Floats) -> Floats:
    """Return the column of an ordering whose keys change: what its key is made of beside the wait."""
    if isinstance(ordering, AgedArea):
        width = ordering.options.width
        return _by_size(lambda size: size**width, units) * expected
    divisor = np.maximum(expected, TICK)
    return _by_size(lambda size: math.log2(max(size, 2)), units) * divisor if isinstance(ordering, Unicef) else divisor


def _by_size(number: Callable[[int], float], units: Ints) -> Floats:
    sizes, which = np.unique(units, return_inverse=True)
    return np.array([number(size) for size in sizes.tolist()], dtype=float)[which]


def order_of(jobs: Jobs, nodes: Nodes | None = None) -> Order | None:
    """Return the order by key of a queue that is empty, or None if places are enough; `nodes`: that jobs share."""
    if jobs.key is None:
        return None
    n = len(jobs.units)
    order = Order()
    order.records = []
    for name, key in (("key", jobs.key), ("ahead", jobs.ahead)):
        if key is None:
            continue
        order.hold(**{f"{name}_column": key.column})
        for number in ("formula", "head_start", "power"):
            setattr(order, f"{name}_{number}", getattr(key, number))
        if key.factors is not None:
            key.factors.nodes = 0 if nodes is None else ctypes.addressof(nodes)
            setattr(order, f"{name}_factors", ctypes.addressof(key.factors))
            order.records.append(key.factors)
    order.hold_zeros(n, "queue")
    # A job in play takes three numbers.
    order.hold_zeros(3 * n, "entries")
    return order


def beside_of(ordering: Ordering, state: State, free: Ints, needs: Ints) -> Beside | None:
    """Return EASY beside an ordering that it guards, before anything happens; None for another ordering.

    Args:
        ordering: the ordering.
        state: of the simulation.
        free: sums over the idle machine, int64 [resource].
        needs: what each job takes of them, int64 [job, resource].
    """
    if type(ordering) is not Guard:
        return None
    n, options = state.jobs, ordering.options
    numbers = {name: getattr(options, name) for name in ("share", "slack", "floor", "memory")}
    beside = Beside(**numbers, looked=-np.inf)
    beside.resources = len(free)
    beside.hold(free=free.copy(), spare=free.copy(), needs=needs)
    beside.hold(**{name: np.full(n, np.nan) for name in ("begun", "real", "runtime")})
    beside.hold_zeros(n + 1, "expected", "end_at", "expected_job", "end_job", "overdue_job")
    beside.hold_zeros(n, "delay", "queue", "delay_job", "wait_job")
    return beside
