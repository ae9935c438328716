"""Small instances for tests of the models and list schedules, checked and solved by naive code of the tests' own."""

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from hypothesis import strategies as st

import naive
from batdispatch.abilities.solvers.constraint.instance import Instance
from batdispatch.abilities.solvers.constraint.lists import Plan
from batdispatch.core.hosts.allocation import Allocation
from batdispatch.core.jobs.fields import read_request
from batdispatch.core.jobs.job import Job
from batdispatch.core.line.events import JobSubmitted, MachinesUnavailable, SimulationBegins
from batdispatch.core.line.ledger import Ledger
from batdispatch.core.machine.machine import Host, Machine
from batdispatch.parts.placement import Placement, make_placement

RESOURCES = ("core", "gpu", "mic")
NODES = [(4, 2, 0), (4, 0, 2), (2, 1, 1), (6, 0, 0)]
UNITS = [(1, 0, 0), (2, 0, 0), (1, 1, 0), (1, 0, 1), (4, 0, 0), (2, 2, 0)]


def amounts(row: Sequence[int]) -> dict[str, int]:
    return dict(zip(RESOURCES, row, strict=False))


def made(
    machine: Machine,
    jobs: Sequence[tuple[int, int, dict[str, Any]]],
    running: Sequence[tuple[int, int, dict[str, Any], dict[int, int]]] = (),
    away: int = 0,
) -> Instance:
    """An instance of jobs (duration, units, fields) and running jobs (remaining, units, fields, units by host)."""
    ledger = Ledger(SimulationBegins(time=0.0, machine=machine))

    def submit(name: str, duration: int, units: int, fields: dict[str, Any]) -> Job:
        job = Job(id=name, request=read_request(units, fields), walltime=float(duration), extra=fields)
        return ledger.apply_submitted(JobSubmitted(0.0, job))

    for number, (remaining, units, fields, there) in enumerate(running):
        job = submit(f"w0!r{number}", remaining, units, fields)
        ledger.start(job, Allocation.of(list(there), list(there.values())))
    if away:
        ledger.apply(MachinesUnavailable(ledger.now, Allocation(away)))
    queued = [submit(f"w0!{n}", *row) for n, row in enumerate(jobs)]
    return Instance(ledger, queued, lambda job: job.walltime)


def instance(
    capacity: Sequence[tuple[int, ...]],
    jobs: Sequence[tuple[int, int, tuple[int, ...] | None]],
    running: Sequence[tuple[int, dict[int, tuple[int, ...]]]] = (),
) -> Instance:
    """An instance of jobs (duration, units, a unit's amounts; None: a whole node) and running (remaining, by node)."""
    width = len(capacity[0])
    texts = [" ".join(f"{name}={n}" for name, n in zip(RESOURCES[:width], row, strict=True)) for row in capacity]
    machine = Machine([Host(id=i, name=f"n{i}", properties={"capacity": text}) for i, text in enumerate(texts)])
    asked = [(d, units, {} if row is None else {"demand": amounts(row)}) for d, units, row in jobs]
    held = [
        (remaining, 1, {"demand": amounts(row)}, {node: 1})
        for remaining, there in running
        for node, row in there.items()
    ]
    return made(machine, asked, held)


