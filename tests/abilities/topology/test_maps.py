"""Maps of where jobs ran: places of hosts, colours, moments, and what stands on the page."""

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree, html

from batdispatch.abilities.topology import generate as topologies
from batdispatch.abilities.topology.doors import maps
from batdispatch.abilities.topology.doors.map_picture import COLOURS, TALL, WIDTH, colours_of, draw, sheet_of
from batdispatch.abilities.topology.networks import Dragonfly, FatTree, Grid, Topology
from batdispatch.abilities.topology.results.free import FreeNodes
from batdispatch.abilities.topology.results.map_layout import Layout, layout_of
from batdispatch.inputs.platforms import read_platform
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


@pytest.mark.parametrize("name", NETWORKS)
def test_all_planes_fit_onto_a_page(name: str) -> None:
    layout = layout_of(NETWORKS[name])
    sheet = sheet_of(layout)
    assert sheet.width <= WIDTH
    assert sheet.height <= TALL * WIDTH
    # Small enough for a page, large enough for eyes.
    assert sheet.cell >= 6


def paint(path: str, layout: Layout, places: Sequence[tuple[float, float]]) -> list[bool]:
    """Whether points lie inside one of the rectangles of a path."""
    boxes = [tuple(map(float, found)) for found in re.findall(r"M([\d.]+) ([\d.]+)h([\d.]+)v([\d.]+)h-[\d.]+z", path)]
    return [any(x < px < x + w and y < py < y + h for x, y, w, h in boxes) for px, py in places]


@pytest.mark.parametrize("name", ["torus", "with holes", "dragonfly", "long ring"])
def test_every_job_is_painted_on_its_hosts_and_nowhere_else(name: str) -> None:
    topology = NETWORKS[name]
    layout = layout_of(topology)
    rng = np.random.default_rng(4)
    holder = rng.integers(-1, 4, len(topology.router_of))
    storage, away = [0, 3], [1, 2]
    holder[storage] = -1
    texts = {job: f"job {job} <&>" for job in range(4)}
    text = draw(layout, holder, texts, {0: 0, 1: 1, 2: 2, 3: 3}, storage, away, prefix="m", title="A & B")
    picture = etree.fromstring(text)
    sheet = sheet_of(layout)
    wide, high = sheet.cell / layout.across, sheet.cell / layout.up
    size = layout.wide * sheet.cell
    ground = next(each for each in picture.iter("path") if each.get("class") == "ground").get("d")
    corners = [(float(x), float(y)) for x, y in re.findall(r"M([\d.]+) ([\d.]+)", ground)]
    assert len(corners) == len(layout.planes)
    inside = np.flatnonzero(layout.plane >= 0)
    middles = [
        (
            corners[layout.plane[host]][0] + (layout.column[host] + 0.5) * wide,
            corners[layout.plane[host]][1] + (layout.shape[1] - layout.row[host] - 0.5) * high,
        )
        for host in inside
    ]
    seen = 0
    for path in picture.iter("path"):
        told = path.findtext("title")
        if told is None:
            continue
        painted = [bool(each) for each in paint(path.get("d"), layout, middles)]
        if told.startswith("job"):
            job = int(told.split()[1])
            assert told == texts[job]
            assert path.get("fill") == COLOURS[job]
            assert painted == [holder[host] == job for host in inside]
            seen += 1
        elif told == "away":
            assert painted == [host in away for host in inside]
            assert path.get("fill") == "url(#m-away)"
        elif told == "I/O node":
            assert painted == [host in storage for host in inside]
        else:
            assert told == "no host here"
            assert not any(painted)
            assert name in ("with holes", "long ring")
    assert seen == len(set(holder[inside].tolist()) - {-1})
    assert picture.get("aria-label") == "A & B"
    assert all(x + size <= sheet.width for x, _ in corners)


