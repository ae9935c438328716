"""On the idle machine: one node is always found, and a job is rejected only where no hosts at all keep the rules."""

import math
from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from batdispatch.abilities.topology.networks import Dragonfly, FatTree, Flat, Grid
from batdispatch.abilities.topology.networks.base import Topology
from batdispatch.abilities.topology.placement.geometry import cliques, closed_sets, hits, network, search
from batdispatch.core.jobs.job import Job
from batdispatch.core.line import events as e
from batdispatch.core.line import registry
from batdispatch.core.line.ledger import Ledger
from batdispatch.core.line.scene import Scene
from batdispatch.core.machine.machine import Host, Machine
from batdispatch.parts.placement import GROUP, HostPlacement, Placement, make_placement
from batdispatch.parts.placement.prospects import Prospects
from strategies import make_job

#: Name of each rule here -> the placement that keeps it.
SHAPES = {
    "contiguous": "contiguous",
    "wrapped": "contiguous[wrap=true]",
    "connected": "connected",
    "links": "convex",
    "routers": "convex[rule=routers]",
    "local": "local",
    "compact": "compact",
}
TOGETHER = [
    "contiguous+routers",
    "contiguous+connected",
    "wrapped+links",
    "connected+links",
    "connected+routers",
    "connected+local",
    "routers+local",
    "routers+compact",
    "connected+compact",
    "contiguous+local",
]
CURVES = ["row-major", "snake", "hilbert"]
#: Those that any host or node will do for.
ANYWHERE = ["first-fit", "last-fit", "best-fit", "scarce", "consecutive"]
NETWORKS = ["flat", "ring", "torus", "3-torus", "mesh", "fat tree", "tall tree", "dragonfly"]


