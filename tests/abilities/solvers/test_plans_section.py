"""What a page says of plans that solvers made, by hand."""

from types import SimpleNamespace
from typing import cast

from batdispatch.abilities.solvers.doors.plans_section import MOST, solved_plans
from batdispatch.results.decisions import SolvedPlan
from batdispatch.results.runs import Run


def told(*plans: SolvedPlan) -> list[tuple[str, list[str]]]:
    result = SimpleNamespace(workload=SimpleNamespace(dates=None))
    run = cast(Run, SimpleNamespace(label="pcp20", plans=list(plans), result=result))
    return [(one.lead, [moment for moment, _ in one.rows]) for one in solved_plans([run])]


def plan(now: float, status: str, gap: float | None, seconds: float = 1.0) -> SolvedPlan:
    return SolvedPlan(now=now, status=status, gap=gap, build_seconds=seconds, solve_seconds=2 * seconds)


def test_plans_are_counted_by_what_came_of_them_and_the_largest_gap_is_named_wherever_it_stands() -> None:
    plans = [plan(1, "FEASIBLE", 0.25), plan(2, "OPTIMAL", 0.0), plan(3, "UNKNOWN", None), plan(4, "FEASIBLE", 0.125)]
    # Without a plan first, then by the gap.
    assert told(*plans) == [("4 plans: 1 proven the best, 2 found, 1 none found. The largest gap is 25 %.",
                             ["3 s", "1 s", "4 s", "2 s"])]  # fmt: skip
    assert told(plan(9, "OPTIMAL", None)) == [("1 plan: 1 proven the best.", ["9 s"])]
    assert told() == []


def test_of_many_plans_those_are_shown_that_took_longest_among_equals() -> None:
    plans = [plan(float(number), "OPTIMAL", 0.0, seconds=number) for number in range(1, MOST + 3)]
    ((lead, moments),) = told(*plans)
    assert lead.endswith(f"These {MOST} are without a plan, or have the largest gap, or took longest.")
    assert moments == [f"{number} s" for number in range(MOST + 2, 2, -1)]
