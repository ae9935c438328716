"""The jobs of an hour of the day: a filter says what it does wherever it was set, and no two elements share an id."""

from pathlib import Path

from playwright.sync_api import expect

from browsing import needs_browser, opened, ready
from report_pages import demonstration, drawn


@needs_browser
def test_the_filter_shows_the_hour_that_a_link_states_and_is_reset(tmp_path: Path) -> None:
    page = drawn(demonstration)
    with opened(page, tmp_path) as shown:
        ready(shown)
        twice = """(() => {
          const ids = [...document.querySelectorAll("[id]")].map((one) => one.id);
          return ids.filter((id, place) => ids.indexOf(id) !== place);
        })()"""
        assert shown.evaluate(twice) == []
        shown.click("#explore-filters summary")
        shown.select_option("#explore-of-hour", index=10)
        chosen = shown.locator("#explore-of-hour").input_value()
        shown.wait_for_timeout(350)
        link = shown.evaluate("location.href")
        inside = shown.evaluate("explorer.chosen.reduce((sum, one) => sum + one)")
        assert 0 < inside < shown.evaluate("explorer.table.count")
        with opened(page, tmp_path) as other:
            other.goto(link)
            other.reload()
            ready(other)
            assert other.evaluate("explorer.chosen.reduce((sum, one) => sum + one)") == inside
            assert other.locator("#explore-of-hour").input_value() == chosen
            other.click("#explore-filters summary")
            other.click("#explore-reset")
            expect(other.locator("#explore-of-hour")).to_have_value("")
            assert other.locator("#explore-hour").inner_text() == "hour"
