"""What is rarely wanted of an explorer's charts is folded, and a link shows them as they were."""

from pathlib import Path

from lxml import etree
from playwright.sync_api import Page, expect

from browsing import needs_browser, opened, ready
from report_pages import TORUS, demonstration, drawn, of_runs

FIRST = ["Busy hosts", "Queue", "Wait"]
FOLDED = ["Decisions", "Slowest decision"]


def curves(shown: Page) -> list[str]:
    """Return the titles of the curves that are painted."""
    read = "explorer.layout.charts.filter((one) => one.plot?.data[0].length).map((one) => one.title)"
    found: list[str] = shown.evaluate(read)
    return found


@needs_browser
def test_a_click_unfolds_charts_and_the_address_says_so(tmp_path: Path) -> None:
    page = drawn(demonstration)
    with opened(page, tmp_path) as shown:
        ready(shown)
        assert curves(shown) == FIRST
        more = shown.get_by_text("More charts: decision times")
        more.click()
        expect(shown.get_by_text("Slowest decision")).to_be_visible()
        shown.wait_for_timeout(350)
        assert curves(shown) == FIRST + FOLDED
        link = shown.evaluate("location.href")
        assert "charts=all" in link
        with opened(page, tmp_path) as other:
            other.goto(link)
            other.reload()
            ready(other)
            expect(other.get_by_text("Slowest decision")).to_be_visible()
        more.click()
        expect(shown.get_by_text("Slowest decision")).to_be_hidden()
        shown.wait_for_timeout(350)
        assert curves(shown) == FIRST
        assert "charts" not in shown.evaluate("location.href")


@needs_browser
def test_a_saved_picture_has_the_charts_that_are_seen(tmp_path: Path) -> None:
    with opened(drawn(demonstration), tmp_path) as shown:
        ready(shown)
        for folded in ([], FOLDED):
            with shown.expect_download() as waited:
                shown.click("#explore-save-svg")
            waited.value.save_as(tmp_path / "picture.svg")
            texts = {"".join(text.itertext()) for text in etree.parse(tmp_path / "picture.svg").iter("{*}text")}
            assert [title for title in FIRST + FOLDED if title in texts] == FIRST + folded
            shown.get_by_text("More charts").click()
            shown.wait_for_timeout(200)


@needs_browser
def test_pages_are_at_most_5000_px_tall(tmp_path: Path) -> None:
    for write in (demonstration, of_runs("fcfs", "easy", platform=TORUS)):
        with opened(drawn(write), tmp_path) as shown:
            ready(shown)
            shown.wait_for_timeout(350)
            assert shown.evaluate("document.documentElement.scrollHeight") <= 5000


@needs_browser
def test_in_a_narrow_window_no_table_is_cut_and_each_cell_has_its_heading(tmp_path: Path) -> None:
    with opened(drawn(demonstration), tmp_path, width=390) as shown:
        ready(shown)
        shown.wait_for_timeout(350)
        for button in shown.locator("section.fold h2 button").all():
            button.click()
        cut = """[...document.querySelectorAll(".scroll")].filter((box) => box.scrollWidth > box.clientWidth + 1)
          .map((box) => box.getAttribute("aria-label"))"""
        assert shown.evaluate(cut) == []
        row = "[...document.querySelectorAll('#explore-longest tr:first-child td')].map((cell) => cell.dataset.heading)"
        assert shown.evaluate(row) == ["User", "Units", "Submitted", "Wait"]
        first = shown.locator("#overview-table tbody tr:first-child td").first
        assert first.evaluate("(cell) => getComputedStyle(cell, '::before').content").startswith('"mean wait')
