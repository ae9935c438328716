"""What IPSCHED promises beyond an optimum: window, period, floor, consecutive nodes, limits, splits."""

import json
import math

import pytest
from windows import carry_out, machine_of, problem_of, scaled, solve

from batdispatch.abilities.solvers.auction.groups import classes
from batdispatch.abilities.solvers.auction.ipsched import Ipsched, IpschedOptions
from batdispatch.abilities.solvers.auction.node_plans import pack, realise
from batdispatch.abilities.solvers.auction.program import Layout, MeetingCell, Program
from batdispatch.abilities.solvers.auction.regrets import _proof
from batdispatch.abilities.solvers.auction.search import ROUNDING, PlanSearch
from batdispatch.abilities.solvers.solving import Limits
from batdispatch.abilities.solvers.solving.highs import Relaxation, RelaxedOptimum
from batdispatch.core.machine.machine import Machine
from simulating import Task, audit, simulate

CORE = {"core": 1}


def test_decisions_are_a_period_apart() -> None:
    machine = Machine.flat(2, "core=2")
    tasks = [Task(str(n), submission=float(n), units=1, runtime=50.0, walltime=60.0, demand=CORE) for n in range(4)]
    starts = simulate(machine, tasks, "ipsched").starts()
    assert starts == {"0": 0.0, "1": 4.0, "2": 4.0, "3": 4.0}
    starts = simulate(machine, tasks, "ipsched", options={"period": 0}).starts()
    assert starts == {"0": 0.0, "1": 1.0, "2": 2.0, "3": 3.0}


def test_without_a_period_the_jobs_behind_the_window_have_their_turn_at_once() -> None:
    tasks = [Task(str(n), submission=0.0, units=1, runtime=50.0, walltime=60.0, demand=CORE) for n in range(3)]
    starts = simulate(Machine.flat(2, "core=2"), tasks, "ipsched", options={"period": 0, "window": 1}).starts()
    assert max(starts.values()) < 1.0


def test_the_window_holds_the_jobs_of_the_highest_priorities() -> None:
    """The first job fills the machine. A window of two does not see the two jobs that are worth more together."""
    machine = Machine.flat(4, "core=1")
    sizes = [4, 3, 3, 2, 2]
    tasks = [
        Task(str(n), submission=0.0 if not n else 1.0, units=units, runtime=10.0, walltime=20.0, demand=CORE)
        for n, units in enumerate(sizes)
    ]
    starts = simulate(machine, tasks, "ipsched").starts()
    assert (starts["3"], starts["4"]) == (10.0, 10.0), "two jobs are worth more than one"
    starts = simulate(machine, tasks, "ipsched", options={"window": 2}).starts()
    assert starts["1"] == 10.0
    assert min(starts["3"], starts["4"]) > 10.0


def test_a_plan_that_is_worth_no_more_than_the_greedy_one_is_not_taken() -> None:
    half = {"demand": CORE, "per_node": {"gpu": 2}, "nodes": 2}
    problem = problem_of(machine_of([(8, 2)] * 4), [(3, 16, {"demand": CORE}), (2, 8, half), (1, 8, half)])
    found, _, _ = solve(problem)
    assert (found.status, found.cost) == ("OPTIMAL", found.first)
    assert found.solution == problem.greedy()


def test_a_job_on_as_few_nodes_as_it_may_be_needs_no_solver() -> None:
    """A node could hold it, but it asks for three nodes at least: worth 2 (8 - 3) / 8 on four nodes."""
    problem = problem_of(machine_of([(8, 0)] * 4), [(2, 6, {"demand": CORE, "nodes": [3, 4]})])
    found, counters, _ = solve(problem)
    assert (found.status, found.cost, counters["programs"]) == ("BOUND", -2 * (8 - 3) / 8, 0)


@pytest.mark.parametrize(
    ("status", "cost", "bound", "said"),
    [
        # Costs are below 0: a plan that costs what the bound says is the best, however it was found.
        ("GREEDY", -8.0, -8.0, "no plan is worth more"),
        ("FEASIBLE", -8.0, -9.0, "a plan could be worth 12.50% more at most"),
        ("OPTIMAL", -8.0, -9.0, "no plan is worth more"),
    ],
)
def test_how_good_a_plan_is_known_to_be(status: str, cost: float, bound: float, said: str) -> None:
    assert _proof({"status": status, "cost": cost, "bound": bound, "gap": 0.125}) == said


