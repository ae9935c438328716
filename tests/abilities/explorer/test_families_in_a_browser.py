"""Maps, links, I/O nodes and resources in the explorer, in a headless Chromium, against naive readings of jobs.csv."""

import csv
import itertools
import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import expect

from batdispatch.abilities.topology.networks import Topology
from batdispatch.inputs.platforms import read_platform
from batdispatch.report.page import render
from batdispatch.results.numbers import number
from batdispatch.results.runs import Run, read_runs
from browsing import barriers, browse, needs_browser, opened, ready, sheets, wider
from family_runs import EVENTS, ROOT, licensed_run, shared_run, torus_run

CHANCE = random.Random(8)
#: (hosts, submission, seconds, I/O nodes): some forty jobs, of which several run at most times.
MIXED = [
    (
        CHANCE.choice([1, 2, 3, 5, 8]),
        float(8 * number + CHANCE.randint(0, 7)),
        float(CHANCE.randint(5, 90)),
        CHANCE.choice([[], ["a"], ["b"], ["a", "b"]]),
    )
    for number in range(40)
]
#: Colours of jobs, in turn.
HUES = ["#4b4fa8", "#7fb8a4", "#a8a33c", "#b35a73", "#7a2f5b", "#2f7f4f", "#d9b44a", "#8f7bc4", "#6b6b3a", "#c98f6b"]

BEGIN = """
await until(() => window.explorer?.layout?.width);
const explorer = window.explorer, { table, view } = explorer;
explorer.showCharts(true);
const charts = () => explorer.layout.charts;
const curve = (name) => charts().find((one) => one.curve?.name === name).curve;
/** Return the pixels of a canvas as rows of red, green, blue and opacity, read from a copy. */
const pixels = (canvas) => {
  const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext("2d", { willReadFrequently: true });
  copy.drawImage(canvas, 0, 0);
  return copy.getImageData(0, 0, canvas.width, canvas.height).data;
};
const shown = (at, type) => new PointerEvent(type, { ...at, pointerType: "mouse", bubbles: true });
/** Do something, and wait until maps are painted anew. */
const painted = async (act) => {
  await pause(20);
  const count = () => performance.getEntriesByName("explore-map").length, before = count();
  act();
  await until(() => count() > before);
};
const show = (seconds) => painted(() => explorer.moment.set((seconds - table.begin) * table.second));
"""


class Rows:
    """A run's jobs as its jobs.csv has them."""

    def __init__(self, folder: Path) -> None:
        with (folder / "jobs.csv").open(newline="") as file:
            rows = [row for row in csv.DictReader(file) if row["allocated_resources"]]
        self.jobs = {
            row["job_id"]: (float(row["starting_time"]), float(row["finish_time"]), _hosts(row["allocated_resources"]))
            for row in rows
        }
        self.wait = {row["job_id"]: float(row["waiting_time"]) for row in rows}

    def at(self, second: float) -> dict[int, str]:
        """Who is on each host."""
        return {host: job for job, (start, end, hosts) in self.jobs.items() if start <= second < end for host in hosts}

    @property
    def end(self) -> int:
        return int(max(end for _, end, _ in self.jobs.values()))


def _hosts(text: str) -> list[int]:
    parts = [part.split("-") for part in text.split()]
    return [host for part in parts for host in range(int(part[0]), int(part[-1]) + 1)]


def pieces(network: Topology, free: set[int]) -> list[int]:
    """Sizes of the connected pieces of free hosts on a network whose routers all have hosts."""
    left, found = set(free), []
    while left:
        reached, ahead = set(), [min(left)]
        while ahead:
            host = ahead.pop()
            if host not in left:
                continue
            left.remove(host)
            reached.add(host)
            routers = {int(network.router_of[host]), *map(int, network.neighbours(int(network.router_of[host])))}
            ahead += [other for other in left if int(network.router_of[other]) in routers]
        found.append(len(reached))
    return sorted(found, reverse=True)


def away(second: float) -> set[int]:
    """What `EVENTS` says."""
    return ({19} if 5 <= second < 50 else set()) | ({3, 4} if second >= 60 else set())


