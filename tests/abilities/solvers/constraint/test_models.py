"""The constraint models: the paper's figures, equal optima, and plans that hold."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from instances import beyond, brute_force, check, instance, instances, made, placed_by, random_instance
from ortools.constraint_solver import pywrapcp

from batdispatch.abilities.solvers.constraint.instance import Instance
from batdispatch.abilities.solvers.constraint.lists import Plan, Planner, best_of_lists, first_solution, orders
from batdispatch.abilities.solvers.constraint.model_search import search_plan
from batdispatch.abilities.solvers.constraint.models import positions
from batdispatch.abilities.solvers.constraint.models.counts import Counts
from batdispatch.abilities.solvers.constraint.models.formulations import SEARCHED_MODELS
from batdispatch.abilities.solvers.constraint.models.interleaved_search import InterleavedSearch
from batdispatch.abilities.solvers.constraint.models.positions import Positions, node_map
from batdispatch.abilities.solvers.constraint.models.searched_model import DoublingLimit, SearchedModel
from batdispatch.abilities.solvers.solving import Limits, SolverResult, run
from batdispatch.abilities.solvers.solving.depth_first import BRANCH_SECONDS
from batdispatch.core.machine.machine import Host, Machine

EXACT = ("node-wise", "positions", "counts")


LIMITS = Limits(work=60.0, wall=600.0)


def solve(formulation: str, found: Instance, *, work: float = 60.0, **options: str) -> SolverResult[Plan]:
    seen = found.as_one_node() if formulation == "pooled" else found
    plan = first_solution(Planner(seen, placed_by("best-fit", found)))
    limits = Limits(work=work, wall=600.0)
    if formulation == "counts":
        model = partial(Counts, seen, plan)
        return run(model, (plan, plan.cost), bound=seen.bound, limits=limits, clock=lambda: 0.0, trust=False)
    return search_plan(formulation, seen, plan, limits, lambda: 0.0, **options)


def solved(formulation: str, found: Instance, **options: str) -> Plan:
    """Solve to optimality; of the pooled model only starts and cost count."""
    outcome = solve(formulation, found, **options)
    assert outcome.status == "OPTIMAL"
    assert outcome.bound == outcome.cost
    return outcome.solution


# ---------------------------------------------------------------------- the paper's figures

#: 64 nodes of 16 cores and 16 GB; the first 32 have 2 GPUs, the others 2 MICs.
EURORA = Machine(
    [
        Host(id=n, name=f"n{n}", properties={"capacity": f"core=16 gpu={2 * (n < 32)} mic={2 * (n >= 32)} mem=16"})
        for n in range(64)
    ]
)


def eurora() -> Instance:
    return made(EURORA, [(10, 2, {"demand": {"core": 4, "gpu": 2, "mem": 8}})])


def test_figure_2_of_pcp20_the_positions_of_a_resource_follow_the_nodes() -> None:
    cores, gpus, mics, memory = (node_map(EURORA.capacity, axis) for axis in range(4))
    assert len(gpus) == 2 * 32
    assert gpus[:4] == [0, 0, 1, 1], "the first two GPUs are the first node's, the next two the second's"
    assert mics[:2] == [32, 32], "the MICs begin with the 33rd node"
    assert len(mics) == 64
    assert len(cores) == len(memory) == 64 * 16
    assert cores[15:17] == [0, 1]


def test_figure_3_of_pcp20_a_unit_is_a_box_of_duration_x_amount() -> None:
    """One job of two units with 4 cores, 2 GPUs and 8 GB each: 6 positions and a start; MICs are not asked for."""
    found = eurora()
    model = Positions(found, first_solution(Planner(found, placed_by("best-fit", found))))
    assert sorted(str(variable).split("(")[0] for variable in model.variables) == [
        "s0", "y0,0,0", "y0,0,1", "y0,1,0", "y0,1,1", "y0,3,0", "y0,3,1",
    ]  # fmt: skip
    # In figure 2's line of cores, 16 a node, the last unit's 4 end at the last node with GPUs.
    outcome = search_plan("positions", found, model.plan, LIMITS, lambda: 0.0)
    place = outcome.solution.places[0]
    assert place is not None
    assert place.allocation.ids == [30, 31], "a node has room for one such unit: best fit takes the last two nodes"


def test_variables_are_counted_as_in_the_paper() -> None:
    found = eurora()
    assert found.paper_variables() == 1 + 2 * 4
    # A GPU node holds one such unit (2 GPUs), so 32 nodes give 32 variables.
    assert found.node_wise_variables() == 1 + 32
    serial = instance([(4,)] * 10, [(5, 1, (1,))])
    assert serial.node_wise_variables() == 1 + 10, "at least 1 + |N| for a serial job"
    assert serial.paper_variables() == 2


def test_no_box_straddles_two_nodes() -> None:
    """3 units of 3 cores on 2 nodes of 4: two now, the third later, though 8 positions are free."""
    found = instance([(4,), (4,)], [(5, 1, (3,)), (5, 1, (3,)), (5, 1, (3,))])
    for formulation in EXACT:
        plan = solved(formulation, found)
        assert sorted(plan.starts.tolist()) == [0, 0, 5]
        check(found, plan)
    assert sorted(solved("pooled", found).starts.tolist()) == [0, 0, 5], "9 cores do not fit into 8 either"
    apart = instance([(4,), (4,)], [(5, 1, (3,)), (5, 1, (3,)), (5, 1, (2,))])
    assert solved("pooled", apart).cost == 0, "pooled, 8 cores are enough"
    assert solved("positions", apart).cost > 0


def test_the_printed_implied_cumulative_would_forbid_a_feasible_instance() -> None:
    """Four unit-length jobs that each need all of it: start times as demands would need 0 + 1 + 2 + 3 > 4."""
    found = instance([(2,)], [(1, 1, (2,))] * 4)
    assert sorted(solved("positions", found).starts.tolist()) == [0, 1, 2, 3]


def test_boxes_need_consecutive_positions_which_the_machine_does_not_ask_for() -> None:
    """One node of 6 units: the best plan of boxes is worse than the best plan, and bounds nothing else."""
    asked = zip((4, 1, 2, 4, 4, 5, 3, 5), (2, 3, 3, 3, 2, 1, 1, 3), strict=True)
    found = instance([(6,)], [(duration, 1, (cores,)) for duration, cores in asked])
    costs = {name: solved(name, found).cost for name in EXACT}
    assert costs == {"node-wise": 4066666, "counts": 4066666, "positions": 4133333}
    better = solved("counts", found)
    assert search_plan("positions", found, better, LIMITS, lambda: 0.0).cost == 4133333, "a search is told of no plan"


def test_whole_nodes_have_no_box_and_keep_their_place() -> None:
    found = instance([(4,), (4,)], [(5, 1, None), (2, 1, (3,)), (3, 2, (2,))])
    plan = first_solution(Planner(found, placed_by("last-fit", found)))
    assert Positions(found, plan).moved == [1, 2]
    outcome = solve("positions", found).solution
    assert outcome.starts[0] == 0
    check(found, outcome)
    assert solved("counts", found).cost <= outcome.cost


# ---------------------------------------------------------------------- equal optima


def equal_optima(seed: int) -> None:
    found = random_instance(np.random.default_rng(seed))
    costs = {}
    for formulation in EXACT:
        plan = solved(formulation, found)
        check(found, plan)
        costs[formulation] = plan.cost
    assert len(set(costs.values())) == 1, f"seed {seed}: {costs}"
    assert solved("pooled", found).cost <= costs["counts"]
    assert found.bound <= costs["counts"]
    _, plan = best_of_lists(Planner(found, placed_by("scarce", found)), 5)
    assert plan.cost >= costs["counts"]


@pytest.mark.parametrize("seed", range(20))
def test_formulations_agree(seed: int) -> None:
    equal_optima(seed)


@pytest.mark.slow
def test_formulations_agree_on_300_instances() -> None:
    for seed in range(300):
        equal_optima(seed)


@pytest.mark.parametrize("seed", range(15))
def test_the_optimum_is_that_of_an_enumeration(seed: int) -> None:
    found = random_instance(np.random.default_rng(1000 + seed), nodes=2, jobs=3, units=2)
    expected = brute_force(found)
    for formulation in EXACT:
        assert solved(formulation, found).cost == expected


def test_large_resources_have_the_same_optimum(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a map of positions would be too long, bounds of each node's positions say the same."""
    for seed in range(12):
        found = random_instance(np.random.default_rng(seed))
        costs = []
        for most in (positions.MOST_POSITIONS, 0):
            monkeypatch.setattr(positions, "MOST_POSITIONS", most)
            plan = solved("positions", found)
            check(found, plan)
            costs.append(plan.cost)
        assert costs[0] == costs[1]


