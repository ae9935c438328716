"""The page fits the window, whatever its width and the number of runs; skipped where there is no Chromium."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from batdispatch.results.report.page import render
from batdispatch.results.runs import read_runs
from browsing import browse, needs_browser


@needs_browser
@pytest.mark.parametrize("width", [390, 1400])
@pytest.mark.parametrize("runs", [1, 24])
def test_the_page_does_not_scroll_sideways(runs: int, width: int, write_jobs: Any, tmp_path: Path) -> None:
    folders = [write_jobs({"a": {}, "b": {"hosts": "1"}}, f"easy,ordering=sjf,number={run}") for run in range(runs)]
    page = render(read_runs(folders), explain=False)
    # The width is looked at by `browse`.
    browse(page, "await until(() => window.explorer); return null;", tmp_path, width=width)