@pytest.fixture(scope="module")
def torus(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return torus_run(tmp_path_factory.mktemp("torus"), "easy", MIXED, events=EVENTS)


@pytest.fixture(scope="module")
def mapped(torus: Run) -> str:
    return render([torus], explain=False)


@needs_browser
def test_a_map_shows_who_is_where_at_the_moment(torus: Run, mapped: str, tmp_path: Path) -> None:
    rows = Rows(torus.folder)
    # At an end, too: who ends then is gone, and here nobody follows on one of the hosts.
    left = next(end for _, end, hosts in rows.jobs.values() if set(hosts) - set(rows.at(end)) and end < rows.end)
    moments = [8.5, 20.5, 55.5, 100.5, left, rows.end - 0.5]
    told = browse(
        mapped,
        BEGIN
        + f"""
        const found = [];
        const map = charts()[0].maps[0], {{ canvas, image, network }} = map;
        for (const second of {moments}) {{
          await show(second);
          const data = pixels(canvas);
          const colour = (host) => {{
            // Beside the middle, where I/O nodes have their mark.
            const [left, top] = image.place(host), scale = canvas.width / image.sheet.width;
            const [x, y] = [(left + 0.2 * image.wide) * scale, (top + 0.2 * image.high) * scale].map(Math.round);
            return [...data.subarray(4 * (y * canvas.width + x)).subarray(0, 3)];
          }};
          found.push({{
            said: map.caption.textContent,
            label: canvas.getAttribute("aria-label"),
            held: Array.from(map.held, (job) => (job < 0 ? null : table.name(job))),
            colours: Array.from({{ length: network.hosts }}, (_, host) => colour(host)),
            order: Array.from({{ length: table.count }}, (_, job) => table.name(job)),
            clock: charts()[0].slider.getAttribute("aria-valuetext"),
          }});
        }}
        return found;
        """,
        tmp_path,
    )
    machine = read_platform(Path(torus.result.platform.path)).machine
    network = machine.topology
    assert network is not None
    storage = {host.id for host in machine.storage}
    compute = set(range(len(machine.hosts))) - storage
    for second, seen in zip(moments, told, strict=True):
        holder, gone = rows.at(second), away(second)
        free = compute - set(holder) - gone
        assert seen["held"] == [holder.get(host) for host in range(len(machine.hosts))]
        sizes = pieces(network, free)
        jobs = len(set(holder.values()))
        said = f"{jobs} job{'s' * (jobs != 1)} on {len(holder)} of {len(compute)} hosts. "
        said += {0: "No host is free", 1: "One host is free"}.get(len(free), f"{len(free)} hosts are free")
        if len(sizes) > 1:
            said += f", in {len(sizes)} pieces; the largest has {sizes[0]}"
        elif len(free) > 1:
            said += ", all in one piece"
        said += f"; {len(gone)} host{'s' * (len(gone) != 1)} away." if gone else "."
        assert seen["said"] == said
        assert seen["label"] == f"Map of easy: {said}"
        assert seen["clock"].endswith(f"00:{int(second) // 60:02}:{int(second) % 60:02}")
        for host in set(holder) - gone:
            shade = HUES[seen["order"].index(holder[host]) % len(HUES)]
            assert seen["colours"][host] == [int(shade[place : place + 2], 16) for place in (1, 3, 5)], host
        blank = {tuple(seen["colours"][host]) for host in free}
        assert len(blank) <= 1
        assert not blank & {tuple(seen["colours"][host]) for host in set(holder) - gone}


@needs_browser
def test_the_moment_is_stepped_pointed_at_and_played(torus: Run, mapped: str, tmp_path: Path) -> None:
    rows = Rows(torus.folder)
    changes = sorted({time for start, end, _ in rows.jobs.values() for time in (start, end)})
    after = [change for change in changes if change > 100][:3]
    before = [change for change in changes if change < after[-1]][-1]
    told = browse(
        mapped,
        BEGIN
        + """
        const seconds = () => explorer.moment.time / table.second + table.begin;
        const buttons = document.querySelectorAll("#explore-charts button");
        const [back, next, play] = buttons;
        await show(100);
        const found = { stepped: [] };
        for (let step = 0; step < 3; step++) {
          next.click();
          found.stepped.push(seconds());
        }
        back.click();
        found.back = seconds();
        const slider = document.querySelector("#explore-charts input[type=range]");
        slider.value = (42 - table.begin) * table.second;
        slider.dispatchEvent(new Event("input"));
        found.slid = seconds();
        const box = charts()[1].canvas.getBoundingClientRect();
        const at = { clientX: box.left + 0.25 * box.width, clientY: box.top + 5 };
        charts()[1].canvas.dispatchEvent(shown(at, "pointermove"));
        found.pointed = (seconds() - table.begin) * table.second / table.length;
        document.getElementById("explore-charts").dispatchEvent(new PointerEvent("pointerleave"));
        found.left = seconds();
        await painted(() => charts()[1].canvas.dispatchEvent(shown(at, "click")));
        found.clicked = (seconds() - table.begin) * table.second / table.length;
        const line = document.querySelector("#explore-charts .moment");
        found.line = line.getBoundingClientRect().left - at.clientX;
        found.play = [play.textContent];
        play.click();
        found.play.push(play.textContent);
        const begun = seconds();
        await until(() => seconds() > begun + 5);
        play.click();
        found.play.push(play.textContent);
        found.played = seconds() - begun;
        explorer.view.show(0, 60 * table.second);
        found.inside = seconds() - table.begin;
        return found;
        """,
        tmp_path,
    )
    assert told["stepped"] == after
    assert told["back"] == before
    assert told["slid"] == told["left"] == 42
    assert [told["pointed"], told["clicked"]] == pytest.approx([0.25, 0.25], abs=0.01)
    assert abs(told["line"]) < 2
    assert told["play"] == ["Play", "Stop", "Play"]
    assert told["played"] > 5
    assert told["inside"] == 60


@needs_browser
def test_the_job_that_is_looked_at_is_framed_with_its_io_nodes(torus: Run, mapped: str, tmp_path: Path) -> None:
    rows = Rows(torus.folder)
    number = next(str(i) for i, job in enumerate(MIXED) if job[3] == ["a", "b"] and job[0] > 1)
    start, _, hosts = rows.jobs[number]
    told = browse(
        mapped,
        BEGIN
        + f"""
        await show({start + 1});
        const map = charts()[0].maps[0], {{ canvas, image }} = map;
        const dark = () => {{
          const data = pixels(canvas);
          const is = (place) => data[place + 3] && data[place] < 60 && data[place + 2] < 60;
          return Array.from({{ length: data.length / 4 }}, (_, pixel) => is(4 * pixel)).filter(Boolean).length;
        }};
        const at = (host) => {{
          const box = canvas.getBoundingClientRect(), [left, top] = image.place(host);
          return {{ clientX: box.left + left + 3, clientY: box.top + top + 3 }};
        }};
        const tip = (host) => {{
          canvas.dispatchEvent(shown(at(host), "pointermove"));
          return document.getElementById("explore-tip").textContent;
        }};
        const found = {{ tip: tip({hosts[0]}), before: dark() }};
        canvas.dispatchEvent(shown(at({hosts[0]}), "click"));
        found.chosen = table.name(explorer.job);
        await until(() => map.caption.textContent.includes("framed"));
        const {{ storage }} = map.family.machine;
        found.node = tip(storage[0][0]);
        found.names = storage.map(([, name]) => name);
        return {{ ...found, after: dark(), said: map.caption.textContent }};
        """,
        tmp_path,
    )
    assert told["chosen"] == number
    assert told["tip"].startswith(number)
    assert told["after"] > told["before"]
    names = told["names"]
    assert told["said"].endswith(f"Job {number}, framed, is on {len(hosts)} hosts and asks for {names[0]}, {names[2]}.")
    users = [
        job for job, (begin, end, _) in rows.jobs.items() if begin <= start + 1 < end and "a" in MIXED[int(job)][3]
    ]
    assert told["node"].startswith(f"I/O node {names[0]}: {len(users)} job")
    assert len(users) > 5 or all(job in told["node"] for job in users)


@needs_browser
def test_curves_of_free_hosts_links_and_io_nodes_are_those_of_jobs_csv(torus: Run, mapped: str, tmp_path: Path) -> None:
    rows = Rows(torus.folder)
    told = browse(
        mapped,
        BEGIN
        + """
        const run = table.runs[0], stretches = table.length / table.second;
        const level = (name) => curve(name).level(table, run, explorer.chosen);
        const of = (name) => Array.from(level(name).means(0, table.length, stretches));
        const names = ["fragmentation", "pieces", "shared links", "busiest link", "busiest I/O node"];
        const looks = Array.from(level("pieces").means(0, table.length, 40));
        return [table.begin, Object.fromEntries(names.map((name) => [name, of(name)])), looks];
        """,
        tmp_path,
    )
    begin, found, looks = told
    machine = read_platform(Path(torus.result.platform.path)).machine
    network = machine.topology
    assert network is not None
    compute = set(range(len(machine.hosts))) - {host.id for host in machine.storage}
    links = {
        job: {link for one, other in itertools.permutations(hosts, 2) for link in network.route(one, other)}
        for job, (_, _, hosts) in rows.jobs.items()
    }
    assert {len(values) for values in found.values()} == {rows.end - begin}
    for place, count in enumerate(looks):
        middle = begin + (place + 0.5) * (rows.end - begin) / 40
        assert count == len(pieces(network, compute - set(rows.at(middle)) - away(middle)))
    for second in range(rows.end - begin):
        middle = begin + second + 0.5
        holder = rows.at(middle)
        free = compute - set(holder) - away(middle)
        sizes = pieces(network, free)
        expected = None if not free else pytest.approx(1 - sizes[0] / len(free))
        assert found["fragmentation"][second] == expected, second
        assert found["pieces"][second] == len(sizes)
        running = set(holder.values())
        users = [sum(link in links[job] for job in running) for link in range(network.links)]
        assert found["shared links"][second] == pytest.approx(sum(count > 1 for count in users) / network.links)
        assert found["busiest link"][second] == pytest.approx(max(users))
        nodes = [sum(name in MIXED[int(job)][3] for job in running) for name in "ab"]
        assert found["busiest I/O node"][second] == pytest.approx(max(nodes)), second


@needs_browser
def test_the_mean_of_fragmentation_is_the_metric_where_no_host_is_away(tmp_path: Path) -> None:
    run = torus_run(tmp_path, "easy", MIXED)
    told = browse(
        render([run], explain=False),
        BEGIN
        + """
        curve("pieces").level(table, table.runs[0], explorer.chosen);
        const found = table.families.get(table.runs[0]).free.over(0, table.length, table.length / table.second);
        const sum = (of) => found.reduce((all, one) => all + of(one), 0);
        return 1 - sum(({ largest }) => largest) / sum(({ free }) => free);
        """,
        tmp_path,
    )
    assert told == pytest.approx(run.metrics["free_fragmentation"], abs=1e-9)


@needs_browser
def test_io_nodes_over_time_are_rows_of_a_heat_map(torus: Run, mapped: str, tmp_path: Path) -> None:
    rows = Rows(torus.folder)
    told = browse(
        mapped,
        BEGIN
        + """
        const chart = charts().at(-1);
        await until(() => chart.figure.querySelector(".ramp"));
        const canvas = chart.figure.querySelector("canvas");
        const { values } = chart.heat.values(0, table.length, table.length / table.second, 100, explorer.chosen);
        const label = canvas.getAttribute("aria-label");
        return [chart.title, chart.figure.textContent, label, Array.from(values), table.begin];
        """,
        tmp_path,
    )
    assert told[0] == "easy: I/O nodes"
    assert "jobs that run and ask for each I/O node" in told[1]
    assert told[2] == "Heat map of easy: jobs that run and ask for each I/O node, over time"
    values = np.array(told[3]).reshape(4, -1)
    for second in range(values.shape[1]):
        running = set(rows.at(told[4] + second + 0.5).values())
        users = [sum(name in MIXED[int(job)][3] for job in running) for name in "ab"]
        assert values[:, second].tolist() == pytest.approx([users[0], 0, users[1], 0])


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return shared_run(tmp_path_factory.mktemp("shared"), "easy")


def used(run: Run) -> Any:
    """What is used of each resource of each node in each second, [second, node, resource], from the run's own files."""
    jobs = {job["id"]: job for job in json.loads((ROOT / "workloads" / "multiresource16.json").read_text())["jobs"]}
    with (run.folder / "units.csv").open(newline="") as file:
        units = {row["job_id"]: list(map(int, row["units"].split())) for row in csv.DictReader(file)}
    machine = read_platform(Path(run.result.platform.path)).machine
    rows = Rows(run.folder)
    found = np.zeros((rows.end, len(machine.hosts), len(machine.resources)))
    for job, (start, end, hosts) in rows.jobs.items():
        asked = jobs[job].get("demand")
        for host, count in zip(hosts, units.get(job, [1] * len(hosts)), strict=True):
            each = [asked.get(name, 0) * count for name in machine.resources] if asked else machine.capacity[host]
            found[int(start) : int(end), host] += each
    return found, machine


@needs_browser
def test_resources_over_time_are_those_of_the_runs_files(shared: Run, tmp_path: Path) -> None:
    held, machine = used(shared)
    assert list(machine.resources) == ["core", "mic", "memory", "gpu"]
    begin = int(shared.columns.submission_time.min())
    told = browse(
        render([shared], explain=False),
        BEGIN
        + """
        const run = table.runs[0], stretches = table.length / table.second;
        const level = (name) => curve(`resource ${name}`).level(table, run, explorer.chosen);
        const chart = charts().at(-1);
        await until(() => chart.figure.querySelector(".ramp"));
        const choice = chart.figure.querySelector("select");
        choice.value = "gpu";
        choice.dispatchEvent(new Event("change"));
        const means = (name) => [name, level(name).means(0, table.length, stretches)];
        return {
          levels: Object.fromEntries(["core", "memory", "gpu"].map(means)),
          options: [...choice.options].map((one) => one.value),
          busy: explorer.level(curve("busy"), run).means(0, table.length, stretches),
          said: chart.figure.textContent,
          title: chart.title,
          used: [...document.querySelectorAll("#explore-runs td:nth-of-type(4) div")].map((one) => one.textContent),
        };
        """,
        tmp_path,
    )
    for name, means in told["levels"].items():
        axis = machine.resources.index(name)
        share = held[begin:, :, axis].sum(axis=1) / machine.capacity[:, axis].sum()
        assert means == pytest.approx(share.tolist(), abs=1e-9)
    assert told["options"] == list(machine.resources)
    # A host counts once, however many jobs share it; the table of runs says what of each resource is used.
    assert told["busy"] == pytest.approx(held[begin:].any(axis=2).sum(axis=1).tolist(), abs=1e-9)
    shares = [f"{number(100 * held[begin:, :, axis].sum() / len(held[begin:]) / total)}\N{NO-BREAK SPACE}% {name}"
              for axis, name in enumerate(machine.resources) if (total := machine.capacity[:, axis].sum())]  # fmt: skip
    assert told["used"] == shares
    assert told["title"] == "easy: gpu"
    assert "share of each node's gpu that jobs hold" in told["said"]


@needs_browser
@pytest.mark.parametrize("most", [240, 10])
def test_a_heat_map_has_the_mean_use_of_each_node_in_each_stretch(shared: Run, most: int, tmp_path: Path) -> None:
    held, machine = used(shared)
    begin = int(shared.columns.submission_time.min())
    told = browse(
        render([shared], explain=False),
        BEGIN
        + f"""
        const chart = charts().at(-1);
        const heat = chart.heats.get("core");
        const {{ values, rows, scale }} = heat.values(0, table.length, 7, {most}, explorer.chosen);
        return [Array.from(values), rows, scale];
        """,
        tmp_path,
    )
    values, rows, scale = told
    assert (rows, scale) == ((64, 1) if most == 240 else (10, 7))
    core = held[begin:, :, 0]
    # Means of a finer time: each second is a seventh of 7 such parts.
    fine = np.repeat(core, 7, axis=0)
    length = len(fine) // 7
    for row in range(rows):
        nodes = slice(row * scale, (row + 1) * scale)
        for column in range(7):
            part = fine[column * length : (column + 1) * length, nodes].sum(axis=1).mean()
            expected = part / machine.capacity[nodes, 0].sum()
            assert values[row * 7 + column] == pytest.approx(expected, abs=1e-9)


@needs_browser
def test_licences_over_time_are_those_that_jobs_ask_for(tmp_path: Path) -> None:
    run = licensed_run(tmp_path)
    rows = Rows(run.folder)
    told = browse(
        render([run], explain=False),
        BEGIN
        + """
        const level = curve("licence solver").level(table, table.runs[0], explorer.chosen);
        return [charts().map((chart) => chart.title), level.means(0, table.length, table.length / table.second)];
        """,
        tmp_path,
    )
    assert "Solver" in told[0]
    assert "Maps" not in told[0]
    running = [set(rows.at(second + 0.5).values()) for second in range(rows.end)]
    assert told[1] == pytest.approx([sum(int(job) % 3 for job in jobs) / 3 for jobs in running])


@needs_browser
def test_curves_and_maps_count_the_jobs_that_pass_the_filters(torus: Run, mapped: str, tmp_path: Path) -> None:
    rows = Rows(torus.folder)
    second = next(second for second in range(rows.end) if {"u0", "u1"} <= {user(job) for job in at(rows, second)})
    told = browse(
        mapped,
        BEGIN
        + f"""
        await show({second + 0.5});
        const map = charts()[0].maps[0], own = table.users.indexOf("u1");
        const shades = () => {{
          const data = pixels(map.canvas), scale = map.canvas.width / map.image.sheet.width;
          return Array.from(map.held, (job, host) => {{
            if (job < 0) return null;
            const [left, top] = map.image.place(host);
            const x = Math.round((left + 0.2 * map.image.wide) * scale);
            const y = Math.round((top + 0.2 * map.image.high) * scale);
            return [table.users[table.user[job]], data.subarray(4 * (y * map.canvas.width + x)).subarray(0, 3).join()];
          }});
        }};
        explorer.filter(Uint8Array.from(table.user, (one) => (one === own ? 1 : 0)));
        await painted(() => explorer.moment.set(explorer.moment.time));
        const level = explorer.level(curve("busiest I/O node"), table.runs[0]);
        const heat = charts().at(-1).heat.values(0, table.length, table.length / table.second, 9, explorer.chosen);
        const means = Array.from(level.means(0, table.length, table.length / table.second));
        return [table.begin, shades(), means, Array.from(heat.values)];
        """,
        tmp_path,
    )
    begin, shades, means, heat = told
    chosen = {shade for owner, shade in filter(None, shades) if owner == "u1"}
    assert chosen
    assert not chosen & {shade for owner, shade in filter(None, shades) if owner != "u1"}
    nodes = np.array(heat).reshape(4, -1)
    for place, mean in enumerate(means):
        running = [job for job in at(rows, begin + place + 0.5) if user(job) == "u1"]
        users = [sum(name in MIXED[int(job)][3] for job in running) for name in "ab"]
        assert mean == pytest.approx(max(users))
        assert nodes[:, place].tolist() == pytest.approx([users[0], 0, users[1], 0])


def user(job: str) -> str:
    return f"u{int(job) % 3}"


def at(rows: Rows, second: float) -> set[str]:
    return set(rows.at(second).values())


@needs_browser
@pytest.mark.parametrize("width", [360, 1400])
def test_everything_fits_and_each_chart_is_a_picture(mapped: str, width: int, tmp_path: Path) -> None:
    told = browse(
        mapped,
        BEGIN
        + """
        await pause(500);
        const pictures = charts().map((chart) => chart.picture().canvas);
        const some = pictures.map((canvas) => {
          return pixels(canvas).some((value) => value);
        });
        return some;
        """,
        tmp_path,
        width=width,
    )
    assert all(told)


@needs_browser
def test_the_moment_is_chosen_by_keys_alone(mapped: str, tmp_path: Path) -> None:
    with opened(mapped, tmp_path) as shown:
        ready(shown)
        said = shown.locator("#explore-charts output")
        slider = shown.get_by_label("Moment that the maps show")
        slider.focus()
        seen = [said.text_content()]
        for key in ("ArrowRight", "ArrowLeft", "Home", "End"):
            slider.press(key)
            expect(said).not_to_have_text(str(seen[-1]))
            seen.append(said.text_content())
            expect(slider).to_have_attribute("aria-valuetext", str(seen[-1]))
        shown.keyboard.press("Tab")
        shown.keyboard.press("Enter")
        expect(said).not_to_have_text(str(seen[-1]))


@needs_browser
@pytest.mark.parametrize("dark", [False, True])
def test_nothing_stands_in_the_way_of_a_reader(mapped: str, shared: Run, dark: bool, tmp_path: Path) -> None:
    for page in (mapped, render([shared], explain=False)):
        with opened(page, tmp_path, width=360, dark=dark) as shown:
            ready(shown)
            shown.get_by_text("More charts").click()
            shown.locator(".ramp").first.wait_for()
            assert barriers(shown) == []
            for width in (390, 768, 1400):
                shown.set_viewport_size({"width": width, "height": 900})
                assert (width, wider(shown)) == (width, 0)


@needs_browser
@pytest.mark.parametrize("dark", [False, True])
def test_paper_has_the_maps_unless_they_are_painted_for_dark_paper(mapped: str, dark: bool, tmp_path: Path) -> None:
    with opened(mapped, tmp_path, dark=dark) as shown:
        ready(shown)
        assert 1 <= sheets(shown) <= 4
        shown.emulate_media(media="print")
        titles = shown.locator("#explore-paper text[font-weight=bold]").all_text_contents()
        assert ("Maps" in titles) is not dark
        assert titles
        assert (shown.locator("#explore-paper image").count() > 0) is not dark


def test_a_page_of_plain_hosts_has_no_scripts_of_families(write_jobs: Any) -> None:
    page = render(read_runs([write_jobs({"a": {}})]), explain=False)
    assert "modules['families/" not in page