def test_amounts_are_counted_in_their_greatest_common_divisor() -> None:
    """Nodes of 64 GB, counted in MiB: a unit of 16 GB takes one position of four."""
    found = instance([(4, 65536)] * 2, [(5, 3, (1, 16384)), (5, 4, (1, 32768))], [(3, {0: (1, 49152)})])
    model = Positions(found, first_solution(Planner(found, placed_by("last-fit", found))))
    assert model.grains == [1, 16384]
    assert [line.ends for line in model.lines] == [[4, 8], [4, 8]]
    check(found, solved("positions", found))


# ---------------------------------------------------------------------- requests that models cannot express


@given(found=beyond())
def test_what_a_model_cannot_express_is_planned_around_and_never_over_capacity(found: Instance) -> None:
    for formulation in EXACT:
        outcome = solve(formulation, found, work=0.02)
        check(found, outcome.solution)


def test_a_search_by_nodes_accepts_no_plan_whose_units_do_not_add_up() -> None:
    """The solver's constraint on sums let some pass: a job of two units was planned on one."""
    cp = pywrapcp.Solver("places")
    places = [cp.BoolVar(name) for name in "ab"]
    rule = InterleavedSearch([cp.IntVar(0, 0, "s")], [places], [1], [], raised=[], sums=[1])
    collector = cp.AllSolutionCollector()
    collector.Add(places)
    cp.Solve(rule, [collector])
    found = [[collector.Value(number, place) for place in places] for number in range(collector.SolutionCount())]
    assert sorted(found) == [[0, 1], [1, 0]]


