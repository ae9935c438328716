"""The constraint models: the paper's figures, equal optima, and plans that hold."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from instances import beyond, brute_force, check, instance, instances, made, placed_by, random_instance

from batdispatch.core.machine import Host, Machine
from batdispatch.dispatchers.constraint import models
from batdispatch.dispatchers.constraint.instance import Instance
from batdispatch.dispatchers.constraint.lists import Plan, Planner, best_of_lists, first_solution
from batdispatch.dispatchers.constraint.models import FORMULATIONS, Positions, node_map
from batdispatch.parts.solving import Found, Limits, run

quick = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
EXACT = ("node-wise", "positions", "counts")


def solve(formulation: str, found: Instance, *, hint: bool = True, work: float = 60.0) -> Found[Plan]:
    seen = found.as_one_node() if formulation == "pooled" else found
    plan = first_solution(Planner(seen, placed_by("best-fit", found)))
    return run(
        lambda: FORMULATIONS[formulation](seen, plan, hint=hint),
        (plan, plan.cost),
        bound=seen.bound,
        limits=Limits(work=work, wall=600.0),
        clock=lambda: 0.0,
        trust=hint,
    )


def solved(formulation: str, found: Instance, *, hint: bool = True) -> Plan:
    """Solve to optimality; of the pooled model only starts and cost count."""
    outcome = solve(formulation, found, hint=hint)
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
    """One job of two units with 4 cores, 2 GPUs and 8 GB each: 6 boxes, 1 + 2 x 3 variables besides the nodes."""
    found = eurora()
    model = Positions(found, first_solution(Planner(found, placed_by("best-fit", found))))
    proto = model.cp.proto
    names = [variable.name for variable in proto.variables]
    positions_of = [name for name in names if name.startswith("y")]
    assert len(positions_of) == 6, "MICs are not asked for"
    assert names.count("s0") == 1
    lines: dict[int, int] = {}
    for constraint in proto.constraints:
        if constraint.has_interval():
            size = constraint.interval.size.offset
            lines[size] = lines.get(size, 0) + 1
    assert lines == {10: 1, 4: 2, 2: 2, 8: 2}, "10 s along the time, 4 cores, 2 GPUs and 8 GB along the positions"
    assert sum(constraint.has_no_overlap_2d() for constraint in proto.constraints) == 3


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
        plan = solved(formulation, found, hint=False)
        assert sorted(plan.starts.tolist()) == [0, 0, 5]
        check(found, plan)
    assert sorted(solved("pooled", found).starts.tolist()) == [0, 0, 5], "9 cores do not fit into 8 either"
    apart = instance([(4,), (4,)], [(5, 1, (3,)), (5, 1, (3,)), (5, 1, (2,))])
    assert solved("pooled", apart).cost == 0, "pooled, 8 cores are enough"
    assert solved("positions", apart).cost > 0


def test_the_printed_implied_cumulative_would_forbid_a_feasible_instance() -> None:
    """Four unit-length jobs that each need all of it: start times as demands would need 0 + 1 + 2 + 3 > 4."""
    found = instance([(2,)], [(1, 1, (2,))] * 4)
    assert sorted(solved("positions", found, hint=False).starts.tolist()) == [0, 1, 2, 3]


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
        plan = solved(formulation, found, hint=bool(seed % 2))
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
        for most in (models.MOST_POSITIONS, 0):
            monkeypatch.setattr(models, "MOST_POSITIONS", most)
            plan = solved("positions", found, hint=False)
            check(found, plan)
            costs.append(plan.cost)
        assert costs[0] == costs[1]


def test_millions_of_positions_build_a_small_model() -> None:
    found = instance([(1, 2**20)] * 64, [(10, 4, (1, 1000))] * 20)
    model = Positions(found, first_solution(Planner(found, placed_by("last-fit", found))))
    assert len(str(model.cp.proto)) < 10**6


# ---------------------------------------------------------------------- requests that models cannot express


@quick
@given(found=beyond())
def test_what_a_model_cannot_express_is_planned_around_and_never_over_capacity(found: Instance) -> None:
    for formulation in EXACT:
        outcome = solve(formulation, found, work=0.02)
        check(found, outcome.solution)
        assert outcome.cost <= outcome.first


@given(found=beyond())
@settings(max_examples=30, deadline=None)
def test_fixed_boxes_hold_what_jobs_hold_and_do_not_overlap(found: Instance) -> None:
    model = Positions(found, first_solution(Planner(found, placed_by("first-fit", found))))
    for axis in range(2):
        boxes = model._fixed_boxes(axis)
        for a, (begin, end, low, high) in enumerate(boxes):
            assert not any(b < end and begin < e and lo < high and low < hi for b, e, lo, hi in boxes[a + 1 :])
        held = sum((one.end - one.begin) * int(one.amounts[:, axis].sum()) for one in model.held)
        assert held == sum((end - begin) * (high - low) for begin, end, low, high in boxes)


def test_an_optimum_around_jobs_that_are_not_moved_is_no_bound_and_no_proof() -> None:
    """The first job's whole node has no box: the best that boxes find around it costs five times the optimum."""
    found = instance([(4,), (4,)], [(5, 1, None), (1, 1, (4,)), (1, 1, (4,))], [(3, {0: (1,)})])
    best, boxes = solve("counts", found), solve("positions", found)
    assert best.status == "OPTIMAL"
    assert boxes.cost > best.cost
    assert boxes.bound <= best.cost
    assert boxes.status == "FEASIBLE"


@quick
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


@quick
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


def test_all_formulations_are_tested() -> None:
    assert set(FORMULATIONS) == {"pooled", *EXACT}
