"""Metrics over the attempts of a job."""

from collections.abc import Mapping
from pathlib import Path

import pandas as pd
import pytest

from batdispatch.core.jobs.job_table import JobTable
from batdispatch.results.lineage import Lineage, read_lineage, write_lineage
from batdispatch.results.metrics.attempts import attempt_metrics
from columns import columns_of


def rows(*listed: tuple[str, str, float, int, str, float, float]) -> JobTable:
    names = ["job_id", "profile", "submission_time", "requested_number_of_resources", "final_state"]
    frame = pd.DataFrame(listed, columns=[*names, "starting_time", "finish_time"])
    return columns_of(frame.assign(workload_name="w0"))


def joined(columns: JobTable, parents: Mapping[str, str], folder: Path) -> Lineage:
    write_lineage(parents, folder / "lineage.csv")
    return read_lineage(folder / "lineage.csv", columns)


DONE, KILLED, LATE = "COMPLETED_SUCCESSFULLY", "COMPLETED_KILLED", "COMPLETED_WALLTIME_REACHED"


def test_attempts_are_joined(tmp_path: Path) -> None:
    columns = rows(
        ("7", "a", 5.0, 2, KILLED, 10.0, 14.0),
        ("8", "b", 0.0, 1, DONE, 0.0, 9.0),
        ("7~2", "a", 14.0, 2, LATE, 20.0, 29.0),
        ("7~3", "a", 29.0, 2, DONE, 30.0, 42.0),
        ("9", "b", 1.0, 1, "REJECTED", float("nan"), float("nan")),
    )
    lineage = joined(columns, {"w0!7~2": "w0!7", "w0!7~3": "w0!7~2"}, tmp_path)
    assert attempt_metrics(columns, hosts=4, lineage=lineage) == {
        "jobs": 2,
        "jobs_succeeded": 2,
        "useful_work": pytest.approx(2 * 12 + 9),
        "wasted_work": pytest.approx(2 * 4 + 2 * 9),
        "failures_per_job": pytest.approx(1.0),
        "mean_response_time": pytest.approx((37 + 9) / 2),
        "effective_utilisation": pytest.approx(33 / (4 * 42)),
    }


def test_an_id_that_only_looks_like_an_attempt_is_a_job(tmp_path: Path) -> None:
    columns = rows(
        ("7", "a", 0.0, 1, DONE, 0.0, 1.0),
        ("7~2", "a", 0.0, 1, DONE, 0.0, 1.0),
        ("5~2", "a", 0.0, 1, DONE, 0.0, 1.0),
    )
    assert attempt_metrics(columns)["jobs"] == 3
    assert joined(columns, {}, tmp_path).root.tolist() == [0, 1, 2]


def test_a_run_without_a_job_that_ran() -> None:
    assert attempt_metrics(rows()) == {"jobs": 0}