@given(found=beyond())
def test_fixed_boxes_hold_what_jobs_hold_and_do_not_overlap(found: Instance) -> None:
    model = Positions(found, first_solution(Planner(found, placed_by("first-fit", found))))
    for axis in range(2):
        boxes = model.fixed_boxes(axis)
        for a, (begin, end, low, high) in enumerate(boxes):
            assert not any(b < end and begin < e and lo < high and low < hi for b, e, lo, hi in boxes[a + 1 :])
        held = sum((one.end - one.begin) * int(one.amounts[:, axis].sum()) for one in model.held)
        assert held == model.grains[axis] * sum((end - begin) * (high - low) for begin, end, low, high in boxes)


def test_an_optimum_around_jobs_that_are_not_moved_is_no_bound_and_no_proof() -> None:
    """The first job's whole node has no box: the best that boxes find around it costs five times the optimum."""
    found = instance([(4,), (4,)], [(5, 1, None), (1, 1, (4,)), (1, 1, (4,))], [(3, {0: (1,)})])
    best, boxes = solve("counts", found), solve("positions", found)
    assert best.status == "OPTIMAL"
    assert boxes.cost > best.cost
    assert boxes.bound <= best.cost
    assert boxes.status == "FEASIBLE"


@given(found=beyond())
def test_no_bound_of_a_model_exceeds_the_cost_of_another(found: Instance) -> None:
    outcomes = [solve(formulation, found, work=0.02) for formulation in ("node-wise", "counts")]
    least = min(outcome.cost for outcome in outcomes)
    assert all(outcome.bound <= least for outcome in outcomes)
    assert all(outcome.cost == outcome.bound for outcome in outcomes if outcome.status == "OPTIMAL")


