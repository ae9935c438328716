"""The network of a machine, as the platform file states it."""

import json
import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from batdispatch.abilities.topology import generate as topologies
from batdispatch.abilities.topology.networks import Dragonfly, FatTree, Grid, Topology
from batdispatch.cli.main import cli
from batdispatch.core.errors import InputError
from batdispatch.inputs.platforms import Platform, read_platform
from batdispatch_papers.eurora.machine import eurora

HEAD = '<?xml version="1.0"?>\n<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">\n<platform version="4.1">\n'
CLUSTER = '<cluster id="{id}" prefix="{id}" suffix="" radical="0-{last}" speed="1Gf" bw="1GBps" lat="1us" {more}>'


def read(folder: Path, body: str, **more: str) -> Platform:
    path = folder / "platform.xml"
    path.write_text(f'{HEAD}<zone id="world" routing="Full">\n{body}\n</zone>\n</platform>\n')
    return read_platform(path, **more)


def cluster(name: str, hosts: int, more: str = "", inside: str = "") -> str:
    return CLUSTER.format(id=name, last=hosts - 1, more=more) + inside + "</cluster>\n"


def props(**properties: str) -> str:
    return "".join(f'<prop id="{key}" value="{value}"/>' for key, value in properties.items())


def hosts(places: Sequence[str | None], role: str = "") -> str:
    return "".join(
        f'<host id="h{i}{role}" speed="1Gf">'
        + (f'<prop id="coordinates" value="{place}"/>' if place is not None else "")
        + (f'<prop id="role" value="{role}"/>' if role else "")
        + "</host>\n"
        for i, place in enumerate(places)
    )


def mesh(content: str, dimensions: str = "3,2", **more: str) -> str:
    return f'<zone id="m" routing="Full">{props(topology="mesh", dimensions=dimensions, **more)}\n{content}</zone>'


def network(platform: Platform) -> Topology:
    assert platform.machine.topology is not None
    return platform.machine.topology


def test_a_torus_of_two_hosts_a_router_with_io_nodes(tmp_path: Path) -> None:
    path = tmp_path / "torus.xml"
    path.write_bytes(topologies.torus([4, 3, 2], hosts_per_router=2, io=5))
    platform = read_platform(path)
    machine, grid = platform.machine, network(platform)
    assert isinstance(grid, Grid)
    assert (grid.kind, grid.dims, grid.hosts_per_router, grid.routers) == ("torus", (4, 3, 2), 2, 24)
    # Storage hosts stand on routers as compute hosts do.
    assert (grid.router_of >= 0).all()
    assert len(machine.storage) == 5
    assert machine.coordinates is not None
    assert machine.coordinates.tolist() == grid.coordinates(grid.router_of).tolist()


def test_places_follow_the_radical_and_not_the_ids(tmp_path: Path) -> None:
    body = cluster("t", 12, 'topology="TORUS" topo_parameters="12"')
    platform = read(tmp_path, body, master="t0")
    grid = network(platform)
    assert [int(grid.router_of[platform.by_name[f"t{number}"]]) for number in range(1, 12)] == list(range(1, 12))
    assert platform.by_name["t10"] < platform.by_name["t2"]


def test_fat_tree_dragonfly_and_flat(tmp_path: Path) -> None:
    tree = network(read(tmp_path, cluster("f", 16, 'topology="FAT_TREE" topo_parameters="2;4,4;1,2;1,2"')))
    assert isinstance(tree, FatTree)
    assert (tree.kind, tree.routers, tree.hosts_per_router) == ("fat tree", 6, 4)
    fly = network(read(tmp_path, cluster("d", 120, 'topology="DRAGONFLY" topo_parameters="3,4;4,3;5,1;2"')))
    assert isinstance(fly, Dragonfly)
    assert (fly.kind, fly.routers, fly.hosts_per_router) == ("dragonfly", 60, 2)
    flat = network(read(tmp_path, cluster("c", 7)))
    assert (flat.kind, flat.routers, flat.links, flat.hosts_per_router) == ("flat", 1, 0, 7)


