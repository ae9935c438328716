"""A quantity has one unit on a page, and energy says what it leaves out: read from the page by lines of its own."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from lxml import html

import batdispatch
from batdispatch.abilities.campaigns.page.answers import sections
from batdispatch.abilities.campaigns.page.facts import Facts
from batdispatch.abilities.campaigns.page.page import render
from batdispatch.cli.main import cli
from batdispatch.results.metrics.compute import describe
from batdispatch.results.metrics.rows import metric_row

SECONDS = {"d": 86400.0, "h": 3600.0, "min": 60.0, "s": 1.0}


def replicate_rows(scale: float) -> pd.DataFrame:
    """Eight windows of easy, and of fcfs, whose waits are 10 to 30 times as long."""
    rng = np.random.default_rng(2)
    rows = []
    for place in range(8):
        wait = scale * rng.uniform(100, 1000)
        for name, factor in (("easy", 1.0), ("fcfs", rng.uniform(10, 30))):
            row = {"workload": "log", "replicate": f"window {place}", "dispatcher": name}
            rows.append(row | {"mean_waiting_time": wait * factor, "mean_bounded_slowdown": 1 + factor})
    return pd.DataFrame(rows)


def texts(page: html.HtmlElement, path: str) -> list[str]:
    return [each.text_content().replace("\N{NO-BREAK SPACE}", " ").strip() for each in page.xpath(path)]


@pytest.mark.parametrize("scale", [0.01, 1.0, 30.0, 900.0])
def test_bars_and_values_of_replicates_have_one_unit_and_one_value(scale: float) -> None:
    runs = replicate_rows(scale)
    page = html.fromstring(render(sections(runs, "easy"), Facts(title="t")))
    labels, cells = (texts(page, f"//*[@role='row']/*[@role='{role}'][1]") for role in ("rowheader", "cell"))
    bars = dict(zip(labels, cells, strict=True))
    for name in ("easy", "fcfs"):
        waits = runs[runs.dispatcher == name].mean_waiting_time
        value, unit = bars[name].split()
        assert float(value.replace(",", "")) * SECONDS[unit] == pytest.approx(waits.mean(), rel=0.005)
        row = next(each for each in texts(page, "//section[@id='values']//tr") if each.startswith(name))
        assert value in row
    (heading,) = {each for each in texts(page, "//section[@id='values']//th") if each.startswith("mean wait")}
    assert heading.endswith(f" {unit}"), heading


def test_values_that_stand_elsewhere_share_the_unit() -> None:
    wait = describe("mean_waiting_time")
    assert wait is not None
    assert metric_row(wait, [6840.0]).unit == "min"
    row = metric_row(wait, [6840.0], [400_000.0, 5.0e4])
    assert (row.unit, [cell.text for cell in row.cells]) == ("h", ["1.90"])


def test_energy_of_delays_is_told_to_count_no_computation(tmp_path: Path) -> None:
    examples = Path(batdispatch.__file__).parent / "examples"
    platform = str(tmp_path / "p.xml")
    machine = ["platform", "generate", "flat", "--hosts", "64", "--power", "batsim-cluster", "-o", platform]
    assert CliRunner().invoke(cli, machine).exit_code == 0
    for other, told in (("powered[dispatcher=easy,sleep=idle,after=300]", True), ("fcfs", False)):
        words = ["--platform", platform, "--workload", str(examples / "demo64.json"), "--dispatchers", f"easy,{other}"]
        done = CliRunner().invoke(cli, ["compare", *words, "--out", str(tmp_path / str(told))])
        assert done.exit_code == 0, done.output
        page = (tmp_path / str(told) / "report" / "index.html").read_text()
        for text in (done.output, page):
            assert ("Energy counts no computation: 400 of 400 jobs are delays" in text) is told