# ---------------------------------------------------------------------- list plans


@pytest.mark.parametrize("seed", range(25))
def test_a_job_that_finds_no_place_makes_no_list_look_cheap(seed: int) -> None:
    """Node 1 of 4 is away and the placement wants neighbours: some jobs have no place, and wait until the horizon."""
    rng = np.random.default_rng(seed)
    machine = Machine([Host(id=i, name=f"n{i}", properties={"capacity": "core=2"}) for i in range(4)])
    asked = [(int(rng.integers(1, 12)), int(rng.integers(1, 4)), {"demand": {"core": 2}}) for _ in range(4)]
    found = made(machine, asked, [(int(rng.integers(1, 9)), 1, {"demand": {"core": 2}}, {0: 1})], away=0b0010)
    planner = Planner(found, placed_by("contiguous", found))
    first, best = best_of_lists(planner, 2)
    assert best.cost <= first.cost
    plan = planner.serial(np.arange(4), best.cost)
    assert plan is None or plan.cost < best.cost


@given(found=instances())
def test_plans_from_lists_are_bounded_by_each_other(found: Instance) -> None:
    for name in ("scarce", "best-fit", "last-fit", "first-fit"):
        first, best = best_of_lists(Planner(found, placed_by(name, found)), 3)
        check(found, first)
        check(found, best)
        assert found.bound <= best.cost <= first.cost


def test_first_solution_follows_the_search_rule() -> None:
    """Of the jobs that can start first, the one of highest priority: the second does not fit, the third does."""
    found = instance([(4,)], [(10, 1, (3,)), (10, 1, (2,)), (30, 1, (1,))])
    plan = first_solution(Planner(found, placed_by("last-fit", found)))
    assert plan.starts.tolist() == [0, 10, 0]


def test_nodes_are_filled_as_asked() -> None:
    # The middle node is fuller than the first; the last one has the GPUs that the second job will need.
    found = instance([(4, 0), (4, 0), (4, 2)], [(5, 1, (1, 0)), (5, 1, (1, 1))], [(9, {1: (2, 0)})])
    chosen = {}
    for name in ("scarce", "best-fit", "last-fit", "first-fit"):
        place = first_solution(Planner(found, placed_by(name, found))).places[0]
        assert place is not None
        chosen[name] = place.allocation.ids
    assert chosen == {"scarce": [1], "best-fit": [1], "last-fit": [2], "first-fit": [0]}


def test_costs_are_exact_however_large() -> None:
    found = instance([(2,)], [(10**8, 1, (1,)), (1, 1, (1,))] * 600)
    horizon = found.horizon()
    assert found.cost([horizon] * 1200) == 600 * (1 + 10**6) * horizon > 2**64


def test_costs_beyond_what_a_solver_can_count_are_a_fallback_and_no_crash() -> None:
    """400 jobs, half of them of three years: the objective may exceed 2^61."""
    found = instance([(2,)], [(10**8 if n % 2 else 1, 1, (2,)) for n in range(400)])
    outcome = solve("positions", found)
    assert (outcome.status, outcome.variables) == ("UNKNOWN", 0)
    check(found, outcome.solution)


# ---------------------------------------------------------------------- the published search


class First(Positions):
    """Stops at its first solution."""

    def enough(self, spent: float, limit: float, best: Callable[[], int | None]) -> bool:
        return best() is not None