@given(st.lists(st.integers(-1, 9), min_size=24, max_size=24), st.dictionaries(st.integers(0, 3), st.integers(0, 11)))
def test_neighbours_have_different_colours_while_there_are_enough(held: list[int], known: dict[int, int]) -> None:
    holder = np.array(held).reshape(2, 3, 4)
    sizes = {job: held.count(job) for job in set(held) - {-1}}
    before = dict(known)
    colours_of(holder, sizes, known)
    assert {job: known[job] for job in before} == before
    for axis in range(3):
        one, other = np.moveaxis(holder, axis, 0)[:-1].ravel(), np.moveaxis(holder, axis, 0)[1:].ravel()
        for a, b in zip(one.tolist(), other.tolist(), strict=True):
            if a != b and min(a, b) >= 0 and not {a, b} <= set(before):
                assert known[a] != known[b]


def test_ten_jobs_have_ten_colours() -> None:
    known: dict[int, int] = {}
    colours_of(np.arange(10).reshape(1, 1, 10), dict.fromkeys(range(10), 1), known)
    assert len(set(known.values())) == 10


def test_the_moments_are_thirds_of_the_time_the_busiest_and_the_most_scattered() -> None:
    moments = np.array([5.0, 20.0, 40.0, 75.0])
    free = FreeNodes(moments, np.array([10.0, 20.0, 20.0, 50.0]), *map(np.array, ([4, 9, 1, 8], [4, 5, 1, 8], [1] * 4)))
    assert maps.moments(free, 0.0, 120.0) == [
        (20.0, "most free hosts lie outside of the largest piece"),
        (40.0, "a third of the time, and the fewest hosts are free"),
        (80.0, "two thirds of the time"),
    ]
    # A run that has ended by then, and one whose free hosts always hang together.
    whole = FreeNodes(moments, free.weight, free.free, free.free, free.run)
    assert maps.moments(whole, 0.0, 600.0) == [(40.0, "the fewest hosts are free")]


# On the page.


@pytest.fixture
def torus_run(tmp_path: Path, call: Callable[..., tuple[int, str, str]]) -> Callable[..., Path]:
    """Run jobs [(hosts, submission, seconds)] on a torus of 4 x 3 routers with two hosts each, 4 of them I/O nodes."""

    def run(jobs: Sequence[tuple[int, float, float]], name: str = "run", events: str = "") -> Path:
        platform, workload = tmp_path / "torus.xml", tmp_path / "w.json"
        if not platform.exists():
            platform.write_bytes(topologies.torus((4, 3), hosts_per_router=2, io=4))
        profiles = {f"p{i}": {"type": "delay", "delay": seconds} for i, (_, _, seconds) in enumerate(jobs)}
        listed = [
            {"id": f"{i}", "subtime": when, "res": hosts, "profile": f"p{i}", "walltime": 1000}
            for i, (hosts, when, _) in enumerate(jobs)
        ]
        workload.write_text(json.dumps({"nb_res": 20, "jobs": listed, "profiles": profiles}))
        arguments: list[Any] = ["run", "--platform", platform, "--workload", workload, "--dispatcher", "fcfs"]
        if events:
            (tmp_path / "events.txt").write_text(events)
            arguments += ["--events", tmp_path / "events.txt"]
        status, _, said = call(*arguments, "--out", tmp_path / name)
        assert status == 0, said
        return tmp_path / name

    return run


#: From 30 to 40 and from 60 on, hosts 9 and 19 are free; from 40 to 60 job 3 is on both.
JOBS = [(9, 0.0, 90.0), (1, 0.0, 30.0), (9, 0.0, 90.0), (2, 40.0, 20.0)]


