"""All shapes on 200 states of small machines, against the number of valid allocations of every size."""

import json
import math
from pathlib import Path
from typing import Any

import pytest

from batdispatch.abilities.topology.networks import Grid
from batdispatch.core.hosts.allocation import Allocation
from batdispatch.core.line import events as e
from batdispatch.core.line.events import MachinesUnavailable
from batdispatch.core.line.ledger import Ledger
from batdispatch.core.line.scene import Scene
from batdispatch.core.machine.machine import Host, Machine
from batdispatch.parts.placement import make_placement
from spec_shapes import case_net, keeps
from strategies import make_job

ORACLE = Path(__file__).parents[2] / "oracles" / "topology" / "placements.json"
CASES: list[dict[str, Any]] = json.loads(ORACLE.read_text())
PLACEMENTS = {
    "contiguous": "contiguous",
    "contiguous_wrap": "contiguous[wrap=true]",
    "connected": "connected",
    "convex": "convex",
    "convex_strict": "convex[rule=routers]",
    "local": "local",
}


def ledger_of(case: dict[str, Any]) -> Ledger:
    """A cluster in the state of a case; what is neither free nor running is away."""
    shape = case["topology"]
    count = math.prod(shape["dims"]) * shape["per"]
    hosts = [Host(id=i, name=f"n{i}", storage=i in case["io"]) for i in range(count)]
    routers = [host // shape["per"] for host in range(count)]
    machine = Machine(hosts, Grid(routers, shape["dims"], wrap=shape["kind"] == "torus"))
    ledger = Ledger(e.SimulationBegins(0.0, machine))
    for number, nodes in enumerate(case["running"]):
        job = make_job(f"w0!r{number}", len(nodes))
        ledger.apply_submitted(e.JobSubmitted(0.0, job))
        ledger.start(job, Allocation.of(nodes))
    there = {*case["io"], *case["free"], *(node for job in case["running"] for node in job)}
    away = [host for host in range(count) if host not in there]
    if away:
        ledger.apply(MachinesUnavailable(ledger.now, Allocation.of(away)))
    return ledger


def asking(case: dict[str, Any], units: int) -> Any:
    pinned = [f"n{host}" for host in case["pinned_io"]]
    return make_job("w0!asked", units, **({"io_node": pinned} if pinned else {}))


def network(case: dict[str, Any]) -> str:
    """Name the network of a case, as in ``torus 4x3, 1 host a router``."""
    shape = case["topology"]
    return f"{shape['kind']} {'x'.join(map(str, shape['dims']))}, {shape['per']} a router"


def of_network(name: str) -> list[dict[str, Any]]:
    return [case for case in CASES if network(case) == name]


every_network = pytest.mark.parametrize("name", sorted({network(case) for case in CASES}))


@every_network
def test_a_place_is_found_exactly_when_there_is_one_and_it_keeps_the_rules(name: str) -> None:
    for case in of_network(name)[::3]:
        check_places(case)


@pytest.mark.slow
@every_network
def test_a_place_and_the_least_gamma_are_found_in_all_states(name: str) -> None:
    for case in of_network(name):
        check_places(case)
        check_gamma(case)


def check_places(case: dict[str, Any]) -> None:
    """Hold each placement against the number of valid places of each size that the oracle counts."""
    ledger, net = ledger_of(case), case_net(case)
    count = len(ledger.machine.hosts)
    for rules, counts in case["counts"].items():
        shapes = rules.split("+")
        placement = make_placement("+".join(PLACEMENTS[shape] for shape in shapes))
        placement.begin(ledger.machine)
        for units in range(1, len(case["free"]) + 1):
            place = placement.place(Scene(ledger), asking(case, units))
            assert (place is not None) == (str(units) in counts), (case["id"], rules, units)
            if place is None:
                continue
            nodes = place.allocation.ids
            assert len(nodes) == units
            assert set(nodes) <= set(case["free"])
            for shape in shapes:
                found = keeps(shape, net, nodes, case["running"], case["io"], case["pinned_io"], count)
                assert found, (case["id"], rules, units, nodes, shape)


@every_network
def test_compact_finds_the_least_gamma(name: str) -> None:
    for case in of_network(name)[::3]:
        check_gamma(case)


def check_gamma(case: dict[str, Any]) -> None:
    """Hold `compact` against the least gamma of each size."""
    ledger, net = ledger_of(case), case_net(case)
    placement = make_placement("compact")
    placement.begin(ledger.machine)
    for units, least in case["least_gamma"].items():
        place = placement.place(Scene(ledger), make_job("w0!asked", int(units)))
        assert place is not None
        assert set(place.allocation.ids) <= set(case["free"])
        assert net.gamma(place.allocation.ids) == pytest.approx(least, abs=1e-8), (case["id"], units)