@pytest.mark.parametrize("policy", ["SHARED", "SPLITDUPLEX"])
def test_shared_cables(policy: str, tmp_path: Path) -> None:
    more = f'topology="TORUS" topo_parameters="4" sharing_policy="{policy}"'
    ring = network(read(tmp_path, cluster("t", 4, more)))
    assert ring.shared == (policy == "SHARED")
    # 0 -> 1 and 1 -> 0 use one cable in both directions anyway.
    assert ring.links_within([0, 1]).sum() == 2


def test_compute_hosts_of_several_clusters_have_no_common_network(tmp_path: Path) -> None:
    assert read(tmp_path, cluster("a", 2) + cluster("b", 2)).machine.topology is None
    lone = '<zone id="z" routing="Full"><host id="x" speed="1Gf">{}</host></zone>'
    body = cluster("a", 2, 'topology="TORUS" topo_parameters="2"')
    assert read(tmp_path, body + lone.format("")).machine.topology is None
    # A storage host beside the cluster is not in its network.
    grid = network(read(tmp_path, body + lone.format('<prop id="role" value="storage"/>')))
    assert grid.router_of.tolist() == [0, 1, -1]


def test_a_zone_states_a_mesh_with_coordinates(tmp_path: Path) -> None:
    platform = read(tmp_path, mesh(hosts(["2,1", "0,0", "1,1", "1,1"]) + hosts([None], "storage")))
    grid = network(platform)
    assert (grid.kind, grid.dims, grid.wrap, grid.hosts_per_router) == ("mesh", (3, 2), (False, False), 2)
    assert grid.router_of.tolist() == [5, 0, 4, 4, -1]
    assert grid.distance(0, 1) == 3
    assert platform.clusters[0].hosts == 5


def test_hosts_without_coordinates_fill_the_routers_in_order(tmp_path: Path) -> None:
    platform = read(tmp_path, mesh(cluster("c", 12), hosts_per_router="2"))
    grid = network(platform)
    assert [int(grid.router_of[platform.by_name[f"c{i}"]]) for i in range(12)] == [i // 2 for i in range(12)]
    assert platform.machine.coordinates is not None
    assert platform.machine.coordinates[platform.by_name["c11"]].tolist() == [2, 1]
    # Likewise for a flat cluster that states it itself, and beside a master host.
    alone = cluster("c", 6, inside=props(topology="torus", dimensions="3,2"))
    assert network(read(tmp_path, alone)).kind == "torus"
    master = mesh(hosts([None] * 6) + '<host id="master_host" speed="1Gf"/>')
    assert network(read(tmp_path, master)).router_of.tolist() == list(range(6))


def test_a_zone_states_that_it_is_flat(tmp_path: Path) -> None:
    body = f'<zone id="z" routing="Full">{props(topology="flat")}{hosts([None, None])}</zone>'
    assert network(read(tmp_path, body)).kind == "flat"


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (mesh(hosts(["0,0"]), "3,x"), "line 5: <zone> 'm': property dimensions '3,x' is not a list of whole numbers"),
        (
            f'<zone id="m" routing="Full">{props(topology="mesh")}{hosts(["0"])}</zone>',
            "line 5: <zone> 'm': a mesh needs the property dimensions",
        ),
        (
            f'<zone id="m" routing="Full">{props(topology="star")}{hosts(["0"])}</zone>',
            "line 5: <zone> 'm': property topology is 'star', expected mesh, torus, flat",
        ),
        (mesh(hosts(["0,0", "0,2"])), "line 7: host 'h1' has coordinates '0,2', expected 2 whole numbers (0..2, 0..1)"),
        (mesh(hosts(["0,0,0"])), "line 6: host 'h0' has coordinates '0,0,0', expected 2 whole numbers"),
        (mesh(hosts(["0,0", None])), "line 7: host 'h1' has no property coordinates, others of the mesh 3 x 2 of 'm'"),
        (mesh(hosts([None] * 5)), "has 6 places (1 on a router) for 5 hosts, which state no coordinates"),
        (
            mesh(hosts(["0,0", "0,0"]), hosts_per_router="1"),
            "line 6: 2 hosts stand on the router of host 'h0', the mesh 3 x 2 of 'm' has hosts_per_router = 1",
        ),
        (mesh(hosts(["0,0"]), hosts_per_router="two"), "property hosts_per_router 'two' is no whole number"),
        (mesh(hosts(["0,0"]), "9999999,9999999"), "routers are more than 1000000"),
        (
            mesh(cluster("t", 2, 'topology="TORUS" topo_parameters="2"')),
            "line 6: cluster 't' has the topology TORUS, and 'm' states another one with the property topology",
        ),
        (
            mesh(cluster("t", 2, inside=props(topology="flat"))),
            "line 6: <cluster> 't' has the property topology, and stands in 'm', which has it too",
        ),
        (
            cluster("d", 16, 'topology="DRAGONFLY" topo_parameters="4,1;2,1;2,1;1"'),
            "4 groups and 2 routers in a chassis; SimGrid crashes",
        ),
        (
            cluster("f", 4, 'topology="FAT_TREE" topo_parameters="2;2,2;1,999999999;1,1"'),
            "links, more than 10000000",
        ),
    ],
)
def test_what_cannot_be_is_refused_at_the_door(body: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError) as problem:
        read(tmp_path, body)
    assert message in str(problem.value)
    assert "platform.xml" in str(problem.value)


