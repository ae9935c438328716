"""Simulated time goes far beyond the 285 years in which floats tell one microsecond from the next."""

import csv
import json
from pathlib import Path

import pytest

from batdispatch.abilities.verify.audit.run import Auditor
from batdispatch.core.jobs.fields import MAX_MOMENT
from command_line import call
from sites import simulated

FOUR = Path(__file__).parents[1] / "conformance" / "recordings" / "platforms" / "four.xml"


def starts(folder: Path, first: float, dispatcher: str, compiled: str) -> list[float]:
    """Start times after the first submission, in seconds."""
    folder.mkdir()
    jobs = [
        {"id": f"j{i}", "subtime": first + i * 7.25, "res": 1 + i % 4, "walltime": [30, 100, 12][i % 3], "profile": "d"}
        for i in range(14)
    ]
    profiles = {"d": {"type": "delay", "delay": 20.5}}
    run = simulated(folder, dispatcher, FOUR, jobs, profiles, compiled=compiled, record=compiled == "never")
    assert [str(violation) for violation in Auditor().run(run).kept] == []
    with (run / "jobs.csv").open(newline="") as lines:
        rows = sorted(csv.DictReader(lines), key=lambda row: int(row["job_id"][1:]))
    return [float(row["starting_time"]) - first for row in rows]


@pytest.mark.parametrize("first", [2e10, MAX_MOMENT - 2000])
@pytest.mark.parametrize("compiled", ["never", "auto"])
@pytest.mark.parametrize("dispatcher", ["easy", "conservative", "stochastic-easy"])
def test_a_workload_that_begins_after_centuries_is_scheduled_as_one_that_begins_at_0(
    first: float, compiled: str, dispatcher: str, tmp_path: Path
) -> None:
    late = starts(tmp_path / "late", first, dispatcher, compiled)
    assert late == pytest.approx(starts(tmp_path / "early", 0.0, dispatcher, compiled), abs=2e-4)


@pytest.mark.parametrize("compiled", ["always", "never", "auto"])
@pytest.mark.parametrize(
    "dispatcher",
    ["fcfs", "easy", "conservative", "slurm-backfill", "powered[dispatcher=easy,sleep=idle,after=30]"],
)
def test_kernels_and_the_engine_have_one_end_of_time(dispatcher: str, compiled: str, tmp_path: Path) -> None:
    jobs = [{"id": name, "subtime": 0, "res": 1, "walltime": 2e12, "profile": name} for name in ("short", "long")]
    lengths = {"short": 5, "long": 10**12}
    profiles = {name: {"type": "delay", "delay": seconds} for name, seconds in lengths.items()}
    (tmp_path / "w.json").write_text(json.dumps({"nb_res": 8, "jobs": jobs, "profiles": profiles}))
    kind = ["platform", "generate", "flat", "--hosts", 8, "--power", "batsim-cluster"]
    assert call(*kind, "-o", tmp_path / "p.xml").status == 0
    words = ["run", "--platform", tmp_path / "p.xml", "--workload", tmp_path / "w.json", "--no-record"]
    status, _, message = call(*words, "--dispatcher", dispatcher, "--compiled", compiled, "--out", tmp_path / "out")
    assert (status, message.count("simulated time ends at 1.37439e+11 s")) == (1, 1)
    assert "the next event is at 1e+12 s" in message
    assert not (tmp_path / "out" / "jobs.csv").exists()
