"""`batdispatch.load`: frames, metrics, an evalys JobSet and a Gantt chart in one call each."""

from collections.abc import Callable
from pathlib import Path

import pytest

import batdispatch
from batdispatch.core.errors import InputError


@pytest.fixture
def comparison(write_jobs: Callable[..., Path], tmp_path: Path) -> Path:
    """Two runs of three jobs, one of which is rejected."""
    jobs = {"a": {"hosts": "0"}, "b": {"hosts": "1-2", "start": 5.0, "finish": 9.0}, "c": {"state": "REJECTED"}}
    for name in ("all/easy", "all/fcfs"):
        write_jobs(jobs, name)
    return tmp_path / "all"


def test_one_call_gives_frames_and_metrics(comparison: Path) -> None:
    runs = batdispatch.load(comparison)
    assert list(runs) == ["easy", "fcfs"]
    assert repr(runs) == "<2 runs: easy, fcfs>"
    assert runs.metrics.loc["easy", "nb_jobs_rejected"] == 1
    assert runs.metrics.loc["fcfs", "max_waiting_time"] == 5
    assert list(runs["easy"].jobs["job_id"]) == ["a", "b", "c"]
    assert list(runs.jobs["run"]) == ["easy"] * 3 + ["fcfs"] * 3
    assert runs.jobs.columns[0] == "run"


def test_evalys_takes_the_jobs_that_ran(comparison: Path) -> None:
    jobset = batdispatch.load(comparison)["easy"].jobset()
    assert list(jobset.df["jobID"]) == ["a", "b"]
    assert jobset.utilisation.load.max() == 3
    assert jobset.df["execution_time"].tolist() == [10.0, 4.0]


def test_a_chart(comparison: Path) -> None:
    [axes] = batdispatch.load(comparison / "easy")["easy"].gantt().axes
    assert len(axes.patches) == 2


def test_a_wrong_label_is_answered_with_the_right_one(comparison: Path) -> None:
    with pytest.raises(InputError, match="did you mean 'easy'"):
        batdispatch.load(comparison)["eays"]
    with pytest.raises(InputError, match="is not a folder"):
        batdispatch.load(comparison / "absent")
