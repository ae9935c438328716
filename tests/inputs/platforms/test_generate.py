"""Generated platforms: what was asked for comes back, in the same bytes every time."""

import itertools
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from batdispatch.abilities.topology import generate as topologies
from batdispatch.abilities.topology.generate.spread import spread_routers
from batdispatch.abilities.topology.generate.torus import RouterLinks
from batdispatch.abilities.topology.networks import Grid
from batdispatch.core.errors import InputError
from batdispatch.inputs.platforms import Platform, generate, read_platform
from batdispatch_papers.esp.machine import esp
from batdispatch_papers.eurora.machine import eurora
from batdispatch_papers.kit.machine import forhlr2


def read(folder: Path, content: bytes) -> Platform:
    path = folder / "generated.xml"
    path.write_bytes(content)
    return read_platform(path)


def names(platform: Platform) -> list[str]:
    return [host.name for host in platform.hosts]


KINDS = {
    "flat": lambda: generate.flat(12, capacity="core=4 gpu=1"),
    "eurora": eurora,
    "forhlr2": forhlr2,
    "esp": esp,
    "torus": lambda: topologies.torus([4, 3, 2], io=5, capacity="core=32"),
    "torus, split": lambda: topologies.torus([4, 3, 2], io=5, capacity="core=32", router_links="split"),
    "mesh": lambda: topologies.mesh([4, 3, 2], hosts_per_router=2, io=5),
    "fat tree": lambda: topologies.fat_tree([4, 4], [1, 2], [1, 2], capacity="core=8"),
    "dragonfly": lambda: topologies.dragonfly([3, 4], [4, 3], [5, 1], 2),
}


@pytest.mark.parametrize("kind", KINDS)
def test_same_bytes_a_master_and_names_that_sort_as_numbers(kind: str, tmp_path: Path) -> None:
    content = KINDS[kind]()
    assert content == KINDS[kind]()
    platform = read(tmp_path, content)
    assert platform.master == "master_host"
    assert platform.remarks == ()
    compute = names(platform)[: platform.machine.size]
    numbers = [int(re.sub(r"^.*?(\d+)$", r"\1", name)) for name in compute]
    assert numbers == sorted(set(numbers))
    assert len({len(name) for name in compute}) == 1
    assert names(read_platform(platform.path, batsim=5)) == names(platform)