def network_of(kind: str, each: int) -> Topology:
    """A network with `each` hosts on every router."""
    grids = {"ring": [6], "torus": [3, 2], "3-torus": [2, 2, 2], "mesh": [3, 2]}
    if kind in grids:
        return Grid(np.arange(math.prod(grids[kind]) * each) // each, grids[kind], wrap=kind != "mesh")
    if kind == "flat":
        return Flat([True] * 4)
    if kind == "fat tree":
        return FatTree(range(4 * each), [2 * each, 2], [1, 2], [1, 1])
    if kind == "tall tree":
        return FatTree(range(4 * each), [each, 2, 2], [1, 2, 1], [1, 1, 1])
    return Dragonfly(np.arange(8 * each) // each, 2, 2, 2)


def machine_of(topology: Topology, cores: list[int], disks: frozenset[int] = frozenset()) -> Machine:
    """Whole hosts, or nodes of these numbers of cores in turn; some of the hosts are I/O nodes."""
    return Machine(
        [
            Host(
                id=number,
                name=f"n{number}",
                storage=number in disks,
                properties={"capacity": f"core={cores[number % len(cores)]}"} if cores and number not in disks else {},
            )
            for number in range(len(topology.router_of))
        ],
        topology,
    )


def idle(machine: Machine) -> Ledger:
    return Ledger(e.SimulationBegins(0.0, machine))


def begun(name: str, machine: Machine) -> Placement:
    placement = make_placement(name)
    placement.begin(machine)
    return placement


def named(shapes: str) -> str:
    return "+".join(SHAPES[shape] for shape in shapes.split("+"))


def placements_on(kind: str) -> list[str]:
    curves = CURVES if kind in ("ring", "torus", "3-torus", "mesh") else []
    with_curves = [f"contiguous[order={curve},wrap={wrap}]" for curve in curves for wrap in ("false", "true")]
    return [*ANYWHERE, *SHAPES.values(), *(named(shapes) for shapes in TOGETHER), *with_curves]


def test_all_placements_are_tried_here() -> None:
    known = {name.partition("[")[0] for name in placements_on("ring") if "+" not in name}
    assert known == set(registry.names(GROUP))


@pytest.mark.parametrize("kind", NETWORKS)
@pytest.mark.parametrize("each", [1, 2])
@pytest.mark.parametrize("cores", [[], [4], [1, 4]], ids=["whole hosts", "equal nodes", "unequal nodes"])
def test_a_job_of_one_node_is_always_placed_on_the_idle_machine(kind: str, each: int, cores: list[int]) -> None:
    machine = machine_of(network_of(kind, each), cores)
    for name in placements_on(kind):
        placement = begun(name, machine)
        for units in range(1, max(cores, default=1) + 1):
            job = make_job("w0!one", units, {"core": 1}, nodes=1) if cores else make_job()
            place = placement.place(Scene(idle(machine)), job)
            assert place is not None, (name, units)
            assert (place.allocation.size, place.allocation.units) == (1, units)


@pytest.mark.parametrize("kind", NETWORKS)
@pytest.mark.parametrize("units", [1, 2])
def test_jobs_of_one_and_two_nodes_are_strictly_convex_wherever_two_routers_are_beside_each_other(
    kind: str, units: int
) -> None:
    for each in (1, 2):
        machine = machine_of(network_of(kind, each), [])
        alone = each == 1 and kind == "tall tree"
        place = begun("convex[rule=routers]", machine).place(Scene(idle(machine)), make_job(units=units))
        # There, no two hosts are below one switch.
        assert (place is None) == (alone and units == 2), each


# ---------------------------------------------------------------------- what the rules mean


def keeps(shape: str, machine: Machine, hosts: tuple[int, ...], pins: list[int]) -> bool:
    topology = machine.topology
    assert topology is not None
    routers = {int(topology.router_of[host]) for host in hosts}
    if shape in ("contiguous", "wrapped"):
        line = [host.id for host in machine.hosts if not host.storage]
        places = sorted(line.index(host) for host in hosts)
        gaps = [b - a for a, b in zip(places, [*places[1:], places[0] + len(line)], strict=True)]
        return sum(gap > 1 for gap in (gaps if shape == "wrapped" else gaps[:-1])) <= (shape == "wrapped")
    if shape == "connected":
        return is_connected(topology, routers)
    if shape == "routers":
        return set(topology.routers_within(hosts).nonzero()[0].tolist()) == routers
    if shape == "local":
        return all(any(is_near(topology, pin, host) for host in hosts) for pin in pins)
    # Nobody else sends messages, and any hosts are compact.
    return True


def is_connected(topology: Topology, routers: set[int]) -> bool:
    """Switches without hosts connect, too."""
    usable = routers | set(range(topology.routers)) - set(topology.router_of.tolist())
    seen, todo = set(), [min(routers)]
    while todo:
        router = todo.pop()
        if router not in seen:
            seen.add(router)
            todo += [other for other in topology.neighbours(router).tolist() if other in usable]
    return routers <= seen


def is_near(topology: Topology, pin: int, host: int) -> bool:
    there, here = int(topology.router_of[pin]), int(topology.router_of[host])
    return there == here or here in topology.neighbours(there).tolist()


def sets_with_room(ledger: Ledger, job: Job) -> Iterator[tuple[int, ...]]:
    """All sets of nodes on which a job fits with a unit on each."""
    room = ledger.space.room(ledger.free, job).tolist() if not ledger.machine.exclusive else None
    able = [host.id for host in ledger.machine.hosts if not host.storage]
    nodes = job.request.nodes
    least, most = (job.units, job.units) if room is None else (1, job.units) if nodes is None else nodes
    for count in range(least, min(most, len(able)) + 1):
        for hosts in combinations(able, count):
            if room is None or sum(min(room[host], job.units) for host in hosts) >= job.units:
                yield hosts


@st.composite
def askings(draw: st.DrawFn) -> tuple[Machine, list[Job], str]:
    """An idle machine, jobs of all sizes, and the shapes that are asked of them."""
    each = draw(st.integers(1, 2))
    topology = network_of(draw(st.sampled_from(NETWORKS)), each)
    count = len(topology.router_of)
    disks = draw(st.frozensets(st.integers(0, count - 1), max_size=2))
    cores = draw(st.sampled_from([[], [], [2], [1, 3]]))
    machine = machine_of(topology, cores, disks)
    pins = sorted(draw(st.sets(st.sampled_from(sorted(disks))))) if disks else []
    fields: dict[str, Any] = {"io_node": [f"n{pin}" for pin in pins]} if pins else {}
    if cores:
        fields["demand"] = {"core": 1}
    if draw(st.integers(0, 5)) == 0:
        fields["contiguous"] = True
    shapes = draw(st.sampled_from([*SHAPES, *TOGETHER]))
    largest = machine.size if not cores else int(machine.capacity.sum())
    jobs = []
    for units in sorted(draw(st.sets(st.integers(1, largest), min_size=1, max_size=4))):
        narrow = bool(cores) and draw(st.booleans())
        most = draw(st.integers(1, units)) if narrow else 0
        nodes: dict[str, Any] = {"nodes": [draw(st.integers(1, most)), most]} if most else {}
        jobs.append(make_job(units=units, **fields, **nodes))
    return machine, jobs, shapes


def is_there(machine: Machine, ledger: Ledger, job: Job, rules: list[str]) -> bool:
    """Whether any hosts keep the rules, tried one set after the other."""
    pins = [machine.by_name[name] for name in job.request.io_nodes]
    return any(
        all(keeps(rule, machine, hosts, pins) for rule in rules)
        # Contiguous nodes follow each other in the order of ids, I/O nodes among them.
        and not (job.request.contiguous and max(hosts) - min(hosts) >= len(hosts))
        for hosts in sets_with_room(ledger, job)
    )


@settings(max_examples=100)
@given(asking=askings(), large=st.booleans())
def test_whom_a_placement_finds_no_place_is_rejected_only_if_no_hosts_keep_the_rules(
    asking: tuple[Machine, list[Job], str], large: bool
) -> None:
    """Where searches are exhaustive, and where they are not, as on large machines."""
    machine, jobs, shapes = asking
    ledger, rules = idle(machine), shapes.split("+")
    with pytest.MonkeyPatch.context() as patch:
        if large:
            patch.setattr(network, "SMALL", 0)
        placement = begun(named(shapes), machine)
        prospects = Prospects(placement, "p")
        for job in (job for job in jobs if not ledger.why_impossible(job)):
            there = is_there(machine, ledger, job, rules)
            never = bool(prospects.why_never(ledger, job))
            place = placement.place(Scene(ledger), job)
            assert not (never and there), job
            if place is not None:
                pins = [machine.by_name[name] for name in job.request.io_nodes]
                assert all(keeps(rule, machine, tuple(place.allocation.ids), pins) for rule in rules)
            if machine.exclusive and not large:
                # Whole hosts of small machines leave no question open.
                assert never == (not there), job
            if shapes == "routers" and not large and not job.request.contiguous:
                assert (place is not None) == there, job


@settings(max_examples=100)
@given(asking=askings(), large=st.booleans(), hurried=st.booleans())
def test_what_proves_that_there_is_no_place_is_no_search_that_overlooks_places(
    asking: tuple[Machine, list[Job], str], large: bool, hurried: bool
) -> None:
    """As if all searches found nothing; and where those that are to prove it have to stop at once."""
    machine, jobs, shapes = asking
    ledger = idle(machine)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(search.ShapeSearch, "find", lambda *given: None)
        if large:
            patch.setattr(network, "SMALL", 0)
        if hurried:
            patch.setattr(closed_sets, "STEPS", 0)
            patch.setattr(cliques, "STEPS", 0)
            patch.setattr(hits, "_STEPS", 0)
        prospects = Prospects(begun(named(shapes), machine), "p")
        for job in (job for job in jobs if not ledger.why_impossible(job)):
            if prospects.why_never(ledger, job):
                assert not is_there(machine, ledger, job, shapes.split("+")), job


class Blind(HostPlacement):
    """A placement of somebody's own that finds a place on no host."""

    complete = False

    def pick(self, free: int, count: int) -> None:
        return None

    def spread(self, room: Any, scene: Scene, job: Job) -> None:
        return None


class Sure(Blind):
    """One that knows why."""

    def proves_never(self, idle: Scene, job: Job) -> bool:
        return True


@pytest.mark.parametrize(("placement", "rejected"), [(Blind, False), (Sure, True)])
def test_a_placement_of_somebodys_own_makes_jobs_wait_unless_it_proves_that_there_is_no_place(
    placement: type[HostPlacement], rejected: bool
) -> None:
    machine = Machine.flat(2)
    own = placement()
    own.begin(machine)
    ledger = idle(machine)
    assert bool(Prospects(own, "own").why_never(ledger, make_job("w0!a"))) == rejected
    assert ledger.overlooked == ({} if rejected else {"w0!a": "own"})


def test_a_search_that_had_to_stop_proves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(closed_sets, "STEPS", 0)
    monkeypatch.setattr(search.ShapeSearch, "find", lambda *given: None)
    machine = machine_of(network_of("dragonfly", 1), [])
    prospects = Prospects(begun("convex[rule=routers]", machine), "p")
    assert not prospects.why_never(idle(machine), make_job(units=2))
