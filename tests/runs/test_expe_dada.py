"""The experiment with DADA: what its tables say of runs."""

from pathlib import Path

import pandas as pd
import pytest

from batdispatch.core.errors import SimulationError
from expe.dada import show
from experiments import small
from with_simgrid import needs_simgrid


def test_ratios_are_those_of_the_same_factorisation_and_number_of_gpus() -> None:
    curves = {
        ("cholesky", "HEFT"): {1: (100.0, 2.0), 2: (200.0, 4.0)},
        ("cholesky", "DADA(0)"): {1: (110.0, 1.0), 2: (200.0, 1.0)},
        ("qr", "HEFT"): {2: (50.0, 1.0)},
        ("qr", "DADA(0)"): {2: (60.0, 2.0)},
    }
    found = pd.DataFrame(
        {"workload": kernel, "dispatcher": name, "platform.gpus": gpus, "gflops": gflops, "moved": moved}
        for (kernel, name), curve in curves.items()
        for gpus, (gflops, moved) in curve.items()
    )
    assert show.ratios_table(found).splitlines()[2:] == [
        "| cholesky | DADA(0) | Gflop/s | 1.10 | 1.00 |",
        "|  |  | GB | 0.50 | 0.25 |",
        "| qr | DADA(0) | Gflop/s |  | 1.20 |",
        "|  |  | GB |  | 2.00 |",
    ]
    twice = pd.concat([found, found.assign(dispatcher=found["dispatcher"] + show.ESTIMATED, gflops=100.0)])
    several = pd.concat([twice.assign(**{"platform.gpus": gpus}) for gpus in (4, 8)])
    assert show.transfers_table(
        several[several["gflops"] <= 110].drop_duplicates(["dispatcher", "workload", "platform.gpus"])
    ).splitlines()[2:] == [
        "| HEFT | 100 | 100 | +0% | 100 | 100 | +0% |",
        "| DADA(0) | 110 | 100 | +10% | 110 | 100 | +10% |",
    ]


@needs_simgrid
def test_copies_are_no_tasks_and_a_task_that_did_not_succeed_is_found(tmp_path: Path) -> None:
    changes = [
        ("8192", "1536"),
        ("cholesky: {platforms: [ends, between, all of them]}", "cholesky: {platforms: all of them}"),
    ]
    found = small("dada", tmp_path, *changes, parts=["cholesky"])
    # Three tiles a side make ten tasks.
    assert set(found["report.tasks.cpu"].fillna(0) + found["report.tasks.gpu"].fillna(0)) == {10}
    assert found["nb_jobs"].max() > 10
    row = found.iloc[0].to_dict()
    assert show.columns(row, row["run"])["moved"] == row["report.bytes_moved"] / 1e9
    with pytest.raises(SimulationError, match="a task did not succeed"):
        show.columns(row | {"report.tasks.gpu": row["report.tasks.gpu"] - 1}, row["run"])
