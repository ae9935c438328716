"""What is read from a sound platform."""

import lzma
from pathlib import Path

import numpy as np
import pytest

from batdispatch.inputs.platforms import Platform, read_platform

HEAD = '<?xml version="1.0"?>\n<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">\n<platform version="4.1">\n'


def read(tmp_path: Path, body: str, **options: object) -> Platform:
    path = tmp_path / "p.xml"
    path.write_text(f"{HEAD}{body}\n</platform>\n")
    return read_platform(path, **options)  # type: ignore[arg-type]


def names(platform: Platform) -> list[str]:
    return [host.name for host in platform.hosts]


NESTED = """
<zone id="all" routing="Full">
  <prop id="site" value="here"/><prop id="memory" value="1"/>
  <zone id="control" routing="Full"><host id="master_host" speed="42f"/></zone>
  <cluster id="acme" prefix="node-" suffix=".org" radical="0-2,10" speed="1Gf,2Gf" core="4" bw="1GBps" lat="1us">
    <prop id="rack" value="r1"/>
  </cluster>
  <zone id="two" routing="Full">
    <prop id="memory" value="2"/>
    <host id="host1" speed="3Gf,1Gf" pstate="1"><prop id="memory" value="3"/></host>
    <host id="host2" speed="1Gf"/>
    <router id="two_router"/>
    <link id="l1" bandwidth="125MBps" latency="100us"/>
    <route src="host1" dst="host2"><link_ctn id="l1"/></route>
  </zone>
  <link id="wide" bandwidth="1GBps" latency="1us" sharing_policy="SPLITDUPLEX"/>
  <zoneRoute src="acme" dst="two" gw_src="node-acme_router.org" gw_dst="two_router"><link_ctn id="wide_UP"/></zoneRoute>
</zone>"""


def test_nearest_property_wins_and_batsim_sees_the_split(tmp_path: Path) -> None:
    platform = read(tmp_path, NESTED)
    hosts = {host.name: host for host in platform.machine.hosts}
    assert hosts["host1"].properties == {"site": "here", "memory": "3"}
    assert hosts["host2"].properties == {"site": "here", "memory": "2"}
    assert hosts["node-0.org"].properties == {"site": "here", "memory": "1", "rack": "r1"}
    wire = {entry["name"]: entry for entry in platform.resources()}
    assert wire["host1"]["properties"] == {"memory": "3", "role": ""}
    assert wire["host1"]["zone_properties"] == {"memory": "2"}
    # SimGrid gives a flat cluster's properties to its hosts and to its zone.
    assert wire["node-10.org"]["properties"] == {"rack": "r1", "role": ""}
    assert wire["node-10.org"]["zone_properties"] == {"rack": "r1"}


def test_speeds_cores_and_numbers(tmp_path: Path) -> None:
    platform = read(tmp_path, NESTED)
    assert platform.master == "master_host"
    assert platform.name == "all"
    assert names(platform) == ["host1", "host2", "node-0.org", "node-1.org", "node-10.org", "node-2.org"]
    assert platform.speeds.tolist() == [1e9, 1e9, 1e9, 1e9, 1e9, 1e9]
    assert platform.hosts[0].speeds == (3e9, 1e9)
    assert platform.hosts[2].cores == 4
    assert names(read(tmp_path, NESTED, batsim=5))[2:] == ["node-0.org", "node-1.org", "node-2.org", "node-10.org"]


def test_storage_hosts_follow_the_compute_hosts(tmp_path: Path) -> None:
    # Batsim numbers the compute hosts first, so a storage host's name does not matter for theirs.
    body = '<cluster id="c" prefix="n" suffix="" radical="0-3" speed="1Gf" bw="1GBps" lat="1us"/>'
    platform = read(tmp_path, body, roles={"n0": "storage", "n2": "storage"}, master="n1")
    assert names(platform) == ["n3", "n0", "n2"]
    assert [host.name for host in platform.machine.storage] == ["n0", "n2"]
    assert [entry["properties"]["role"] for entry in platform.resources()] == ["", "storage", "storage"]
    assert platform.batsim_arguments()[2:] == ["-r", "n0:storage", "-r", "n2:storage", "-m", "n1"]


def test_master_by_property_by_name_or_none(tmp_path: Path) -> None:
    host = '<host id="{}" speed="1Gf">{}</host>'
    role = '<prop id="role" value="{}"/>'
    body = '<zone id="z" routing="Full">{}</zone>'
    by_property = body.format(
        host.format("boss", role.format("master")) + host.format("a", role.format("compute_node"))
    )
    assert read(tmp_path, by_property).master == "boss"
    assert read(tmp_path, by_property, master="boss").master == "boss"
    assert names(read(tmp_path, by_property)) == ["a"]
    nobody = body.format(host.format("a", "") + host.format("b", ""))
    assert read(tmp_path, nobody).master is None
    assert names(read(tmp_path, nobody)) == ["a", "b"]
    assert names(read(tmp_path, nobody, master="a")) == ["b"]


def test_storage_hosts_named_by_the_master(tmp_path: Path) -> None:
    body = (
        '<zone id="w" routing="Full">'
        '<cluster id="c" prefix="n" suffix="" radical="0-3" speed="1Gf" bw="1GBps" lat="1us"/>'
        '<zone id="m" routing="Full"><host id="master_host" speed="1Gf">'
        '<prop id="storage_hosts" value="n1, n3"/></host></zone></zone>'
    )
    platform = read(tmp_path, body)
    assert names(platform) == ["n0", "n2", "n1", "n3"]
    assert platform.batsim_arguments()[2:] == ["-r", "n1:storage", "-r", "n3:storage"]


