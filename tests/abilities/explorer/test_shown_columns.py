"""A column of jobs.csv that states a page form stands with each job in the explorer; others do not."""

from collections.abc import Callable
from pathlib import Path

import pytest

from batdispatch.abilities.explorer import data
from batdispatch.core.jobs.job_table import SCHEMA, PageForm
from batdispatch.report.page import render
from batdispatch.results.runs import read_runs
from browsing import needs_browser, opened

pytestmark = pytest.mark.usefixtures("unillustrated")


@needs_browser
@pytest.mark.parametrize(
    ("form", "told"),
    [
        (None, ""),
        (PageForm("turned around in", "s"), ", turned around in 2\u00a0h"),
        (PageForm("turn", "ticks", 0), ", turn 7,200\u00a0ticks"),
        (PageForm("turn"), ", turn 7,200"),
    ],
)
def test_a_job_says_what_its_columns_say(
    write_jobs: Callable[..., Path],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    form: PageForm | None,
    told: str,
) -> None:
    schema = tuple(each._replace(page=form) if each.name == "turnaround_time" else each for each in SCHEMA)
    monkeypatch.setattr(data, "SCHEMA", schema)
    run = write_jobs({"1": {"submission": 0.0, "start": 60.0, "finish": 7200.0, "hosts": "0"}})
    with opened(render(read_runs([run]), explain=False), tmp_path) as page:
        page.wait_for_selector("#explore-runs td")
        page.fill("#explore-name", "1")
        page.press("#explore-name", "Enter")
        assert (
            page.inner_text("#explore-job-rows tr td:last-child").partition("1 host: 0")[2].partition("\n")[0] == told
        )
