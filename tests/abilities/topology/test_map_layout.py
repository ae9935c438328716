"""Maps of where jobs ran: the places of hosts, and what a page says that has none."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from lxml import html

from batdispatch.abilities.topology import generate
from batdispatch.abilities.topology.networks import Dragonfly, FatTree, Grid, Topology
from batdispatch.abilities.topology.results.map_layout import layout_of
from batdispatch.report.page import render
from batdispatch.results.runs import read_runs

NETWORKS: dict[str, Topology] = {
    "line": Grid(range(5), (5,), wrap=False),
    "long ring": Grid(np.arange(300) // 2, (150,)),
    "plane": Grid(np.arange(24) // 2, (4, 3)),
    "torus": Grid(np.arange(72) // 3, (4, 3, 2)),
    "flat in one dimension": Grid(np.arange(24) // 2, (4, 1, 3)),
    "four dimensions": Grid(range(48), (4, 3, 2, 2)),
    "with holes": Grid([0, 0, 3, 5, -1, 7], (4, 2)),
    "fat tree": FatTree(range(24), (4, 3, 2), (1, 1, 2), (1, 1, 1)),
    "one level": FatTree(range(6), (6,), (1,), (1,)),
    "dragonfly": Dragonfly(np.arange(36) // 2, 3, 2, 3),
    "blue waters": Grid(np.arange(27648) // 2, (24, 24, 24)),
}


@pytest.mark.parametrize("name", NETWORKS)
def test_each_host_has_a_place_of_its_own_beside_those_of_its_router(name: str) -> None:
    topology = NETWORKS[name]
    layout = layout_of(topology)
    inside = topology.router_of >= 0
    assert (layout.plane[~inside] == -1).all()
    places = list(zip(layout.plane[inside], layout.row[inside], layout.column[inside], strict=True))
    assert len(set(places)) == len(places)
    for place, size in zip(zip(*places, strict=True), layout.shape, strict=True):
        assert min(place) >= 0
        assert max(place) < size
    squares: dict[tuple[int, ...], set[int]] = {}
    for (plane, row, column), router in zip(places, topology.router_of[inside].tolist(), strict=True):
        squares.setdefault((plane, row // layout.up, column // layout.across), set()).add(router)
    assert all(len(routers) == 1 for routers in squares.values())
    assert len(squares) == len(set(topology.router_of[inside].tolist()))


def test_a_torus_has_a_plane_for_each_z_with_x_to_the_right_and_y_upwards() -> None:
    torus = NETWORKS["torus"]
    assert isinstance(torus, Grid)
    layout = layout_of(torus)
    assert list(layout.planes) == ["z = 0", "z = 1"]
    assert layout.axes == "x to the right, y upwards"
    x, y, z = torus.coordinates(torus.router_of).T
    assert (layout.plane == z).all()
    assert (layout.row // layout.up == y).all()
    assert (layout.column // layout.across == x).all()


def test_planes_are_named_after_the_dimensions_that_have_several_places() -> None:
    assert list(layout_of(NETWORKS["four dimensions"]).planes) == [
        "z = 0, w = 0",
        "z = 1, w = 0",
        "z = 0, w = 1",
        "z = 1, w = 1",
    ]
    flat = layout_of(NETWORKS["flat in one dimension"])
    assert (list(flat.planes), flat.axes) == ([""], "x to the right, z upwards")
    assert list(layout_of(NETWORKS["dragonfly"]).planes) == ["group 0", "group 1", "group 2"]
    assert list(layout_of(NETWORKS["fat tree"]).planes) == ["group 0", "group 1"]


def test_a_line_is_written_in_rows_from_the_top() -> None:
    layout = layout_of(NETWORKS["long ring"])
    assert (layout.wide, layout.high) == (64, 3)
    assert layout.row[[0, 127, 128, 299]].tolist() == [2, 2, 1, 0]
    assert layout.column[[0, 127, 128, 299]].tolist() == [0, 127, 0, 43]


@pytest.mark.parametrize("hosts", range(1, 40))
def test_the_parts_of_a_router_are_enough_and_no_strips(hosts: int) -> None:
    layout = layout_of(Grid([0] * hosts + [1], (2,)))
    assert layout.across * layout.up >= hosts
    assert layout.up <= layout.across <= 3 * layout.up
    assert layout.across * layout.up <= 1.35 * hosts + 1


def test_maps_need_the_platform_of_the_run(call: Callable[..., tuple[int, str, str]], tmp_path: Path) -> None:
    """Run a job on a torus, and change the platform's file afterwards."""
    platform, workload = tmp_path / "torus.xml", tmp_path / "w.json"
    platform.write_bytes(generate.torus((4, 3), hosts_per_router=2, io=4))
    job = {"id": "1", "subtime": 0, "res": 2, "profile": "p"}
    workload.write_text(json.dumps({"nb_res": 20, "jobs": [job], "profiles": {"p": {"type": "delay", "delay": 9}}}))
    words = ["run", "--platform", platform, "--workload", workload, "--dispatcher", "fcfs", "--out", tmp_path / "run"]
    assert call(*words)[0] == 0
    runs = read_runs([tmp_path / "run"])
    said = "Maps of run need the platform of the run, which is not where result.json says, or has changed since."
    assert said not in render(runs, explain=False)
    platform.write_bytes(generate.torus((3, 4), hosts_per_router=2, io=4))
    assert said in html.fromstring(render(runs, explain=False)).find(".//main").text_content()
