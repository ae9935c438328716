"""Small instances for tests of the models, and their optimum by enumeration."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
from hypothesis import strategies as st

from batdispatch.dispatchers.constraint.greedy import Plan
from batdispatch.dispatchers.constraint.instance import Held, Instance

NODES = [(4, 2, 0), (4, 0, 2), (2, 1, 1), (6, 0, 0)]
UNITS = [(1, 0, 0), (2, 0, 0), (1, 1, 0), (1, 0, 1), (4, 0, 0), (2, 2, 0)]


def instance(
    capacity: list[tuple[int, ...]],
    jobs: list[tuple[int, int, tuple[int, ...]]],
    running: list[tuple[int, dict[int, tuple[int, ...]]]] = (),  # type: ignore[assignment]
) -> Instance:
    """An instance of jobs (duration, units, request) and running jobs (remaining, node -> amounts)."""
    table = np.array(capacity, dtype=np.int64)
    width = table.shape[1]
    return Instance(
        now=0.0,
        resources=("core", "gpu", "mic")[:width],
        capacity=table,
        ids=tuple(f"w0!{n}" for n in range(len(jobs))),
        durations=np.array([d for d, _, _ in jobs], dtype=np.int64),
        waits=np.zeros(len(jobs)),
        units=np.array([u for _, u, _ in jobs], dtype=np.int64),
        requests=np.array([r for _, _, r in jobs], dtype=np.int64).reshape(len(jobs), width),
        running=tuple(
            Held(
                f"w0!r{n}",
                remaining,
                np.array(sorted(there), dtype=np.intp),
                np.array([there[node] for node in sorted(there)], dtype=np.int64).reshape(len(there), width),
            )
            for n, (remaining, there) in enumerate(sorted(running, key=lambda one: one[0]))
        ),
    )


def random_instance(rng: np.random.Generator, *, nodes: int = 3, jobs: int = 5, units: int = 3) -> Instance:
    """An instance whose jobs all fit the idle machine."""
    capacity = [NODES[i] for i in rng.integers(0, len(NODES), rng.integers(1, nodes + 1))]
    made: list[tuple[int, int, tuple[int, ...]]] = []
    wanted = int(rng.integers(1, jobs + 1))
    while len(made) < wanted:
        request = UNITS[rng.integers(0, len(UNITS))]
        most = sum(min(c // r for c, r in zip(node, request, strict=True) if r) for node in capacity)
        if most:
            made.append((int(rng.integers(1, 12)), int(rng.integers(1, min(units, most) + 1)), request))
    running = []
    for node, total in enumerate(capacity):
        if rng.random() < 0.6:
            amounts = tuple(int(rng.integers(0, c + 1)) for c in total)
            if any(amounts):
                running.append((int(rng.integers(1, 9)), {node: amounts}))
    return instance(capacity, made, running)


@st.composite
def instances(draw: st.DrawFn) -> Instance:
    """Random instances, by the seed they are made from, also with jobs of whole nodes."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    found = random_instance(rng, nodes=4, jobs=8)
    if draw(st.booleans()):
        found.requests[0] = -1
        found.units[0] = draw(st.integers(1, len(found.capacity)))
    return found


def check(found: Instance, plan: Plan) -> None:
    """Assert that a plan places every unit and never exceeds a capacity, at any moment, running jobs included."""
    assert plan.cost == found.cost(plan.starts)
    boxes: list[tuple[int, int, Any, Any]] = [(0, h.remaining, h.hosts, h.amounts) for h in found.running]
    for job, (hosts, counts) in enumerate(plan.places):
        assert plan.starts[job] >= 0
        assert counts.sum() == found.units[job]
        assert (counts > 0).all()
        assert len(set(hosts.tolist())) == len(hosts)
        whole = found.requests[job, 0] < 0
        used = found.capacity[hosts] if whole else counts[:, None] * found.requests[job]
        assert not whole or (counts == 1).all()
        start = int(plan.starts[job])
        boxes.append((start, start + int(found.durations[job]), hosts, used))
    for moment in {begin for begin, _, _, _ in boxes}:
        used_now = np.zeros_like(found.capacity)
        for begin, end, hosts, used in boxes:
            if begin <= moment < end:
                used_now[hosts] += used
        assert (used_now <= found.capacity).all(), f"over capacity at {moment}"


def spreads(found: Instance, job: int) -> Iterator[tuple[int, ...]]:
    """Every way to put a job's units on the nodes."""
    tops = []
    for capacity in found.capacity.tolist():
        asked = found.requests[job].tolist()
        tops.append(min([c // r for c, r in zip(capacity, asked, strict=True) if r]))
    units = int(found.units[job])
    for counts in itertools.product(*(range(min(top, units) + 1) for top in tops)):
        if sum(counts) == units:
            yield counts


def brute_force(found: Instance) -> int:
    """Least cost over all places and orders, each job at its earliest start: some such schedule is optimal."""
    jobs = range(len(found.ids))
    horizon = found.horizon()
    start = np.repeat(found.capacity[None], horizon, axis=0)
    for held in found.running:
        for host, amounts in zip(held.hosts.tolist(), held.amounts, strict=True):
            start[: held.remaining, host] -= amounts
    weights = found.weights().tolist()
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
                used = np.array(counts)[:, None] * found.requests[job]
                fits = (free >= used).all(axis=(1, 2))
                begin = next(t for t in range(horizon) if fits[t : t + d].all())
                after = free.copy()
                after[begin : begin + d] -= used
                extend(left - {job}, after, cost + weights[job] * begin)

    extend(frozenset(jobs), start, 0)
    return best
