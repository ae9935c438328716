"""The pages of reports fit any window and a few sheets of paper."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from batdispatch.report.page import render
from batdispatch.results.runs import read_runs
from batdispatch.runs.run import execute
from batdispatch.runs.spec import RunSpec
from browsing import needs_browser, opened, ready, sheets, wider
from report_pages import MANY, PLATFORM, TORUS, WORKLOAD, demonstration, drawn, of_runs, replicates

#: Tables that are wider than their boxes, and how far apart the tops of the controls are, px.
CUT = """[...document.querySelectorAll(".scroll")]
  .filter((box) => box.offsetParent && box.scrollWidth > box.clientWidth + 1)
  .map((box) => box.getAttribute("aria-label"))"""
APART = """(() => {
  const tops = [...document.querySelector(".explore-bar").children].map((one) => one.offsetTop);
  return Math.max(...tops) - Math.min(...tops);
})()"""


@needs_browser
@pytest.mark.parametrize(
    "write",
    [
        pytest.param(of_runs("easy"), id="one run"),
        pytest.param(of_runs("fcfs", "easy"), id="two runs"),
        pytest.param(demonstration, id="three runs"),
        pytest.param(of_runs(*MANY[:4]), id="four runs", marks=pytest.mark.slow),
        pytest.param(of_runs("fcfs", "easy", platform=TORUS), id="two runs on a torus"),
        pytest.param(of_runs(*MANY), id="24 runs", marks=pytest.mark.slow),
    ],
)
def test_runs(write: Callable[[Path], Path], tmp_path: Path) -> None:
    with opened(drawn(write), tmp_path) as shown:
        ready(shown)
        # A page that was used prints like one that was not.
        shown.fill("#explore-name", shown.evaluate("explorer.table.name(3)"))
        shown.press("#explore-name", "Enter")
        for width in range(360, 1401, 40):
            shown.set_viewport_size({"width": width, "height": 900})
            assert (width, wider(shown)) == (width, 0)
            # From the width of a small desk on, no table is cut, and the controls are one row.
            if width >= 1280 and len(shown.evaluate("explorer.table.runs")) < 24:
                assert (width, shown.evaluate(CUT)) == (width, [])
                assert (width, shown.evaluate(APART) < 20) == (width, True)
        assert 1 <= sheets(shown) <= 4


@needs_browser
def test_names_of_runs_with_many_options_fit(tmp_path: Path) -> None:
    folders = [tmp_path / name for name in ("fcfs", "easy")]
    for folder in folders:
        execute(RunSpec(platform=PLATFORM, workload=WORKLOAD, dispatcher=folder.name), folder)
    options = "fairshare=1000," * 12
    runs = [replace(run, label=f"{run.label}[ordering=multifactor[{options}]]") for run in read_runs(folders)]
    with opened(render(runs, explain=False), tmp_path) as shown:
        shown.set_viewport_size({"width": 1280, "height": 900})
        assert "fairshare" in shown.locator(".answer").inner_text()
        for width in (1280, 390):
            shown.set_viewport_size({"width": width, "height": 900})
            assert wider(shown) == 0
            # The name stays in its cell.
            over = "(label) => label.scrollWidth - label.closest('th').clientWidth"
            assert all(label.evaluate(over) <= 0 for label in shown.locator("#explore-runs label").all())


@needs_browser
def test_replicates(tmp_path: Path) -> None:
    with opened(drawn(replicates), tmp_path) as shown:
        for width in range(360, 1401, 40):
            shown.set_viewport_size({"width": width, "height": 900})
            assert (width, wider(shown)) == (width, 0)
        assert 1 <= sheets(shown) <= 4


@needs_browser
def test_of_many_runs_paper_says_what_it_leaves_out(write_jobs: Callable[..., Path], tmp_path: Path) -> None:
    for number, said in ((3, False), (4, True)):
        folders = [write_jobs({"a": {}}, f"{number}/run{each}") for each in range(number)]
        with opened(render(read_runs(folders), explain=False), tmp_path) as shown:
            left_out = shown.get_by_text("On paper:")
            assert not left_out.is_visible()
            shown.emulate_media(media="print")
            assert left_out.is_visible() is said
            assert shown.locator("#metrics").is_visible() is not said
            assert shown.locator("#overview").is_visible()


@needs_browser
def test_long_names_stand_above_their_bars_and_short_ones_beside_them(tmp_path: Path) -> None:
    folders = [tmp_path / name for name in ("fcfs", "easy")]
    for folder in folders:
        execute(RunSpec(platform=PLATFORM, workload=WORKLOAD, dispatcher=folder.name), folder)
    runs = read_runs(folders)
    long = [replace(run, label=f"{run.label}[ordering=multifactor[{'fairshare=1000,' * 8}]]") for run in runs]
    for few, tall in ((runs, 30), (long, 60)):
        with opened(render(few, explain=False), tmp_path) as shown:
            rows = shown.locator(".bars > div:not(.heads)")
            boxes = [rows.nth(index).bounding_box() for index in range(2)]
            assert all(box is not None and box["height"] < tall for box in boxes)
