"""The node of CPU cores and GPUs: hosts, properties and routes."""

from pathlib import Path
from typing import Any

import pytest
from lxml import etree

from batdispatch.core.errors import InputError
from batdispatch.inputs.platforms import read_platform
from batdispatch.inputs.platforms.generate import Links
from batdispatch_papers.dada.machine import HYBRID_LINKS, hybrid


def routes(content: bytes) -> dict[tuple[str, str], list[str]]:
    root = etree.fromstring(content)
    return {
        (route.get("src"), route.get("dst")): [
            f"{link.get('id')} {link.get('direction', '')}".strip() for link in route.iter("link_ctn")
        ]
        for route in root.iter("route")
    }


def test_each_gpu_takes_a_core_and_has_a_memory_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "h.xml"
    path.write_bytes(hybrid(gpus=3))
    machine = read_platform(path).machine
    assert [host.name for host in machine.hosts] == [*(f"c{i}" for i in range(9)), "g0", "g1", "g2"]
    assert machine.hosts[0].properties == {"class": "cpu", "memory": "main"}
    facts = dict(machine.hosts[10].properties)
    assert float(facts.pop("memory_bandwidth")) == 6e9
    assert float(facts.pop("memory_latency")) == 1e-5
    assert facts == {"class": "gpu", "memory": "g1"}


def test_the_properties_say_the_bandwidth_of_the_links_to_the_last_digit(tmp_path: Path) -> None:
    path = tmp_path / "h.xml"
    path.write_bytes(hybrid(gpus=1, links=Links(speed="1Gf", bw="6.123456789GBps", lat="12.5us")))
    gpu = read_platform(path).machine.hosts[-1].properties
    assert (float(gpu["memory_bandwidth"]), float(gpu["memory_latency"])) == (6.123456789e9, 12.5e-6)


def test_gpus_of_one_switch_share_its_link_to_the_main_memory() -> None:
    found = routes(hybrid(gpus=3, cores=2, switches=2))
    assert found["c0", "c1"] == ["main"]
    assert found["c0", "g0"] == ["switch_0 DOWN", "pcie_g0 DOWN"]
    assert found["g2", "c1"] == ["pcie_g2 UP", "switch_0 UP"]
    # Copies between two GPUs leave the switch only if they must.
    assert found["g0", "g2"] == ["pcie_g0 UP", "pcie_g2 DOWN"]
    assert found["g0", "g1"] == ["pcie_g0 UP", "switch_0 UP", "switch_1 DOWN", "pcie_g1 DOWN"]


def test_a_node_without_gpus_is_its_cores(tmp_path: Path) -> None:
    path = tmp_path / "h.xml"
    path.write_bytes(hybrid(gpus=0, cores=1))
    assert [host.name for host in read_platform(path).machine.hosts] == ["c0"]


@pytest.mark.parametrize(
    ("arguments", "place"),
    [
        ({"gpus": 12}, "--cores"),
        ({"gpus": -1}, "--gpus"),
        ({"gpus": 2, "cores": 0}, "--cores"),
        ({"gpus": 2, "cores": 255}, "--cores"),
        ({"gpus": 2, "switches": 0}, "--switches"),
        ({"gpus": 2, "links": Links(speed="1Gf", bw="0Bps")}, "--bw"),
    ],
)
def test_what_is_out_of_range_is_refused(arguments: dict[str, Any], place: str) -> None:
    with pytest.raises(InputError, match=place):
        hybrid(**arguments)


def test_the_links_by_default_are_those_of_the_command() -> None:
    assert HYBRID_LINKS.amounts() == pytest.approx((6e9, 1e-5))
