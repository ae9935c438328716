"""The comparison on held-out slices: the slices are those of the draw, and its tables are right by hand."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml

from batdispatch.results.runs import read_run
from expe.common.running import sections_of
from expe.heldout import show
from expe.heldout.draw import JOBS, WHOLE, drawn
from expe.heldout.tables import FEWEST, Served, log_ratios, logs_table, shown
from experiments import EXPE, small


def test_the_campaign_runs_the_slices_that_are_drawn_and_what_takes_long_the_first_two() -> None:
    workloads = yaml.safe_load((EXPE / "heldout" / "campaign.yaml").read_text())["workloads"]
    found = {name: one["slices"] for name, one in workloads.items() if "slices" in one}
    assert all(one["jobs"] == JOBS for one in found.values())
    for log, numbers in drawn().items():
        assert found[log]["numbers"] == numbers
        assert found[f"{log}, two slices"]["numbers"] == numbers[:2]
        # None of the first fifth, which is for tuning.
        assert min(numbers) >= max(WHOLE[log] // 5, 1)
        assert max(numbers) < WHOLE[log]
    for name in ("generated", *drawn()):
        whole, two = dict(workloads[name]), dict(workloads[f"{name}, two slices"])
        for one in (whole, two):
            one.pop("slices", None)
            one.pop("seeds", None)
        assert two == whole


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> pd.DataFrame:
    return small("heldout", tmp_path_factory.mktemp("heldout"), ("jobs: 300", "jobs: 40"))


def test_each_run_is_measured_by_its_jobs(rows: pd.DataFrame) -> None:
    assert set(rows["piece"]) == {f"generated-{seed}" for seed in range(4)}
    for row in rows[rows["part"] == "requested"].to_dict("records"):
        frame = read_run(row["run"]).frame
        waits = (frame["starting_time"] - frame["submission_time"]).to_numpy()
        served: Served = row["served"]
        assert (served.wait, served.longest) == pytest.approx((waits.mean(), waits.max()))
        assert served.high == pytest.approx(np.quantile(waits, 0.99))
        assert row["late"] == pytest.approx(waits.max() + 10.0)


def test_tables_have_a_line_for_each_dispatcher(rows: pd.DataFrame, tmp_path: Path) -> None:
    made = sections_of(show, rows)
    assert made.keys() == {"slices", "requested", "oracle", "decisions"}
    # The names of rows with real run times do not say so again.
    assert "| easy, shortest first | 4 |" in made["oracle"]
    assert "oracle" not in made["oracle"]
    # Searches run on fewer slices, and are the last rows.
    names = [line.split("|")[1].strip() for line in made["decisions"].splitlines()[2:]]
    assert names[-4:] == ["best-list", "hcp19", "pcp19", "pcp20"]
    assert "| pcp20 | 2 |" in made["requested"]
    assert made["slices"].splitlines()[0].split("|")[2:-1] == [" generated-0 ", " generated-1 "]
    parts, draw = show.PICTURES["ratios.svg"]
    draw(tmp_path / "ratios.svg", rows[rows["part"] == parts])
    assert (tmp_path / "ratios.svg").stat().st_size > 5000


def served(slowdown: float, longest: float) -> Served:
    return Served(slowdown, 0.0, 0.0, longest, 0.0, 0.0, 0.0)


BASE = {("a", "1"): served(2.0, 0.0), ("a", "2"): served(8.0, 90.0), ("b", "3"): served(1.0, 0.0)}


def test_ratios_are_of_the_slices_on_which_both_ran() -> None:
    ours = {("a", "2"): served(2.0, 40.0), ("b", "3"): served(4.0, 0.0), ("c", "4"): served(9.0, 9.0)}
    assert np.exp(log_ratios(ours, BASE, "slowdown")) == pytest.approx([0.25, 4.0])
    # 10 s are added to both waits, so that nobody's waiting counts as 1.
    assert np.exp(log_ratios(ours, BASE, "longest")) == pytest.approx([0.5, 1.0])
    assert np.exp(log_ratios(ours, BASE, "slowdown", "a")) == pytest.approx([0.25])


def test_means_are_geometric_and_few_slices_have_no_interval() -> None:
    values = np.log([0.5, 2.0, 1.0])
    assert shown(values) == "1.00"
    assert shown(np.log([0.5, 2.0, 1.0, 1.0])).startswith("1.00 (0.")
    assert shown(np.zeros(FEWEST)) == "1.00 (1.00-1.00)"
    assert shown(np.zeros(0)) == ""
    text = logs_table({"x": {("a", "1"): served(1.0, 0.0)}, "base": BASE}, "slowdown", "base")
    assert text.splitlines()[0] == "| slowdown over base | a | b |"
    assert text.splitlines()[2] == "| x | 0.50 |  |"


def test_the_best_published_one_ran_on_all_slices_and_is_not_ours() -> None:
    found = {
        show.FILLER: BASE,
        show.EASY: {key: served(one.slowdown * 0.9, 0.0) for key, one in BASE.items()},
        show.OURS: {key: served(one.slowdown * 0.5, 0.0) for key, one in BASE.items()},
        "hcp19": {key: served(0.1, 0.0) for key in list(BASE)[:2]},
    }
    assert show.best_published(found) == show.EASY