def random_instance(
    rng: np.random.Generator, *, nodes: int = 3, jobs: int = 5, units: int = 3, whole: bool = False
) -> Instance:
    """An instance whose jobs all fit the idle machine; perhaps with a job of whole nodes."""
    capacity = [NODES[i] for i in rng.integers(0, len(NODES), rng.integers(1, nodes + 1))]
    listed: list[tuple[int, int, tuple[int, ...] | None]] = []
    wanted = int(rng.integers(1, jobs + 1))
    while len(listed) < wanted:
        request = UNITS[rng.integers(0, len(UNITS))]
        most = sum(min(c // r for c, r in zip(node, request, strict=True) if r) for node in capacity)
        if most:
            listed.append((int(rng.integers(1, 12)), int(rng.integers(1, min(units, most) + 1)), request))
    if whole:
        listed[0] = (listed[0][0], int(rng.integers(1, len(capacity) + 1)), None)
    running = []
    for node, total in enumerate(capacity):
        if rng.random() < 0.6:
            there = tuple(int(rng.integers(0, c + 1)) for c in total)
            if any(there):
                running.append((int(rng.integers(1, 9)), {node: there}))
    return instance(capacity, listed, running)


@st.composite
def instances(draw: st.DrawFn) -> Instance:
    """Random instances, by the seed they are made from, also with jobs of whole nodes."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    return random_instance(rng, nodes=4, jobs=8, whole=draw(st.booleans()))


#: What a request may say beyond units and amounts.
BEYOND: list[dict[str, Any]] = [
    {"demand": {"core": 1}, "per_node": {"gpu": 1}},
    {"demand": {"core": 1}, "nodes": 2},
    {"demand": {"core": 1}, "nodes": [1, 2]},
    {"demand": {"core": 1}, "units_per_node": 2},
    {"demand": {"core": 1}, "whole_nodes": True},
    {"demand": {"core": 2}, "node_list": ["n1", "n2"]},
    {"demand": {"core": 1}, "exclude_nodes": ["n0"]},
    {"demand": {"core": 2}, "contiguous": True},
    {"demand": {"core": 1}, "licences": {"solver": 2}},
    {"demand": {"core": 0}},
    {"contiguous": True},
]


def beyond_machine() -> Machine:
    texts = ["core=4 gpu=1", "core=4 gpu=2", "core=2 gpu=0", "core=4 gpu=1"]
    return Machine(
        [Host(id=i, name=f"n{i}", properties={"capacity": t, "licences": "solver=3"}) for i, t in enumerate(texts)]
    )


@st.composite
def beyond(draw: st.DrawFn) -> Instance:
    """Random instances in which half of the jobs ask for more than units and amounts."""
    machine = beyond_machine()
    plain: list[dict[str, Any]] = [{"demand": {"core": 1}}, {"demand": {"core": 2, "gpu": 1}}, {}]
    jobs = []
    for _ in range(draw(st.integers(1, 6))):
        fields = draw(st.sampled_from(BEYOND + plain * 3))
        units = draw(st.sampled_from([units for units in (1, 2, 4) if not units % fields.get("units_per_node", 1)]))
        if naive.fits(machine, fields, units, naive.offered(machine)):
            jobs.append((draw(st.integers(1, 9)), units, fields))
    running = [
        (draw(st.integers(1, 9)), 1, {"demand": {"core": draw(st.integers(1, 2))}}, {node: 1})
        for node in range(4)
        if draw(st.booleans())
    ]
    return made(machine, jobs or [(3, 1, {"demand": {"core": 1}})], running, away=draw(st.sampled_from([0, 0, 4])))


def placed_by(name: str, found: Instance) -> Placement:
    placement = make_placement(name)
    placement.begin(found.ledger.machine)
    return placement


def check(found: Instance, plan: Plan) -> None:
    """Assert that a plan places every unit as asked and never exceeds a capacity at any moment."""
    machine = found.ledger.machine
    assert plan.cost == found.cost(plan.starts)
    boxes: list[tuple[int, int, dict[str, Any], dict[int, int]]] = [
        (0, one.seconds, one.stay.job.extra, dict(one.allocation.per_host())) for one in found.running
    ]
    licences: list[tuple[int, int, int]] = []
    for index, (job, place) in enumerate(zip(found.jobs, plan.places, strict=True)):
        if place is None:
            continue
        there = dict(place.allocation.per_host())
        assert naive.allowed(machine, job.extra, there, job.units), job
        assert not place.allocation.mask & found.ledger.unavailable
        start = int(plan.starts[index])
        assert start >= 0
        boxes.append((start, start + int(found.durations[index]), job.extra, there))
        licences.append((start, boxes[-1][1], job.extra.get("licences", {}).get("solver", 0)))
    for moment in {begin for begin, _, _, _ in boxes}:
        held = [(fields, there) for begin, end, fields, there in boxes if begin <= moment < end]
        left = naive.left(machine, held)
        assert all(amount >= 0 for host in left for amount in host.values()), f"over capacity at {moment}: {left}"
        if licences:
            assert sum(n for begin, end, n in licences if begin <= moment < end) <= 3


def capacity_of(found: Instance) -> Any:
    return found.ledger.machine.capacity


def spreads(found: Instance, job: int) -> Iterator[tuple[int, ...]]:
    """Every way to put a job's units on the nodes."""
    asked = [found.jobs[job].request.demand.get(name, 0) for name in found.ledger.machine.resources]  # type: ignore[union-attr]
    tops = [min(c // r for c, r in zip(row, asked, strict=True) if r) for row in capacity_of(found).tolist()]
    units = found.jobs[job].units
    for counts in itertools.product(*(range(min(top, units) + 1) for top in tops)):
        if sum(counts) == units:
            yield counts


def brute_force(found: Instance) -> int:
    """Least cost over all places and orders, each job at its earliest start: some such schedule is optimal."""
    jobs = range(len(found.jobs))
    horizon = found.horizon()
    resources = found.ledger.machine.resources
    requests = [np.array([job.request.demand.get(name, 0) for name in resources]) for job in found.jobs]  # type: ignore[union-attr]
    start = np.repeat(capacity_of(found)[None], horizon, axis=0)
    for one in found.running:
        for host, _ in one.allocation.per_host():
            start[: one.seconds, host] -= [one.stay.job.extra["demand"].get(name, 0) for name in resources]
    weights = found.weights.tolist()
    options = [list(spreads(found, job)) for job in jobs]
    best = 10**18

    def extend(left: frozenset[int], free: Any, cost: int) -> None:
        nonlocal best
        if cost >= best:
            return
        if not left:
            best = cost
            return
        for job in sorted(left):
            d = int(found.durations[job])
            for counts in options[job]:
                used = np.array(counts)[:, None] * requests[job]
                fits = (free >= used).all(axis=(1, 2))
                begin = next(t for t in range(horizon) if fits[t : t + d].all())
                after = free.copy()
                after[begin : begin + d] -= used
                extend(left - {job}, after, cost + weights[job] * begin)

    extend(frozenset(jobs), start, 0)
    return best
