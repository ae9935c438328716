"""The explorer by the keyboard alone: nothing here clicks, or calls what the page's script has."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from browsing import needs_browser, opened, ready
from report_pages import with_users

pytestmark = needs_browser
#: Most times that Tab is pressed on the way to something.
FAR = 140


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return with_users(tmp_path_factory.mktemp("users") / "runs")


@pytest.fixture
def shown(page: Path, tmp_path: Path) -> Iterator[Page]:
    with opened(page, tmp_path) as shown:
        ready(shown)
        yield shown


def go(shown: Page, selector: str) -> None:
    """Press Tab until an element has the focus, which can be seen."""
    wanted = shown.locator(selector)
    for _ in range(FAR):
        shown.keyboard.press("Tab")
        if wanted.evaluate("(element) => element === document.activeElement"):
            outline = wanted.evaluate("(element) => getComputedStyle(element).outlineStyle")
            assert outline != "none", f"{selector} does not show that it has the focus"
            return
    raise AssertionError(f"{selector} cannot be reached by Tab")


def hours(shown: Page) -> float:
    said = shown.locator("#explore-view").inner_text()
    found = re.search(r"\(([\d.,]+)\s(\w+)\)$", said)
    assert found, said
    return float(found[1].replace(",", "")) * {"s": 1 / 3600, "min": 1 / 60, "h": 1, "d": 24}[found[2]]


def test_zoom_to_a_day_and_move_through_time(shown: Page) -> None:
    whole = hours(shown)
    go(shown, "#explore-day")
    shown.keyboard.press("Enter")
    expect(shown.locator("#explore-view")).to_contain_text("24 h")
    go(shown, "#explore-strip")
    before = shown.locator("#explore-view").inner_text()
    shown.keyboard.press("ArrowRight")
    expect(shown.locator("#explore-view")).not_to_have_text(before)
    shown.keyboard.press("ArrowLeft")
    expect(shown.locator("#explore-view")).to_have_text(before)
    shown.keyboard.press("+")
    expect(shown.locator("#explore-view")).to_contain_text("12 h")
    shown.keyboard.press("-")
    expect(shown.locator("#explore-view")).to_have_text(before)
    go(shown, "#explore-charts")
    shown.keyboard.press("Home")
    expect(shown.locator("#explore-view")).not_to_have_text(before)
    assert hours(shown) == whole


def test_find_a_job_and_read_why_it_waited(shown: Page) -> None:
    dearest = shown.locator("#losses .losses strong").first.inner_text()
    go(shown, "#explore-name")
    shown.keyboard.type(dearest)
    shown.keyboard.press("Enter")
    expect(shown.locator("#explore-job-title")).to_have_text(f"Job {dearest}")
    go(shown, "#explore-job .scroll")
    expect(shown.locator("#explore-job .why").first).to_be_in_viewport()
    expect(shown.locator("#explore-job .why").first).to_contain_text("Waited")
    shown.keyboard.press("Escape")
    expect(shown.locator("#explore-panel")).to_be_hidden()
    expect(shown.locator("#explore-name")).to_be_focused()


def test_filter_one_user_and_none(shown: Page) -> None:
    go(shown, "#explore-filters summary")
    shown.keyboard.press("Enter")
    go(shown, "#explore-of-user")
    shown.keyboard.type("ben")
    shown.keyboard.press("Tab")
    expect(shown.locator("#explore-said")).to_contain_text("133 of 400 jobs")
    go(shown, "#explore-reset")
    shown.keyboard.press("Enter")
    expect(shown.locator("#explore-said")).to_have_text("")


def test_open_the_pair_and_one_of_its_jobs(shown: Page) -> None:
    go(shown, "#explore-base")
    said = shown.locator("#explore-pair-said").inner_text()
    assert said.startswith("Under easy")
    # From easy to fcfs instead.
    shown.keyboard.press("ArrowDown")
    go(shown, "#explore-other")
    shown.keyboard.press("ArrowUp")
    expect(shown.locator("#explore-pair-said")).to_contain_text("Under fcfs")
    go(shown, "#explore-show-pair")
    shown.keyboard.press("Enter")
    expect(shown.locator("#explore-legend")).to_contain_text("waits longer")
    go(shown, "#explore-losers button >> nth=0")
    name = shown.locator("#explore-losers button").first.inner_text()
    shown.keyboard.press("Enter")
    expect(shown.locator("#explore-job-title")).to_have_text(f"Job {name}")


def test_tab_leaves_the_explorer(shown: Page) -> None:
    go(shown, "#explore-charts")
    go(shown, "#metrics h2 button")
