"""``serve --platform``: the platform file says what Batsim does not, and must agree with what Batsim says."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from batdispatch.abilities.topology.networks import Grid
from batdispatch.batsim import protocol
from batdispatch.cli.main import cli
from batdispatch.core.errors import InputError
from batdispatch.core.line.events import SimulationBegins
from batdispatch.core.line.messages import Message, Reply
from batdispatch.core.machine.machine import Host, Machine
from batdispatch.inputs.platforms import read_platform
from batdispatch.links.platform_peer import PlatformPeer
from batdispatch.links.remote_peer import RemotePeer
from doors import Site, simulate

Start = Callable[..., Any]
Said = Callable[[str], list[bytes]]
TELLING = f"{Path(__file__).with_name('dispatchers_for_platform.py')}:Telling"
PLATFORMS = Path(__file__).parents[1] / "conformance" / "recordings" / "platforms"


def write(path: Path, dims: str = "4,3", radical: str = "1-12", speed: str = "2Gf", storage: str = "n5") -> Path:
    """Write a torus whose hosts Batsim 4 and 5 number differently (n10 before or after n2)."""
    path.write_text(
        '<?xml version="1.0"?>\n<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">\n'
        '<platform version="4.1">\n'
        f'<zone id="w" routing="Full">\n<cluster id="c" prefix="n" suffix="" radical="{radical}" speed="{speed}" '
        f'bw="1GBps" lat="1us" topology="TORUS" topo_parameters="{dims}"/>\n<zone id="m" routing="Full">'
        f'<host id="master_host" speed="1Gf"><prop id="storage_hosts" value="{storage}"/></host></zone>\n'
        "</zone>\n</platform>\n"
    )
    return path


def site(folder: Path) -> Site:
    workload = folder / "workload.json"
    jobs = [{"id": str(i), "subtime": i, "res": 2, "walltime": 20, "profile": "d"} for i in range(3)]
    workload.write_text(json.dumps({"nb_res": 11, "jobs": jobs, "profiles": {"d": {"type": "delay", "delay": 9}}}))
    return Site(write(folder / "torus.xml"), workload)


def known(printed: str) -> Any:
    found = re.search(r"^knows (.*)$", printed, re.MULTILINE)
    assert found is not None, printed
    return json.loads(found[1])


@pytest.mark.parametrize("version", ["4", "5"])
def test_a_dispatcher_knows_topology_and_speeds(version: str, decide: Start, tmp_path: Path) -> None:
    where = site(tmp_path)
    decider = decide("--dispatcher", TELLING, "--platform", str(where.platform), "--protocol", version)
    with RemotePeer(decider.endpoint, protocol(version), timeout=30) as peer:
        peer.open("")
        (tmp_path / "out").mkdir()
        simulate(peer, "fcfs", where, tmp_path / "out", version)
    status, printed = decider.finish()
    assert status == 0, printed
    told = known(printed)
    assert told["kind"] == "torus"
    # The place on the torus follows the file's numbers, whatever the ids.
    assert told["routers"] == {f"n{number}": number - 1 for number in range(1, 13)}
    assert set(told["speeds"].values()) == {2e9}
    assert told["storage"] == ["n5"]


def test_without_a_platform_nothing_is_known(decide: Start, tmp_path: Path) -> None:
    where = site(tmp_path)
    decider = decide("--dispatcher", TELLING)
    with RemotePeer(decider.endpoint, protocol("4"), timeout=30) as peer:
        (tmp_path / "out").mkdir()
        simulate(peer, "fcfs", where, tmp_path / "out", "4")
    status, printed = decider.finish()
    assert status == 0, printed
    assert known(printed)["kind"] is None


@pytest.mark.parametrize(
    ("version", "wrong", "message"),
    [
        ("4", {"dims": "4,2", "radical": "1-8"}, "has 7 compute hosts, Batsim says 11"),
        ("4", {"storage": "n5 n6"}, "has 10 compute hosts, Batsim says 11"),
        ("4", {"radical": "2-13"}, "the host with id 0 is 'n10', Batsim says 'n1'"),
        ("4", {"storage": "n6"}, "the host with id 7 is 'n5', Batsim says 'n6'"),
        ("5", {"radical": "2-13"}, "the host with id 0 is 'n2', Batsim says 'n1'"),
        ("5", {"speed": "1Gf"}, "host 'n1' computes 1e+09 flop/s, Batsim says 2e+09"),
    ],
    ids=lambda value: value if isinstance(value, str) and len(value) == 1 else "",
)
def test_another_platform_is_refused(
    version: str, wrong: dict[str, str], message: str, decide: Start, connect: Start, tmp_path: Path
) -> None:
    machine = read_platform(site(tmp_path).platform, batsim=5 if version == "5" else 4).machine
    other = write(tmp_path / "other.xml", **wrong)
    decider = decide("--dispatcher", TELLING, "--platform", str(other), "--protocol", version)
    batsim, wire = connect(decider.endpoint), protocol(version)
    opening = wire.opening("")
    if opening is not None:
        batsim.socket.send(opening)
        wire.read_answer(batsim.socket.recv())
    batsim.socket.send(wire.encode_message(Message(0.0, [SimulationBegins(0.0, machine)])))
    status, printed = decider.finish()
    assert status == 2, printed
    assert str(other) in printed
    assert message in printed
    assert "Is it the platform that Batsim was started with" in printed
    assert "Traceback" not in printed


@pytest.mark.parametrize(
    ("name", "platform", "arguments"),
    [
        ("delay", "four.xml", ()),
        ("pfs", "three_storage.xml", ("--role", "pfs:storage", "--role", "nfs:storage")),
    ],
)
def test_what_batsim_4_said_agrees_with_its_platform(
    name: str, platform: str, arguments: tuple[str, ...], decide: Start, connect: Start, said: Said
) -> None:
    decider = decide("--dispatcher", TELLING, "--platform", str(PLATFORMS / platform), *arguments)
    batsim = connect(decider.endpoint)
    batsim.ask(said(name)[0])
    batsim.leave()
    told = known(decider.finish()[1])
    assert told["kind"] is None
    assert set(told["speeds"].values()) == {80e6, 50e6}


def test_roles_must_be_those_of_batsim(decide: Start, connect: Start, said: Said) -> None:
    decider = decide("--dispatcher", TELLING, "--platform", str(PLATFORMS / "three_storage.xml"))
    batsim = connect(decider.endpoint)
    batsim.socket.send(said("pfs")[0])
    status, printed = decider.finish()
    assert status == 2
    assert "three_storage.xml: has 5 compute hosts, Batsim says 3" in printed


def test_replay_knows_the_platform_too(recordings: Path) -> None:
    def replay(*arguments: str) -> Any:
        path = str(recordings / "walltime" / "exchange.jsonl")
        return CliRunner().invoke(cli, ["replay", path, "--dispatcher", "filler", *arguments])

    result = replay("--platform", str(PLATFORMS / "four.xml"))
    assert result.exit_code == 0, result.output
    assert "every decision as recorded" in result.output
    three = replay("--platform", str(PLATFORMS / "four.xml"), "--role", "cedar:storage")
    assert "has 3 compute hosts, Batsim says 4" in str(three.exception)
    assert "need --platform" in str(replay("--master-host", "x").exception)


class _Listening:
    def handle(self, message: Message) -> Reply:
        self.heard = message
        return Reply(message.now, [])


def test_properties_that_both_state_must_agree() -> None:
    def machine(**properties: str) -> Machine:
        return Machine([Host(id=0, name="a", properties=properties)], Grid([0], [1]))

    def ask(ours: Machine, theirs: Machine) -> Message:
        peer = _Listening()
        PlatformPeer(peer, ours, source="p.xml", places=["line 3"]).handle(
            Message(0.0, [SimulationBegins(0.0, theirs)])
        )
        return peer.heard

    own = machine(colour="red", role="", rack="1")
    heard = ask(own, machine(colour="red", role="compute_node", floor="2"))
    assert isinstance(heard.events[0], SimulationBegins)
    assert heard.events[0].machine is own
    with pytest.raises(
        InputError, match=r"p.xml, line 3: host 'a' has the property colour = 'red', Batsim says 'blue'"
    ):
        ask(own, machine(colour="blue"))
