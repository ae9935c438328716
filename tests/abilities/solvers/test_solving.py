"""The one runner of solvers: the better of hint and incumbent, limits, and the account; and who loads a solver when."""

import gc
import json
import math
import subprocess
import sys
import weakref
from collections.abc import Callable
from itertools import count
from typing import Any

import pytest
from ortools.sat.python import cp_model

from batdispatch.abilities.solvers.solving import Account, Answer, Limits, SolverResult, result_without_solver, run
from batdispatch.abilities.solvers.solving.cp_sat import CpSatModel
from batdispatch.abilities.solvers.solving.depth_first import DepthFirstModel
from batdispatch.abilities.solvers.solving.runner import Value
from batdispatch.core.errors import BatdispatchError

LIMITS = Limits(work=1.0, wall=10.0, seed=3)


class Told:
    """A model on no backend: it answers what it is told."""

    def __init__(self, answer: Answer, cost: float) -> None:
        self.answer, self.cost = answer, cost

    def size(self) -> tuple[int, int]:
        return 5, 7

    def solve(self, limits: Limits) -> Answer:
        assert limits is LIMITS
        return self.answer

    def read(self, value: Value) -> tuple[str, float]:
        return "incumbent", self.cost


def told(status: str, cost: float, bound: float, *, stopped: bool = False, trust: bool = True) -> SolverResult[str]:
    value = (lambda variable: 1) if status in ("OPTIMAL", "FEASIBLE") else None
    ticks = count()
    return run(
        lambda: Told(Answer(status, bound, 0.5, stopped, value), cost),
        ("hint", 10.0),
        bound=2.0,
        limits=LIMITS,
        clock=lambda: float(next(ticks)),
        trust=trust,
    )


def test_the_better_of_hint_and_incumbent_is_returned() -> None:
    assert (told("FEASIBLE", 8, 4).solution, told("FEASIBLE", 8, 4).cost) == ("incumbent", 8)
    assert told("FEASIBLE", 12, 4).solution == "hint"
    assert told("FEASIBLE", 12, 4, trust=False).solution == "incumbent"
    assert told("UNKNOWN", 0, -math.inf).solution == "hint"


def test_bounds_status_sizes_and_times() -> None:
    found = told("FEASIBLE", 8, 4)
    assert (found.bound, found.first, found.variables, found.constraints) == (4, 10, 5, 7)
    assert (found.build_seconds, found.solve_seconds, found.work) == (1.0, 1.0, 0.5)
    assert told("UNKNOWN", 0, -math.inf).bound == 2.0, "the caller's bound stands"
    assert told("OPTIMAL", 12, 12).bound == 10.0, "a model may exclude the hint, whose cost bounds what is best"
    assert [told(status, 8, 4).solved for status in ("OPTIMAL", "FEASIBLE", "UNKNOWN", "INFEASIBLE")] == [1, 1, 0, 0]


def test_no_solver_is_needed_where_a_bound_is_met() -> None:
    assert result_without_solver("plan", 3, bound=3).status == "BOUND"
    assert result_without_solver("plan", 4, bound=3).status == "GREEDY"
    assert not result_without_solver("plan", 4, bound=3, status="UNKNOWN").solved


def test_the_account_knows_nothing_of_a_family_but_what_it_is_told() -> None:
    account = Account(unit=2.0)
    account.add(1.5, told("FEASIBLE", 8, 4), {"jobs": 3}, {"put_back": 2})
    account.add(2.5, told("FEASIBLE", 9, 9, stopped=True), {"jobs": 5}, {"put_back": 1})
    account.add(3.5, told("UNKNOWN", 0, 0), {"jobs": 1}, {"put_back": 0})
    line = json.loads(account.lines[0])
    assert line.items() >= {
        "now": 1.5, "status": "FEASIBLE", "jobs": 3, "put_back": 2, "cost": 4.0, "bound": 2.0, "gap": 0.5,
        "improvement": 0.2, "variables": 5, "work": 0.5,
    }.items()  # fmt: skip
    report = account.report()
    assert report["fallbacks"] == 2, "the wall-clock limit, and no solution"
    assert report["statuses"] == {"FEASIBLE": 2, "UNKNOWN": 1}
    assert report["means"]["jobs"] == 3.0
    assert report["put_back"] == 3


class Knapsack(CpSatModel):
    """Least sum of 20 numbers, of which every two in a row make at least 7."""

    name = "chain"

    def __init__(self) -> None:
        super().__init__()
        self.x = [self.cp.new_int_var(0, 9, f"x{n}") for n in range(20)]
        for a, b in zip(self.x, self.x[1:], strict=False):
            self.cp.add(a + b >= 7)
        self.cp.minimize(sum(self.x))

    def read(self, value: Value) -> tuple[list[int], float]:
        found = [value(x) for x in self.x]
        return found, sum(found)


def test_cp_sat_solves_and_repeats() -> None:
    found = [
        run(Knapsack, ([9] * 20, 180), bound=0, limits=Limits(work=1.0, wall=60.0, seed=seed), clock=lambda: 0.0)
        for seed in (0, 0)
    ]
    assert found[0].status == "OPTIMAL"
    assert found[0].cost == found[0].bound == 70
    assert found[0].solution == found[1].solution
    assert found[0].work == found[1].work
    assert not found[0].limited


