"""AUCSCHED's intervals, node sets, preferences and the choice of bids, worked out by hand."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
from auctions import Asked, nodes_of, problem_of, start
from batdispatch.abilities.solvers.auction.bids import SCALE, Bid, Most, generate
from batdispatch.abilities.solvers.auction.interval_bids import LAST_RESORT, IntervalBids
from batdispatch.abilities.solvers.auction.intervals import line_of
from batdispatch.abilities.solvers.auction.plans import greedy
from batdispatch.abilities.solvers.auction.problem import Problem
from batdispatch.abilities.solvers.auction.switch_bids import SwitchBids
from batdispatch.abilities.topology.networks import FatTree
from batdispatch.core.line.ledger import Ledger
from strategies import make_job

ORACLE: Any = json.loads((Path(__file__).parents[3] / "oracles" / "auction" / "aucsched_states.json").read_text())
STATE = ORACLE["bid_generation"][0]
MANY = Most(1000, 10_000)
#: Cores with two GPUs on each node.
GPUS = {"demand": {"core": 1}, "per_node": {"gpu": 2}}
CORES = {"demand": {"core": 1}}


def all_bids(problem: Problem, most: Most = MANY, classes: int = 500) -> list[list[Bid]]:
    bids, _ = generate(problem, IntervalBids(classes), LAST_RESORT, most)
    return [list(bids.get(job, ())) for job in range(len(problem.askings))]


def sets(bids: list[Bid]) -> dict[tuple[int, ...], float]:
    """Node sets -> preference."""
    return {tuple(bid.nodes.tolist()): bid.preference / SCALE for bid in bids}


def bids_on(free: list[tuple[int, int]], units: int, **fields: Any) -> dict[tuple[int, ...], float]:
    return sets(all_bids(problem_of(nodes_of(free), [(units, fields)]))[0])


def oracle_nodes() -> list[tuple[int, int]]:
    return [(cores, gpus) for cores, gpus in STATE["nodes"]]


def test_intervals_are_maximal_runs_of_nodes_that_can_take_the_job() -> None:
    problem = problem_of(nodes_of(oracle_nodes()), [(1, GPUS)])
    line = line_of(problem.askings[0].room, problem.hosts)
    found = [line.nodes[first:end].tolist() for first, end in zip(*line.intervals, strict=True)]
    assert found == STATE["intervals"]


@pytest.mark.parametrize("count", STATE["bids_for_fixed_count"])
def test_bids_of_a_fixed_number_of_nodes(count: str) -> None:
    expected = STATE["bids_for_fixed_count"][count]
    found = bids_on(oracle_nodes(), int(count), nodes=int(count), **GPUS)
    assert sorted(one for one, value in found.items() if value == 1.0) == [tuple(one) for one in expected["aligned"]]
    assert sorted(one for one, value in found.items() if value == 0.5) == [tuple(one) for one in expected["windows"]]
    assert STATE["preference"]["aligned"] == 1.0
    assert STATE["preference"]["window"] == 0.5


def test_unions_of_successive_intervals_leave_the_gaps_out() -> None:
    found = bids_on(oracle_nodes(), 4, nodes=4, **GPUS)
    two, three = STATE["preference"]["union_of_2_of_3"], STATE["preference"]["union_of_3_of_3"]
    # The note of the oracle: "4 nodes: no interval is long enough, only unions".
    assert found == {(0, 1, 3, 4): two, (1, 3, 4, 5): two, (3, 4, 5, 7): two}
    assert bids_on(oracle_nodes(), 6, nodes=6, **GPUS) == {(0, 1, 3, 4, 5, 7): three}


def test_preferences_of_jobs_that_leave_their_number_of_nodes_open() -> None:
    asked = STATE["cores_only"]
    found = bids_on(oracle_nodes(), 8, **CORES)
    # 8 cores are 2 nodes of 4.
    assert found[0, 1] == found[3, 4] == found[4, 5] == pytest.approx(asked["aligned_2_nodes"], abs=1e-9)
    found = bids_on([(4, 2)] * 8, 8, **CORES)
    # One interval of 8 nodes.
    assert found[1, 2] == pytest.approx(asked["window_2_nodes"], abs=1e-9)
    found = bids_on(oracle_nodes(), 16, **CORES)
    # A union over both of two intervals, of three: [1, 3, 4, 5] is one too.
    assert found[0, 1, 3, 4] == pytest.approx(asked["union_4_nodes_2_sets"], abs=1e-9)


def test_a_job_that_leaves_its_number_of_nodes_open_also_bids_on_larger_sets_at_the_ends() -> None:
    found = bids_on([(4, 2)] * 8, 8, **CORES)
    at_ends = {one for one, value in found.items() if value > 0.74}
    assert at_ends == {(0, 1), (6, 7), (0, 1, 2, 3), (4, 5, 6, 7), tuple(range(8))}
    # The larger the set, the less it is preferred: .25 for each of the 1 + 8 nodes.
    assert found[tuple(range(8))] == pytest.approx(1 - 0.25 * 8 / 9, abs=1e-9)
    assert (0, 1, 2, 3) not in bids_on([(4, 2)] * 8, 8, nodes=[1, 3], **CORES)


def test_bids_respect_every_kind_of_request() -> None:
    nodes = [(4, 2)] * 6
    assert set(bids_on(nodes, 2, nodes=2, node_list=["n1", "n2", "n4"], **CORES)) == {(1, 2), (2, 4)}
    assert set(bids_on(nodes, 2, nodes=2, exclude_nodes=["n1", "n4"], **CORES)) == {(2, 3), (0, 2), (3, 5)}
    # No union: the nodes are to be consecutive.
    found = bids_on(nodes, 2, nodes=2, contiguous=True, exclude_nodes=["n1", "n4"], **CORES)
    assert set(found) == {(2, 3)}
    # A generic resource of each unit: two units of 3 cores and a GPU need two nodes.
    assert set(bids_on([(4, 2), (4, 0), (4, 1)], 2, nodes=2, demand={"core": 3, "gpu": 1})) == {(0, 2)}
    # 4 units on each node.
    assert set(bids_on([(4, 2), (3, 2), (4, 2)], 8, units_per_node=4, **CORES)) == {(0, 2)}
    # Whole nodes.
    assert set(bids_on([(4, 2), (0, 2), (4, 2)], 2)) == {(0, 2)}


def test_a_job_whose_licences_are_taken_makes_no_bid() -> None:
    ledger = nodes_of([(4, 2)] * 3, licences="matlab=2")
    start(ledger, make_job("w0!first", 1, {"core": 1}, licences={"matlab": 1}), [0])
    asked: list[Asked] = [(1, {**CORES, "licences": {"matlab": 2}}), (1, {**CORES, "licences": {"matlab": 1}})]
    first, second = all_bids(problem_of(ledger, asked))
    assert not first
    assert second


def test_bids_are_as_distinct_as_possible() -> None:
    # Six windows of one node at the ends of three intervals; each job makes two bids.
    nodes = [(4, 2), (4, 2), (0, 0), (4, 2), (4, 2), (0, 0), (4, 2), (4, 2)]
    jobs: list[Asked] = [(1, {"nodes": 1, **GPUS})] * 4
    found = all_bids(problem_of(nodes_of(nodes), jobs), Most(2, 100))
    assert [sorted(sets(bids)) for bids in found] == [[(0,), (3,)], [(1,), (6,)], [(4,), (7,)], [(0,), (3,)]]


def test_what_a_job_prefers_counts_more_than_distinctness() -> None:
    nodes = [(4, 2)] * 5
    jobs: list[Asked] = [(2, {"nodes": 2, **GPUS})] * 3
    assert [set(sets(bids)) for bids in all_bids(problem_of(nodes_of(nodes), jobs), Most(2, 100))] == [
        {(0, 1), (3, 4)}
    ] * 3


def test_jobs_bid_in_their_order_until_all_bids_are_made() -> None:
    jobs: list[Asked] = [(1, {"nodes": 1, **GPUS})] * 2 + [(9, {"nodes": 9, **GPUS})] + [(1, {"nodes": 1, **GPUS})] * 2
    problem = problem_of(nodes_of([(4, 2)] * 4), jobs)
    bids, cut = generate(problem, IntervalBids(500), LAST_RESORT, Most(3, 4))
    assert {job: len(own) for job, own in bids.items()} == {0: 3, 1: 1}
    assert cut == [3, 4], "job 2 does not fit, and is not counted"


def test_at_most_so_many_sets_are_looked_at_those_at_ends_first() -> None:
    problem = problem_of(nodes_of([(4, 2)] * 10), [(2, {"nodes": 2, **GPUS})])
    assert set(sets(all_bids(problem, classes=3)[0])) == {(0, 1), (8, 9), (1, 2)}


def test_a_job_that_no_window_holds_bids_where_first_fit_puts_it() -> None:
    # Two of three nodes, and only the first and the last have room for all units.
    found = bids_on([(3, 0), (1, 0), (3, 0)], 6, nodes=[1, 2], **CORES)
    assert found == {(0, 2): 0.0}


# ---------------------------------------------------------------------- variant 3


def tree(leaves: int, each: int) -> FatTree:
    """Switches with so many hosts below each, and one switch above them."""
    return FatTree(np.arange(leaves * each), (each, leaves), (1, 1), (1, 1))


def switch_bids(ledger: Ledger, units: int, **fields: Any) -> dict[tuple[int, ...], float]:
    problem = problem_of(ledger, [(units, fields)])
    return sets(generate(problem, SwitchBids(500), -2 * SCALE, MANY)[0][0])


def test_variant_3_prefers_sets_below_one_switch() -> None:
    ledger = nodes_of([(4, 2), (4, 2), (4, 2), (0, 0), (4, 2), (4, 2), (4, 2), (4, 2)], tree(2, 4))
    found = switch_bids(ledger, 2, nodes=2, **GPUS)
    # -F = -(nodes / N + level / maxLevel), with 2 of 8 nodes, on level 0 of 1, or across.
    assert found == {
        **dict.fromkeys([(0, 1), (1, 2), (4, 5), (5, 6), (6, 7)], -0.25),
        (2, 4): -1.25,
    }
    assert (2, 4) not in switch_bids(ledger_of_the_same(), 2, nodes=2, contiguous=True, **GPUS)


def ledger_of_the_same() -> Ledger:
    return nodes_of([(4, 2), (4, 2), (4, 2), (0, 0), (4, 2), (4, 2), (4, 2), (4, 2)], tree(2, 4))


def test_variant_3_follows_the_switches_where_the_hosts_are_numbered_across_them() -> None:
    # Even hosts below the first switch, odd ones below the second.
    across = FatTree(np.array([0, 2, 1, 3]), (2, 2), (1, 1), (1, 1))
    found = switch_bids(nodes_of([(4, 2)] * 4, across), 2, nodes=2, **GPUS)
    assert found == {(0, 2): -0.5, (1, 3): -0.5, (1, 2): -1.5}


def test_variant_3_without_a_known_network_counts_nodes_only() -> None:
    found = switch_bids(nodes_of([(4, 2)] * 4), 8, **CORES)
    assert found == {(0, 1): -0.5, (1, 2): -0.5, (2, 3): -0.5, (0, 1, 2, 3): -1.0}


# ---------------------------------------------------------------------- every job


@st.composite
def asked_of(draw: st.DrawFn) -> Asked:
    fields: dict[str, Any] = dict(draw(st.sampled_from([{}, CORES, {"demand": {"core": 2}}, GPUS, {"demand": {}}])))
    for name, values in {
        "nodes": [1, 2, [1, 2], [2, 3]],
        "contiguous": [True],
        "exclude_nodes": [["n1"], ["n0", "n2"]],
        "node_list": [["n0", "n2", "n3"]],
        "units_per_node": [1, 2],
        "licences": [{"matlab": 1}],
    }.items():
        if draw(st.integers(0, 3)) == 0:
            fields[name] = draw(st.sampled_from(values))
    return draw(st.integers(1, 4)), fields


@pytest.mark.parametrize("generator", [IntervalBids(500), SwitchBids(500), IntervalBids(1)])
@given(asked=asked_of(), nodes=st.lists(st.sampled_from([(2, 1), (3, 2), (4, 0), (0, 0)]), min_size=3, max_size=4))
def test_every_job_that_fits_bids_and_each_bid_can_be_granted_alone(
    generator: Any, asked: Asked, nodes: list[tuple[int, int]]
) -> None:
    ledger = nodes_of([*nodes, (2, 2)], licences="matlab=1")
    try:
        problem = problem_of(ledger, [asked])
    except Exception:
        # The request contradicts itself.
        return
    units, fields = asked
    bids, cut = generate(problem, generator, LAST_RESORT, MANY)
    assert not cut
    assert bool(bids) == ledger.space.fits(ledger.free, problem.askings[0].job)
    for index, bid in enumerate(bids.get(0, ())):
        granted = greedy(problem, {0: [bid]})[0]
        assert set(granted.units) <= set(bid.nodes.tolist()), index
        assert naive.allowed(ledger.machine, fields, dict(granted.units), units)
        ledger.space.take(ledger.free, problem.askings[0].job, problem.allocation(granted.units))
        assert ledger.space.lacking(ledger.free, problem.askings[0].job, problem.allocation(granted.units)) is None
