"""Windows of jobs at one moment, and all plans of an auction by trying every one."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np

import naive
from batdispatch.abilities.solvers.auction.bids import SCALE, Bid, Bids
from batdispatch.abilities.solvers.auction.problem import Problem
from batdispatch.abilities.topology.networks import Topology
from batdispatch.core.hosts.allocation import Allocation
from batdispatch.core.jobs.job import Job
from batdispatch.core.line import events as e
from batdispatch.core.line.ledger import Ledger
from batdispatch.core.machine.machine import Host, Machine
from strategies import make_job

#: Units and fields of a job.
Asked = tuple[int, dict[str, Any]]


def nodes_of(nodes: Sequence[tuple[int, int]], topology: Topology | None = None, licences: str = "") -> Ledger:
    """A cluster of nodes with so many free cores and GPUs; jobs keep the nodes that have none."""
    more = {"licences": licences} if licences else {}
    hosts = [
        Host(id=i, name=f"n{i}", properties={"capacity": f"core={cores or 1} gpu={gpus}", **more})
        for i, (cores, gpus) in enumerate(nodes)
    ]
    ledger = Ledger(e.SimulationBegins(0.0, Machine(hosts, topology)))
    for host, (cores, _) in enumerate(nodes):
        if not cores:
            start(ledger, make_job(f"w0!kept{host}", node_list=[f"n{host}"]), [host])
    return ledger


def start(ledger: Ledger, job: Job, hosts: Sequence[int]) -> None:
    """Submit a job and start it with a unit on each of some hosts."""
    ledger.start(ledger.apply_submitted(e.JobSubmitted(0.0, job)), Allocation.of(hosts))


def problem_of(ledger: Ledger, asked: Sequence[Asked], priorities: Sequence[int] | None = None) -> Problem:
    """Jobs j0, j1, ... that wait; of equal priorities unless given."""
    jobs = [
        ledger.apply_submitted(e.JobSubmitted(0.0, make_job(f"w0!j{number}", units, **fields)))
        for number, (units, fields) in enumerate(asked)
    ]
    return Problem(ledger, list(zip(jobs, priorities or [1] * len(jobs), strict=True)))


def bids_of(problem: Problem, listed: Sequence[Sequence[tuple[Sequence[int], float]]]) -> Bids:
    """Bids of the jobs as (nodes, preference)."""
    return {
        job: [Bid(np.array(nodes, dtype=np.int64), round(preference * SCALE)) for nodes, preference in own]
        for job, own in enumerate(listed)
    }


def all_plans(
    machine: Machine, asked: Sequence[Asked], bids: Bids, licences: Mapping[str, int]
) -> Iterator[dict[int, int]]:
    """Yield the bid granted to each job that starts, for every set of bids that can be granted together."""
    choices = []
    for job, (units, fields) in enumerate(asked):
        spreads: list[tuple[int, dict[int, int]] | None] = [None]
        for index, bid in enumerate(bids.get(job, ())):
            nodes = bid.nodes.tolist()
            most = [naive.most_units(machine, fields, naive.offered(machine)[node], node, units) for node in nodes]
            for counts in product(*(range(limit + 1) for limit in most)):
                spread = {node: count for node, count in zip(nodes, counts, strict=True) if count}
                # A job that fixes its nodes, or wants them in a row, uses all of a bid.
                every = fields.get("contiguous") or isinstance(fields.get("nodes"), int)
                complete = sum(counts) == units and (len(spread) == len(nodes) or not every)
                if complete and naive.allowed(machine, fields, spread, units):
                    spreads.append((index, spread))
        choices.append(spreads)
    for combination in product(*choices):
        held = [(asked[job][1], one[1]) for job, one in enumerate(combination) if one is not None]
        if any(amount < 0 for amounts in naive.left(machine, held) for amount in amounts.values()):
            continue
        needed = [fields.get("licences", {}) for fields, _ in held]
        if all(sum(one.get(name, 0) for one in needed) <= left for name, left in licences.items()):
            yield {job: one[0] for job, one in enumerate(combination) if one is not None}


def best_by_hand(
    machine: Machine, asked: Sequence[Asked], priorities: Sequence[int], bids: Bids, licences: Mapping[str, int]
) -> tuple[int, int]:
    """The largest sum of priorities, and with it the largest sum of preferences, of all plans."""
    return max(
        (sum(priorities[job] for job in plan), sum(bids[job][bid].preference for job, bid in plan.items()))
        for plan in all_plans(machine, asked, bids, licences)
    )