def greedy(found: Instance) -> list[int]:
    """The starts of PCP'20's rule on a grid of seconds x positions of one resource, written from the paper's text.

    Of the jobs that can start first, the one of highest priority starts; its units take the largest positions.
    """
    capacity = [row[0] for row in found.ledger.machine.capacity.tolist()]
    taken = [[False] * sum(capacity) for _ in range(found.horizon() + 1)]
    first = [sum(capacity[:node]) for node in range(len(capacity))]
    for one in found.running:
        for node, _ in one.allocation.per_host():
            amount = one.stay.job.extra["demand"]["core"]
            free = [at for at in range(first[node], first[node] + capacity[node]) if not taken[0][at]]
            for second in range(one.seconds):
                for at in free[:amount]:
                    taken[second][at] = True
    amounts = [job.extra["demand"]["core"] for job in found.jobs]
    durations = found.durations.tolist()

    def boxes(job: int, start: int) -> list[int]:
        """The largest positions that the units can take, as many as there are."""
        chosen: list[int] = []
        below = sum(capacity)
        for at in reversed(range(sum(capacity))):
            top = at + amounts[job]
            whole = any(low <= at and top <= low + size for low, size in zip(first, capacity, strict=True))
            seconds = range(start, start + durations[job])
            if whole and top <= below and not any(taken[t][y] for t in seconds for y in range(at, top)):
                chosen.append(at)
                below = at
        return chosen[: found.jobs[job].units]

    starts: dict[int, int] = {}
    while len(starts) < len(found.jobs):
        soonest = {
            job: next(t for t in range(found.horizon() + 1) if len(boxes(job, t)) == found.jobs[job].units)
            for job in range(len(found.jobs))
            if job not in starts
        }
        job = min(soonest, key=lambda job: (soonest[job], job))
        starts[job] = soonest[job]
        for at in boxes(job, starts[job]):
            for second in range(starts[job], starts[job] + durations[job]):
                for y in range(at, at + amounts[job]):
                    taken[second][y] = True
    return [starts[job] for job in range(len(found.jobs))]


@pytest.mark.parametrize("units", ["increasing", "different"])
@pytest.mark.parametrize("seed", range(25))
def test_the_first_solution_of_the_published_search_is_the_greedy_list_of_its_rule(seed: int, units: str) -> None:
    rng = np.random.default_rng(seed)
    capacity = [(int(rng.integers(2, 7)),) for _ in range(3)]
    least = min(row[0] for row in capacity)
    asked = [(int(rng.integers(1, 9)), int(rng.integers(1, 4)), (int(rng.integers(1, least + 1)),)) for _ in range(7)]
    running = [(int(rng.integers(1, 9)), {node: (1,)}) for node in range(3) if rng.random() < 0.5]
    found = instance(capacity, asked, running)
    model = First(found, first_solution(Planner(found, placed_by("last-fit", found))), units=units)
    answer = model.solve(LIMITS)
    assert answer.value is not None
    plan, _ = model.read(answer.value)
    check(found, plan)
    assert plan.starts.tolist() == greedy(found)


def test_backtracking_to_starts_alone_never_claims_a_proof() -> None:
    for seed in range(20):
        found = random_instance(np.random.default_rng(seed))
        best, outcome = solved("positions", found), solve("positions", found, backtracking="starts")
        assert outcome.status == "FEASIBLE"
        assert outcome.cost >= best.cost
        assert outcome.bound <= best.cost


@pytest.mark.parametrize("formulation", ["pooled", "node-wise"])
def test_limits_are_doubled_until_two_in_a_row_give_the_same_cost(formulation: str) -> None:
    doubling, costs = DoublingLimit(), {1: 9, 2: 8, 3: 8, 4: 7, 8: 7}
    over = [now for now in range(17) if doubling.enough(float(now), 1.0, lambda now=now: costs.get(now, 7))]
    assert over[0] == 8, "9 at 1, 8 at 2, 7 at 4, and 7 at 8"
    assert issubclass(SEARCHED_MODELS[formulation], SearchedModel)  # type: ignore[arg-type]


def test_without_any_solution_limits_are_doubled_four_times() -> None:
    doubling = DoublingLimit()
    over = [now for now in range(40) if doubling.enough(float(now), 1.0, lambda: None)]
    assert over[0] == 16


def test_pcp20_searches_three_times_as_long_while_it_has_no_solution() -> None:
    found = instance([(2,)], [(1, 1, (1,))])
    model = Positions(found, first_solution(Planner(found, placed_by("last-fit", found))))
    assert [model.enough(spent, 2.0, lambda: 5) for spent in (1.9, 2.0)] == [False, True]
    assert [model.enough(spent, 2.0, lambda: None) for spent in (2.0, 5.9, 6.0)] == [False, False, True]


