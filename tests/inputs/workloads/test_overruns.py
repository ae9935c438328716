"""When ``convert`` proposes to raise walltimes that jobs ran over."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from batdispatch.cli.main import cli
from batdispatch.inputs.workloads.logs import Overruns


@pytest.mark.parametrize(
    ("seconds", "jobs", "proposed"),
    [
        ([], 10, False),
        ([5.0], 100, True),
        ([5.0], 101, False),
        ([5.0, 120.0, 9000.0], 10, True),
        ([5.0, 121.0, 9000.0], 10, False),
    ],
)
def test_many_and_slight(seconds: list[float], jobs: int, proposed: bool) -> None:
    assert bool(Overruns(seconds).proposal(jobs)) == proposed


def line(number: int, runtime: int, limit: int) -> str:
    return f"{number} {number} 0 {runtime} 1 -1 -1 1 {limit} -1 1 1 1 1 1 -1 -1 -1\n"


def test_the_number_is_told(tmp_path: Path) -> None:
    log, out = tmp_path / "log.swf", str(tmp_path / "w.json")
    log.write_text("".join(line(i, 63 if i % 4 == 0 else 50, 60) for i in range(1, 41)))
    told = CliRunner().invoke(cli, ["convert", str(log), "-o", out]).stderr
    assert "10 of 40 jobs (25.0%) ran longer than their walltime, half of these by at most 3 s" in told
    assert "--overrun extend" in told
    assert CliRunner().invoke(cli, ["convert", str(log), "-o", out, "--overrun", "extend"]).stderr == ""


def test_jobs_that_slurm_ended_do_not_count(tmp_path: Path) -> None:
    log, out = tmp_path / "log.txt", str(tmp_path / "w.json")
    for state, proposed in (("COMPLETED", True), ("TIMEOUT", False)):
        log.write_text(
            f"JobID|Submit|Start|Elapsed|State|Timelimit|AllocCPUS\n1|2026-01-01T00:00:00|2026-01-01T00:00:00|00:01:09|{state}"
            "|00:01:00|1\n"
        )
        told = CliRunner().invoke(cli, ["convert", str(log), "-o", out]).stderr
        assert ("--overrun extend" in told) == proposed
