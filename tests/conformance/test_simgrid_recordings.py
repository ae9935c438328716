"""Jobs whose time depends on the platform, against what Batsim 4.2.1 recorded."""

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from batdispatch.results.frame import read_jobs
from batdispatch.runs.run import execute
from batdispatch.runs.spec import RunSpec
from recorded import RECORDINGS, SLACK, recorded_events
from with_simgrid import needs_simgrid, play_with_simgrid

pytestmark = needs_simgrid

#: Largest relative difference of run times.
TOLERANCE = 1e-3
#: Seconds: SimGrid's and the messages' resolution.
RESOLUTION = 1e-5


def joined(ours: Path, theirs: Path) -> pd.DataFrame:
    """Return our jobs file beside the recorded one, whose columns end in _recorded."""
    recorded = read_jobs(theirs).set_index("job_id").add_suffix("_recorded")
    frame = read_jobs(ours).set_index("job_id").join(recorded, validate="1:1")
    assert sorted(frame.index) == sorted(recorded.index)
    return frame


def assert_run_times(frame: pd.DataFrame) -> None:
    recorded = frame["execution_time_recorded"]
    difference = (frame["execution_time"] - recorded).abs()
    assert (difference <= TOLERANCE * recorded + RESOLUTION).all(), frame[["execution_time", "execution_time_recorded"]]


@pytest.mark.parametrize(
    ("dispatcher", "reference", "options"),
    [("fcfs", "fcfs_fast", {}), ("easy", "easy_bf", {"reservation": "hosts"})],
)
def test_contention_on_a_torus(tmp_path: Path, dispatcher: str, reference: str, options: dict[str, str]) -> None:
    spec = RunSpec(
        platform=str(RECORDINGS / "platforms" / "torus444.xml"),
        workload=str(RECORDINGS / "workloads" / "torus_contention.json"),
        dispatcher=dispatcher,
        options=options,
        master_host="n0",
    )
    result = execute(spec, tmp_path)
    assert result["engine"]["simgrid"]
    frame = joined(tmp_path / "jobs.csv", RECORDINGS / "scheduling" / f"torus_contention.{reference}" / "jobs.csv")
    assert len(frame) == 40
    difference = (frame["execution_time"] / frame["execution_time_recorded"] - 1).abs()
    assert difference.max() < TOLERANCE
    assert (frame["starting_time"] - frame["starting_time_recorded"]).abs().max() < SLACK
    for column in ("allocated_resources", "final_state"):
        assert frame[column].astype(str).tolist() == frame[f"{column}_recorded"].astype(str).tolist()


@pytest.mark.parametrize("name", ["parallel", "composed", "pfs", "io_job", "mapping", "walltime", "kill"])
def test_recorded_decisions_give_the_recorded_jobs_file(tmp_path: Path, name: str) -> None:
    heard = play_with_simgrid(name, tmp_path)
    frame = joined(tmp_path / "jobs.csv", RECORDINGS / "batsim4" / name / "jobs.csv")
    assert_run_times(frame)
    for column in ("starting_time", "finish_time"):
        assert (frame[column] - frame[f"{column}_recorded"]).abs().max() < SLACK, column
    for column in ("final_state", "success", "profile", "allocated_resources"):
        assert frame[column].astype(str).tolist() == frame[f"{column}_recorded"].astype(str).tolist(), column
    recorded = recorded_events(name, "JOB_COMPLETED")
    assert sorted(heard["JOB_COMPLETED"], key=by_job) == sorted(recorded, key=by_job), "states or return codes differ"


def by_job(data: dict[str, Any]) -> str:
    return str(data["job_id"])


def test_progress_of_killed_jobs_as_recorded(tmp_path: Path) -> None:
    killed = play_with_simgrid("kill", tmp_path)["JOB_KILLED"]
    recorded = recorded_events("kill", "JOB_KILLED")
    assert [event["job_ids"] for event in killed] == [event["job_ids"] for event in recorded]
    for ours, theirs in zip(killed, recorded, strict=True):
        for job, progress in theirs["job_progress"].items():
            assert_progress(ours["job_progress"][job], progress)


def assert_progress(ours: dict[str, Any], theirs: dict[str, Any]) -> None:
    assert set(ours) == set(theirs)
    assert ours["profile_name"] == theirs["profile_name"]
    if "progress" in theirs:
        assert ours["progress"] == pytest.approx(theirs["progress"], rel=TOLERANCE)
    else:
        assert ours["current_task_index"] == theirs["current_task_index"]
        assert_progress(ours["current_task"], theirs["current_task"])