@pytest.mark.parametrize("dims", [(4, 3), (5,), (2, 3, 2)])
def test_a_generated_mesh_is_read_as_one(dims: tuple[int, ...], tmp_path: Path) -> None:
    path = tmp_path / "mesh.xml"
    path.write_bytes(topologies.mesh(dims, hosts_per_router=2, io=2, capacity="core=4"))
    platform = read_platform(path)
    grid = network(platform)
    assert (grid.kind, grid.dims) == ("mesh", dims)
    assert np.bincount(grid.router_of).tolist() == [2] * math.prod(dims)
    assert len(platform.machine.storage) == 2
    assert platform.master == "master_host"


def test_show_says_the_network(tmp_path: Path) -> None:
    path = tmp_path / "p.xml"
    path.write_bytes(topologies.mesh((4, 3), io=1))

    def show(*arguments: str) -> str:
        result = CliRunner().invoke(cli, ["platform", "show", str(path), *arguments], catch_exceptions=False)
        assert result.exit_code == 0, result.output
        return result.output

    assert "network   mesh 4 x 3 of 12 routers with up to 1 hosts each, 34 directed links" in show()
    assert json.loads(show("--json"))["network"]["wrap"] == [False, False]
    path.write_bytes(eurora())
    assert "network   none" in show()
    assert json.loads(show("--json"))["network"] is None


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("mesh", "--dims", "80,80"), "6560 zones"),
        (("mesh", "--dims", "2", "--io", "2"), "2 is not"),
        (("mesh", "--dims", "4,3", "--bw", "1GBps,2GBps,3GBps"), "3 bandwidths (1GBps,2GBps,3GBps), expected one"),
    ],
)
def test_meshes_that_are_not_written(arguments: tuple[str, ...], message: str) -> None:
    result = CliRunner().invoke(cli, ["platform", "generate", *arguments, "-o", "-"])
    assert message in str(result.exception)


def test_a_dragonfly_that_simgrid_cannot_route_is_not_written() -> None:
    with pytest.raises(InputError, match="3 groups are more than the 2 routers in a chassis"):
        topologies.dragonfly((3, 1), (2, 1), (2, 1), 1)
