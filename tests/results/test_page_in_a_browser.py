"""The page fits the window, whatever its width and the number of runs; skipped where there is no Chromium."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from batdispatch.results.report.page import render
from batdispatch.results.runs import read_runs

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
MEASURE = """<script>addEventListener("load", () => {
  const page = document.documentElement;
  document.body.dataset.wider = page.scrollWidth - page.clientWidth;
})</script></body>"""


@pytest.mark.skipif(BROWSER is None, reason="no Chromium here")
@pytest.mark.parametrize("width", [390, 1400])
@pytest.mark.parametrize("runs", [1, 24])
def test_the_page_does_not_scroll_sideways(runs: int, width: int, write_jobs: Any, tmp_path: Path) -> None:
    folders = [write_jobs({"a": {}, "b": {"hosts": "1"}}, f"easy,ordering=sjf,number={run}") for run in range(runs)]
    page = tmp_path / "page.html"
    page.write_text(render(read_runs(folders), explain=False).replace("</body>", MEASURE))
    command = [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", f"--window-size={width},900", "--dump-dom"]
    shown = subprocess.run([*command, page.as_uri()], capture_output=True, text=True, check=True, timeout=120)  # type: ignore[list-item]
    found = re.search(r'data-wider="(-?\d+)"', shown.stdout)
    assert found is not None
    assert int(found[1]) <= 0
