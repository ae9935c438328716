"""The output files of Batsim 5 read like Batsim 4's."""

import json
from pathlib import Path

import pytest

from batdispatch.core.errors import InputError
from batdispatch.results.frame import read_jobs
from batdispatch.results.runs import read_run
from batdispatch.results.schedule import read_schedule

RECORDINGS = Path(__file__).parents[1] / "conformance" / "recordings"
FIVES = sorted((RECORDINGS / "batsim5").iterdir())


@pytest.mark.parametrize("folder", FIVES, ids=lambda folder: folder.name)
def test_sums_computed_from_the_jobs_are_those_that_batsim_wrote(folder: Path) -> None:
    frame, sums = read_jobs(folder / "jobs.csv"), read_schedule(folder / "schedule.json")
    ran = frame[frame["final_state"] != "REJECTED"]
    assert len(frame) == sums["nb_jobs"]
    assert len(frame) - len(ran) == sums["nb_jobs_rejected"]
    assert frame["success"].sum() == sums["nb_jobs_success"]
    # A microsecond, because Batsim prints no more of each time.
    assert ran["finish_time"].max() == pytest.approx(sums["makespan"], abs=2e-6)
    assert ran["waiting_time"].max() == pytest.approx(sums["max_waiting_time"], abs=2e-6)
    # Batsim 5.0.0-rc2 divides by all jobs, rejected ones included.
    assert ran["turnaround_time"].sum() / len(frame) == pytest.approx(sums["mean_turnaround_time"], abs=2e-6)
    assert not frame["profile"].str.contains("!").any()
    assert sums["batsim_version"] == "5.0.0-rc2"


@pytest.mark.parametrize("folder", FIVES, ids=lambda folder: folder.name)
def test_a_folder_of_batsim_5_is_a_run(folder: Path) -> None:
    run = read_run(folder)
    assert run.hosts == 4
    utilisation = run.metrics["utilisation"]
    assert isinstance(utilisation, float)
    assert 0 < utilisation <= 1


def test_both_forms_of_the_sums_have_the_same_names() -> None:
    four = read_schedule(RECORDINGS / "batsim4" / "delay" / "schedule.csv")
    five = read_schedule(RECORDINGS / "batsim5" / "delays" / "schedule.json")
    # Wall-clock times are only in Batsim 4's.
    assert set(four) - set(five) == {"scheduling_time", "simulation_time"}
    assert set(five) <= set(four)


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("schedule.json", "{", "expected the sums of a run"),
        ("schedule.json", '{"makespan": [1]}', "expected the sums of a run"),
        ("schedule.json", "[" * 10**5, "expected the sums of a run"),
        ("schedule.csv", "makespan,nb_jobs\n3\n", "as many values"),
        ("schedule.csv", "makespan\n", "as many values"),
    ],
)
def test_malformed_sums(name: str, text: str, expected: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(InputError, match=expected):
        read_schedule(tmp_path / name)


def test_a_run_whose_sums_are_malformed_is_still_a_run(tmp_path: Path) -> None:
    (tmp_path / "jobs.csv").write_bytes((FIVES[0] / "jobs.csv").read_bytes())
    (tmp_path / "schedule.json").write_text(json.dumps({"nb_computing_machines": "many"}))
    assert read_run(tmp_path).hosts is None