def test_a_run_on_a_torus_has_maps_with_captions_in_numbers(torus_run: Callable[..., Path]) -> None:
    run = read_runs([torus_run(JOBS)])
    text = render(run, explain=False)
    page = html.fromstring(text)
    section = page.get_element_by_id("maps")
    assert "x to the right, y upwards" in section.text_content()
    titles = [each.text_content() for each in section.iter("h4")]
    captions = [each.text_content() for each in section.iter("figcaption")]
    assert titles == [
        "After 30\N{NO-BREAK SPACE}s: a third of the time",
        "After 35\N{NO-BREAK SPACE}s: most free hosts lie outside of the largest piece",
        "After 50\N{NO-BREAK SPACE}s: the fewest hosts are free",
        "After 60\N{NO-BREAK SPACE}s: two thirds of the time",
    ]
    apart = "2 jobs on 18 of 20 hosts. 2 hosts are free, in 2 pieces; the largest has 1."
    assert captions == [apart, apart, "3 jobs on 20 of 20 hosts. No host is free.", apart]
    assert "Where jobs ran" in page.find(".//nav").text_content()
    told = [each.text for each in section.iter("title")]
    assert sum(each.startswith("job 0: 9 hosts, ") for each in told) == 4
    network = read_platform(run[0].result.platform.path).machine.topology
    assert network is not None
    away = f"{network.distance(9, 19)} links from one to another on average"
    own = [each.replace("\N{NO-BREAK SPACE}", " ") for each in told if each.startswith("job 3")]
    assert own == [f"job 3: 2 hosts, {away}; runs since 10 s, for 20 s in all"]
    assert told.count("I/O node") == len(titles)
    ids = page.xpath("//@id")
    assert len(ids) == len(set(ids))
    assert text == render(run, explain=False)


def test_hosts_that_are_away_are_hatched_and_not_free(torus_run: Callable[..., Path]) -> None:
    events = '{"timestamp": 5, "type": "machine_unavailable", "resources": "19"}\n'
    events += '{"timestamp": 50, "type": "machine_available", "resources": "19"}\n'
    folder = torus_run(JOBS, events=events)
    page = html.fromstring(render(read_runs([folder]), explain=False))
    captions = [each.text_content() for each in page.get_element_by_id("maps").iter("figcaption")]
    assert "2 jobs on 18 of 20 hosts. One host is free; 1 host away." in captions
    titles = [each.text_content() for each in page.get_element_by_id("maps").iter("h4")]
    # Free hosts lie apart only after the one that was away has come back.
    apart = next(caption for title, caption in zip(titles, captions, strict=True) if "outside" in title)
    assert "in 2 pieces" in apart
    assert any("away" not in caption for caption in captions)
    assert [each.text for each in page.iter("title")].count("away") == sum("away" in caption for caption in captions)
    # Changed since: nothing is said of hosts that are away.
    (folder.parent / "events.txt").write_text(events.replace('"19"', '"0-3"'))
    page = html.fromstring(render(read_runs([folder]), explain=False))
    assert "away." not in page.get_element_by_id("maps").text_content()


def test_maps_need_the_platform_of_the_run(torus_run: Callable[..., Path], tmp_path: Path) -> None:
    runs = read_runs([torus_run(JOBS)])
    (tmp_path / "torus.xml").write_bytes(topologies.torus((3, 4), hosts_per_router=2, io=4))
    page = html.fromstring(render(runs, explain=False))
    section = page.get_element_by_id("maps")
    assert not list(section.iter("svg"))
    assert "Maps of run need the platform of the run" in section.text_content()
    assert "Where jobs ran" not in page.find(".//nav").text_content()


def test_the_first_runs_have_maps(torus_run: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(maps, "MAX_RUNS", 2)
    runs = read_runs([torus_run(JOBS, name) for name in "abc"])
    section = html.fromstring(render(runs, explain=False)).get_element_by_id("maps")
    assert [each.text_content() for each in section.iter("h3")] == ["a", "b"]
    assert "Maps are drawn for the first 2 runs." in section.text_content()


def test_a_machine_without_a_network_has_no_maps(write_jobs: Callable[..., Path]) -> None:
    page = html.fromstring(render(read_runs([write_jobs({"a": {}})]), explain=False))
    assert not page.xpath("//*[@id='maps']")