def test_without_work_the_greedy_plan_is_carried_out() -> None:
    asked = [(1, units, {"demand": CORE}) for units in (4, 2, 2)]
    problem = problem_of(machine_of([(4, 0)]), asked)
    found, _, _ = solve(problem, work=0.0)
    assert (found.status, found.solution) == ("GREEDY", problem.greedy())
    assert scaled(problem, solve(problem)[0].solution) == 2


def test_sums_beyond_64_bits_are_not_given_to_the_solver() -> None:
    asked = [(2**59, 1, {"demand": CORE}), (2**59, 1, {"demand": CORE, "nodes": 1}), (2**59, 2, {"demand": CORE})]
    problem = problem_of(machine_of([(1, 0), (1, 0)]), asked)
    found, _, _ = solve(problem)
    assert (found.status, found.solution) == ("UNKNOWN", problem.greedy())


@pytest.mark.parametrize("formulation", ["classes", "nodes"])
def test_consecutive_nodes_are_respected_and_the_others_planned_around_them(formulation: str) -> None:
    asked = [
        (9, 2, {"demand": {"core": 2}, "node_list": ["n1"], "nodes": 1}),
        (50, 4, {"demand": {"core": 2}, "contiguous": True, "nodes": 2}),
        (5, 6, {"demand": CORE}),
        (4, 3, {"demand": CORE}),
        (4, 3, {"demand": CORE}),
    ]
    problem = problem_of(machine_of([(4, 0)] * 5), asked)
    found, _, _ = solve(problem, formulation=formulation)
    carry_out(problem, found.solution)
    assert found.status == "FEASIBLE", "the program cannot say consecutive, so that nothing is proven"
    assert found.solution[1] is not None
    assert -found.bound >= -found.cost >= -found.first


def test_a_decision_states_its_worth_and_its_bounds() -> None:
    machine = Machine.flat(4, "core=4 gpu=1")
    tasks = [
        Task(str(n), 0.0, units, 10.0, 20.0, CORE, extra={"per_node": {"gpu": 1}} if n % 2 else {})
        for n, units in enumerate([9, 7, 5, 3, 8, 2, 6])
    ]
    dispatcher = Ipsched()
    audit(machine, tasks, simulate(machine, tasks, dispatcher))
    lines = [json.loads(line) for line in dispatcher.notes()]
    assert lines
    for line in lines:
        assert line["bound"] <= line["cost"] <= 0
        assert line["class_bound"] >= -line["bound"]
        assert 0 <= line["gap"] <= 1
        assert {"programs", "splits", "split_programs", "refined", "improvement"} <= set(line)
    assert {"OPTIMAL", "BOUND"} >= set(dispatcher.report()["statuses"])


def test_equal_seeds_decide_alike() -> None:
    machine = machine_of([(8, 2), (6, 1), (3, 0), (8, 0)] * 5)
    asked = [
        (1000 - n, 3 + 7 * n % 41, {"demand": CORE, **({"per_node": {"gpu": 1 + n % 2}} if n % 3 else {})})
        for n in range(20)
    ]
    first, again = (solve(problem_of(machine, asked), work=0.02)[0] for _ in range(2))
    assert (first.solution, first.bound, first.work) == (again.solution, again.bound, again.work)


