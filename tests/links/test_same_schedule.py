"""One dispatcher, one schedule: in process, behind a socket, inside pybatsim; pybatsim's schedulers on our engine."""

from __future__ import annotations

import importlib.util
import json
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from batdispatch.batsim import v4
from batdispatch.core.errors import InputError, SimulationError
from batdispatch.core.line.dispatcher import create
from batdispatch.core.line.messages import Message, Peer
from batdispatch.core.line.session import Session
from batdispatch.engines.embedded import EmbeddedEngine
from batdispatch.engines.outputs import Outputs
from batdispatch.inputs.platforms import read_platform
from batdispatch.inputs.workloads import read_workload
from batdispatch.links.batdispatcher_path import batdispatcher_path
from batdispatch.links.pybatsim_peer import PybatsimPeer
from batdispatch.links.remote_peer import RemotePeer

RECORDINGS = Path(__file__).parents[1] / "conformance" / "recordings"
WORKLOAD = "burst"
OPTIONS = {"easy": {"reservation": "hosts"}, "conservative": {}}

needs_pybatsim = pytest.mark.skipif(importlib.util.find_spec("batsim") is None, reason="pybatsim is not installed")


def simulate(peer: Peer, folder: Path, workload: str = WORKLOAD) -> str:
    """Run the embedded engine and return its jobs file."""
    site = read_platform(RECORDINGS / "platforms" / "flat128.xml", master="n0")
    jobs = read_workload(RECORDINGS / "workloads" / f"{workload}.json")
    folder.mkdir()
    EmbeddedEngine(site.machine, jobs, Outputs(folder, site.machine.size)).run(peer)
    return (folder / "jobs.csv").read_text()


@pytest.mark.parametrize("name", sorted(OPTIONS))
def test_same_schedule_behind_a_socket(name: str, decide: Callable[..., Any], tmp_path: Path) -> None:
    expected = simulate(Session(create(name, OPTIONS[name])), tmp_path / "here")
    assert expected.count("\n") == 301
    settings = [part for key, value in OPTIONS[name].items() for part in ("--set", f"{key}={value}")]
    decider = decide("--dispatcher", name, *settings)
    with RemotePeer(decider.endpoint, v4, timeout=30) as peer:
        assert simulate(peer, tmp_path / "there") == expected
    assert decider.finish()[0] == 0


@needs_pybatsim
@pytest.mark.parametrize("name", sorted(OPTIONS))
def test_same_schedule_inside_pybatsim(name: str, tmp_path: Path) -> None:
    expected = simulate(Session(create(name, OPTIONS[name])), tmp_path / "here")
    with socket.create_server(("127.0.0.1", 0)) as server:
        endpoint = f"tcp://127.0.0.1:{server.getsockname()[1]}"
    options = json.dumps({"dispatcher": name, "options": OPTIONS[name]})
    program = "import sys; from batsim.cmds.launcher import main; sys.exit(main())"
    command = [sys.executable, "-c", program, str(batdispatcher_path()), "-s", endpoint, "-t", "30000", "-o", options]
    # pybatsim logs every message; nobody reads it here.
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            with RemotePeer(endpoint, v4, timeout=30) as peer:
                assert simulate(peer, tmp_path / "there") == expected
            assert process.wait(20) == 0
        finally:
            process.kill()


@needs_pybatsim
@pytest.mark.parametrize("scheduler", ["easyBackfill", "fillerSched"])
def test_pybatsims_schedulers_drive_our_engine(scheduler: str, tmp_path: Path) -> None:
    written = simulate(PybatsimPeer(scheduler), tmp_path / "run")
    header, *rows = (line.split(",") for line in written.splitlines())
    state = header.index("final_state")
    assert len(rows) == 300
    # The engine refuses overlapping jobs, so what ended has run alone on its hosts.
    assert {row[state] for row in rows} <= {"COMPLETED_SUCCESSFULLY", "COMPLETED_WALLTIME_REACHED"}


def test_nobody_answers() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        endpoint = f"tcp://127.0.0.1:{server.getsockname()[1]}"
    with (
        RemotePeer(endpoint, v4, timeout=0.2) as peer,
        pytest.raises(SimulationError, match=r"has not answered for 0.2 s \(after 0 answers\)"),
    ):
        peer.handle(Message(3.0, []))


@pytest.mark.parametrize(
    ("endpoint", "expected"),
    [("tcp://nonsense", "expected tcp://ADDRESS:PORT"), ("tcp://*:9", "cannot be connected to")],
)
def test_wrong_endpoint(endpoint: str, expected: str) -> None:
    with pytest.raises(InputError, match=expected):
        RemotePeer(endpoint, v4).__enter__()