def test_a_model_that_cp_sat_refuses_is_named() -> None:
    class Wrong(Knapsack):
        def __init__(self) -> None:
            super().__init__()
            self.cp.new_int_var_from_domain(cp_model.Domain.from_values([]), "empty")

    with pytest.raises(BatdispatchError, match="CP-SAT refuses the chain model"):
        run(Wrong, ([], 0), bound=0, limits=LIMITS, clock=lambda: 0.0)


@pytest.mark.parametrize(
    "what", ["batdispatch.abilities.solvers.constraint.pcp20", "batdispatch.abilities.solvers.solving"]
)
def test_a_solver_is_loaded_only_when_a_model_is_built(what: str) -> None:
    code = f"import sys, {what}; print(any(name.startswith('ortools') for name in sys.modules))"
    done: Any = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


class Puzzle(DepthFirstModel):
    """Two numbers from 0 to 9 of which the first is larger, for the least sum; `at_most` limits the first."""

    def __init__(self, at_most: int = 9) -> None:
        super().__init__()
        x, y = (self.cp.IntVar(0, 9, name) for name in "xy")
        self.variables = [x, y]
        self.cp.Add(x > y)
        self.cp.Add(x <= at_most)
        self.objective = (x + y).Var()

    def search(self) -> Any:
        return self.cp.Phase(self.variables, self.cp.CHOOSE_FIRST_UNBOUND, self.cp.ASSIGN_MAX_VALUE)

    def read(self, value: Any) -> tuple[list[int], float]:
        found = [value(variable) for variable in self.variables]
        return found, sum(found)


def test_a_depth_first_search_finds_proves_refutes_and_stops() -> None:
    found = run(Puzzle, ([9, 8], 17), bound=0, limits=LIMITS, clock=lambda: 0.0)
    assert (found.solution, found.status, found.bound, found.limited) == ([1, 0], "OPTIMAL", 1, False)
    assert found.variables == 2
    assert 0 < found.work < LIMITS.work
    assert Puzzle(at_most=0).solve(LIMITS).status == "INFEASIBLE"
    short = Puzzle().solve(Limits(work=1e-9, wall=10.0))
    assert (short.status, short.value, short.stopped) == ("UNKNOWN", None, False)
    late = Puzzle().solve(Limits(work=1.0, wall=0.0))
    assert (late.status, late.stopped) == ("UNKNOWN", True)


class Endless(Puzzle):
    """No rule ends the search."""

    def enough(self, spent: float, limit: float, best: Callable[[], int | None]) -> bool:
        return False


def test_a_search_whose_steps_take_long_ends_at_ten_limits_and_says_so() -> None:
    whole = Endless().solve(Limits(work=1.0, wall=1e9))
    assert (whole.beyond, whole.status) == (False, "OPTIMAL")
    short = Limits(work=whole.work / 20, wall=1e9)
    cut = Endless().solve(short)
    assert (cut.beyond, cut.stopped, cut.status) == (True, False, "FEASIBLE")
    assert 10 * short.work < cut.work < whole.work
    never = Endless().solve(Limits(work=1e-6, wall=1e9))
    assert (never.beyond, never.value, never.status) == (True, None, "UNKNOWN"), "it takes too long to be built"


def test_work_counts_what_is_built_and_each_branch_with_its_tasks() -> None:
    model = Puzzle()
    assert model.build_work() == pytest.approx(4e-5), "two variables and two constraints"
    model.tasks, model.task_seconds = 7, 0.01
    answer = model.solve(LIMITS)
    assert answer.work == pytest.approx(4e-5 + model.cp.Branches() * (2e-5 + 0.07))


def test_decisions_beyond_their_limit_are_counted_and_told() -> None:
    account = Account()
    account.add(1.0, told("FEASIBLE", 9, 9), {"jobs": 5})
    assert not account.report().keys() & {"beyond_limit", "warnings"}
    for now in (2.0, 3.0):
        found = told("FEASIBLE", 9, 9)
        found.beyond = True
        account.add(now, found, {"jobs": 5})
    report = account.report()
    assert (report["beyond_limit"], len(report["warnings"]), report["fallbacks"]) == (2, 1, 0)
    assert "2 decisions" in report["warnings"][0]
    assert [b"beyond_limit" in line for line in account.lines] == [False, True, True]
    assert "beyond_limit" not in report["means"]


def test_an_exception_in_a_depth_first_search_ends_it_and_is_raised() -> None:
    """The solver ignores what Python raises: an interrupt would be lost."""

    class Interrupted(Puzzle):
        def enough(self, spent: float, limit: float, best: Any) -> bool:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Interrupted().solve(LIMITS)


def test_a_searched_model_is_freed() -> None:
    """A run of a thousand decisions must not keep a thousand solvers."""
    model = Puzzle()
    answer = model.solve(LIMITS)
    gone = weakref.ref(model)
    del model, answer
    gc.collect()
    assert gone() is None
