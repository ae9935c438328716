"""The embedded engine against the real Batsim: recorded decisions, taken again, give the recorded jobs file."""

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import recorded
from batdispatch.core.errors import ImpossibleDecision, InputError
from batdispatch.results.frame import read_jobs
from recorded import PLAYED, RECORDINGS, SLACK, Script


def play(name: str, out: Path, workload: str | None = None) -> tuple[Script, pd.DataFrame]:
    script = recorded.play(name, out, workload)
    return script, read_jobs(out / "jobs.csv")


@pytest.mark.parametrize("name", PLAYED)
def test_recorded_decisions_give_the_recorded_jobs_file(tmp_path: Path, name: str) -> None:
    script, ours = play(name, tmp_path)
    theirs = read_jobs(RECORDINGS / "batsim4" / name / "jobs.csv")
    assert not script.replies, "recorded decisions were left over"
    assert sorted(ours["job_id"]) == sorted(theirs["job_id"])
    joined = ours.set_index("job_id").join(theirs.set_index("job_id").add_suffix("_recorded"))
    for column in ("final_state", "profile", "workload_name", "success", "allocated_resources", "metadata"):
        assert joined[column].astype(str).tolist() == joined[f"{column}_recorded"].astype(str).tolist(), column
    for column in ("starting_time", "execution_time", "finish_time", "submission_time", "requested_time"):
        ran = joined["starting_time_recorded"].notna()
        difference = (joined.loc[ran, column] - joined.loc[ran, f"{column}_recorded"]).abs()
        assert difference.max() < SLACK, column
    assert joined["starting_time"].isna().tolist() == joined["starting_time_recorded"].isna().tolist()


def reduced(path: Path, out: Path, keep: set[str] | None = None) -> str:
    """Write a recorded workload with delays, of the recorded length, for profiles that depend on the platform."""
    data: dict[str, Any] = json.loads(path.read_text())
    if keep is not None:
        data["jobs"] = [job for job in data["jobs"] if job["id"] in keep]
    for name, seconds in (("ph", 125.0), ("ph4", 20.0)):
        if name in data["profiles"]:
            data["profiles"][name] = {"type": "delay", "delay": seconds}
    target = out / path.name
    target.write_text(json.dumps(data))
    return str(target)


def test_kill_reports_the_recorded_progress(tmp_path: Path) -> None:
    script, ours = play("kill", tmp_path / "out", reduced(RECORDINGS / "workloads" / "kill.json", tmp_path))
    theirs = read_jobs(RECORDINGS / "batsim4" / "kill" / "jobs.csv").set_index("job_id")
    assert len(script.events("SIMULATION_ENDS")) == 1
    killed = script.events("JOB_KILLED")
    assert killed[0] == {"job_ids": ["w0!kd"], "job_progress": {"w0!kd": {"profile_name": "d30", "progress": 0.25}}}
    assert killed[1]["job_progress"] == {
        # 125 s of ph on a host of 80 Mf; Batsim's ks ran on one of 50 Mf, where the same work has come less far.
        "w0!kp": {"profile_name": "ph", "progress": 0.2},
        "w0!ks": {
            "profile_name": "seq",
            "current_task_index": 1,
            "current_task": {"profile_name": "ph", "progress": 0.12},
        },
        "w0!kn": {
            "profile_name": "nested",
            "current_task_index": 1,
            "current_task": {
                "profile_name": "inner",
                "current_task_index": 1,
                "current_task": {"profile_name": "d10", "progress": 0.5},
            },
        },
    }
    assert ours.set_index("job_id")["final_state"].to_dict() == theirs["final_state"].to_dict()


def test_walltimes_as_recorded(tmp_path: Path) -> None:
    workload = reduced(RECORDINGS / "workloads" / "walltime.json", tmp_path)
    _, ours = play("walltime", tmp_path / "out", workload)
    theirs = read_jobs(RECORDINGS / "batsim4" / "walltime" / "jobs.csv")
    assert ours["job_id"].tolist() == theirs["job_id"].tolist()
    assert set(ours["final_state"]) == {"COMPLETED_WALLTIME_REACHED"}
    assert (ours["finish_time"] - theirs["finish_time"]).abs().max() < SLACK


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("change_state", r"CHANGE_JOB_STATE: job w0!no \(RUNNING\) cannot become 'COMPLETED_SUCCESSFULLY'"),
        ("err_busy_host", r"job w0!z: host 0 \(alder\) is busy with w0!x and hosts are not shared"),
        ("err_dyn_composed", r"profile w0!c: Batsim 4.2.1 crashes on dynamic composed profiles"),
        ("err_dyn_disabled", r"dynamic registration is not enabled \(--enable-dynamic-jobs\)"),
        ("err_past_call", r"asked for 3.000000 s, which is not later than now"),
        ("kill_done_job", r"KILL_JOB: job w0!kd does not run: it is ended"),
    ],
)
def test_the_engine_refuses_what_batsim_refused(tmp_path: Path, name: str, message: str) -> None:
    folder = RECORDINGS / "batsim4" / name
    words = (folder / "options.txt").read_text().split()
    workload = reduced(RECORDINGS / words[words.index("-w") + 1], tmp_path)
    with pytest.raises(ImpossibleDecision, match=message):
        play(name, tmp_path / "out", workload)
    assert not list((tmp_path / "out").iterdir()), "a failed simulation left files behind"


@pytest.mark.parametrize("name", ["parallel", "pfs", "composed", "io_job", "mapping"])
def test_platform_dependent_profiles_are_refused_with_the_reason(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match="run time depends on the platform"):
        play(name, tmp_path)
