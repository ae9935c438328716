"""Platform files on their way to SimGrid: packed ones, and what 4.1 crashes on."""

from __future__ import annotations

import csv
import gzip
import lzma
from pathlib import Path

import pytest
from lxml import etree

from batdispatch.engines.simgrid_library import VARIABLE, find_simgrid
from batdispatch.inputs.platforms import read_platform
from batdispatch.inputs.platforms.simgrid_form import readable
from batdispatch.runs.run import RunSpec, execute
from recorded import RECORDINGS
from with_simgrid import needs_simgrid

TORUS = RECORDINGS / "platforms" / "torus444.xml"
FOUR = RECORDINGS / "platforms" / "four.xml"


def test_a_file_is_read_as_it_is(tmp_path: Path) -> None:
    assert readable(FOUR, tmp_path, "3.32") == FOUR
    assert readable(TORUS, tmp_path, "3.32") == TORUS
    assert readable(FOUR, tmp_path, "4.1") == FOUR
    assert not list(tmp_path.iterdir())


def test_version_4_gets_a_zone_around_a_cluster_that_stands_alone(tmp_path: Path) -> None:
    found = readable(TORUS, tmp_path, "4.1")
    zone = etree.parse(str(found)).getroot().find("zone")
    assert zone is not None
    cluster = zone.find("cluster")
    assert cluster is not None
    assert dict(cluster.attrib) == dict(etree.parse(str(TORUS)).getroot()[0].attrib)
    ours, theirs = read_platform(found), read_platform(TORUS)
    assert [host.name for host in ours.hosts] == [host.name for host in theirs.hosts]


@needs_simgrid
@pytest.mark.parametrize(("ending", "opener"), [(".gz", gzip.open), (".xz", lzma.open)])
def test_packed_platforms_work_too(tmp_path: Path, ending: str, opener: type) -> None:
    packed = tmp_path / f"torus.xml{ending}"
    with opener(packed, "wb") as file:
        file.write(TORUS.read_bytes())
    times = []
    for platform in (TORUS, packed):
        spec = RunSpec(
            platform=str(platform),
            workload=str(RECORDINGS / "workloads" / "torus_contention.json"),
            dispatcher="fcfs",
            master_host="n0",
        )
        execute(spec, tmp_path / "out")
        times.append((tmp_path / "out" / "jobs.csv").read_bytes())
    assert times[0] == times[1]


def test_the_variable_comes_before_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "/opt/libsimgrid.so")
    assert find_simgrid() == "/opt/libsimgrid.so"


def test_the_library_beside_this_pythons_package_comes_before_the_systems(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    (tmp_path / "simgrid.py").touch()
    (tmp_path / "libsimgrid.so").touch()
    monkeypatch.syspath_prepend(tmp_path)
    assert find_simgrid() == str(tmp_path / "libsimgrid.so")


def test_nothing_found_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    monkeypatch.setattr("ctypes.util.find_library", lambda name: None)
    assert find_simgrid() is None


@pytest.mark.parametrize(
    ("listed", "path", "found"),
    [
        (b"\0libsimgrid.so.4.1\0", "", "libsimgrid.so.4.1"),
        (b"\0libm.so\0", "", None),
        (b"\0libm.so\0", "/opt/lib", "libsimgrid.so.4.1"),
        (None, "", "libsimgrid.so.4.1"),
    ],
)
def test_the_system_is_searched_unless_the_loader_knows_that_it_is_in_vain(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, listed: bytes | None, path: str, found: str | None
) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setenv("LD_LIBRARY_PATH", path)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    monkeypatch.setattr("ctypes.util.find_library", {"simgrid": "libsimgrid.so.4.1"}.get)
    monkeypatch.setattr("batdispatch.engines.simgrid_library.LOADER_LIST", tmp_path / "list")
    if listed is not None:
        (tmp_path / "list").write_bytes(listed)
    assert find_simgrid() == found


@needs_simgrid
def test_the_sums_have_a_field_for_each_column(tmp_path: Path) -> None:
    spec = RunSpec(
        platform=str(FOUR),
        workload=str(RECORDINGS / "workloads" / "delay.json"),
        dispatcher="fcfs",
        simgrid="always",
    )
    execute(spec, tmp_path / "run")
    with (tmp_path / "run" / "schedule.csv").open(newline="") as lines:
        (row,) = csv.DictReader(lines)
    assert None not in row
    assert "SimGrid" in row["batsim_version"]
    assert float(row["makespan"]) > 0
