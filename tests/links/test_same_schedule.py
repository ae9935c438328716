"""pybatsim's schedulers on our engine, and endpoints where nobody answers."""

import importlib.util
import socket
from pathlib import Path

import pytest

from batdispatch.batsim import v4
from batdispatch.core.errors import InputError, SimulationError
from batdispatch.core.line.messages import Message, Peer
from batdispatch.engines.embedded import EmbeddedEngine
from batdispatch.engines.outputs import Outputs
from batdispatch.inputs.platforms import read_platform
from batdispatch.inputs.workloads import read_workload
from batdispatch.links.pybatsim_peer import PybatsimPeer
from batdispatch.links.remote_peer import RemotePeer

RECORDINGS = Path(__file__).parents[1] / "conformance" / "recordings"

needs_pybatsim = pytest.mark.skipif(importlib.util.find_spec("batsim") is None, reason="pybatsim is not installed")


def simulate(peer: Peer, folder: Path) -> str:
    """Run the embedded engine and return its jobs file."""
    site = read_platform(RECORDINGS / "platforms" / "flat128.xml", master="n0")
    jobs = read_workload(RECORDINGS / "workloads" / "burst.json")
    folder.mkdir()
    EmbeddedEngine(site.machine, jobs, Outputs(folder, site.machine.size)).run(peer)
    return (folder / "jobs.csv").read_text()


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
