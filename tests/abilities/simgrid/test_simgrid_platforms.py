"""Platform files on their way to SimGrid: packed ones, and what 4.1 crashes on."""

import csv
import gzip
import lzma
import os
from pathlib import Path

import pytest
from lxml import etree

from batdispatch.abilities.simgrid.library import VARIABLE, find_simgrid
from batdispatch.abilities.topology import generate as topologies
from batdispatch.abilities.topology.generate.torus import RouterLinks
from batdispatch.inputs.platforms import generate, read_platform
from batdispatch.inputs.platforms.simgrid_form import readable
from batdispatch.runs.run import execute
from batdispatch.runs.spec import RunSpec
from batdispatch.runs.workers import call_isolated
from recorded import RECORDINGS
from with_simgrid import ends_of, needs_simgrid

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


def test_nothing_found_is_none(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setattr("batdispatch.abilities.simgrid.library.LOADER_LIST", tmp_path / "none")
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
    monkeypatch.setattr("batdispatch.abilities.simgrid.library.LOADER_LIST", tmp_path / "list")
    if listed is not None:
        (tmp_path / "list").write_bytes(listed)
    assert find_simgrid() == found


def test_the_system_is_searched_again_once_the_loader_knows_more(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    answers = iter([None, "libsimgrid.so.4.1"])
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.delenv("LD_LIBRARY_PATH", raising=False)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    monkeypatch.setattr("ctypes.util.find_library", lambda name: next(answers))
    known = tmp_path / "list"
    monkeypatch.setattr("batdispatch.abilities.simgrid.library.LOADER_LIST", known)
    known.write_bytes(b"\0libsimgrid.so.4.1\0")
    os.utime(known, ns=(1, 1))
    assert [find_simgrid(), find_simgrid()] == [None, None]
    os.utime(known, ns=(2, 2))
    assert find_simgrid() == "libsimgrid.so.4.1"


@needs_simgrid
@pytest.mark.parametrize(("router_links", "seconds"), [("shared", 2.0), ("split", 1.0)])
def test_hosts_of_a_router_contend_for_its_links_where_they_are_shared(
    router_links: RouterLinks, seconds: float, tmp_path: Path
) -> None:
    path = tmp_path / "torus.xml"
    links = generate.Links(bw="1GBps", lat="1us")
    path.write_bytes(topologies.torus([4, 3], hosts_per_router=2, links=links, router_links=router_links))
    # Both hosts of router 0 send to router 1, which is beside it.
    messages = [("n10", "n12", 1e9), ("n11", "n13", 1e9)]
    ends = call_isolated(ends_of, str(path), messages)
    assert ends == pytest.approx([seconds] * 2, rel=1e-4)


@needs_simgrid
def test_each_dimension_and_each_host_has_its_bandwidth(tmp_path: Path) -> None:
    path = tmp_path / "torus.xml"
    widths = topologies.Widths(("4GBps", "2GBps"), "1GBps")
    path.write_bytes(topologies.torus([8, 3], hosts_per_router=8, links=generate.Links(lat="0us"), widths=widths))
    names = [f"n{number}" for number in range(100, 292)]
    # All eight hosts of router 0 send: to router 1 in the first dimension, to router 8 in the second, and one alone.
    for target, senders, seconds in ((8, 8, 2.0), (64, 8, 4.0), (8, 1, 1.0)):
        messages = [(names[host], names[target + host], 1e9) for host in range(senders)]
        ends = call_isolated(ends_of, str(path), messages)
        assert ends == pytest.approx([seconds] * senders, rel=1e-4)


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
