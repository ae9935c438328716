"""Redistribution as a communication on the simulated network: who sends what to whom, and when the job goes on."""

import json
from pathlib import Path
from typing import Any

import pytest

from batdispatch.abilities.malleable.redistribution import transfer_profile
from batdispatch.abilities.verify.audit.run import Auditor
from batdispatch.core.errors import InputError
from batdispatch.core.hosts.allocation import Allocation
from batdispatch.core.line.dispatcher import create
from batdispatch.core.line.session import Session
from batdispatch.core.machine.machine import Machine
from batdispatch.engines.embedded import EmbeddedEngine
from batdispatch.engines.outputs import Outputs
from batdispatch.engines.records import EngineOptions
from batdispatch.inputs.workloads import read_workload
from batdispatch.runs.run import execute
from batdispatch.runs.spec import RunSpec
from doors import read_schedule
from fake_batsim import Activities
from malleable import FREE
from simulating import Task, simulate
from with_simgrid import needs_simgrid

ROOT = Path(__file__).parents[3]
JOBS = [
    {
        **{"id": "a", "subtime": 0, "res": 8, "profile": "d100"},
        "sizes": {"least": 1, "most": 8, "kind": "malleable", "steps": 10, "data": 1e9},
    },
    {"id": "b", "subtime": 1, "res": 4, "walltime": 40, "profile": "d30"},
    {"id": "c", "subtime": 1, "res": 1, "walltime": 40, "profile": "d30", "dependencies": ["a"]},
]
PROFILES = {"d100": {"type": "delay", "delay": 100}, "d30": {"type": "delay", "delay": 30}}


@pytest.fixture
def workload(tmp_path: Path) -> Path:
    path = tmp_path / "w.json"
    path.write_text(json.dumps({"nb_res": 8, "jobs": JOBS, "profiles": PROFILES}))
    return path


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        # 0 and 1 keep a half each: 0 needs a quarter of 1, 1 needs both quarters of 2 and 3.
        ("0-3", "0-1", {(1, 0): 25.0, (2, 1): 25.0, (3, 1): 25.0}),
        ("0-1", "0-3", {(0, 1): 25.0, (1, 2): 25.0, (1, 3): 25.0}),
        # Blocks lie in the order of hosts: 5 had all of it, and sends 2 the first half.
        ("5", "2 5", {(1, 0): 50.0}),
        ("1", "1-3", {(0, 1): 100 / 3, (0, 2): 100 / 3}),
    ],
)
def test_who_sends_what(before: str, after: str, expected: dict[tuple[int, int], float]) -> None:
    profile = transfer_profile(100.0, Allocation.parse(before), Allocation.parse(after))
    count = len(profile["cpu"])
    sent = {divmod(at, count): amount for at, amount in enumerate(profile["com"]) if amount}
    assert sent == pytest.approx(expected)
    assert profile["cpu"] == [0.0] * max(Allocation.parse(before).size, Allocation.parse(after).size)
    assert profile["ret"] == 1, "nobody takes its end for that of the job"


def simulated(workload: Path, folder: Path, *, acknowledged: bool, **options: Any) -> dict[str, Any]:
    """Run with a network on which each communication takes a second."""
    session = Session(create("dmr", {"redistribution": "network", **FREE, **options}))
    engine = EngineOptions(dynamic_jobs=True, acknowledge_dynamic_jobs=acknowledged)
    outputs = Outputs(folder, 8)
    timer: Any = Activities()
    EmbeddedEngine(Machine.flat(8), read_workload(workload), outputs, options=engine, timer=timer).run(session)
    assert session.ledger is not None
    session.ledger.check()
    return read_schedule(folder).rows


@pytest.mark.parametrize("acknowledged", [True, False])
def test_the_job_goes_on_when_its_data_is_there(workload: Path, tmp_path: Path, acknowledged: bool) -> None:
    rows = simulated(workload, tmp_path / "out", acknowledged=acknowledged, shrink_cost="2")
    assert rows["w0!a"] == (0.0, 10.0, "COMPLETED_KILLED", "0-7")
    assert rows["w0!a~2"] == (10.0, 11.0, "COMPLETED_FAILED", "0-7")
    # The nodes leave when its cost has been paid as well.
    assert rows["w0!b"] == (13.0, 43.0, "COMPLETED_SUCCESSFULLY", "4-7")
    # A step takes 20 s on four nodes: the first point after the end of b is at 53 s.
    assert rows["w0!a~3"] == (11.0, 53.0, "COMPLETED_KILLED", "0-3")
    assert rows["w0!a~4"] == (53.0, 54.0, "COMPLETED_FAILED", "0-7")
    assert rows["w0!a~5"] == (54.0, 124.0, "COMPLETED_SUCCESSFULLY", "0-7")
    # c depends on a, whose redistribution is not its end.
    assert rows["w0!c"][0] == 124.0


