"""What IPSCHED maximises: sum_j p_j (s_j - c_j), times 2 N so that it is a whole number."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from batdispatch.abilities.solvers.auction.groups import Group
from batdispatch.abilities.solvers.auction.problem import Choice, JobDemand, Problem

#: Share of the free amounts that a job counts for which needs nothing.
_NOTHING = 1e-12


def worth(problem: Problem, choice: Choice) -> int:
    """Return 2 N times the objective of a plan: sum over the jobs that start of p_j (2 N - T_j), exact."""
    twice = 2 * len(problem.hosts)
    return sum(
        asking.priority * (twice - allocation.size)
        for asking, allocation in zip(problem.askings, choice, strict=True)
        if allocation is not None
    )


def fewest_nodes(asking: JobDemand) -> int:
    """Return on how many nodes a job is at least, if it starts; it fits by itself."""
    rooms = np.sort(asking.room)[::-1].cumsum()
    return max(asking.least, int(rooms.searchsorted(asking.units)) + 1)


def spread_of(problem: Problem, choice: Choice, groups: Sequence[Group]) -> dict[tuple[int, int], tuple[int, int]]:
    """Return how many nodes and units each job of a plan has of each group."""
    group_of = {int(problem.hosts[node]): index for index, group in enumerate(groups) for node in group.nodes}
    found: dict[tuple[int, int], tuple[int, int]] = {}
    for job, allocation in enumerate(choice):
        if allocation is not None:
            for host, count in allocation.per_host():
                nodes, units = found.get((job, group_of[host]), (0, 0))
                found[job, group_of[host]] = nodes + 1, units + count
    return found


def dense(problem: Problem, jobs: Sequence[int]) -> list[int]:
    """Return some jobs in descending order of what they are worth by themselves per share of the free amounts."""
    twice = 2 * len(problem.hosts)
    total = np.maximum(problem.free.sum(axis=0), 1)

    def density(job: int) -> float:
        asking = problem.askings[job]
        nodes = fewest_nodes(asking)
        used = asking.room > 0
        amounts = asking.units * asking.amounts + nodes * asking.once[used].mean(axis=0)
        return -asking.priority * (twice - nodes) / max(float((amounts / total).sum()), _NOTHING)

    return sorted(jobs, key=lambda job: (density(job), job))
