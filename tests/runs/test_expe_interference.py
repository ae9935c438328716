"""The experiment with jobs that communicate: what its tables say, and that jobs under convex do not slow each other."""

import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from batdispatch.core.errors import SimulationError
from batdispatch.core.jobs.job import Job
from batdispatch.core.jobs.request import Request
from batdispatch_papers.interference.workload import Traffic
from expe.interference import show
from experiments import small
from with_simgrid import needs_simgrid


def rows(**stretches: list[float]) -> pd.DataFrame:
    """A run of each row in which jobs were slowed down so much."""
    return pd.DataFrame(
        {
            "workload": "messages",
            "workload.seed": 1,
            "dispatcher": name,
            "stretch": float(np.mean(values)),
            "tail": float(np.percentile(values, 95)),
            "worst": max(values),
            "slowed": 50.0,
            "shared": 25.0,
            "runtime": 1.5,
            "utilisation": 0.8,
            "useful": 0.6,
            "mean_waiting_time": 100.0 / len(values),
            "mean_turnaround_time": 500.0,
            "makespan": 9000.0,
            "slowdown": 2.0,
            "mean_compactness": 1.25,
            "mean_proximity": math.nan,
            "mean_locality_factor": 1.5,
        }
        for name, values in stretches.items()
    )


def test_stretches_and_prices_are_told_for_each_workload_and_row() -> None:
    found = rows(**{"first fit": [1.0, 3.0], "convex": [1.0, 1.0, 1.0, 1.0]})
    first, other = show.stretch_table(found).splitlines()[2:]
    assert first == "| messages | first fit | 2.000 | 2.90 | 3.00 | 50.0 | 25.0 |"
    assert other == "| messages | convex | 1.000 | 1.00 | 1.00 | 50.0 | 25.0 |"
    first, other = show.price_table(found).splitlines()[2:]
    assert first == "| messages | first fit | 0.800 | 0.600 | 1.50 | 50 |  |  |  | 2.00 |"
    assert other == "| messages | convex | 0.800 | 0.600 | 1.50 | 25 | -50 % | +0 % | +0 % | 2.00 |"
    assert show.shape_table(found).splitlines()[2] == "| messages | first fit | 1.25 |  | 1.50 |"


def test_the_least_run_time_is_that_of_what_is_slowest() -> None:
    def job(*disks: str) -> Job:
        request = Request(units=4, io_nodes=disks)
        extra = {"nominal_runtime": 200}
        return Job(id="a", request=request, submission=0.0, walltime=1e4, profile="p", extra=extra)

    assert show.least_runtime(job(), Traffic()) == 200
    assert show.least_runtime(job(), Traffic(intensity=0.1)) == 100
    assert show.least_runtime(job("io0"), Traffic(intensity=0.1, io_load=0.2)) == 140


@needs_simgrid
def test_jobs_under_convex_run_as_fast_as_alone(tmp_path: Path) -> None:
    found = small(
        "interference",
        tmp_path,
        ("jobs: 100", "jobs: 40"),
        (
            "[first fit, contiguous, contiguous (Hilbert), connected, compact, convex, convex (routers)]",
            "[first fit, convex]",
        ),
        parts=["shapes"],
    )
    assert set(found["workload"]) == set(show.SHOWN)
    kept = found[found["dispatcher"] == "convex"]
    assert (kept["shared"] == 0).all()
    assert kept[kept["workload"] != "messages and IO"]["worst"].max() <= 1.02
    base = found[(found["dispatcher"] == "first fit") & (found["workload"] == "messages")]
    assert base["stretch"].min() > 1.2
    # The jobs alone are simulated once.
    alone = {path: path.stat().st_mtime_ns for path in (tmp_path / "alone").iterdir()}
    assert len(alone) == len(found)
    row = kept.iloc[0].to_dict()
    assert show.columns(row, row["run"])["worst"] == row["worst"]
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "alone").iterdir()} == alone
    with pytest.raises(SimulationError, match="a job did not end by itself"):
        show.columns(row | {"nb_jobs_success": 39}, row["run"])