def test_no_data_goes_over_the_network_while_a_job_waits_for_nodes(tmp_path: Path) -> None:
    """a is to expand at 20 s. b has the nodes since 15 s, and a waits on its own; at 27 s it redistributes its data."""
    sizes = {**JOBS[0]["sizes"], "most": 4}  # type: ignore[dict-item]
    jobs = [
        {"id": "a", "subtime": 0, "res": 2, "profile": "d100", "sizes": sizes},
        {"id": "b", "subtime": 15, "res": 6, "walltime": 40, "profile": "d12"},
    ]
    path = tmp_path / "w.json"
    profiles = {**PROFILES, "d12": {"type": "delay", "delay": 12}}
    path.write_text(json.dumps({"nb_res": 8, "jobs": jobs, "profiles": profiles}))
    rows = simulated(path, tmp_path / "out", acknowledged=True, mode="async")
    assert rows["w0!a~2"] == (20.0, 27.0, "COMPLETED_KILLED", "0-1")
    assert rows["w0!a~3"] == (27.0, 28.0, "COMPLETED_FAILED", "0-3")
    assert rows["w0!a~4"] == (28.0, 68.0, "COMPLETED_SUCCESSFULLY", "0-3")


@pytest.mark.parametrize(("charge", "left"), [("true", 189.0), ("false", 190.0)])
def test_the_redistribution_is_charged_with_the_walltime_or_not(tmp_path: Path, charge: str, left: float) -> None:
    """Of 200 s, 10 are over when the job shrinks; the communication takes a second."""
    path = tmp_path / "w.json"
    jobs = [{**JOBS[0], "walltime": 200}, JOBS[1]]
    path.write_text(json.dumps({"nb_res": 8, "jobs": jobs, "profiles": PROFILES}))
    simulated(path, tmp_path / "out", acknowledged=True, charge=charge)
    assert f"\na~3,w0,rest of w0.a~3,11.000000,4,{left:.6f}," in (tmp_path / "out" / "jobs.csv").read_text()


@needs_simgrid
def test_on_a_network_that_simgrid_simulates(workload: Path, tmp_path: Path) -> None:
    """250 MB to each of the hosts that stay at 1.25 GB/s: 0.2 s, and the latency."""
    platform = tmp_path / "p.xml"
    platform.write_text(
        '<?xml version="1.0"?>\n<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">\n<platform version="4.1">'
        '<zone id="all" routing="Full"><cluster id="n" prefix="n" suffix="" radical="0-7" speed="1Gf" bw="1.25GBps" '
        'lat="10us" router_id="r"/><zone id="control" routing="Full"><host id="master_host" speed="1Gf"/></zone>'
        '<link id="l" bandwidth="1.25GBps" latency="0s" sharing_policy="FATPIPE"/>'
        '<zoneRoute src="n" dst="control" gw_src="r" gw_dst="master_host"><link_ctn id="l"/></zoneRoute>'
        "</zone></platform>\n"
    )
    options = {"redistribution": "network", **FREE}
    spec = RunSpec(platform=str(platform), workload=str(workload), dispatcher="dmr", options=options, simgrid="always")
    execute(spec, tmp_path / "out")
    rows = read_schedule(tmp_path / "out").rows
    start, end, state, hosts = rows["w0!a~2"]
    assert (start, state, hosts) == (10.0, "COMPLETED_FAILED", "0-7")
    assert end == pytest.approx(10.2, abs=1e-3)
    assert Auditor().run(tmp_path / "out").kept == []


def test_on_shared_nodes_there_is_no_such_communication() -> None:
    with pytest.raises(InputError, match="redistribution=network needs jobs that take whole hosts"):
        simulate(Machine.flat(2, "core=2"), [Task("a", 0.0, 1, 1.0)], "dmr", options={"redistribution": "network"})
