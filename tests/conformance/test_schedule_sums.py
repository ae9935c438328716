"""schedule.csv's sums against the real Batsim's, column by column."""

from pathlib import Path

import pytest

from batdispatch.results.schedule import read_schedule
from batdispatch.runs.run import execute
from batdispatch.runs.spec import RunSpec
from recorded import PLAYED, RECORDINGS, four, play
from with_simgrid import frames_with_simgrid, needs_simgrid

#: What is not simulated, but measured or named.
OTHER = {"batsim_version", "scheduling_time", "simulation_time"}
#: Seconds: Batsim computes with more digits than microseconds, and adds up over jobs and hosts.
TOLERANCE = 2e-5


def assert_sums(ours: Path, recorded: Path) -> None:
    mine, theirs = read_schedule(ours / "schedule.csv"), read_schedule(recorded / "schedule.csv")
    assert mine.keys() == theirs.keys()
    wrong = {
        name: (mine[name], value)
        for name, value in theirs.items()
        if name not in OTHER and mine[name] != pytest.approx(value, rel=1e-6, abs=TOLERANCE)
    }
    assert not wrong, "ours and Batsim's"


@pytest.mark.parametrize("name", PLAYED)
def test_every_column_as_recorded(tmp_path: Path, name: str) -> None:
    play(name, tmp_path, delays=four)
    assert_sums(tmp_path, RECORDINGS / "batsim4" / name)


@needs_simgrid
@pytest.mark.parametrize("name", ["kill", "walltime", "parallel", "composed", "pfs", "io_job", "mapping"])
def test_every_column_where_jobs_compute_communicate_and_are_killed(tmp_path: Path, name: str) -> None:
    frames_with_simgrid(name, tmp_path)
    assert_sums(tmp_path, RECORDINGS / "batsim4" / name)


@needs_simgrid
@pytest.mark.parametrize("workload", ["steady", "burst"])
def test_every_column_of_a_long_schedule(tmp_path: Path, workload: str) -> None:
    spec = RunSpec(
        platform=str(RECORDINGS / "platforms" / "flat128.xml"),
        workload=str(RECORDINGS / "workloads" / f"{workload}.json"),
        dispatcher="easy",
        options={"reservation": "hosts"},
        master_host="n0",
        clock="batsim",
    )
    execute(spec, tmp_path)
    assert_sums(tmp_path, RECORDINGS / "scheduling" / f"{workload}.easy_bf")
