"""Networks: distances, routes and links, against hand-made values, brute force, and SimGrid's own routes."""

import itertools
import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from batdispatch.abilities.topology import generate as topologies
from batdispatch.abilities.topology.networks import Dragonfly, FatTree, Flat, Grid, Topology
from batdispatch.abilities.topology.networks.grid import MOST_AT_ONCE
from batdispatch.core.errors import InputError
from batdispatch.core.machine.machine import Host, Machine
from batdispatch.inputs.platforms import read_platform
from simgrid_routes import simgrid_routes
from torus_routes import TORI as SEVEN_TORI
from torus_routes import ask_simgrid, hops_of, recorded
from with_simgrid import needs_simgrid

ORACLE: list[dict[str, Any]] = json.loads(
    (Path(__file__).parents[2] / "oracles" / "topology" / "metrics.json").read_text()
)["tori"]
TORI = pytest.mark.parametrize("case", ORACLE, ids=lambda case: "x".join(map(str, case["dims"])))


def torus(case: dict[str, Any]) -> Grid:
    per = case["nodes_per_router"]
    return Grid(np.arange(math.prod(case["dims"]) * per) // per, case["dims"])


def brute_links(topology: Topology, hosts: Sequence[int]) -> set[int]:
    return {link for a, b in itertools.permutations(hosts, 2) for link in topology.route(a, b)}


# The oracle of the topology family.


@TORI
def test_distances_of_the_oracle(case: dict[str, Any]) -> None:
    grid = torus(case)
    for source, target, hops in case["distances"]:
        assert grid.distance(source, target) == hops
    every = np.arange(0, len(grid.router_of), case["nodes_per_router"])
    assert grid.sum_of_distances(every) == grid.distances(every, every).sum() == case["sum_of_all_router_distances"]
    assert grid.links == case["directed_links"]
    assert grid.hosts_per_router == 2


@TORI
def test_routes_of_the_oracle(case: dict[str, Any]) -> None:
    grid = torus(case)
    for route in case["routes"]:
        hops = [tuple(hop) for hop in route["hops"]]
        assert grid.hops(2 * route["source"], 2 * route["target"] + 1) == hops


@TORI
def test_allocations_of_the_oracle(case: dict[str, Any]) -> None:
    grid = torus(case)
    for entry in case["allocations"]:
        nodes = entry["nodes"]
        ordered = len(nodes) * (len(nodes) - 1)
        gamma = grid.sum_of_distances(nodes) / ordered if ordered else 0.0
        assert gamma == pytest.approx(entry["gamma"], abs=1e-12), entry["name"]
        away = grid.distances(entry["io"], nodes)
        assert ((away.min(axis=1) + away.max(axis=1)) / len(nodes)).max() == pytest.approx(entry["rho"]), entry["name"]
        links = grid.links_within(nodes)
        assert links.sum() == entry["directed_links"], entry["name"]
        assert set(np.flatnonzero(links)) == brute_links(grid, nodes)
        routers = grid.routers_within(nodes)
        assert np.flatnonzero(routers).tolist() == entry["routers_on_routes"], entry["name"]
        closed = set(np.flatnonzero(routers)) <= set(grid.router_of[nodes])
        assert closed == entry["closed_under_routes"], entry["name"]


def test_ties_in_a_ring_of_four() -> None:
    ring = Grid(range(4), [4])
    routers = {(a, b): [a, *(end for _, end in ring.hops(a, b))] for a in range(4) for b in range(4)}
    assert routers[0, 2] == [0, 1, 2]
    assert routers[2, 0] == [2, 1, 0]
    assert routers[1, 3] == [1, 2, 3]
    assert routers[3, 1] == [3, 0, 1]


# Properties of every kind.


@st.composite
def grids(draw: st.DrawFn) -> Grid:
    dims = draw(st.lists(st.integers(1, 6), min_size=1, max_size=3))
    wrap = draw(st.lists(st.booleans(), min_size=len(dims), max_size=len(dims)))
    per = draw(st.integers(1, 2))
    return Grid(np.arange(math.prod(dims) * per) // per, dims, wrap=wrap, shared=draw(st.booleans()))


@st.composite
def fat_trees(draw: st.DrawFn) -> FatTree:
    levels = draw(st.integers(1, 3))
    down, up, cables = (draw(st.lists(st.integers(1, most), min_size=levels, max_size=levels)) for most in (4, 3, 3))
    return FatTree(range(math.prod(down)), down, up, cables, shared=draw(st.booleans()))


@st.composite
def dragonflies(draw: st.DrawFn) -> Dragonfly:
    routers = draw(st.integers(1, 4))
    groups, chassis, nodes = draw(st.integers(1, routers)), draw(st.integers(1, 3)), draw(st.integers(1, 2))
    return Dragonfly(np.arange(groups * chassis * routers * nodes) // nodes, groups, chassis, routers)


def pair(data: st.DataObject, topology: Topology) -> tuple[int, int]:
    last = len(topology.router_of) - 1
    return data.draw(st.integers(0, last)), data.draw(st.integers(0, last))


def shortest(topology: Topology, source: int) -> list[int]:
    """Number of links from a router to every other, by breadth-first search."""
    found = {source: 0}
    queue = [source]
    for router in queue:
        for beside in topology.neighbours(router).tolist():
            if beside not in found:
                found[beside] = found[router] + 1
                queue.append(beside)
    return [found.get(router, -1) for router in range(topology.routers)]


@given(st.one_of(grids(), fat_trees()), st.data())
def test_routes_are_connected_shortest_and_as_long_as_the_distance(topology: Topology, data: st.DataObject) -> None:
    source, target = pair(data, topology)
    start, end = topology.router_of[[source, target]].tolist()
    hops = topology.hops(source, target)
    assert [start, *(after for _, after in hops)] == [*(before for before, _ in hops), end]
    assert len(hops) == topology.distance(source, target) == topology.distance(target, source)
    assert len(hops) == shortest(topology, start)[end]


@given(dragonflies(), st.data())
def test_routes_in_a_dragonfly_are_as_long_as_the_distance_and_end_at_the_target(
    topology: Dragonfly, data: st.DataObject
) -> None:
    source, target = pair(data, topology)
    start, end = topology.router_of[[source, target]].tolist()
    hops = topology.hops(source, target)
    assert len(hops) == topology.distance(source, target) <= 5
    size = topology.chassis * topology.routers_per_chassis
    numbers = start % topology.routers_per_chassis != end % topology.routers_per_chassis
    if hops and not (start // size == end // size and numbers and start % size >= topology.routers_per_chassis):
        # SimGrid's jump to the first chassis of the group is left aside.
        assert [start, *(after for _, after in hops)] == [*(before for before, _ in hops), end]


@given(st.one_of(grids(), fat_trees(), dragonflies()), st.data())
def test_links_within_are_those_of_all_routes(topology: Topology, data: st.DataObject) -> None:
    last = len(topology.router_of) - 1
    hosts = data.draw(st.lists(st.integers(0, last), max_size=6, unique=True))
    expected = brute_links(topology, hosts)
    if topology.shared:
        expected |= {int(topology.opposite[link]) for link in expected}
    assert set(np.flatnonzero(topology.links_within(hosts))) == expected
    on_routes = {int(topology.router_of[host]) for host in hosts}
    on_routes |= {int(router) for link in expected for router in topology.link_ends[link]}
    assert set(np.flatnonzero(topology.routers_within(hosts))) == on_routes


@given(st.one_of(grids(), fat_trees(), dragonflies()), st.data())
def test_sums_and_matrices_agree_with_single_distances(topology: Topology, data: st.DataObject) -> None:
    last = len(topology.router_of) - 1
    hosts = data.draw(st.lists(st.integers(0, last), max_size=6))
    matrix = [[topology.distance(a, b) for b in hosts] for a in hosts]
    if hosts:
        assert topology.distances(hosts, hosts).tolist() == matrix
    assert topology.sum_of_distances(hosts) == sum(map(sum, matrix))


@given(st.one_of(grids(), fat_trees(), dragonflies()), st.data())
def test_many_sets_at_once_have_the_links_and_distances_of_each(topology: Topology, data: st.DataObject) -> None:
    last = len(topology.router_of) - 1
    host = st.integers(0, last)
    sets = data.draw(st.lists(st.lists(host, max_size=min(last + 1, 8), unique=True), max_size=5))
    hosts = np.array([each for part in sets for each in part], dtype=np.int64)
    bounds = np.cumsum([0, *map(len, sets)])
    links, ends = topology.links_within_each(hosts, bounds)
    found = [sorted(links[low:high].tolist()) for low, high in itertools.pairwise(ends.tolist())]
    assert found == [np.flatnonzero(topology.links_within(each)).tolist() for each in sets]
    assert topology.sums_of_distances(hosts, bounds).tolist() == [topology.sum_of_distances(each) for each in sets]


@pytest.mark.parametrize("size", [MOST_AT_ONCE - 1, MOST_AT_ONCE, MOST_AT_ONCE + 1])
@pytest.mark.parametrize("wrap", [True, False])
def test_the_largest_ring_that_is_a_word_and_the_next(size: int, wrap: bool) -> None:
    ring = Grid(range(size), [size], wrap=wrap)
    sets = [[0, size - 1], [0, size // 2], [1, size // 2 + 1], list(range(size)), [3, 7, size - 2]]
    hosts, bounds = np.concatenate(sets), np.cumsum([0, *map(len, sets)])
    links, ends = ring.links_within_each(hosts, bounds)
    for each, low, high in zip(sets, ends[:-1], ends[1:], strict=True):
        assert sorted(links[low:high].tolist()) == sorted(brute_links(ring, each))


@given(st.one_of(grids(), fat_trees(), dragonflies()))
def test_opposite_links_and_neighbours(topology: Topology) -> None:
    links = np.arange(topology.links)
    assert (topology.opposite[topology.opposite] == links).all()
    assert (topology.link_ends[topology.opposite] == topology.link_ends[:, ::-1]).all()
    for router in range(topology.routers):
        expected = sorted({int(end) for start, end in topology.link_ends if start == router})
        assert topology.neighbours(router).tolist() == expected


def test_grids_of_one_and_two() -> None:
    assert Grid(range(2), [2]).hops(0, 1) == [(0, 1)]
    assert Grid(range(2), [2]).hops(1, 0) == [(1, 0)]
    assert Grid(range(2), [2]).links == 2
    assert Grid([0, 0], [1, 1]).links == 0
    assert Grid(range(3), [3], wrap=False).hops(0, 2) == [(0, 1), (1, 2)]


def test_the_kind_of_a_grid_is_that_of_its_dimensions() -> None:
    assert Grid(range(4), [4]).kind == "torus"
    assert Grid(range(4), [4], wrap=False).kind == "mesh"
    assert Grid(range(4), [2, 2], wrap=[True, False]).kind == "grid"
    assert Grid(range(4), [4, 1], wrap=[True, False]).kind == "torus"
    assert Grid(range(6), [3, 2]).coordinates([0, 2, 5]).tolist() == [[0, 0], [2, 0], [2, 1]]


def test_a_flat_network_has_no_distances_and_no_links() -> None:
    flat = Flat([True, True, False])
    assert flat.distance(0, 1) == 0
    assert flat.route(0, 1) == ()
    assert flat.links_within([0, 1]).shape == (0,)
    assert flat.neighbours(0).tolist() == []
    assert flat.sum_of_distances([0, 1]) == 0


def test_hosts_outside_of_a_network_are_named() -> None:
    grid = Grid([0, -1, 2], [3])
    for ask in (grid.distance, grid.route):
        with pytest.raises(ValueError, match="host 1 is not in this network"):
            ask(0, 1)
    with pytest.raises(ValueError, match="host 3 is not"):
        grid.links_within([0, 3])
    with pytest.raises(ValueError, match="host -1 is not"):
        grid.sum_of_distances([-1])


def test_networks_that_cannot_be() -> None:
    for wrong in (
        lambda: Grid([3], [3]),
        lambda: Grid([0], []),
        lambda: Grid([0], [2, 0]),
        lambda: Grid([0], [2, 2], wrap=[True]),
        lambda: FatTree([0], [2, 2], [1], [1, 1]),
        lambda: FatTree([4], [2, 2], [1, 1], [1, 1]),
        lambda: Dragonfly([0], 3, 1, 2),
        lambda: FatTree([0, 3], [2, 2], [1, 1], [1, 1]).router_distances(np.array([2]), np.array([0])),
    ):
        with pytest.raises(ValueError, match=r"must|needs|distances"):
            wrong()


def test_a_machine_and_its_network_have_the_same_hosts() -> None:
    hosts = [Host(id=i, name=f"n{i}") for i in range(3)]
    topology = Grid(range(3), [3])
    assert Machine(hosts, topology).topology is topology
    assert Machine(hosts).topology is None
    with pytest.raises(InputError, match="the topology is of 2 hosts, the machine has 3"):
        Machine(hosts, Grid(range(2), [2]))


# SimGrid's own routes.


def both_routes(content: bytes, folder: Path) -> tuple[Topology, list[str], Any]:
    """Return a platform's topology, the names of its hosts, and SimGrid's version and routes between them."""
    path = folder / "platform.xml"
    path.write_bytes(content)
    platform = read_platform(path)
    assert platform.machine.topology is not None
    names = [host.name for host in platform.hosts]
    return platform.machine.topology, names, simgrid_routes(path, names)


def check_against_simgrid(content: bytes, folder: Path, *, ends: bool, same_links: bool = True) -> None:
    """Compare all routes: equally long, and one link of ours for each link of SimGrid's.

    Args:
        content: of the platform file.
        folder: where it is written.
        ends: whether SimGrid's routes begin and end with a host's own link.
        same_links: whether SimGrid chooses the same links in all versions.
    """
    topology, names, (version, routes) = both_routes(content, folder)
    there: dict[str, int] = {}
    back: dict[int, str] = {}
    pairs = itertools.product(range(len(names)), repeat=2)
    for (source, target), links in zip(pairs, routes, strict=True):
        if source == target:
            continue
        ours = topology.route(source, target)
        theirs = links[1:-1] if ends else links
        assert len(ours) == len(theirs), (source, target, theirs)
        if same_links or version == "3.32":
            for link, name in zip(ours, theirs, strict=True):
                assert there.setdefault(name, link) == link
                assert back.setdefault(link, name) == name


def test_the_record_of_simgrids_routes_has_all_pairs_of_seven_tori() -> None:
    version, tori = recorded()
    assert version == "3.32"
    assert tuple(tuple(torus["dims"]) for torus in tori) == SEVEN_TORI
    # The specification counts 20,446 routes from a router to another one.
    assert sum(bool(route) for torus in tori for row in torus["routes"] for route in row.split(",")) == 20_446


@pytest.mark.parametrize("case", recorded()[1], ids=lambda case: "x".join(map(str, case["dims"])))
def test_every_recorded_route_of_simgrid_is_ours_and_is_shortest(case: dict[str, Any]) -> None:
    grid = Grid(range(math.prod(case["dims"])), case["dims"])
    assert len(case["routes"]) == grid.routers
    for source, row in enumerate(case["routes"]):
        theirs = hops_of(row, source)
        assert [grid.hops(source, target) for target in range(grid.routers)] == theirs
        assert list(map(len, theirs)) == shortest(grid, source)


@needs_simgrid
@pytest.mark.parametrize("case", recorded()[1], ids=lambda case: "x".join(map(str, case["dims"])))
def test_simgrid_gives_the_routes_on_record(case: dict[str, Any], tmp_path: Path) -> None:
    assert ask_simgrid(case["dims"], tmp_path)[1] == case["routes"]


@needs_simgrid
@pytest.mark.parametrize("dims", [(5,), (4,), (2,), (1, 3), (4, 4), (3, 5), (2, 4, 3), (2, 2, 2, 2)])
def test_a_torus_is_routed_as_by_simgrid(dims: tuple[int, ...], tmp_path: Path) -> None:
    check_against_simgrid(topologies.torus(dims, hosts_per_router=1), tmp_path, ends=False)


@needs_simgrid
@pytest.mark.parametrize(
    ("down", "up", "cables"),
    [
        ((4, 4), (1, 2), (1, 2)),
        ((2, 2, 3), (1, 3, 2), (1, 1, 2)),
        ((3, 2), (2, 1), (1, 2)),
        ((4,), (2,), (2,)),
        ((2, 2, 2, 2), (1, 2, 1, 2), (1, 1, 1, 1)),
        ((2, 3, 2), (1, 3, 2), (1, 3, 2)),
        ((2, 2, 2, 2), (1, 2, 1, 2), (1, 3, 3, 2)),
    ],
)
def test_a_fat_tree_is_routed_as_by_simgrid(
    down: tuple[int, ...], up: tuple[int, ...], cables: tuple[int, ...], tmp_path: Path
) -> None:
    # Versions differ in the choice of parents above switches that several cables lead to.
    same = all(count == 1 for count in cables[:-1])
    check_against_simgrid(topologies.fat_tree(down, up, cables), tmp_path, ends=up[0] == 1, same_links=same)


@needs_simgrid
@pytest.mark.parametrize(
    ("groups", "chassis", "routers", "nodes"),
    [(3, 3, 4, 1), (3, 4, 5, 2), (2, 1, 3, 2), (1, 2, 2, 2), (4, 2, 4, 1), (1, 1, 1, 3)],
)
def test_a_dragonfly_is_routed_as_by_simgrid(
    groups: int, chassis: int, routers: int, nodes: int, tmp_path: Path
) -> None:
    content = topologies.dragonfly((groups, 2), (chassis, 3), (routers, 1), nodes)
    check_against_simgrid(content, tmp_path, ends=True)


@needs_simgrid
@pytest.mark.parametrize(("dims", "per"), [((5,), 1), ((1,), 3), ((4, 3), 1), ((3, 2, 2), 2), ((4, 1, 5), 3)])
def test_a_generated_mesh_is_routed_as_a_mesh_by_simgrid(dims: tuple[int, ...], per: int, tmp_path: Path) -> None:
    check_written_grid(topologies.mesh(dims, hosts_per_router=per), tmp_path)


@needs_simgrid
@pytest.mark.parametrize(
    ("dims", "per"),
    [((4,), 2), ((6, 3), 3), ((5, 4), 1), ((4, 4, 4), 2), ((2, 3, 4), 2), ((2, 2, 2, 2), 2), ((8, 1, 3), 2)],
)
def test_hosts_that_share_a_router_are_routed_as_by_simgrid(dims: tuple[int, ...], per: int, tmp_path: Path) -> None:
    check_written_grid(topologies.torus(dims, hosts_per_router=per, router_links="shared"), tmp_path)


def check_written_grid(content: bytes, folder: Path) -> None:
    """Compare the routes of a grid whose zones are written out, without what leads from line to line in a router.

    A message takes its sender's own link, a link of SimGrid's for each link of ours, and its receiver's own link.
    """
    topology, names, (_, routes) = both_routes(content, folder)
    there: dict[str, int] = {}
    back: dict[int, str] = {}
    for (source, target), links in zip(itertools.permutations(range(len(names)), 2), _without_own(routes), strict=True):
        assert links[0] == f"of_{names[source]}_UP"
        assert links[-1] == f"of_{names[target]}_DOWN"
        theirs = [link for link in links[1:-1] if not link.startswith("inside")]
        ours = topology.route(source, target)
        assert len(ours) == len(theirs), (names[source], names[target], theirs)
        for link, name in zip(ours, theirs, strict=True):
            assert there.setdefault(name, link) == link
            assert back.setdefault(link, name) == name
    assert len(back) == topology.links


def _without_own(routes: Sequence[list[str]]) -> list[list[str]]:
    """Leave out the routes from hosts to themselves."""
    size = math.isqrt(len(routes))
    return [links for place, links in enumerate(routes) if place % (size + 1)]


@needs_simgrid
def test_split_links_of_two_hosts_a_router_are_routed_as_by_simgrid_between_routers(tmp_path: Path) -> None:
    """SimGrid's own torus has a plane of links for each host of a router; routes use the same router links."""
    path = tmp_path / "platform.xml"
    path.write_bytes(topologies.torus((4, 3), hosts_per_router=2, router_links="split"))
    platform = read_platform(path)
    topology = platform.machine.topology
    assert topology is not None
    _, routes = simgrid_routes(path, [host.name for host in platform.hosts])
    for (source, target), links in zip(itertools.product(range(24), repeat=2), routes, strict=True):
        # One link more to the other host of the router, before the message leaves.
        if source != target:
            assert len(links) == topology.distance(source, target) + (source % 2 != target % 2)


def test_the_switches_above_the_hosts_of_each_kind_of_network() -> None:
    # Two hosts on each of 2 x 2 leaves, places out of order, and a host that is not there.
    tree = FatTree([0, 1, 2, 3, 7, -1], (2, 2, 2), (1, 1, 1), (1, 1, 1))
    assert [level.tolist() for level in tree.switches()] == [[0, 0, 1, 1, 3, -1], [0, 0, 0, 0, 1, -1], [0] * 6]
    # Several switches above the same hosts count as one, and so do parallel cables.
    wide = FatTree([0, 1, 2, 3], (2, 2), (1, 2), (1, 2))
    assert [level.tolist() for level in wide.switches()] == [[0, 0, 1, 1], [0, 0, 0, 0]]
    fly = Dragonfly([0, 1, 2, 5, -1], 2, 2, 2)
    assert [level.tolist() for level in fly.switches()] == [
        [0, 1, 2, 5, -1],
        [0, 0, 1, 2, -1],
        [0, 0, 0, 1, -1],
        [0] * 5,
    ]
    assert [level.tolist() for level in Grid([0, 1, 1, 2], [3]).switches()] == [[0, 1, 1, 2], [0] * 4]
    assert [level.tolist() for level in Flat([0, 0, -1]).switches()] == [[0, 0, 0]]
