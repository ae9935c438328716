"""Measures of an allocation, against the oracle, hand-worked cases and a naive twin."""

import itertools
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from batdispatch.abilities.topology.networks import Dragonfly, FatTree, Flat, Grid, Topology
from batdispatch.abilities.topology.networks.measures import (
    compactness,
    fewest_routers,
    links_shared,
    locality,
    proximity,
)
from batdispatch.abilities.topology.networks.pieces import Pieces

ORACLE: list[dict[str, Any]] = json.loads(
    (Path(__file__).parents[2] / "oracles" / "topology" / "metrics.json").read_text()
)["tori"]
#: A machine of each kind; hosts stand on routers in twos, and one I/O router of the mesh has a host of its own.
NETWORKS: dict[str, Topology] = {
    "torus": Grid(np.arange(24) // 2, (4, 3)),
    "mesh": Grid([0, 0, 1, 2, 3, 3, 5, 6, 7, 8], (3, 3), wrap=False),
    "fat tree": FatTree(range(12), (3, 4), (1, 2), (1, 1)),
    "dragonfly": Dragonfly(np.arange(24) // 2, 2, 2, 3),
    "flat": Flat([True] * 5),
}


@pytest.mark.parametrize("case", ORACLE, ids=lambda case: "x".join(map(str, case["dims"])))
def test_gamma_rho_and_links_of_the_oracle(case: dict[str, Any]) -> None:
    per = case["nodes_per_router"]
    grid = Grid(np.arange(math.prod(case["dims"]) * per) // per, case["dims"])
    everyone = range(len(grid.router_of))
    for entry in case["allocations"]:
        nodes = entry["nodes"]
        assert compactness(grid, nodes) == pytest.approx(entry["gamma"], abs=1e-12), entry["name"]
        assert proximity(grid, nodes, entry["io"]) == pytest.approx(entry["rho"], abs=1e-12), entry["name"]
        assert links_shared(grid, nodes, [everyone]).sum() == entry["directed_links"], entry["name"]
        assert not links_shared(grid, nodes, []).any()


def test_proximity_takes_the_worst_io_node_and_divides_by_the_number_of_compute_hosts() -> None:
    line = Grid(range(8), [8], wrap=False)
    assert proximity(line, [2, 3, 4], [0]) == (2 + 4) / 3
    assert proximity(line, [2, 3, 4], [0, 7]) == (3 + 5) / 3
    assert proximity(line, [2], [2]) == 0.0


def test_the_locality_factor_is_routers_used_over_the_least_possible() -> None:
    # Routers with 1, 3 and 2 hosts to choose from.
    line = Grid([0, 1, 1, 1, 2, 2], [3], wrap=False)
    fewest = fewest_routers(line, range(6))
    assert fewest.tolist() == [0, 1, 1, 1, 2, 2, 3]
    assert locality(line, [0], fewest) == 1.0
    assert locality(line, [0, 1], fewest) == 2.0
    assert locality(line, [0, 1, 4], fewest) == 3.0
    assert locality(line, [1, 2, 3, 5], fewest) == 1.0


def test_what_cannot_be_measured_is_refused() -> None:
    ring = Grid([0, 1, -1], [2])
    for wrong in (
        lambda: compactness(ring, []),
        lambda: proximity(ring, [], [0]),
        lambda: proximity(ring, [0], []),
        lambda: locality(ring, [], fewest_routers(ring, [0, 1])),
        lambda: locality(ring, [0, 1], fewest_routers(ring, [0])),
        lambda: compactness(ring, [0, 2]),
        lambda: Pieces(ring).of([2]),
    ):
        with pytest.raises(ValueError, match=r"no hosts|at least one|from 1 to|not in this network"):
            wrong()


@st.composite
def sets_of_hosts(draw: st.DrawFn, least: int = 1) -> tuple[Topology, list[int]]:
    topology = NETWORKS[draw(st.sampled_from(sorted(NETWORKS)))]
    hosts = st.integers(0, len(topology.router_of) - 1)
    return topology, draw(st.lists(hosts, min_size=least, max_size=12, unique=True))


@given(sets_of_hosts(), st.data())
def test_measures_agree_with_their_formulas(drawn: tuple[Topology, list[int]], data: st.DataObject) -> None:
    topology, hosts = drawn
    pairs = list(itertools.permutations(hosts, 2))
    mean = sum(topology.distance(a, b) for a, b in pairs) / max(len(pairs), 1)
    assert compactness(topology, hosts) == pytest.approx(mean)
    io = data.draw(st.lists(st.integers(0, len(topology.router_of) - 1), min_size=1, max_size=3))
    worst = max(min(topology.distance(i, h) for h in hosts) + max(topology.distance(i, h) for h in hosts) for i in io)
    assert proximity(topology, hosts, io) == pytest.approx(worst / len(hosts))
    others = data.draw(st.lists(st.lists(st.sampled_from(range(len(topology.router_of))), max_size=5), max_size=3))
    theirs = {link for other in others for a, b in itertools.permutations(other, 2) for link in topology.route(a, b)}
    ours = {link for a, b in pairs for link in topology.route(a, b)}
    assert set(np.flatnonzero(links_shared(topology, hosts, others))) == ours & theirs


@given(sets_of_hosts(), st.data())
def test_no_choice_of_as_many_hosts_uses_fewer_routers(drawn: tuple[Topology, list[int]], data: st.DataObject) -> None:
    topology, hosts = drawn
    count = data.draw(st.integers(1, len(hosts)))
    least = min(len({int(topology.router_of[h]) for h in each}) for each in itertools.combinations(hosts, count))
    assert fewest_routers(topology, hosts)[count] == least


@given(sets_of_hosts(least=0))
def test_pieces_are_those_of_a_search_from_host_to_host(drawn: tuple[Topology, list[int]]) -> None:
    topology, hosts = drawn
    standing = set(topology.router_of.tolist())
    passable = {int(topology.router_of[host]) for host in hosts} | (set(range(topology.routers)) - standing)
    left, sizes = list(hosts), []
    while left:
        reached = {int(topology.router_of[left[0]])}
        queue = list(reached)
        for router in queue:
            fresh = set(topology.neighbours(router).tolist()) & passable - reached
            reached |= fresh
            queue += fresh
        sizes.append(sum(int(topology.router_of[host]) in reached for host in left))
        left = [host for host in left if int(topology.router_of[host]) not in reached]
    pieces = Pieces(topology)
    assert pieces.sizes(hosts).tolist() == sorted(sizes, reverse=True)
    assert len(set(pieces.of(hosts).tolist())) == len(sizes)


def test_a_switch_without_hosts_joins_and_a_router_of_an_io_node_does_not() -> None:
    tree = FatTree(range(4), (2, 2), (1, 1), (1, 1))
    assert Pieces(tree).sizes([0, 2]).tolist() == [2]
    # The host in the middle of the line is not in the set.
    line = Grid(range(5), [5], wrap=False)
    assert Pieces(line).sizes([0, 1, 3, 4]).tolist() == [2, 2]
    assert Pieces(line).sizes([0, 2, 3, 4]).tolist() == [3, 1]


def test_pieces_of_a_large_torus_with_a_winding_path() -> None:
    """A snake through a grid is one piece whatever the order of its routers; one router less makes two."""
    size = 40
    grid = Grid(np.arange(size * size), [size, size], wrap=False)
    rows = [[y * size + x for x in range(size)] for y in range(0, size, 2)]
    joints = [(y + 1) * size + (size - 1 if y % 4 == 0 else 0) for y in range(0, size - 2, 2)]
    snake = [*itertools.chain.from_iterable(rows), *joints]
    pieces = Pieces(grid)
    assert pieces.sizes(snake).tolist() == [len(snake)]
    cut = [host for host in snake if host != joints[7]]
    assert pieces.sizes(cut).tolist() == [len(snake) - (size + 1) * 8, (size + 1) * 8 - 1]
