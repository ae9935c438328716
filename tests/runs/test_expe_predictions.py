"""The experiment on predictions: a small log goes through its campaign, and errors and blocks are right by hand."""

import shutil
from contextlib import chdir

import numpy as np
import pandas as pd
import pytest

from expe.common.running import sections_of
from expe.predictions import show
from experiments import EXPE, small

JOBS, WALLTIME = 50, 3600.0


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> pd.DataFrame:
    """Jobs of three hosts of eight, which come faster than they run, for longer and longer."""
    folder = tmp_path_factory.mktemp("predictions")
    lines = [
        f"{n + 1} {1000 + 100 * n} -1 {300 + 10 * n} 3 -1 -1 3 {WALLTIME:.0f} -1 1 {n % 3} 1 -1 1 -1 -1 -1"
        for n in range(JOBS)
    ]
    log = folder / "log.swf"
    log.write_text("; MaxProcs: 8\n" + "\n".join(lines) + "\n")
    changes = [
        ("eurora/eurora_historical.tar.xz", str(log)),
        ("{generate: eurora, options: {memory: 32768}}", "{generate: flat, options: {hosts: 8}}"),
        ("jobs: 1186", f"jobs: {JOBS // 5}"),
    ]
    # Classes are named by files beside the campaign's.
    here = folder / "out" / "file"
    here.mkdir(parents=True)
    for name in ("quantile.py", "errors.py"):
        shutil.copy(EXPE / "predictions" / name, here)
    with chdir(here):
        return small("predictions", folder / "out", *changes)


def test_errors_are_those_of_the_last_four_fifths(rows: pd.DataFrame) -> None:
    errors = rows[rows["part"] == "predicted"].set_index("prediction")
    runtime = 300.0 + 10 * np.arange(JOBS // 5, JOBS)
    over = WALLTIME - runtime
    requested = errors.loc["requested"]
    assert requested["absolute"] == pytest.approx(over.mean())
    assert requested["accuracy"] == pytest.approx((runtime / WALLTIME).mean())
    assert requested["e_loss"] == pytest.approx(((1 + np.log(3 * runtime)) * over**2).mean())
    assert requested["under"] == 0
    assert errors.loc["oracle", ["absolute", "under", "accuracy", "e_loss"]].tolist() == [0, 0, 1, 0]
    # Run times grow, so that a median of the past is too short.
    assert errors.loc["quantile", "under"] > 0.9
    assert (errors["cpu"] > 0).all()


def test_blocks_are_of_the_jobs_that_count(rows: pd.DataFrame) -> None:
    tuning = rows[rows["part"] == "tuning"]
    assert len(tuning) == 14
    for row in tuning.to_dict("records"):
        ((slowdown, wait, longest),) = row["blocks"]
        assert slowdown == pytest.approx(row["mean_bounded_slowdown"])
        assert wait == pytest.approx(row["mean_waiting_time"])
        assert longest == pytest.approx(row["max_waiting_time"])
    # Two at a time and longer and longer: the later, the longer the wait. So without the first fifth it is longer.
    for row in rows[rows["part"] == "schedules of Eurora"].to_dict("records"):
        assert row["blocks"][:, 1].mean() > row["mean_waiting_time"]


def test_what_a_log_lacks_for_a_last_block_joins_the_one_before(
    rows: pd.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = rows[rows["part"] == "schedules of Eurora"].iloc[0].to_dict()
    monkeypatch.setattr(show, "BLOCK", 15)
    assert len(show.columns(row, row["run"])["blocks"]) == 2


def test_tables_have_a_line_for_each_prediction(rows: pd.DataFrame) -> None:
    made = sections_of(show, rows)
    assert made.keys() == {"tuning", "errors"}
    assert made["tuning"].count("quantile[q=") == 6
    table = show.schedules_table(rows[rows["part"] == "schedules of Eurora"])
    assert table.count("| `requested` |") == table.count("| 1 |") == 3
    assert "`oracle`" in show.all_logs_table(rows[rows["part"] == "schedules of Eurora"])


def test_ratios_are_taken_block_by_block() -> None:
    blocks = np.array([[10.0, 1.0, 1.0], [1000.0, 1.0, 1.0], [50.0, 1.0, 1.0]])
    found = {"requested": blocks, "halved": blocks * [0.5, 1.0, 1.0]}
    assert show._ratio(show._ratios(found, "halved")) == "0.50"
