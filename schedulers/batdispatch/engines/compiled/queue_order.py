"""Orders of the queue that a kernel looks for at each decision: what the structures of native/queue_order.h hold.

A key is made of the time that a job has waited and of one number for each job, which Python works out beforehand: so
its logarithms are Python's.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from batdispatch.core.line.ledger import TICK
from batdispatch.engines.compiled.state import Floats, Ints, Jobs, State
from batdispatch.native.record import Record, fields_of
from batdispatch.parts.ordering import Ordering, make_ordering
from batdispatch.parts.ordering.aging import AgedArea, Slowdown, Unicef, Wfp3
from batdispatch.parts.ordering.guard import Guard

# How a key is made.
NO_KEY, COLUMN, SLOWDOWN, WFP3, UNICEF, AGED_AREA = range(6)
#: Orderings whose keys change while jobs wait.
FORMULAS: dict[type[Ordering], int] = {Slowdown: SLOWDOWN, Wfp3: WFP3, Unicef: UNICEF, AgedArea: AGED_AREA}
_PACKAGE = Ordering.__module__.rpartition(".")[0] + "."


class Order(Record):
    """The order of the queue, and of the jobs that run ahead of its head."""

    kinds = {
        **{"formula": int, "column": np.float64, "head_start": float, "power": float},
        **{"ahead_formula": int, "ahead_column": np.float64, "ahead_head_start": float, "ahead_power": float},
        **{"queued": int, "queue": np.int64, "came": int, "in_play": int, "entries": np.float64, "tier": np.int64},
    }
    _fields_ = fields_of(kinds)


class Beside(Record):
    """EASY in order of arrival, which guards an order: see native/easy_beside.h."""

    kinds = {
        **dict.fromkeys(("share", "slack", "floor", "clock", "longest", "looked"), float),
        **{"resources": int, "free": np.int64, "spare": np.int64, "needs": np.int64, "came": int, "lines": int},
        **{"begun": np.float64, "real": np.float64, "runtime": np.float64, "queued": int, "queue": np.int64},
        **{"running": int, "expected": np.float64, "expected_job": np.int64},
        **{"ending": int, "end_at": np.float64, "end_job": np.int64, "overdue": int, "overdue_job": np.int64},
        **{"delays": int, "delay": np.float64, "delay_job": np.int64},
    }
    _fields_ = fields_of(kinds)


def formula_of(ordering: Ordering) -> int:
    """Return how a kernel makes the keys of an ordering; `NO_KEY`: it cannot."""
    if type(ordering) in FORMULAS:
        return FORMULAS[type(ordering)]
    return COLUMN if not ordering.dynamic and type(ordering).__module__.startswith(_PACKAGE) else NO_KEY


def inner_of(ordering: Ordering) -> Ordering:
    """Return the ordering of the jobs that are not late."""
    return make_ordering(ordering.options.ordering) if type(ordering) is Guard else ordering


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


def order_of(jobs: Jobs) -> Order | None:
    """Return the order by key of a queue that is empty, or None if places are enough."""
    if jobs.key is None:
        return None
    n = len(jobs.units)
    order = Order(formula=jobs.key.formula, head_start=jobs.key.head_start, power=jobs.key.power)
    # A job in play takes three numbers.
    order.hold(column=jobs.key.column)
    order.hold_zeros(n, "queue")
    order.hold_zeros(3 * n, "entries")
    if jobs.ahead is not None:
        order.ahead_formula = jobs.ahead.formula
        order.ahead_head_start, order.ahead_power = jobs.ahead.head_start, jobs.ahead.power
        order.hold(ahead_column=jobs.ahead.column)
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
    beside = Beside(share=options.share, slack=options.slack, floor=options.floor, looked=-np.inf)
    beside.resources = len(free)
    beside.hold(free=free.copy(), spare=free.copy(), needs=needs)
    beside.hold(**{name: np.full(n, np.nan) for name in ("begun", "real", "runtime")})
    beside.hold_zeros(n + 1, "expected", "end_at", "expected_job", "end_job", "overdue_job")
    beside.hold_zeros(n, "delay", "queue", "delay_job")
    return beside