def test_capacity_may_stand_at_the_zone(tmp_path: Path) -> None:
    body = (
        '<zone id="w" routing="Cluster"><prop id="capacity" value="core=16 memory=1024"/>'
        '<cabinet id="k" prefix="n" suffix="" radical="0-9" speed="1Gf" bw="1GBps" lat="1us"/>'
        '<host id="fat" speed="1Gf"><prop id="capacity" value="core=64 gpu=2"/></host></zone>'
    )
    machine = read(tmp_path, body).machine
    assert machine.resources == ("core", "gpu", "memory")
    assert machine.total().tolist() == [224, 2, 10240]
    assert machine.capacity[0].tolist() == [64, 2, 0]


@pytest.mark.parametrize("dims", [(4,), (3, 2, 2), (1, 2, 2), (2, 3, 4, 5)])
def test_torus_coordinates_first_dimension_fastest(dims: tuple[int, ...], tmp_path: Path) -> None:
    count = int(np.prod(dims))
    body = (
        f'<cluster id="t" prefix="n" suffix="" radical="1000-{999 + count}" speed="1Gf" bw="1GBps" lat="1us" '
        f'topology="TORUS" topo_parameters="{",".join(map(str, dims))}"/>'
    )
    platform = read(tmp_path, body)
    expected = np.stack(np.unravel_index(np.arange(count), dims, order="F"), axis=1)
    assert platform.machine.coordinates is not None
    assert platform.machine.coordinates.tolist() == expected.tolist()
    assert platform.clusters[0].dims == dims
    # Batsim forwards what the file says, not what follows from it.
    assert platform.resources()[0]["properties"] == {"role": ""}


def test_coordinates_follow_hosts_not_ids(tmp_path: Path) -> None:
    body = (
        '<cluster id="t" prefix="n" suffix="" radical="0-15" speed="1Gf" bw="1GBps" lat="1us" '
        'topology="TORUS" topo_parameters="4,4"/>'
    )
    platform = read(tmp_path, body)
    # In plain string order n10 follows n1; it stands where SimGrid put its eleventh host.
    assert names(platform)[:3] == ["n0", "n1", "n10"]
    assert platform.machine.coordinates is not None
    assert platform.machine.coordinates[2].tolist() == [2, 2]


def test_own_coordinates_win(tmp_path: Path) -> None:
    body = (
        '<cluster id="t" prefix="n" suffix="" radical="0-1" speed="1Gf" bw="1GBps" lat="1us" '
        'topology="TORUS" topo_parameters="2"><prop id="coordinates" value="7"/></cluster>'
    )
    coordinates = read(tmp_path, body).machine.coordinates
    assert coordinates is not None
    assert coordinates.tolist() == [[7], [7]]


def test_two_tori_have_no_common_coordinates(tmp_path: Path) -> None:
    one = (
        '<cluster id="{0}" prefix="{0}" suffix="" radical="0-1" speed="1Gf" bw="1GBps" lat="1us" '
        'topology="TORUS" topo_parameters="2"/>'
    )
    platform = read(tmp_path, f'<zone id="w" routing="Full">{one.format("a")}{one.format("b")}</zone>')
    assert platform.machine.coordinates is None
    assert len(platform.clusters) == 2


def test_old_names_disks_peers_and_what_is_left_to_simgrid(tmp_path: Path) -> None:
    body = (
        '<config id="General"><prop id="network/model" value="LV08"/></config>'
        '<AS id="w" routing="Full"><AS id="v" routing="Vivaldi">'
        '<peer id="p" speed="1Gf" bw_in="1GBps" bw_out="1GBps"/></AS>'
        '<AS id="x" routing="Full"><prop id="role" value="storage"/>'
        '<host id="d" speed="1Gf" coordinates="0 0 0"><disk id="D" read_bw="100MBps" write_bw="40MBps">'
        '<prop id="size" value="500GiB"/></disk></host></AS>'
        '<link id="l" bandwidth="1GBps"/>'
        '<ASroute src="v" dst="x" gw_src="p" gw_dst="d" symmetrical="NO"><link_ctn id="l"/></ASroute></AS>'
        '<actor host="d" function="f"><argument value="1"/></actor>'
    )
    platform = read(tmp_path, body)
    assert names(platform) == ["d", "p"]
    assert len(platform.remarks) == 2
    assert "role" in platform.remarks[0] + platform.remarks[1]
    assert "<actor>" in platform.remarks[0] + platform.remarks[1]


def test_blank_lines_before_the_declaration_and_packed_files(tmp_path: Path) -> None:
    content = ("\n\n" + HEAD + NESTED + "</platform>").encode()
    plain, packed = tmp_path / "p.xml", tmp_path / "p.xml.xz"
    plain.write_bytes(content)
    packed.write_bytes(lzma.compress(content))
    assert read_platform(plain).resources() == read_platform(packed).resources()
    assert read_platform(plain).digest != read_platform(packed).digest


def test_missing_doctype_is_remarked(tmp_path: Path) -> None:
    path = tmp_path / "p.xml"
    path.write_text('<platform version="4"><zone id="z" routing="None"><host id="a" speed="1Gf"/></zone></platform>')
    assert "DOCTYPE" in read_platform(path).remarks[0]
