"""Shapes beyond the oracle: shared nodes, networks of any kind, waits that run out, and searches on large machines."""

import math
from collections.abc import Iterator
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from batdispatch.abilities.topology.networks import FatTree, Flat, Grid
from batdispatch.abilities.topology.networks.base import Topology
from batdispatch.abilities.topology.placement.geometry import network, search
from batdispatch.abilities.topology.placement.geometry.boxes import Boxes, Sizes
from batdispatch.abilities.topology.placement.geometry.growth import Partners
from batdispatch.core.errors import InputError
from batdispatch.core.hosts import hostset
from batdispatch.core.hosts.allocation import Allocation, Place
from batdispatch.core.hosts.hostset import flags_of
from batdispatch.core.line import events as e
from batdispatch.core.line.ledger import Ledger
from batdispatch.core.line.scene import Scene
from batdispatch.core.machine.machine import Host, Machine
from batdispatch.parts.placement import Placement, make_placement
from spec_shapes import Net, keeps
from strategies import make_job

SHAPES = {
    "contiguous": "contiguous",
    "contiguous_wrap": "contiguous[wrap=true]",
    "connected": "connected",
    "convex": "convex",
    "convex_strict": "convex[rule=routers]",
    "local": "local",
}


def begun(name: str, machine: Machine) -> Placement:
    placement = make_placement(name)
    placement.begin(machine)
    return placement


def start(ledger: Ledger, name: str, allocation: Allocation, **fields: Any) -> None:
    job = make_job(name, allocation.units, **fields)
    ledger.apply_submitted(e.JobSubmitted(ledger.now, job))
    ledger.start(job, allocation)


# ---------------------------------------------------------------------- boxes


@st.composite
def grids(draw: st.DrawFn) -> tuple[list[int], bool]:
    dims = draw(st.lists(st.integers(1, 6), min_size=1, max_size=3).filter(lambda dims: math.prod(dims) <= 48))
    return dims, draw(st.booleans())


@given(shape=grids(), seed=st.integers(0, 2**32 - 1), share=st.sampled_from([0.0, 0.03, 0.2]))
def test_a_box_is_free_exactly_when_the_links_inside_it_are(
    shape: tuple[list[int], bool], seed: int, share: float
) -> None:
    dims, wrap = shape
    grid = Grid(np.arange(math.prod(dims)), dims, wrap=wrap)
    used = np.random.default_rng(seed).random(grid.links) < share
    sizes = Sizes(grid)
    boxes = Boxes(sizes, links=~used, routers=np.ones(grid.routers, dtype=np.bool_))
    for _, _, size in sizes.listed:
        found = set(flags_of(boxes.places(size), grid.routers).nonzero()[0].tolist())
        for corner in range(grid.routers):
            place = grid.coordinates(corner).tolist()
            if any(_twofold(dims[axis], wrap, length, place[axis]) for axis, length in enumerate(size)):
                continue
            if not wrap and any(place[axis] + length > dims[axis] for axis, length in enumerate(size)):
                assert corner not in found
                continue
            free = not (grid.links_within(sizes.cells(corner, size)) & used).any()
            assert (corner in found) == free, (size, corner)


