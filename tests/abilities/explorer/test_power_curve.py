"""The curve of power in the explorer: between any two moments its mean is what the run's file says that hosts burnt."""

import contextlib
from pathlib import Path

import numpy as np
import pytest

from batdispatch.abilities.explorer.power_columns import power_columns
from batdispatch.abilities.explorer.streams import Whole
from batdispatch.abilities.power.results.run_power import read_joules
from batdispatch.report.page import render
from batdispatch.results.runs import Run, read_runs
from browsing import browse, needs_browser
from command_line import call

EXAMPLES = Path(__file__).parents[3] / "schedulers" / "batdispatch" / "examples"


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[Run]:
    folder = tmp_path_factory.mktemp("runs")
    words = ("flat", "--hosts", 64, "--power", "batsim-homogeneous", "-o", folder / "p.xml")
    assert call("platform", "generate", *words).status == 0
    inputs = ("--platform", folder / "p.xml", "--workload", EXAMPLES / "demo64.json")
    powered = "powered[dispatcher=easy,sleep=idle,after=60]"
    for dispatcher, name, more in (("easy", "easy", ()), (powered, "powered", ("--energy", "exact"))):
        done = call("run", *inputs, "--dispatcher", dispatcher, "--out", folder / name, *more)
        assert done.status == 0, done.output
    return read_runs([folder / "easy", folder / "powered"])


def milliseconds(seconds: np.ndarray) -> Whole:
    return np.rint(seconds * 1000).astype(np.int64)


