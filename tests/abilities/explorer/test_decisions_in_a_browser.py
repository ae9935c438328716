"""How runs decided, in the explorer: curves and states are what the runs' files say, stretch by stretch."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from batdispatch.report.page import render
from batdispatch.results.decisions import PROVEN, plans_of, read_decision_times
from batdispatch.results.runs import read_runs
from batdispatch.runs.run import execute
from batdispatch.runs.spec import RunSpec
from browsing import browse, needs_browser

pytestmark = pytest.mark.usefixtures("unillustrated")
EXAMPLES = Path(__file__).parents[3] / "schedulers" / "batdispatch" / "examples"
STRETCHES = 7


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[Any]:
    folder = tmp_path_factory.mktemp("runs")
    platform, workload = str(EXAMPLES / "flat64.xml"), str(EXAMPLES / "demo64.json")
    for dispatcher in ("easy", "best-list"):
        execute(RunSpec(platform=platform, workload=workload, dispatcher=dispatcher), folder / dispatcher)
    return read_runs([folder / "easy", folder / "best-list"])


def in_stretches(time: np.ndarray, begin: float, end: float) -> list[np.ndarray]:
    """Places of moments in stretches, each with its end; the first one has all before it, too."""
    edges = begin + (end - begin) * np.arange(STRETCHES + 1) / STRETCHES
    edges[0] = -np.inf
    return [np.flatnonzero((time > low) & (time <= high)) for low, high in pairwise(edges)]


@needs_browser
@pytest.mark.parametrize("width", [390, 1400])
def test_decisions_and_plans_over_time(runs: list[Any], width: int, tmp_path: Path) -> None:
    told = browse(
        render(runs, explain=False),
        f"""
        await until(() => window.explorer?.layout?.width);
        const {{ table, view, layout }} = window.explorer;
        window.explorer.showCharts(true);
        const level = (name, run) =>
          window.explorer.level(window.explorer.curve(name), run)?.means(0, table.length, {STRETCHES}) ?? null;
        await until(() => layout.charts.at(-1).seen);
        const chart = layout.charts.find((one) => one.shares);
        return {{
          ends: [view.seconds(0), view.seconds(table.length)],
          curves: table.runs.map((run) => ["decision", "slowest", "gap"].map((name) => level(name, run))),
          shares: chart.shares.map((share) => share.means(0, table.length, 1)[0]),
          label: chart.canvas.getAttribute("aria-label"),
          painted: chart.canvas.getContext("2d").getImageData(0, 0, chart.canvas.width, 1).data.some(Boolean),
          charts: layout.charts.length,
        }};
        """,
        tmp_path,
        width=width,
    )
    # Two Gantt charts, six curves, and the plans of the one run that plans.
    assert told["charts"] == 9
    assert told["painted"]
    for run, (mean, slowest, _) in zip(runs, told["curves"], strict=True):
        times = read_decision_times(run.folder)
        assert times is not None
        for places, shown, most in zip(in_stretches(times.time, *told["ends"]), mean, slowest, strict=True):
            took = np.rint(times.seconds[places] * 1e6)
            assert shown == (pytest.approx(took.mean()) if len(places) else None)
            assert most == (took.max() if len(places) else None)
    assert runs[1].plans is not None
    plans = plans_of(runs[1].plans)
    assert told["curves"][0][2] is None
    for places, shown in zip(in_stretches(plans.time, *told["ends"]), told["curves"][1][2], strict=True):
        known = plans.gap[places][np.isfinite(plans.gap[places])]
        assert shown == (pytest.approx(1e4 * known.mean(), abs=0.5) if len(known) else None)
    assert told["shares"][2] == pytest.approx((plans.status == PROVEN).mean())
    assert sum(told["shares"]) == pytest.approx(1)
    assert f"{(plans.status == PROVEN).sum()} proven the best" in told["label"]


@needs_browser
def test_runs_without_decision_times_have_no_such_charts(write_jobs: Any, tmp_path: Path) -> None:
    told = browse(
        render(read_runs([write_jobs({"a": {}})]), explain=False),
        "await until(() => window.explorer?.layout?.width); return explorer.layout.charts.map((one) => one.title);",
        tmp_path,
    )
    assert told == ["run", "Busy hosts", "Queue", "Wait"]
