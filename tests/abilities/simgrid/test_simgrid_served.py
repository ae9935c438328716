"""The engine with SimGrid in Batsim's place: a decision process behind a socket decides as it does in process."""

import subprocess
import sys
from pathlib import Path

import pytest

from batdispatch.engines.choices import Clock
from batdispatch.runs.run import execute
from batdispatch.runs.spec import RunSpec
from recorded import RECORDINGS
from with_simgrid import needs_simgrid

PROGRAM = "from batdispatch.cli.main import main; main()"
PLATFORM = str(RECORDINGS / "platforms" / "torus444.xml")
WORKLOAD = str(RECORDINGS / "workloads" / "torus_contention.json")


@needs_simgrid
@pytest.mark.parametrize("clock", ["together", "apart", "batsim"])
def test_the_same_schedule_over_a_socket(tmp_path: Path, clock: Clock) -> None:
    spec = RunSpec(platform=PLATFORM, workload=WORKLOAD, dispatcher="easy", master_host="n0", clock=clock)
    execute(spec, tmp_path / "in-process")
    serve = subprocess.Popen(
        [sys.executable, "-u", "-c", PROGRAM, "serve", "--dispatcher", "easy", "--socket", "tcp://127.0.0.1:*"],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert serve.stdout is not None
        endpoint = serve.stdout.readline().split()[-1]
        words = [
            "engine",
            "--platform",
            PLATFORM,
            "--workload",
            WORKLOAD,
            "--master-host",
            "n0",
            "--socket",
            endpoint,
            "--clock",
            clock,
        ]
        engine = subprocess.run(
            [sys.executable, "-c", PROGRAM, *words, "--out", str(tmp_path / "served"), "--timeout", "20"],
            capture_output=True,
            text=True,
            check=False,
        )
        assert (engine.returncode, engine.stderr) == (0, "")
        assert engine.stdout.strip() == str(tmp_path / "served")
        assert serve.wait(20) == 0
    finally:
        serve.kill()
        serve.communicate()
    for file in ("jobs.csv", "machine_states.csv"):
        assert (tmp_path / "served" / file).read_bytes() == (tmp_path / "in-process" / file).read_bytes()
    assert "SimGrid" in (tmp_path / "served" / "schedule.csv").read_text()