@pytest.mark.parametrize("pages", [1, 8000])
def test_what_is_left_out_changes_no_mean_power(runs: list[Run], pages: int) -> None:
    columns = {name: [*map(int, values)] for name, values in power_columns(runs[1], milliseconds, pages)}
    at, step = np.cumsum(columns["power_at"]), [n // 2 if n % 2 == 0 else -(n + 1) // 2 for n in columns["power_step"]]
    assert len(at) == len(step) > 1
    time, joules = read_joules(runs[1].folder / "consumed_energy.csv")
    assert pages == 1 or len(at) < len(time)
    watts = np.cumsum(step)[:-1]
    burnt = float((watts * np.diff(at) / 1000).sum())
    assert burnt == pytest.approx(joules[-1] - joules[0], rel=1e-3)
    assert sum(step) == 0


def test_a_run_without_energy_has_no_columns(runs: list[Run]) -> None:
    assert [*power_columns(runs[0], milliseconds, 1)] == []


def unfolded(values: Whole) -> list[int]:
    return [n // 2 if n % 2 == 0 else -(n + 1) // 2 for n in map(int, values)]


@needs_browser
@pytest.mark.usefixtures("unillustrated")
def test_a_cap_and_a_price_are_drawn_beneath_the_power(runs: list[Run], tmp_path: Path) -> None:
    # The page is made from another folder than the runs were, with the series in the folder above them.
    (tmp_path / "grid.csv").write_text("time,price,watts\n0,0.25,5000\n600,0.4,6000\n1200,0.1,5500\n")
    inputs = (
        "--platform",
        runs[0].folder.parent / "p.xml",
        "--workload",
        EXAMPLES / "demo64.json",
        "--energy",
        "exact",
    )
    with contextlib.chdir(tmp_path):
        for name, options in (
            ("file", "cap=grid.csv:watts,price=grid.csv:price"),
            ("share", "cap=90%"),
            ("watts", "cap=5200"),
        ):
            done = call("run", *inputs, "--dispatcher", f"powered[{options}]", "--out", Path("runs") / name)
            assert done.status == 0, done.output
    powered = read_runs([tmp_path / "runs" / name for name in ("file", "share", "watts")])
    columns = [dict(power_columns(run, milliseconds, 1)) for run in powered]
    assert [(*np.cumsum(unfolded(each["cap_step"])[:-1]) / 1e6,) for each in columns] == [
        (5000, 6000, 5500),
        (pytest.approx(0.9 * 64 * 100),),
        (5200,),
    ]
    assert (np.cumsum(unfolded(columns[0]["price_step"])[:-1]) / 1e6).tolist() == [0.25, 0.4, 0.1]
    assert np.cumsum(columns[0]["cap_at"])[:3].tolist() == [0, 600_000, 1_200_000]
    assert "price_at" not in columns[1]
    told = browse(
        render(powered, explain=False),
        """
        await until(() => window.explorer?.layout?.width);
        const { table, view } = window.explorer;
        const read = (name, run) => {
          const curve = window.explorer.curve(name);
          const level = window.explorer.level(curve, table.runs[run]);
          const scale = curve.scale(table, table.runs[run]);
          return level?.means(view.from, view.to, 2).map((value) => value * scale) ?? null;
        };
        const captions = () => window.explorer.layout.charts.filter((chart) => chart.curve).map((chart) => chart.title);
        const few = captions();
        window.explorer.showCharts(true);
        const all = captions();
        // The runs end at different times, and a series says nothing of what comes after.
        const curve = window.explorer.curve("cap");
        const late = table.runs.map((run) => window.explorer.level(curve, run).means(view.to, 2 * view.to, 1)[0]);
        const power = window.explorer.level(window.explorer.curve("power"), table.runs[0]);
        const last = power.at.at(-1);
        const beyond = [power.means(0, 2 * last, 2), ...power.extremes(0, 2 * last, 2)];
        const ends = [power.means(0, last, 1), ...beyond].map((values) => values.at(-1));
        const [caps, prices] = ["cap", "price"].map((name) => [0, 1, 2].map((run) => read(name, run)));
        return { caps, prices, few, all, late, ends };
        """,
        tmp_path,
    )
    beneath = told["few"].index("Power")
    assert told["few"][beneath : beneath + 2] == ["Power", "Cap"]
    assert "Price" not in told["few"]
    assert "Price" in told["all"]
    assert told["late"] == [None] * 3
    assert told["caps"][2][0] == pytest.approx(5200)
    assert 5000 < told["caps"][0][0] < 6000
    assert told["prices"][1:] == [None, None]
    assert told["ends"][0] >= 64 * 30
    assert told["ends"][1:] == [None, None, None]


@needs_browser
@pytest.mark.usefixtures("unillustrated")
def test_the_curve_shows_it(runs: list[Run], tmp_path: Path) -> None:
    told = browse(
        render(runs, explain=False),
        """
        await until(() => window.explorer?.layout?.width);
        const { table, view } = window.explorer;
        const curve = window.explorer.curve("power");
        const levels = table.runs.map((run) => window.explorer.level(curve, run)?.means(0, table.length, 5) ?? null);
        const ends = [view.seconds(0), view.seconds(table.length)];
        view.show(0.2 * table.length, 0.6 * table.length);
        await pause(400);
        const cells = [...document.querySelectorAll("#explore-runs td:nth-of-type(7)")];
        const part = [view.from, view.to].map((time) => view.seconds(time));
        return { ends, levels, text: curve.format(12345), part, energy: cells.map((cell) => cell.textContent) };
        """,
        tmp_path,
    )
    assert told["levels"][0] is None
    assert told["text"] == "12.3\u00a0kW"
    time, joules = read_joules(runs[1].folder / "consumed_energy.csv")
    edges = np.linspace(*told["ends"], 6)
    expected = np.diff(np.interp(edges, time, joules)) / np.diff(edges)
    assert told["levels"][1] == pytest.approx(expected.tolist(), rel=2e-3)
    # The table of runs says what was burnt in view.
    assert told["energy"][0] == "\N{EN DASH}"
    figure, _, unit = told["energy"][1].partition("\u00a0")
    burnt = float(np.diff(np.interp(told["part"], time, joules))[0]) / 3.6e6
    assert (float(figure.replace(",", "")), unit) == (pytest.approx(burnt, rel=6e-3), "kWh")
