"""Plans of an auction over groups of nodes, and their way to the nodes."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

import msgspec
import numpy as np

from batdispatch.abilities.solvers.auction.bids import Bids, uses_all
from batdispatch.abilities.solvers.auction.groups import Group, classes, single_nodes
from batdispatch.abilities.solvers.auction.intervals import Ints
from batdispatch.abilities.solvers.auction.plans import Grant, Plan
from batdispatch.abilities.solvers.auction.problem import Problem


class Share(NamedTuple):
    """A bid that is granted: its index among the job's bids, and (nodes, units) of the job on each group."""

    bid: int
    spread: Mapping[int, tuple[int, int]]


#: For each job that starts, its share; groups are named by their indices.
Sketch = Mapping[int, Share]


def groups_of(problem: Problem, bids: Bids) -> list[Group]:
    """Return the nodes on which jobs bid in groups: what neither the jobs nor their bids can tell apart.

    Time: O(n (w + b)) for n nodes, w jobs and b bids.
    """
    listed = [bid for own in bids.values() for bid in own]
    held = np.zeros((len(problem.hosts), len(listed)), dtype=bool)
    for column, bid in enumerate(listed):
        held[bid.nodes, column] = True
    found: list[Group] = []
    for group in classes(problem, list(bids)):
        alike: dict[bytes, list[int]] = {}
        for node, row in zip(group.nodes.tolist(), np.packbits(held[group.nodes], axis=1), strict=True):
            alike.setdefault(row.tobytes(), []).append(node)
        parts = [msgspec.structs.replace(group, nodes=np.array(nodes)) for nodes in alike.values()]
        found += [part for part in parts if held[part.nodes[0]].any()]
    return sorted(found, key=lambda group: int(group.nodes[0]))


def group_of_nodes(problem: Problem, groups: Sequence[Group]) -> Ints:
    """Return the index of each node's group, int64 [node], -1 for nodes of none."""
    found: Ints = np.full(len(problem.hosts), -1, dtype=np.int64)
    for index, group in enumerate(groups):
        found[group.nodes] = index
    return found


def pairs(problem: Problem, bids: Bids, groups: Sequence[Group]) -> int:
    """Return for how many pairs of a job and a group the job bids on the group."""
    group_of = group_of_nodes(problem, groups)
    return sum(len(np.unique(np.concatenate([group_of[bid.nodes] for bid in own]))) for own in bids.values())


def links(problem: Problem, bids: Bids, groups: Sequence[Group]) -> int:
    """Return for how many pairs of a bid and a group the bid holds the group."""
    group_of = group_of_nodes(problem, groups)
    return sum(len(set(group_of[bid.nodes].tolist())) for own in bids.values() for bid in own)


def sketch_of(problem: Problem, plan: Plan, groups: Sequence[Group]) -> Sketch:
    """Return how a plan spreads over groups."""
    group_of = group_of_nodes(problem, groups)
    sketch = {}
    for job, grant in plan.items():
        spread: dict[int, tuple[int, int]] = {}
        for node, count in grant.units.items():
            nodes, units = spread.get(int(group_of[node]), (0, 0))
            spread[int(group_of[node])] = nodes + 1, units + count
        sketch[job] = Share(grant.bid, spread)
    return sketch


def split(problem: Problem, groups: Sequence[Group], sketch: Sketch) -> tuple[Plan, set[int]]:
    """Split a sketch over the nodes. A job that leaves its number of nodes open may get more nodes of a group.

    Returns:
        The plan, and the groups that could not be split; if there are any, the plan lacks what is there.
    """
    # It knows programs, and so the solver, which takes half a second to load.
    from batdispatch.abilities.solvers.auction.node_plans import pack

    units: dict[int, dict[int, int]] = {job: {} for job in sketch}
    failed: set[int] = set()
    #: How many more nodes each job may use than it does.
    more = {
        job: 0
        if uses_all(problem.askings[job])
        else problem.askings[job].most - sum(n for n, _ in share.spread.values())
        for job, share in sketch.items()
    }
    for index, group in enumerate(groups):
        wanted = {job: share.spread[index] for job, share in sketch.items() if index in share.spread}
        most = {job: min(nodes + more[job], len(group.nodes)) for job, (nodes, _) in wanted.items()}
        counts = pack(problem, group, wanted, most)
        if counts.keys() != wanted.keys():
            failed.add(index)
        for job, own in counts.items():
            units[job].update(own)
            more[job] -= len(own) - wanted[job][0]
    return {job: Grant(share.bid, units[job]) for job, share in sketch.items()}, failed


def refine_groups(groups: Sequence[Group], some: Collection[int]) -> list[Group]:
    """Return groups with each node of some of them, given by their indices, as a group of its own."""
    return [part for index, group in enumerate(groups) for part in (single_nodes(group) if index in some else [group])]
