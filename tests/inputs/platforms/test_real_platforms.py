"""Published platform files: each is read, with the hosts that it describes."""

import os
from pathlib import Path

import pytest

from batdispatch.inputs.platforms import read_platform
from batdispatch_papers.eurora.machine import eurora

SHARED = Path(os.environ.get("BATDISPATCH_SHARED", Path(__file__).parents[4] / "shared")) / "data"

pytestmark = [
    pytest.mark.reallogs,
    pytest.mark.skipif(not SHARED.is_dir(), reason="the real logs are absent"),
]

#: File -> (resources, master, kind of the first topology).
PLATFORMS = {
    "batsim/cluster512.xml": (512, "m0", "FLAT"),
    "batsim/cluster512_pfs.xml": (513, "master_host0", "FLAT"),
    "batsim/cluster_energy_128.xml": (128, "master_host0", "FLAT"),
    "batsim/cluster_locality_32x16.xml": (513, None, None),
    "batsim/energy_platform.xml": (4, "master_host", None),
    "batsim/energy_platform_homogeneous_no_net_128.xml.xz": (128, "master_host", None),
    "batsim/graphene.xml": (144, None, "FLAT"),
    "batsim/heterogeneous_platform.xml": (15, "master_host", None),
    "batsim/properties_example.xml": (7, "master_host", "FLAT"),
    "simgrid/cluster_crossbar.xml": (65536, None, "FLAT"),
    "simgrid/cluster_dragonfly.xml": (120, None, "DRAGONFLY"),
    "simgrid/cluster_fat_tree.xml": (16, None, "FAT_TREE"),
    "simgrid/cluster_torus.xml": (12, None, "TORUS"),
    "simgrid/cluster_torus_noncontiguous_rad.xml": (4, None, "TORUS"),
    "simgrid/data_center.xml": (120, None, "FLAT"),
    "simgrid/g5k.xml": (1528, None, "FLAT"),
    "simgrid/griffon.xml": (92, None, "FLAT"),
    "simgrid/hosts_with_disks.xml": (3, None, None),
    "simgrid/meta_cluster.xml": (60, None, None),
}


@pytest.mark.parametrize("name", PLATFORMS)
def test_hosts_and_master(name: str) -> None:
    hosts, master, kind = PLATFORMS[name]
    platform = read_platform(SHARED / "platforms" / name)
    assert len(platform.hosts) == hosts
    assert platform.master == master
    assert (platform.clusters[0].kind if platform.clusters else None) == kind


def test_every_published_platform_is_read() -> None:
    files = [path for path in sorted((SHARED / "platforms").rglob("*")) if path.is_file()]
    assert len(files) > 30
    for path in files:
        assert read_platform(path).machine.size > 0


def test_eurora_is_what_the_node_file_of_its_logs_says(tmp_path: Path) -> None:
    path = tmp_path / "eurora.xml"
    path.write_bytes(eurora(memory_mib=32768))
    machine = read_platform(path).machine
    axes = [machine.resources.index(name) for name in ("core", "gpu", "mic", "memory")]
    rows = [line.split() for line in (SHARED / "eurora" / "nodes_#64").read_text().splitlines() if line.strip()]
    assert len(rows) == machine.size
    for number, cores, gpus, mics, kilobytes, *_ in rows:
        expected = [int(cores), int(gpus), int(mics), int(kilobytes) // 1024]
        assert machine.capacity[int(number), axes].tolist() == expected
