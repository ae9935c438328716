"""Each picture of a report can be saved, as a file that needs nothing of the page."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from lxml import etree

from batdispatch.report.page import render
from batdispatch.results.runs import read_runs
from browsing import needs_browser, opened, ready

ROOT = Path(__file__).parents[2]
PLATFORMS, WORKLOAD = ROOT / "platforms", ROOT / "workloads" / "demo64.json"
SVG = {"s": "http://www.w3.org/2000/svg"}


@pytest.fixture
def page(write_jobs: Callable[..., Path]) -> str:
    jobs: dict[str, dict[str, Any]] = {
        "a": {"hosts": "0-1", "units": 2},
        "b": {"start": 10.0, "finish": 40.0, "hosts": "1"},
    }
    return render(read_runs([write_jobs(jobs, "one"), write_jobs(jobs, "two")]), explain=False)


def saved(page: str, folder: Path, kind: str, *, dark: bool = False) -> dict[str, Path]:
    """Return the files that all buttons of a kind save, by the labels of the pictures."""
    found = {}
    with opened(page, folder, dark=dark) as shown:
        ready(shown)
        # The explorer stands in the place of curves.
        shown.evaluate("document.documentElement.classList.remove('explored')")
        for button in shown.locator(f".pictures .save button:text('{kind}')").all():
            with shown.expect_download() as waiting:
                button.click()
            path = folder / waiting.value.suggested_filename
            waiting.value.save_as(path)
            found[button.get_attribute("aria-label") or ""] = path
    return found


@needs_browser
@pytest.mark.parametrize("dark", [False, True])
def test_every_picture_is_saved_as_svg_that_stands_alone(page: str, dark: bool, tmp_path: Path) -> None:
    files = saved(page, tmp_path, "SVG", dark=dark)
    assert list(files) == [
        f"Save {title} as SVG" for title in ("Utilisation", "Queue", "Waiting time", "Bounded slowdown")
    ]
    assert files["Save Waiting time as SVG"].name == "waiting-time.svg"
    known = etree.HTML(page).xpath("//figure//svg[@role='img']")
    for path, shown in zip(files.values(), known, strict=True):
        picture = etree.parse(path).getroot()
        width, height = shown.get("viewbox").split()[2:]
        assert (float(picture.get("width")), float(picture.get("height"))) == (
            pytest.approx(float(width)),
            pytest.approx(float(height)),
        )
        assert len(picture.xpath(".//s:path", namespaces=SVG)) == len(shown.xpath(".//path")) > 0
        assert [text.strip() for text in picture.xpath(".//s:text/text()", namespaces=SVG)] == [
            text.strip() for text in shown.xpath(".//text/text()")
        ]
        text = path.read_text()
        assert "currentColor" not in text
        assert "var(" not in text


@needs_browser
def test_every_picture_is_saved_as_png(page: str, tmp_path: Path) -> None:
    files = saved(page, tmp_path, "PNG")
    assert len(files) == 4
    known = etree.HTML(page).xpath("//figure//svg[@role='img']/@viewbox")
    for path, box in zip(files.values(), known, strict=True):
        content = path.read_bytes()
        assert content.startswith(b"\x89PNG")
        size = tuple(int.from_bytes(content[place : place + 4]) for place in (16, 20))
        assert size == tuple(int(2 * float(one)) for one in box.split()[2:])
