"""What paper has of the explorer, and what a browser without scripts shows in its place."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from lxml import etree
from playwright.sync_api import Page

from batdispatch.report.page import render
from batdispatch.results.runs import read_runs
from browsing import needs_browser, opened, ready

SVG = {"s": "http://www.w3.org/2000/svg"}
HOUR = 3600.0
JOBS: dict[str, dict[str, Any]] = {
    "1": {"finish": 2 * HOUR, "hosts": "0-3", "units": 4},
    "2": {"start": HOUR, "finish": 5 * HOUR, "hosts": "4 6-7", "units": 3},
    "3": {"start": 2 * HOUR, "finish": 10 * HOUR, "hosts": "0-3", "units": 4},
}


@pytest.fixture
def page(write_jobs: Callable[..., Path]) -> str:
    return render(read_runs([write_jobs(JOBS, name) for name in ("one", "two")]), explain=False)


def on_paper(shown: Page) -> etree._Element:
    """Print a page, and return the picture of the charts that it then has."""
    ready(shown)
    shown.pdf(format="A4")
    shown.emulate_media(media="print")
    assert shown.get_by_role("heading", name="Who ran where and when").is_visible()
    picture = shown.locator("#explore-paper svg")
    assert picture.is_visible()
    return etree.fromstring(picture.evaluate("(svg) => new XMLSerializer().serializeToString(svg)"))


def bars(picture: etree._Element) -> list[list[str]]:
    """Return the jobs that have a bar in each chart of a picture."""
    charts = picture.xpath(".//s:g[@class='gantt']", namespaces=SVG)
    return [[bar.get("data-job") for bar in chart.xpath("./s:g/s:g[@data-job]", namespaces=SVG)] for chart in charts]


@needs_browser
@pytest.mark.parametrize("dark", [False, True])
def test_paper_has_the_charts_of_all_jobs_in_inks_for_white(page: str, dark: bool, tmp_path: Path) -> None:
    with opened(page, tmp_path, dark=dark) as shown:
        picture = on_paper(shown)
        assert [sorted(jobs) for jobs in bars(picture)] == [["1", "2", "3"]] * 2
        assert picture.xpath("./s:rect/@fill", namespaces=SVG)[0] == "#ffffff"
        # Curves stand below, as pictures of all of the time. What people press is of no use.
        assert "curves:" not in picture.xpath("./s:text/text()", namespaces=SVG)
        assert shown.locator("#curves figure").first.is_visible()
        assert not shown.locator("#explore-charts, #explore button, #explore-strip").first.is_visible()
        # Each bar is seen: the page's style of bars in tables hides none.
        box = shown.locator("#explore-paper [data-job='3'] rect").first.bounding_box()
        assert box is not None
        assert box["width"] > 100


@needs_browser
def test_paper_has_what_is_in_view(page: str, tmp_path: Path) -> None:
    with opened(page, tmp_path) as shown:
        ready(shown)
        shown.evaluate("explorer.view.show(explorer.view.time(6 * 3600), explorer.view.time(9 * 3600))")
        assert bars(on_paper(shown)) == [["3"], ["3"]]


@needs_browser
def test_of_many_runs_paper_has_the_first_charts(write_jobs: Callable[..., Path], tmp_path: Path) -> None:
    page = render(read_runs([write_jobs(JOBS, f"run{number}") for number in range(6)]), explain=False)
    with opened(page, tmp_path) as shown:
        ready(shown)
        shown.click("#explore-runs-all")
        titles = on_paper(shown).xpath("./s:text[@font-weight='bold']/text()", namespaces=SVG)
        assert titles == ["run0", "run1", "run2", "run3"]


@needs_browser
def test_without_scripts_the_page_has_tables_and_curves_and_says_what_it_lacks(page: str, tmp_path: Path) -> None:
    with opened(page, tmp_path, scripts=False) as shown:
        assert "is drawn by scripts" in shown.locator("noscript p").inner_text()
        assert shown.locator("noscript p").is_visible()
        assert not shown.locator("#explore").is_visible()
        for name in ("#overview-table", "#metrics table", "#curves figure"):
            assert shown.locator(name).first.is_visible()
    with opened(page, tmp_path) as shown:
        ready(shown)
        assert shown.locator("noscript p").count() == 0