@given(hosts=st.integers(1, 12_000))
def test_flat_of_any_size(hosts: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    platform = read(tmp_path_factory.mktemp("flat"), generate.flat(hosts))
    width = len(str(hosts - 1))
    assert names(platform) == [f"n{number:0{width}d}" for number in range(hosts)]
    assert platform.machine.exclusive


def test_links_are_written_as_given(tmp_path: Path) -> None:
    links = generate.Links(speed="2.5Gf", bw="100MBps", lat="5us")
    content = generate.flat(4, links=links)
    assert read(tmp_path, content).speeds.tolist() == [2.5e9] * 4
    assert b'bw="100MBps" lat="5us"' in content


@pytest.mark.parametrize("router_links", ["shared", "split"])
def test_torus_hosts_share_routers_and_io_stands_on_them(router_links: RouterLinks, tmp_path: Path) -> None:
    platform = read(tmp_path, topologies.torus([4, 3, 2], hosts_per_router=2, io=5, router_links=router_links))
    machine = platform.machine
    assert machine.size == 43
    assert len(machine.storage) == 5
    assert platform.clusters[0].dims == (4, 3, 2)
    assert platform.clusters[0].hosts_per_router == 2
    assert machine.coordinates is not None
    places = [tuple(row) for row in machine.coordinates.tolist()]
    everywhere = set(itertools.product(range(4), range(3), range(2)))
    assert set(places) == everywhere
    assert all(places.count(place) == 2 for place in everywhere)
    # One I/O node a router at most, each beside a compute host.
    io = [places[host.id] for host in machine.storage]
    assert len(set(io)) == 5
    assert set(io) <= set(places[: machine.size])
    # In order of name: x fastest, both hosts of a router together.
    by_name = [places[i] for i in np.argsort(names(platform), kind="stable")]
    assert by_name[:4] == [(0, 0, 0), (0, 0, 0), (1, 0, 0), (1, 0, 0)]


def test_shared_and_split_links_make_the_same_machine(tmp_path: Path) -> None:
    shared, split = (
        read(tmp_path, topologies.torus([5, 3], hosts_per_router=3, io=4, capacity="core=8", router_links=links))
        for links in ("shared", "split")
    )
    assert names(shared) == names(split)
    assert [host.storage for host in shared.machine.hosts] == [host.storage for host in split.machine.hosts]
    ours, theirs = shared.machine.topology, split.machine.topology
    assert isinstance(ours, Grid)
    assert isinstance(theirs, Grid)
    assert (ours.dims, ours.wrap, ours.router_of.tolist()) == (theirs.dims, theirs.wrap, theirs.router_of.tolist())
    assert shared.machine.capacity[:1].tolist() == split.machine.capacity[:1].tolist() == [[8]]
    # Roles stand at the hosts themselves where each is written out, so that Batsim needs no options for them.
    assert shared.batsim_arguments()[2:] == []
    assert split.batsim_arguments()[2::2] == ["-r"] * 4


@pytest.mark.parametrize(
    ("dims", "per", "written"),
    [((12, 12, 12), 2, True), ((24, 24, 24), 2, False), ((12, 12, 13), 2, False), ((4, 4), 1, False)],
)
def test_links_are_shared_by_default_up_to_a_size(dims: tuple[int, ...], per: int, written: bool) -> None:
    content = topologies.torus(dims, hosts_per_router=per)
    assert (b'topology="TORUS"' in content) != written


def test_bandwidths_of_dimensions_and_hosts_stand_on_their_links() -> None:
    widths = topologies.Widths(("2GBps", "1GBps"), "500MBps")
    for content in (
        topologies.torus([4, 3], hosts_per_router=1, widths=widths),
        topologies.mesh([4, 3], widths=widths),
    ):
        found = set(re.findall(r'<link id="([a-z]+\d?)_\w+" bandwidth="(\w+)"', content.decode()))
        # Of each router all that its hosts and its neighbours send, three times.
        inside = ("inside", "19500000000Bps")
        assert found == {("of", "500MBps"), ("cable0", "2GBps"), ("cable1", "1GBps"), inside}


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: topologies.torus([18, 18, 18], router_links="shared"), "6804 zones .* are more than 5000"),
        (lambda: topologies.mesh([80, 80]), "6560 zones .* are more than 5000"),
        (
            lambda: topologies.mesh([4, 4], widths=topologies.Widths(("1GBps",) * 3)),
            "--bw: 3 bandwidths .* 2 dimensions",
        ),
        (lambda: topologies.mesh([4], widths=topologies.Widths(("1GB/s",))), "--bw: '1GB/s'"),
        (lambda: topologies.mesh([4], widths=topologies.Widths((), "0Bps")), "--host-bw: '0Bps' must be positive"),
        (
            lambda: topologies.torus([4], router_links="split", widths=topologies.Widths(("1GBps",))),
            "has one bandwidth for all links",
        ),
    ],
)
def test_grids_that_are_not_written(make: Callable[[], bytes], message: str) -> None:
    with pytest.raises(InputError, match=message):
        make()


def test_torus_with_one_host_a_router(tmp_path: Path) -> None:
    platform = read(tmp_path, topologies.torus([3, 3], hosts_per_router=1))
    assert platform.clusters[0].parameters == "3,3"
    assert platform.machine.coordinates is not None
    assert len({tuple(row) for row in platform.machine.coordinates.tolist()}) == 9


@given(dims=st.lists(st.integers(1, 7), min_size=1, max_size=4), data=st.data())
def test_spread_routers_are_different_and_in_range(dims: list[int], data: st.DataObject) -> None:
    routers = int(np.prod(dims))
    count = data.draw(st.integers(0, routers))
    spread = spread_routers(dims, count)
    assert len(set(spread)) == count
    assert spread == sorted(spread)
    assert all(0 <= router < routers for router in spread)


def test_io_of_blue_waters_is_spread_evenly() -> None:
    side = 24
    grid = np.indices((side, side, side))[::-1]  # x varies fastest
    nearest = np.full((side, side, side), side * 3)
    for router in spread_routers([side] * 3, 672):
        place = (router % side, router // side % side, router // side**2)
        hops = np.zeros_like(nearest)
        for axis in range(3):
            steps = np.abs(grid[axis] - place[axis])
            hops += np.minimum(steps, side - steps)
        nearest = np.minimum(nearest, hops)
    assert nearest.max() == 4
    assert nearest.mean() < 1.8
    assert (nearest == 0).sum() == 672