def test_wide_jobs_are_searched_within_their_limit_all_propagation_counted() -> None:
    """Each branch compares some 800 boxes with each other, and takes some six milliseconds."""
    rng = np.random.default_rng(1)
    jobs: list[tuple[int, int, dict[str, Any]]] = [
        (int(rng.integers(60, 40_000)), int(rng.integers(1, 31)), {}) for _ in range(50)
    ]
    found = made(Machine.flat(100), jobs)

    def search(work: float) -> tuple[float, bool, int]:
        model = Positions(found, first_solution(Planner(found, placed_by("last-fit", found))))
        answer = model.solve(Limits(work=work, wall=1e9))
        assert ("normal demon runs = 0," in str(model.cp)) == answer.beyond, "nothing is propagated"
        return answer.work, answer.beyond, model.cp.Branches()

    work, beyond, branches = search(0.2)
    assert (0.2 <= work < 0.61, beyond, 20 < branches < 100) == (True, False, True)
    work, beyond, branches = search(0.02)
    assert (work > 0.2, beyond, branches) == (True, True, 0), "it takes longer to be built"


@pytest.mark.parametrize("formulation", ["node-wise", "pooled", "positions"])
def test_a_branch_counts_the_tasks_that_it_propagates(formulation: str) -> None:
    def work(jobs: int) -> float:
        found = made(Machine.flat(8), [(60, 2, {})] * jobs)
        seen = found.as_one_node() if formulation == "pooled" else found
        model = SEARCHED_MODELS[formulation](seen, first_solution(Planner(seen, placed_by("best-fit", found))))
        assert isinstance(model, SearchedModel)
        return model.branch_work() - BRANCH_SECONDS

    assert 0 < 2.9 * work(4) <= work(12)


def test_a_search_on_a_small_machine_counts_its_propagation() -> None:
    """On KTH-SP2 such a model took 4 s for each deterministic second, as long as only its size was counted."""
    rng = np.random.default_rng(3)
    jobs: list[tuple[int, int, dict[str, Any]]] = [
        (int(rng.integers(60, 40_000)), int(rng.integers(1, 9)), {}) for _ in range(12)
    ]
    found = made(Machine.flat(20), jobs)
    model = Positions(found, first_solution(Planner(found, placed_by("last-fit", found))))
    answer = model.solve(Limits(work=0.1, wall=1e9))
    assert (answer.status, answer.beyond) == ("FEASIBLE", False)
    assert 0.1 <= answer.work < 0.101
    assert 200 < model.cp.Branches() < 1_000


@pytest.mark.parametrize("formulation", sorted(SEARCHED_MODELS))
def test_the_same_search_finds_the_same(formulation: str) -> None:
    found = random_instance(np.random.default_rng(7), nodes=4, jobs=9)
    outcomes = [solve(formulation, found, work=0.01) for _ in range(2)]
    assert outcomes[0].solution.starts.tolist() == outcomes[1].solution.starts.tolist()
    assert outcomes[0].work == outcomes[1].work


def test_all_formulations_are_tested() -> None:
    # `whole-jobs` has a file of its own: nothing is proved there.
    assert {*SEARCHED_MODELS, "counts"} == {"pooled", "whole-jobs", *EXACT}


def test_the_lists_worth_trying() -> None:
    """On 12 cores: by arrival, by duration, by duration x share, and by duration^2 x share."""
    found = instance([(12,)], [(4, 1, (6,)), (9, 1, (2,)), (5, 1, (3,)), (2, 1, (11,))])
    # d = 4, 9, 5, 2; d x cores = 24, 18, 15, 22; d^2 x cores = 96, 162, 75, 44.
    assert [order.tolist() for order in orders(found)] == [[0, 1, 2, 3], [3, 0, 2, 1], [2, 1, 3, 0], [3, 2, 0, 1]]
