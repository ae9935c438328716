"""The constraint models: the paper's figures, equal optima, and plans that hold."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from instances import brute_force, check, instance, instances, random_instance

from batdispatch.core.errors import InputError
from batdispatch.dispatchers.constraint.greedy import Nodes, Plan, Planner, orders, search
from batdispatch.dispatchers.constraint.instance import Instance
from batdispatch.dispatchers.constraint.models import FORMULATIONS, node_map, positions
from batdispatch.dispatchers.constraint.solver import improve

quick = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def solve(formulation: str, found: Instance, *, hint: bool = True) -> Plan:
    """Solve to optimality; of the pooled model only starts and cost count."""
    first, plan = search(Planner(found), 0)
    outcome = improve(formulation, found, plan, first=first.cost, work=60.0, wall=600.0, seed=0, hint=hint)
    assert outcome.status == "OPTIMAL"
    assert outcome.bound == outcome.plan.cost
    return outcome.plan


# ---------------------------------------------------------------------- the paper's figures


def eurora() -> Instance:
    """64 nodes of 16 cores and 16 GB; the first 32 have 2 GPUs, the others 2 MICs."""
    table = [(16, 2, 0, 16)] * 32 + [(16, 0, 2, 16)] * 32
    capacity = np.array(table, dtype=np.int64)
    one = instance([(1,)], [(10, 2, (1,))])
    return Instance(
        now=0.0,
        resources=("core", "gpu", "mic", "mem"),
        capacity=capacity,
        ids=one.ids,
        durations=one.durations,
        waits=one.waits,
        units=one.units,
        requests=np.array([[4, 2, 0, 8]]),
        running=(),
    )


def test_figure_2_of_pcp20_the_positions_of_a_resource_follow_the_nodes() -> None:
    found = eurora()
    cores, gpus, mics, memory = (node_map(found, axis) for axis in range(4))
    assert len(gpus) == 2 * 32
    assert gpus[:4] == [0, 0, 1, 1], "the first two GPUs are the first node's, the next two the second's"
    assert mics[:2] == [32, 32], "the MICs begin with the 33rd node"
    assert len(mics) == 64
    assert len(cores) == len(memory) == 64 * 16
    assert cores[15:17] == [0, 1]


def test_figure_3_of_pcp20_a_unit_is_a_box_of_duration_x_amount() -> None:
    """One job of two units with 4 cores, 2 GPUs and 8 GB each: 6 boxes, 1 + 2 x 3 variables besides the nodes."""
    found = eurora()
    model = positions(found)
    proto = model.cp.proto
    names = [variable.name for variable in proto.variables]
    positions_of = [name for name in names if name.startswith("y")]
    assert len(positions_of) == 6, "MICs are not asked for"
    assert names.count("s0") == 1
    lines = {}
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
    for formulation in ("positions", "node-wise", "counts"):
        plan = solve(formulation, found, hint=False)
        assert sorted(plan.starts.tolist()) == [0, 0, 5]
        check(found, plan)
    assert sorted(solve("pooled", found).starts.tolist()) == [0, 0, 5], "9 cores do not fit into 8 either"
    apart = instance([(4,), (4,)], [(5, 1, (3,)), (5, 1, (3,)), (5, 1, (2,))])
    assert solve("pooled", apart).cost == 0, "pooled, 8 cores are enough"
    assert solve("positions", apart).cost > 0


def test_the_printed_implied_cumulative_would_forbid_a_feasible_instance() -> None:
    """Four unit-length jobs that each need all of it: start times as demands would need 0 + 1 + 2 + 3 > 4."""
    found = instance([(2,)], [(1, 1, (2,))] * 4)
    assert sorted(solve("positions", found, hint=False).starts.tolist()) == [0, 1, 2, 3]


def test_whole_nodes_have_no_box() -> None:
    found = instance([(4,)], [(5, 1, (-1,))])
    with pytest.raises(InputError, match=r"job w0!0 asks for whole nodes.*give it a demand"):
        positions(found)


# ---------------------------------------------------------------------- equal optima


def equal_optima(seed: int, formulations: tuple[str, ...] = ("node-wise", "positions", "counts")) -> None:
    found = random_instance(np.random.default_rng(seed))
    costs = {}
    for formulation in formulations:
        plan = solve(formulation, found, hint=bool(seed % 2))
        check(found, plan)
        costs[formulation] = plan.cost
    assert len(set(costs.values())) == 1, f"seed {seed}: {costs}"
    assert solve("pooled", found.pooled()).cost <= costs["counts"]
    assert found.bound() <= costs["counts"]
    _, plan = search(Planner(found), 5)
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
    for formulation in ("node-wise", "positions", "counts"):
        assert solve(formulation, found).cost == expected


# ---------------------------------------------------------------------- greedy plans


@quick
@given(found=instances())
def test_capacity_is_never_exceeded(found: Instance) -> None:
    modes: tuple[Nodes, ...] = ("scarce", "fullest", "highest", "lowest")
    for nodes in modes:
        planner = Planner(found, nodes)
        check(found, planner.forward(orders(found)[0]))
        for order in orders(found):
            plan = planner.serial(order)
            assert plan is not None
            check(found, plan)
        first, best = search(planner, 3)
        check(found, best)
        assert found.bound() <= best.cost <= first.cost


@quick
@given(found=instances())
def test_jobs_held_back_do_not_start_now(found: Instance) -> None:
    held = np.zeros(len(found.ids), dtype=bool)
    held[::2] = True
    first, best = search(Planner(found, held_back=held), 2)
    for plan in (first, best):
        check(found, plan)
        assert (plan.starts[::2] > 0).all()


def test_greedy_first_solution_follows_the_search_rule() -> None:
    """Of the jobs that can start first, the one of highest priority: the second does not fit, the third does."""
    found = instance([(4,)], [(10, 1, (3,)), (10, 1, (2,)), (30, 1, (1,))])
    plan = Planner(found).forward(orders(found)[0])
    assert plan.starts.tolist() == [0, 10, 0]
    assert [hosts.tolist() for hosts, _ in plan.places] == [[0], [0], [0]]


def test_nodes_are_filled_as_asked() -> None:
    # The middle node is fuller than the first; the last one has the GPUs that the second job will need.
    found = instance([(4, 0), (4, 0), (4, 2)], [(5, 1, (1, 0)), (5, 1, (1, 1))], [(9, {1: (2, 0)})])
    chosen = {nodes: Planner(found, nodes).forward(orders(found)[0]).places[0][0].tolist() for nodes in
              ("scarce", "fullest", "highest", "lowest")}  # fmt: skip
    assert chosen == {"scarce": [1], "fullest": [1], "highest": [2], "lowest": [0]}


def test_all_formulations_are_tested() -> None:
    assert set(FORMULATIONS) == {"pooled", "node-wise", "positions", "counts"}
