"""axe-core finds no barrier in the pages of reports, in light and in dark, on a phone and on a screen."""

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from browsing import barriers, needs_browser, opened, ready
from report_pages import MANY, demonstration, drawn, of_runs, replicates

NARROW_DARK, WIDE_LIGHT = (390, "dark"), (1400, "light")
ALL = (NARROW_DARK, WIDE_LIGHT, (390, "light"), (1400, "dark"))


@needs_browser
@pytest.mark.parametrize(
    ("write", "views"),
    [
        pytest.param(demonstration, (NARROW_DARK, WIDE_LIGHT), id="the demonstration"),
        pytest.param(of_runs("easy"), (NARROW_DARK, WIDE_LIGHT), id="one run"),
        pytest.param(demonstration, ALL, id="the demonstration in all views", marks=pytest.mark.slow),
        pytest.param(of_runs(*MANY), ALL, id="24 runs in all views", marks=pytest.mark.slow),
    ],
)
def test_of_runs(write: Callable[[Path], Path], views: Sequence[tuple[int, str]], tmp_path: Path) -> None:
    with opened(drawn(write), tmp_path) as shown:
        ready(shown)
        # A job, so that its table stands in the page, and what a filter says.
        shown.fill("#explore-name", shown.evaluate("explorer.table.name(3)"))
        shown.press("#explore-name", "Enter")
        shown.click("#explore-filters summary")
        shown.select_option("#explore-of-size", index=2)
        for width, scheme in views:
            shown.set_viewport_size({"width": width, "height": 900})
            shown.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
            assert (width, scheme, barriers(shown)) == (width, scheme, [])


@needs_browser
def test_of_replicates(tmp_path: Path) -> None:
    page = drawn(replicates)
    for width, dark in ((390, True), (1400, False)):
        with opened(page, tmp_path, width=width, dark=dark) as shown:
            assert barriers(shown) == []


@needs_browser
def test_a_barrier_is_found(tmp_path: Path) -> None:
    page = "<html lang=en><title>x</title><main><h1>x</h1><p style='color: #ddd'>pale</p><img src='data:,'></main>"
    with opened(page, tmp_path) as shown:
        assert [one.partition(":")[0] for one in barriers(shown)] == ["serious", "critical"]
