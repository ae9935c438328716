"""Platforms against what the real Batsim said of them."""

import itertools
import json
import shlex
from pathlib import Path
from typing import Any

import pytest

from batdispatch.inputs.platforms import read_platform

RECORDINGS = Path(__file__).parents[2] / "conformance" / "recordings"


def options(folder: Path) -> tuple[Path, dict[str, str], str | None]:
    """Return platform, roles and master of a recording's command line."""
    words = shlex.split((folder / "options.txt").read_text().split("|")[0])
    roles: dict[str, str] = {}
    platform, master = Path(), None
    for flag, value in itertools.pairwise(words):
        if flag == "-p":
            platform = RECORDINGS / value
        elif flag == "-r":
            roles.update([value.rsplit(":", 1)])
        elif flag == "-m":
            master = value
    return platform, roles, master


@pytest.mark.parametrize("folder", sorted((RECORDINGS / "batsim4").iterdir()), ids=lambda folder: folder.name)
def test_resources_are_those_of_batsim_4(folder: Path) -> None:
    with (folder / "exchange.jsonl").open() as lines:
        first: dict[str, Any] = json.loads(json.loads(next(lines))["raw"])
    begins = first["events"][0]["data"]
    platform, roles, master = options(folder)
    read = read_platform(platform, roles=roles, master=master)
    assert read.resources() == begins["compute_resources"] + begins["storage_resources"]
    assert read.machine.size == begins["nb_compute_resources"]
    assert len(read.machine.storage) == begins["nb_storage_resources"]


@pytest.mark.parametrize("folder", sorted((RECORDINGS / "batsim5").iterdir()), ids=lambda folder: folder.name)
def test_resources_are_those_of_batsim_5(folder: Path) -> None:
    events = [
        event["event"]
        for line in (folder / "exchange.jsonl").read_text().splitlines()
        if isinstance(raw := json.loads(line)["raw"], str)
        for event in json.loads(raw)["events"]
        if event["event_type"] == "SimulationBeginsEvent"
    ]
    platform, roles, master = options(folder)
    read = read_platform(platform, roles=roles, master=master, batsim=5)
    for begins in events:
        told = begins["computation_hosts"] + begins["storage_hosts"]
        assert [host["name"] for host in told] == [host.name for host in read.hosts]
        assert [host["id"] for host in told] == list(range(len(read.hosts)))
        assert [host["core_count"] for host in told] == [host.cores for host in read.hosts]
        assert [host["computation_speed"] for host in told] == [list(host.speeds) for host in read.hosts]
    assert events or folder.name == "hello_bad_version"


def test_flat128_has_128_hosts_beside_its_master() -> None:
    platform = read_platform(RECORDINGS / "platforms" / "flat128.xml", master="n0")
    assert platform.machine.size == 128
    assert [host.name for host in platform.hosts[:3]] == ["n1", "n10", "n100"]
    assert platform.by_name["n128"] == [host.name for host in platform.hosts].index("n128")


def test_torus444_without_its_master() -> None:
    platform = read_platform(RECORDINGS / "platforms" / "torus444.xml", master="n0")
    assert platform.machine.size == 63
    coordinates = platform.machine.coordinates
    assert coordinates is not None
    assert coordinates[platform.by_name["n63"]].tolist() == [3, 3, 3]
    assert coordinates[platform.by_name["n17"]].tolist() == [1, 0, 1]
