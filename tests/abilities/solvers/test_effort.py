"""The end that all solver calls of a decision share."""

import math

import pytest
from ortools.sat.python import cp_model

from batdispatch.abilities.solvers.solving import Answer, Effort, Limits
from batdispatch.abilities.solvers.solving.highs import ITERATION, PRESOLVE_SECONDS, Relaxation
from batdispatch.abilities.solvers.solving.runner import ENTRY_SECONDS, MOST, Value


class Worker:
    """A model on no backend that takes all the deterministic time that it is given."""

    def __init__(self, status: str, most: float = math.inf) -> None:
        self.status, self.most = status, most
        self.given: list[Limits] = []

    def size(self) -> tuple[int, int]:
        return 5, 7

    def solve(self, limits: Limits) -> Answer:
        self.given.append(limits)
        return Answer(self.status, -math.inf, min(limits.work, self.most), False, lambda variable: 1)

    def read(self, value: Value) -> tuple[str, float]:
        return "incumbent", 3.0


def made(work: float = 1.0) -> Effort:
    return Effort(Limits(work=work, wall=10.0, seed=3), lambda: 0.0)


def test_calls_share_ten_limits_and_the_last_is_cut_short() -> None:
    effort, worker = made(), Worker("FEASIBLE")
    for calls in range(1, 9):
        effort.run(lambda: worker, ("hint", 10.0), bound=0.0, entries=10_000)
        assert not effort.beyond
        assert effort.spent == pytest.approx(calls * (1 + 10_000 * ENTRY_SECONDS))
    found = effort.run(lambda: worker, ("hint", 10.0), bound=0.0, entries=110_000)
    assert [limits.work for limits in worker.given] == [1.0] * 8 + [pytest.approx(0.1)]
    assert (effort.beyond, effort.left, found.solution) == (True, 0.0, "incumbent")
    assert effort.spent == pytest.approx(MOST)
    figures = effort.figures()
    assert (figures["work"], figures["variables"], figures["beyond"]) == (pytest.approx(8.1), 5, True)


def test_a_model_that_would_take_too_long_to_build_is_not_built() -> None:
    effort = made()
    found = effort.run(lambda: pytest.fail("built"), ("hint", 10.0), bound=0.0, entries=math.ceil(MOST / ENTRY_SECONDS))
    assert (found.status, found.solution, found.solved) == ("UNKNOWN", "hint", False)
    assert (effort.beyond, effort.spent) == (True, 0.0)


def test_a_call_that_ends_by_itself_in_what_is_left_is_not_beyond() -> None:
    effort = made()
    effort.spend(9.5)
    effort.run(lambda: Worker("OPTIMAL", 0.2), ("hint", 10.0), bound=0.0, entries=0)
    assert (effort.beyond, effort.spent) == (False, pytest.approx(9.7))


def relaxation() -> Relaxation:
    model = cp_model.CpModel()
    items = [model.new_int_var(0, 9, f"x{item}") for item in range(40)]
    for row in range(30):
        model.add(sum((item * row * 7) % 11 * one for item, one in enumerate(items)) <= 500 + row)
    model.minimize(-sum((3 + item % 5) * one for item, one in enumerate(items)))
    return Relaxation(model)


def test_iterations_of_a_relaxation_count_and_end_with_the_effort() -> None:
    whole = made()
    found = relaxation().solve({}, whole)
    assert found is not None
    assert -math.inf < found.cost < 0
    assert not whole.beyond
    presolve = relaxation()._most.nnz * PRESOLVE_SECONDS
    assert whole.spent > presolve + ITERATION, "iterations count, too"
    short = made(work=whole.spent / MOST / 2)
    cut = relaxation().solve({}, short)
    assert cut is not None
    assert (cut.cost, short.beyond, short.limited) == (-math.inf, True, False)
    assert short.spent <= MOST * short.limits.work
    none = made(work=1e-9)
    left_out = relaxation().solve({}, none)
    assert left_out is not None
    assert (left_out.cost, none.beyond, none.spent) == (-math.inf, True, 0.0)
