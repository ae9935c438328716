"""The experiment with stochastic jobs: a small version of its campaign, and what its tables compare."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from batdispatch.core.errors import SimulationError
from expe.stochastic import show
from experiments import small


def test_small_jobs_count_in_the_response_of_all_jobs_alone(tmp_path: Path) -> None:
    changes = [
        ("jobs: 50,", "jobs: 5,"),
        ("seeds: 0..1, options: {rate: [0.1, 0.3]}", "seeds: 0..1, options: {rate: 0.3}"),
    ]
    found = small("stochastic", tmp_path, *changes, parts=["2-rate"])
    assert list(found["dispatcher"].unique()) == ["HPC", "TOptimal", "ATOptimal"]
    # ATOptimal is told the rate of its workload.
    assert list(found["dispatcher.rate"].dropna().unique()) == [0.3]
    for row in found.to_dict("records"):
        jobs = pd.read_csv(row["run"] / "jobs.csv")
        names = jobs["job_id"].str.split("~").str[0]
        ends = jobs.groupby(names)["finish_time"].max() - jobs.groupby(names)["submission_time"].min()
        large = [not name.startswith("small-") for name in ends.index]
        assert row["response"] == pytest.approx(ends[large].mean() / 3600)
        assert row["response_all"] == pytest.approx(ends.mean() / 3600)
        assert 0 < row["useful"] < 1
        assert row["failures"] == pytest.approx((names[~names.str.startswith("small-")].size - sum(large)) / sum(large))
    with pytest.raises(SimulationError, match="a job was lost"):
        show.columns({**found.iloc[0].to_dict(), "attempts.jobs_succeeded": 1}, tmp_path)


def test_a_change_is_against_the_last_row_of_hpc_that_does_not_speculate() -> None:
    found = pd.DataFrame(
        {
            "part": "3-repack",
            "dispatcher": name,
            "workload.seed": seed,
            "useful": 0.5 * factor,
            "response": 100.0 * factor * (1 + seed),
            "wasted": 0.0,
            "failures": 0.0,
            "cpu_seconds": 1.0,
        }
        for name, factor in (("HPC", 1.0), ("HPC, speculative", 1.1), ("HPC, EASY", 2.0), ("TOptimal, EASY", 1.0))
        for seed in range(2)
    )
    changes = [line.split("|")[-2].strip() for line in show.part_table(found).splitlines()[2:]]
    assert changes == ["", "+10 ± 0 %", "", "-50 ± 0 %"]
    assert np.isclose(found["useful"].mean(), 0.6375)
