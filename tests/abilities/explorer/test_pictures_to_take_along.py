"""What is in view as SVG and PNG: files that stand alone, whose bars and lines are what the runs say."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from lxml import etree

from batdispatch.report.page import render
from batdispatch.results.runs import read_runs
from browsing import needs_browser, opened, ready

pytestmark = pytest.mark.usefixtures("unillustrated")
SVG = {"s": "http://www.w3.org/2000/svg"}
HOUR = 3600.0
#: Job 1 is stopped after two hours and runs again; job 2 has hosts in two pieces.
JOBS: dict[str, dict[str, Any]] = {
    "1": {"finish": 2 * HOUR, "hosts": "0-3", "units": 4, "state": "COMPLETED_KILLED"},
    "1!1": {"submission": 2 * HOUR, "start": 3 * HOUR, "finish": 7 * HOUR, "hosts": "0-3", "units": 4},
    "2": {"submission": 1.0, "start": HOUR, "finish": 5 * HOUR, "hosts": "4 6-7", "units": 3},
    "3": {"submission": 2.0, "start": 7 * HOUR, "finish": 10 * HOUR, "hosts": "4-7", "units": 4},
}
LEFT, RIGHT = 64, 12


@pytest.fixture
def run(write_jobs: Callable[..., Path]) -> Any:
    folder = write_jobs(JOBS)
    (folder / "lineage.csv").write_text("job_id,workload_name,parent\n1!1,w0,1\n")
    [run] = read_runs([folder])
    return run


def saved(page: str, folder: Path, button: str, *, width: int = 1000, before: str = "") -> Path:
    """Return the file that a button of the explorer saves, once a script has run."""
    with opened(page, folder, width=width) as shown:
        ready(shown)
        if before:
            shown.evaluate(before)
            shown.wait_for_timeout(100)
        with shown.expect_download() as waiting:
            shown.click(button)
        path = folder / waiting.value.suggested_filename
        waiting.value.save_as(path)
    return path


@needs_browser
@pytest.mark.parametrize("width", [390, 1000])
def test_the_bars_of_a_saved_svg_are_the_segments(run: Any, width: int, tmp_path: Path) -> None:
    path = saved(render([run], explain=False), tmp_path, "#explore-save-svg", width=width)
    assert path.name == "batdispatch.svg"
    picture = etree.parse(path).getroot()
    wide, high = (float(picture.get(name)) for name in ("width", "height"))
    assert picture.get("viewBox") == f"0 0 {wide:.0f} {high:.0f}"
    across = (wide - LEFT - RIGHT) / (10 * HOUR)
    [chart] = picture.xpath(".//s:g[@class='gantt']", namespaces=SVG)
    found = []
    for bar in chart.xpath("./s:g[@class='bars']/s:g", namespaces=SVG):
        for rectangle in bar.xpath("./s:rect[not(@class)]", namespaces=SVG):
            x, y, w, h = (float(rectangle.get(name)) for name in ("x", "y", "width", "height"))
            found.append((bar.get("data-job"), round(x / across / HOUR, 1), round(w / across / HOUR, 1), y, h))
    expected = []
    up = max(y + h for *_, y, h in found) / 8
    rows = zip(
        run.lineage.job.tolist(),
        run.columns.starting_time,
        run.columns.finish_time,
        run.columns.allocated_resources,
        strict=True,
    )
    for job, start, finish, hosts in rows:
        for piece in str(hosts).split():
            first, _, last = piece.partition("-")
            low, top = int(first), int(last or first) + 1
            place = round(start / HOUR, 1), round((finish - start) / HOUR, 1)
            expected.append(
                (
                    run.logical.job_id[job],
                    *place,
                    pytest.approx((8 - top) * up, abs=0.02),
                    pytest.approx((top - low) * up, abs=0.02),
                )
            )
    assert sorted(found, key=lambda one: (*one[:2], -one[3])) == sorted(expected, key=lambda one: (one[0], one[1]))
    assert len(chart.xpath(".//s:rect[@class='stripes']", namespaces=SVG)) == 1
    assert len(chart.xpath(".//s:g[@class='links']/s:polyline", namespaces=SVG)) == 1
    titles = chart.xpath(".//s:title/text()", namespaces=SVG)
    assert titles == ["1, attempt 1 of 2", "2", "1, attempt 2 of 2", "3"]
    # It stands alone: nothing is taken from a page or from elsewhere.
    text = path.read_text()
    assert "var(" not in text
    assert "currentColor" not in text
    assert not picture.xpath("//@href[not(starts-with(., 'data:'))]")


@needs_browser
def test_only_what_is_in_view_is_saved(run: Any, tmp_path: Path) -> None:
    before = "const { view, table } = explorer; view.show(3.5 * 3600 * table.second, 4.5 * 3600 * table.second)"
    path = saved(render([run], explain=False), tmp_path, "#explore-save-svg", before=before)
    picture = etree.parse(path).getroot()
    jobs = picture.xpath(".//s:g[@class='bars']/s:g/@data-job", namespaces=SVG)
    assert sorted(jobs) == ["1", "2"]
    wide = float(picture.get("width")) - LEFT - RIGHT
    for bar in picture.xpath(".//s:g[@class='bars']//s:rect", namespaces=SVG):
        assert (float(bar.get("x")), float(bar.get("width"))) == (0, wide)
    # Curves: 7 of 8 hosts are busy all the time.
    busy = picture.xpath(".//s:g[@class='curve']", namespaces=SVG)[0].xpath("./s:polyline", namespaces=SVG)
    heights = {float(point.split(",")[1]) for line in busy for point in line.get("points").split()}
    assert heights == {100 * (1 - 7 / 8)}


@needs_browser
def test_of_many_jobs_the_painted_chart_is_taken(write_jobs: Callable[..., Path], tmp_path: Path) -> None:
    jobs = {str(job): {"start": job * 10.0, "finish": job * 10.0 + 10, "hosts": str(job % 4)} for job in range(3100)}
    path = saved(render(read_runs([write_jobs(jobs)]), explain=False), tmp_path, "#explore-save-svg")
    picture = etree.parse(path).getroot()
    assert not picture.xpath(".//s:g[@class='bars']", namespaces=SVG)
    [image] = picture.xpath(".//s:image", namespaces=SVG)
    assert image.get("href").startswith("data:image/png;base64,")
    assert float(image.get("width")) == float(picture.get("width")) - LEFT - RIGHT
    assert path.stat().st_size < 500_000


@needs_browser
def test_a_png_is_as_wide_as_the_charts(run: Any, tmp_path: Path) -> None:
    path = saved(render([run], explain=False), tmp_path, "#explore-save")
    content = path.read_bytes()
    assert content.startswith(b"\x89PNG")
    # Three of its pixels are one of the page's.
    assert 2400 < int.from_bytes(content[16:20]) <= 3000