@pytest.mark.slow
def test_large_windows_are_split_without_losing_more_than_their_gap() -> None:
    """Linear relaxations choose the pairs; the plan holds, is far above the greedy one, and close to its bound."""
    nodes = [(3 + n % 6, n // 6 % 3) for n in range(180)]
    asked = []
    for n in range(160):
        fields = {"demand": CORE, **({"per_node": {"gpu": 1 + n % 2}} if n % 3 == 0 else {})}
        units = 1 + (37 * n + n * n) % 29
        if n % 4 == 1:
            fields["nodes"] = [1 + units // 6, units]
        asked.append((5000 - n, units * (8 if n < 20 else 1), fields))
    problem = problem_of(machine_of(nodes), asked)
    found, counters, _ = solve(problem, work=0.5)
    carry_out(problem, found.solution)
    assert counters["programs"] > 1
    assert -found.cost > -found.first
    assert -found.cost * 2 * len(nodes) == scaled(problem, found.solution)
    assert 0 <= found.gap <= 0.02


def test_the_program_over_few_pairs_takes_no_others() -> None:
    problem = problem_of(machine_of([(4, 0), (2, 0)]), [(1, 4, {"demand": CORE}), (1, 2, {"demand": CORE})])
    groups = classes(problem, [0, 1])
    program = Program(problem, [0, 1], groups, pairs={(0, 1), (1, 0)})
    answer = program.solve(Limits(work=1.0, wall=10.0))
    assert answer.value is not None
    layout, cost = program.read(answer.value)
    assert layout.spread == {(1, 0): (1, 2)}
    assert cost == -3


def test_crowding_is_what_makes_the_slides_example_exact() -> None:
    """J2 and J3 take a core of each node, so that J1 is on 586 nodes and not on 512, before anything is refined."""
    asked = [
        (1, 4096, {"demand": CORE}),
        *[(1, 2048, {"demand": CORE, "per_node": {"gpu": 2}, "nodes": 512}) for _ in range(2)],
    ]
    problem = problem_of(machine_of([(8, 2)] * 1024), asked)
    search = PlanSearch(problem, [None] * 3, 10**6, Limits(work=1.0, wall=10.0), lambda: 0.0)
    search.improve([0, 1, 2], single=False)
    assert search.class_bound == search.worth == 3 * 2048 - 586 - 2 * 512
    assert search.counters["refined"] == 0


def test_two_cores_of_five_are_had_twice_on_a_node() -> None:
    """Two nodes of 5 cores hold five jobs of 2 cores in sum; the rows on meeting say four without any refinement."""
    problem = problem_of(machine_of([(5, 0)] * 2), [(1, 1, {"demand": {"core": 2}}) for _ in range(5)])
    search = PlanSearch(problem, [None] * 5, 10**6, Limits(work=1.0, wall=10.0), lambda: 0.0)
    search.improve(range(5), single=False)
    assert search.class_bound == search.worth == 4 * (2 * 2 - 1)
    assert search.counters["refined"] == 0


@pytest.mark.parametrize("large", [False, True])
def test_bounds_are_in_the_unit_of_the_priorities(large: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """The solver is given priorities without their common divisor; the bounds of both solvers count it again."""
    if large:
        monkeypatch.setattr("batdispatch.abilities.solvers.auction.search.LARGE", 0)
    # Two jobs of 2 and 3 cores are worth more than the first, which is the greedy plan.
    problem = problem_of(
        machine_of([(5, 0)]), [(30, 4, {"demand": CORE}), (20, 2, {"demand": CORE}), (20, 3, {"demand": CORE})]
    )
    search = PlanSearch(problem, problem.greedy(), 10**6, Limits(work=1.0, wall=10.0), lambda: 0.0)
    search.improve([0, 1, 2], single=False)
    assert (search.worth, search.bound) == (40, 40)
    assert search.class_bound == 40
    assert Program(problem, [0, 1, 2], classes(problem, [0, 1, 2])).solve(Limits(work=1.0, wall=10.0)).bound == -40


def test_what_a_split_leaves_free_is_filled_up() -> None:
    """A solution that starts a job of 2 cores on a node of 4 leaves room for another one, which joins the plan."""
    problem = problem_of(machine_of([(4, 0)] * 2), [(2, 2, {"demand": CORE}), (1, 2, {"demand": CORE})])
    search = PlanSearch(problem, [None] * 2, 10**6, Limits(work=1.0, wall=10.0), lambda: 0.0)
    search._split([0, 1], classes(problem, [0, 1]), Layout({(0, 0): (1, 2)}))
    assert search.worth == scaled(problem, search.choice) == 3 * (2 * 2 - 1)
    carry_out(problem, search.choice)


def test_a_relaxation_that_starts_half_a_job_is_bounded_by_whole_numbers_of_jobs() -> None:
    """Five cores hold two and a half of three jobs: the bound is that of two, and not of three."""
    problem = problem_of(machine_of([(5, 0)]), [(10, 2, {"demand": CORE}) for _ in range(3)])
    search = PlanSearch(problem, [None] * 3, 10**6, Limits(work=1.0, wall=10.0), lambda: 0.0)
    search._over_chosen_pairs([0, 1, 2], classes(problem, [0, 1, 2]))
    assert (search.worth, search.bound) == (20, 20)


def test_the_bound_of_a_relaxation_holds_where_one_of_its_sides_is_cut_short(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = problem_of(machine_of([(4, 0)]), [(1, 3, {"demand": CORE})] * 3)
    search = PlanSearch(problem, [None] * 3, 10**6, Limits(work=1.0, wall=10.0), lambda: 0.0)
    program = Program(problem, [0, 1, 2], classes(problem, [0, 1, 2]))
    relaxation = Relaxation(program.cp)
    relaxed = relaxation.solve({}, search.effort)
    assert relaxed is not None
    cut = RelaxedOptimum(-math.inf, relaxed.values)
    monkeypatch.setattr(relaxation, "solve", lambda within, effort: cut if next(iter(within.values()))[0] else None)
    search._bound_by(program, relaxation, relaxed)
    assert search.bound == math.floor(program.worth(relaxed.cost) * (1 + ROUNDING))


def test_one_node_is_always_consecutive() -> None:
    """The second plan must be found by the program, and is proven best although a job asks for consecutive nodes."""
    on_one = {"demand": CORE, "nodes": 1, "contiguous": True}
    problem = problem_of(machine_of([(5, 0)] * 2), [(3, 9, {"demand": CORE}), (2, 4, on_one), (2, 4, on_one)])
    found, counters, _ = solve(problem)
    assert (found.status, scaled(problem, found.solution), counters["programs"]) == ("OPTIMAL", 12, 1)


def test_packing_starts_anew_with_the_jobs_that_found_no_place() -> None:
    """Two jobs fill nodes, and one needs a core on each of three: it must come before the fuller one closes them."""
    problem = problem_of(
        machine_of([(4, 0)] * 3), [(1, 8, {"demand": CORE}), (1, 1, {"demand": CORE}), (1, 3, {"demand": CORE})]
    )
    (group,) = classes(problem, [0, 1, 2])
    wanted = {0: (3, 8), 1: (1, 1), 2: (3, 3)}
    found = pack(problem, group, wanted, {0: 3, 1: 1, 2: 3})
    assert {job: (len(here), sum(here.values())) for job, here in found.items()} == wanted
    for node in range(3):
        assert sum(here.get(node, 0) for here in found.values()) <= 4


def test_cells_with_several_resources_are_mixed_node_by_node() -> None:
    """Poured one after the other, the second job finds cores only where the disk is gone; spread evenly, both fit."""
    problem = problem_of(
        machine_of([(4, 4)] * 2), [(1, 4, {"demand": {"core": 1, "gpu": 2}}), (1, 4, {"demand": {"core": 1}})]
    )
    (group,) = classes(problem, [0, 1])
    units = realise(problem, group, MeetingCell(2, {0: 4, 1: 4}))
    assert units is not None
    assert units.sum(axis=1).tolist() == [4, 4]
    assert (units.sum(axis=0) <= 4).all()
    assert (2 * units[0] <= 4).all()


def test_options_are_the_papers() -> None:
    options = IpschedOptions()
    assert (options.window, options.period, options.priorities, options.formulation) == (200, 4.0, "basic", "classes")


@pytest.mark.parametrize("formulation", ["classes", "nodes"])
def test_licences_are_a_row_of_the_program(formulation: str) -> None:
    """The three small jobs would be worth most, but there are licences for two of them."""
    licensed = {"demand": CORE, "licences": {"matlab": 1}}
    asked = [(5, 6, {"demand": CORE}), (4, 2, licensed), (4, 2, licensed), (4, 2, licensed)]
    problem = problem_of(machine_of([(6, 0)], "matlab=2"), asked)
    found, counters, _ = solve(problem, formulation=formulation)
    assert counters["programs"]
    assert scaled(problem, found.solution) == 8
    assert (found.status, -found.bound) == ("OPTIMAL", 4.0)
    carry_out(problem, found.solution)


def test_of_jobs_that_ask_alike_those_of_higher_priority_start() -> None:
    """Five equal jobs and room for four of them: the first four start, and none of those after."""
    asked = [(100 - n, 2, {"demand": CORE}) for n in range(5)]
    problem = problem_of(machine_of([(3, 0), (3, 0), (2, 0)]), [(200, 7, {"demand": CORE}), *asked])
    groups = classes(problem, range(6))
    program = Program(problem, range(6), groups)
    answer = program.solve(Limits(work=1.0, wall=10.0))
    assert answer.value is not None
    assert {job for job, _ in program.read(answer.value)[0].spread} == {1, 2, 3, 4}
    found, _, _ = solve(problem)
    assert [place is not None for place in found.solution] == [False, True, True, True, True, False]
