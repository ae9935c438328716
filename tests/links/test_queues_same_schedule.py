"""Dependencies, arrays, partitions and reservations through real sockets, in both protocols, as in process."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import pytest

from batdispatch.batsim import protocol
from batdispatch.core.line.dispatcher import create
from batdispatch.core.line.messages import Peer
from batdispatch.core.line.session import Session
from batdispatch.engines.embedded import EmbeddedEngine
from batdispatch.engines.outputs import Outputs
from batdispatch.inputs.platforms import read_platform
from batdispatch.inputs.workloads import read_workload
from batdispatch.links.remote_peer import RemotePeer
from batdispatch.testing import CASES

CASE_NAMES = ("conditions-of-every-kind", "partitions", "reservations")


def simulate(peer: Peer, folder: Path, platform: Path, workload: Path, batsim: Literal[4, 5]) -> str:
    """Run the embedded engine and return its jobs file."""
    site = read_platform(platform, batsim=batsim)
    folder.mkdir()
    EmbeddedEngine(site.machine, read_workload(workload), Outputs(folder, site.machine.size)).run(peer)
    return (folder / "jobs.csv").read_text()


@pytest.mark.parametrize(
    ("dispatcher", "name", "version"),
    [
        # In the fast suite each dispatcher meets each case, and each case each protocol, once.
        pytest.param(dispatcher, name, version, marks=[] if number % 2 else pytest.mark.slow)
        for place, name in enumerate(CASE_NAMES)
        for other, dispatcher in enumerate(["easy", "conservative"])
        for version in ("4", "5")
        for number in [place + other + int(version)]
    ],
)
def test_same_schedule_behind_a_socket(
    dispatcher: str, name: str, version: Literal["4", "5"], decide: Callable[..., Any], tmp_path: Path
) -> None:
    case = next(case for case in CASES if case.name == name)
    platform, workload, _ = case.write(tmp_path / "case")
    batsim: Literal[4, 5] = 5 if version == "5" else 4
    expected = simulate(Session(create(dispatcher)), tmp_path / "here", platform, workload, batsim)
    assert "REJECTED" in expected
    # What Batsim would not tell of zones, the decision process reads from the platform file.
    arguments = ["--protocol", version] if name == CASE_NAMES[0] else ["--protocol", version, "--platform", platform]
    decider = decide("--dispatcher", dispatcher, *map(str, arguments))
    with RemotePeer(decider.endpoint, protocol(version), timeout=30) as peer:
        assert simulate(peer, tmp_path / "there", platform, workload, batsim) == expected
    assert decider.finish()[0] == 0