def _twofold(whole: int, wrap: bool, length: int, place: int) -> bool:
    """Whether an arc is listed elsewhere: a ring at its coordinate 0, and the range from k / 2 to 0 as the ring."""
    if not wrap or length == 1 or (whole == 2 and length == 2 and place):
        return wrap and length == whole and place > 0
    return (length == whole and place > 0) or (whole % 2 == 0 and length == whole // 2 + 1 and place == whole // 2)


@given(shape=grids())
def test_boxes_of_routers_hold_their_own_routes(shape: tuple[list[int], bool]) -> None:
    dims, wrap = shape
    grid = Grid(np.arange(math.prod(dims)), dims, wrap=wrap)
    sizes = Sizes(grid)
    boxes = Boxes(sizes, routers=np.ones(grid.routers, dtype=np.bool_))
    for _, _, size in sizes.listed:
        for corner in flags_of(boxes.places(size), grid.routers).nonzero()[0].tolist():
            cells = sizes.cells(corner, size)
            assert set(grid.routers_within(cells).nonzero()[0].tolist()) == set(cells.tolist())


@given(shape=grids(), seed=st.integers(0, 2**32 - 1))
def test_partners_are_those_whose_routes_both_ways_are_free(shape: tuple[list[int], bool], seed: int) -> None:
    dims, wrap = shape
    grid = Grid(np.arange(math.prod(dims)), dims, wrap=wrap)
    used = np.random.default_rng(seed).random(grid.links) < 0.15
    partners = Partners(grid, used)
    for one in range(grid.routers):
        free = [not (grid.links_within([one, other]) & used).any() for other in range(grid.routers)]
        assert partners.of(one).tolist() == free


@given(size=st.integers(3, 10), data=st.data())
def test_boxes_alone_are_exact_on_rings(size: int, data: st.DataObject) -> None:
    # As on a ring too large for the exhaustive search.
    machine = Machine(Machine.flat(size).hosts, Grid(np.arange(size), [size]))
    ledger = Ledger(e.SimulationBegins(0.0, machine))
    owners = data.draw(st.lists(st.integers(0, 3), min_size=size, max_size=size))
    for owner in (1, 2):
        hosts = [host for host in range(size) if owners[host] == owner]
        if hosts:
            start(ledger, f"w0!{owner}", Allocation.of(hosts))
    running = [stay.allocation.ids for stay in ledger.running.values()]
    net = Net("torus", [size], 1)
    free = hostset.ids(ledger.free)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(network, "SMALL", 0)
        patch.setattr(search, "grown", lambda *given, **named: iter(()))
        placement = begun("convex", machine)
        for units in range(1, len(free) + 1):
            place = placement.place(Scene(ledger), make_job("w0!asked", units))
            there = any(keeps("convex", net, list(each), running, [], [], size) for each in combinations(free, units))
            assert (place is not None) == there, units
            assert place is None or keeps("convex", net, place.allocation.ids, running, [], [], size)


# ---------------------------------------------------------------------- nodes that jobs share


@st.composite
def shared_states(draw: st.DrawFn) -> tuple[Ledger, Net, list[str]]:
    """Up to six nodes of four cores on a torus or mesh, an I/O node among them perhaps, and jobs on some cores."""
    kind = draw(st.sampled_from(["torus", "mesh"]))
    dims = draw(st.sampled_from([[6], [5], [3, 2]]))
    count = math.prod(dims)
    io = draw(st.sets(st.integers(0, count - 1), max_size=2))
    hosts = [
        Host(id=i, name=f"n{i}", storage=i in io, properties={} if i in io else {"capacity": "core=4"})
        for i in range(count)
    ]
    ledger = Ledger(
        e.SimulationBegins(
            0.0,
            Machine(
                hosts,
                Grid(np.arange(count), dims, wrap=kind == "torus"),
            ),
        )
    )
    for number in range(draw(st.integers(0, 3))):
        used = draw(st.dictionaries(st.integers(0, count - 1), st.integers(1, 4), min_size=1, max_size=3))
        used = {host: min(cores, int(ledger.free[host, 0])) for host, cores in used.items() if ledger.free[host, 0]}
        if used:
            start(ledger, f"w0!r{number}", Allocation.of(used.keys(), used.values()), demand={"core": 1})
    return ledger, Net(kind, dims, 1), [f"n{host}" for host in sorted(io)]


def sets_with_room(room: list[int], units: int) -> Iterator[list[int]]:
    """All sets of nodes that can carry so many units, at least one on each."""
    able = [host for host, most in enumerate(room) if most]
    for count in range(1, min(units, len(able)) + 1):
        for nodes in combinations(able, count):
            if sum(room[node] for node in nodes) >= units:
                yield list(nodes)


@given(
    state=shared_states(),
    units=st.integers(1, 12),
    shapes=st.sampled_from(
        [*SHAPES, "convex+local", "connected+local", "contiguous+convex_strict", "connected+convex"]
    ),
)
@settings(max_examples=100)
def test_on_shared_nodes_a_place_is_found_exactly_when_there_is_one(
    state: tuple[Ledger, Net, list[str]], units: int, shapes: str
) -> None:
    ledger, net, io = state
    named = shapes.split("+")
    placement = begun("+".join(SHAPES[shape] for shape in named), ledger.machine)
    pinned = {"io_node": io} if io else {}
    job = make_job("w0!asked", units, {"core": 1}, **pinned)
    place = placement.place(Scene(ledger), job)
    running = [stay.allocation.ids for stay in ledger.running.values()]
    disks = [int(name[1:]) for name in io]
    room = ledger.space.room(ledger.free, job).tolist()

    def fine(nodes: list[int]) -> bool:
        return all(keeps(shape, net, nodes, running, disks, disks, len(room)) for shape in named)

    there = any(fine(nodes) for nodes in sets_with_room(room, units))
    assert (place is not None) == there
    if place is not None:
        assert place.allocation.units == units
        assert all(count <= room[host] for host, count in place.allocation.per_host())
        assert fine(place.allocation.ids)
        ledger.apply_submitted(e.JobSubmitted(0.0, job))
        ledger.start(job, place)
        ledger.check()


# ---------------------------------------------------------------------- networks of any kind


def convex_by_links(topology: Topology, hosts: list[int], running: list[list[int]]) -> bool:
    own = topology.links_within(hosts)
    return not any((own & topology.links_within(job)).any() for job in running)


@given(st.data())
def test_convex_sets_in_a_fat_tree(data: st.DataObject) -> None:
    machine = Machine(Machine.flat(8).hosts, FatTree(range(8), [2, 2, 2], [1, 2, 1], [1, 1, 1]))
    assert machine.topology is not None
    ledger = Ledger(e.SimulationBegins(0.0, machine))
    owners = data.draw(st.lists(st.integers(0, 3), min_size=8, max_size=8))
    for owner in (1, 2):
        hosts = [host for host in range(8) if owners[host] == owner]
        if hosts:
            start(ledger, f"w0!{owner}", Allocation.of(hosts))
    running = [stay.allocation.ids for stay in ledger.running.values()]
    free = hostset.ids(ledger.free)
    placement = begun("convex", machine)
    for units in range(1, len(free) + 1):
        place = placement.place(Scene(ledger), make_job("w0!asked", units))
        there = any(convex_by_links(machine.topology, list(each), running) for each in combinations(free, units))
        assert (place is not None) == there
        assert place is None or convex_by_links(machine.topology, place.allocation.ids, running)


def test_switches_without_hosts_connect_what_they_are_linked_to() -> None:
    tree = Machine(Machine.flat(8).hosts, FatTree(range(8), [2, 4], [1, 2], [1, 1]))
    assert begun("connected", tree).place(Scene(Ledger(e.SimulationBegins(0.0, tree))), make_job(units=8)) is not None
    # Routers 1 and 3 of a line have no host: 0 and 2 hang together by the first.
    line = Machine(Machine.flat(3).hosts, Grid([0, 2, 4], [6], wrap=False))
    ledger = Ledger(e.SimulationBegins(0.0, line))
    placement = begun("connected", line)
    start(ledger, "w0!0", Allocation.of([1]))
    assert placement.place(Scene(ledger), make_job(units=2)) is None


@pytest.mark.parametrize("units", [1, 2, 3, 4])
def test_what_a_connected_job_leaves_of_its_part_hangs_together(units: int) -> None:
    # Five free routers of a mesh make a bent line, whose corner has the lowest number: 6 - 3 - 0 - 1 - 2.
    machine = Machine(Machine.flat(9).hosts, Grid(range(9), [3, 3], wrap=False))
    ledger = Ledger(e.SimulationBegins(0.0, machine))
    start(ledger, "w0!1", Allocation.of([4, 5, 7, 8]))
    place = begun("connected", machine).place(Scene(ledger), make_job("w0!asked", units))
    assert place is not None
    ends = [[6, 3, 0, 1, 2][:units], [2, 1, 0, 3, 6][:units]]
    assert sorted(place.allocation.ids) in [sorted(end) for end in ends]


@pytest.mark.parametrize(
    ("others", "links", "routers"),
    [([2], True, False), ([0, 6], True, False), ([10], True, True), ([8, 10], True, True)],
    ids=["the other host of its router", "a route through its router", "a host elsewhere", "a route elsewhere"],
)
def test_a_strictly_convex_place_holds_only_while_no_other_job_is_on_its_routers(
    others: list[int], links: bool, routers: bool
) -> None:
    # A line of six routers with two hosts each; the place is host 3, on router 1.
    machine = Machine(Machine.flat(12).hosts, Grid(np.arange(12) // 2, [6], wrap=False))
    ledger = Ledger(e.SimulationBegins(0.0, machine))
    job, place = make_job("w0!asked"), Place(Allocation.of([3]))
    start(ledger, "w0!1", Allocation.of(others))
    for name, expected in (("convex", links), ("convex[rule=routers]", routers)):
        assert begun(name, machine).holds(Scene(ledger), job, place) == expected


def test_a_shape_on_the_network_needs_one() -> None:
    with pytest.raises(InputError, match=r"placement convex\+local: it needs the network .* platform states none"):
        begun("convex+local", Machine.flat(4))
    with pytest.raises(InputError, match="order snake leads through the routers of a torus or mesh"):
        begun("contiguous[order=snake]", Machine(Machine.flat(2).hosts, Flat([True, True])))


# ---------------------------------------------------------------------- together


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("convex+first-fit", "first-fit is no shape, and only shapes go together"),
        ("convex+local+convex[rule=routers]", "a shape is named twice"),
        ("convex+", "found ''"),
        ("convex+lokal", "did you mean 'local'"),
        ("compact[fallback=60]", "placement compact has no option 'fallback'"),
        ("convex[fallback=-1]", "is not a number at least 0"),
    ],
)
def test_what_does_not_go_together(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        make_placement(text)


def test_hosts_near_io_nodes_are_left_to_jobs_that_ask_for_them() -> None:
    hosts = [Host(id=i, name=f"n{i}", storage=i == 0) for i in range(8)]
    machine = Machine(hosts, Grid(range(8), [8], wrap=False))
    ledger = Ledger(e.SimulationBegins(0.0, machine))
    placement = begun("local", machine)
    place = placement.place(Scene(ledger), make_job(units=3))
    assert place is not None
    assert str(place.allocation) == "2-4"
    pinned = placement.place(Scene(ledger), make_job(units=3, io_node="n0"))
    assert pinned is not None
    assert str(pinned.allocation) == "1-3"


def test_remembering_changes_no_answer() -> None:
    """One placement asked a hundred times, in scenes that come and go, against a new one each time."""
    rng = np.random.default_rng(5)
    machine = Machine(Machine.flat(128).hosts, Grid(np.arange(128), [8, 4, 4]))
    ledger = Ledger(e.SimulationBegins(0.0, machine))
    kept = {name: begun(name, machine) for name in ("convex", "convex[rule=routers]", "connected", "compact+convex")}
    for number in range(60):
        units = int(rng.integers(1, 24))
        job = make_job(f"w0!{number}", units)
        ledger.apply_submitted(e.JobSubmitted(0.0, job))
        for name, placement in kept.items():
            assert placement.place(Scene(ledger), job) == begun(name, machine).place(Scene(ledger), job), name
        place = kept["convex"].place(Scene(ledger), job)
        if place is not None:
            ledger.start(job, place)
        else:
            ledger.reject(job, "")
            stay = list(ledger.running.values())[int(rng.integers(len(ledger.running)))]
            ledger.apply_completed(e.JobCompleted(0.0, stay.job.id, stay.state.COMPLETED_SUCCESSFULLY))


def test_all_pairs_of_shapes_are_found_together_on_a_torus_of_500_hosts() -> None:
    """On a machine where nothing is tried exhaustively, what is found keeps the rules."""
    rng = np.random.default_rng(3)
    count = 5 * 5 * 5 * 2
    disks = {9, 77, 140}
    hosts = [Host(id=i, name=f"n{i}", storage=i in disks) for i in range(count)]
    machine = Machine(hosts, Grid(np.arange(count) // 2, [5, 5, 5]))
    net = Net("torus", [5, 5, 5], 2)
    ledger = Ledger(e.SimulationBegins(0.0, machine))
    filling = begun("convex", machine)
    for number in range(20):
        job = make_job(f"w0!{number}", int(rng.integers(1, 12)))
        ledger.apply_submitted(e.JobSubmitted(0.0, job))
        place = filling.place(Scene(ledger), job)
        if place is None:
            ledger.reject(job, "")
        else:
            ledger.start(job, place)
    running = [stay.allocation.ids for stay in ledger.running.values()]
    found = 0
    for one, other in product(SHAPES, SHAPES):
        if one < other and one.partition("_")[0] != other.partition("_")[0]:
            placement = begun(f"{SHAPES[one]}+{SHAPES[other]}", machine)
            for units in (1, 3, 6, 14):
                place = placement.place(Scene(ledger), make_job("w0!asked", units, io_node=["n9", "n140"]))
                if place is None:
                    continue
                found += 1
                nodes = place.allocation.ids
                assert len(nodes) == units
                for shape in (one, other):
                    assert keeps(shape, net, nodes, running, sorted(disks), [9, 140], count), (one, other, units)
    assert found > 15
