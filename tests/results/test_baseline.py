"""Differences to a run of choice, in the tables of a report: what a browser shows, against result.json."""

import json
from pathlib import Path

import pytest

from batdispatch.results.metrics.compute import describe
from browsing import browse
from report_pages import drawn, of_runs

SHOWN = """
  const select = document.getElementById("baseline");
  const cells = (table) => Array.from(document.querySelectorAll(`${table} td[data-run]`), (cell) => {
    const told = cell.querySelector(".difference");
    return {
      metric: cell.dataset.metric, run: Number(cell.dataset.run), value: cell.dataset.value,
      base: cell.className.includes("base"), scale: Number(cell.dataset.scale || 0),
      stands: told && told.className.split(" ")[1],
      text: told && told.firstChild.textContent, sr: told && told.querySelector(".sr")?.textContent,
    };
  });
  const choose = (run) => { select.value = run; select.dispatchEvent(new Event("change")); };
  choose("0");
  choose("1");
  const found = { overview: cells("#overview-table"), all: cells("table.all") };
  choose("");
  found.left = document.querySelectorAll(".difference, td.base").length;
  return found;
"""


def number(text: str) -> float:
    return float(text.replace("\u2212", "-").replace(",", ""))


def test_each_value_has_its_difference_to_the_chosen_run(tmp_path: Path) -> None:
    runs = ("fcfs", "easy", "conservative")
    page = drawn(of_runs(*runs))
    metrics = [json.loads((page.parent / run / "result.json").read_text())["metrics"] for run in runs]
    found = browse(page, SHOWN, tmp_path)
    assert found["left"] == 0, "no run: no difference"
    assert {cell["metric"] for cell in found["overview"]} < {cell["metric"] for cell in found["all"]}
    differing = 0
    for cell in (*found["overview"], *found["all"]):
        name = cell["metric"]
        if name == "nb_jobs_starved":
            # It stands in no result.json: test_starvation.py holds it.
            continue
        value, base = metrics[cell["run"]][name], metrics[1][name]
        assert cell["base"] == (cell["run"] == 1)
        if cell["run"] == 1 or value is None or base is None or value == base:
            assert cell["text"] is None
            continue
        differing += 1
        expected = [(value - base) / cell["scale"]] if cell["scale"] else []
        if base > 0:
            expected.append(value / base)
        told = [number(part.removesuffix("\u00a0\u00d7")) for part in (cell["text"] or "").split(",\u00a0") if part]
        assert told == [pytest.approx(figure, rel=6e-3) for figure in expected]
        if not expected:
            continue
        metric = describe(name)
        assert metric is not None
        better = metric.better
        stands = "" if not better else "better" if (value < base) == (better == "lower") else "worse"
        assert (cell["stands"], cell["sr"]) == (stands, f" ({stands})" if stands else None)
    assert differing > 40
    assert {cell["stands"] for cell in found["all"]} >= {"better", "worse"}


def test_a_page_of_one_run_has_no_choice(tmp_path: Path) -> None:
    page = drawn(of_runs("easy"))
    assert browse(page, "return document.getElementById('baseline')", tmp_path) is None
