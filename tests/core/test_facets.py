"""A facet that the core does not know: what a stranger's package can read from the properties of hosts."""

from pathlib import Path
from typing import Any

import pytest

from batdispatch.core.errors import InputError
from batdispatch.core.line import registry
from batdispatch.core.machine import facet
from batdispatch.core.machine.facet import Facet
from batdispatch.core.machine.machine import Host, Machine
from batdispatch.inputs.platforms import read_platform
from batdispatch.inputs.platforms.summary import as_text, summarise
from sites import hosts_of, platform_of


class Racks(Facet):
    """Where hosts stand."""

    read = 0

    def __init__(self, machine: Machine) -> None:
        Racks.read += 1
        for host in machine.hosts:
            if not host.properties.get("rack", "").isdecimal():
                raise InputError(f"host {host.name}: its rack is no number")
        self.of_host = [int(host.properties["rack"]) for host in machine.hosts]

    @staticmethod
    def is_stated(machine: Machine) -> bool:
        return any("rack" in host.properties for host in machine.hosts)

    @property
    def plain_at_first(self) -> bool:
        return True

    def facts(self) -> list[dict[str, Any]]:
        return [{"rack": rack, "hosts": self.of_host.count(rack)} for rack in sorted({*self.of_host})]

    @staticmethod
    def in_words(entry: dict[str, Any]) -> str:
        return f"{entry['hosts']} hosts in rack {entry['rack']}"


@pytest.fixture
def announced(monkeypatch: pytest.MonkeyPatch) -> None:
    """Announce it, as a package does by an entry point, for one test."""
    names, load = registry.names, registry.load
    monkeypatch.setattr(registry, "names", lambda group: ["racks"] if group == facet.GROUP else names(group))
    monkeypatch.setattr(
        registry, "load", lambda group, name, kind: Racks if group == facet.GROUP else load(group, name, kind)
    )


def test_a_facet_is_read_once_for_each_machine() -> None:
    machines = [Machine([Host(id=0, name="a", properties={"rack": rack})]) for rack in ("3", "4")]
    before = Racks.read
    found = [Racks.of(machine).of_host for machine in (*machines, *machines)]
    assert (found, Racks.read - before) == ([[3], [4], [3], [4]], 2)


@pytest.mark.usefixtures("announced")
def test_what_a_platform_says_of_a_facet_is_shown(tmp_path: Path) -> None:
    (tmp_path / "p.xml").write_text(platform_of(hosts_of(3, '<prop id="rack" value="7"/>')))
    facts = summarise(read_platform(tmp_path / "p.xml"))
    assert facts["racks"] == [{"rack": 7, "hosts": 3}]
    assert "racks     3 hosts in rack 7" in as_text(facts).splitlines()


@pytest.mark.usefixtures("announced")
def test_a_facet_of_which_no_host_says_anything_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "p.xml").write_text(platform_of(hosts_of(3, "")))
    facts = summarise(read_platform(tmp_path / "p.xml"))
    assert facts["racks"] is None
    assert "racks" not in as_text(facts)


def test_what_is_wrong_with_a_facet_is_said_with_the_place_of_the_host(tmp_path: Path) -> None:
    path = tmp_path / "p.xml"
    path.write_text(platform_of(hosts_of(2, '<prop id="rack" value="left"/>')))
    line = 1 + next(number for number, text in enumerate(path.read_text().splitlines()) if '"h0"' in text)
    with pytest.raises(InputError, match=rf"p\.xml, line {line}.*host h0: its rack is no number"):
        read_platform(path).facet(Racks)
