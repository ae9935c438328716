"""The plan of conservative backfilling on nodes, what the structure of native/node_plan.h holds.

The header says what each field is.
"""

from __future__ import annotations

import numpy as np

from batdispatch.abilities.kernels.library import structure_of
from batdispatch.abilities.kernels.nodes import Nodes
from batdispatch.abilities.kernels.plan import longer, more_rows
from batdispatch.native.record import Record


class NodePlan(Record):
    """Steps, and what is kept for the jobs that wait or run. Times in seconds."""

    kinds, _fields_ = structure_of("node_plan.h", "NodePlan")


def empty(nodes: Nodes, jobs: int, room: int, *, keeps_places: bool) -> NodePlan:
    """Return a plan in which nothing is reserved.

    Args:
        nodes: before anything happens.
        jobs: how many there are.
        room: for so many steps.
        keeps_places: whether a job that cannot start earlier keeps its place.
    """
    plan, capacity = NodePlan(keeps_places=keeps_places, steps=1), nodes.arrays["capacity"]
    hosts = capacity[: nodes.hosts * nodes.resources].reshape(nodes.hosts, nodes.resources)
    plan.hold(times=np.zeros(1), row=np.zeros(1, dtype=np.int32), work=np.zeros_like(capacity))
    plan.hold(rows=capacity[None], sums=hosts.sum(axis=0)[None])
    plan.hold(**{name: np.full(jobs, np.nan) for name in ("start", "end", "until")})
    plan.hold(kept_row=np.zeros(jobs, dtype=np.int32), spare=np.zeros(0, dtype=np.int32))
    plan.hold(sets=np.zeros((0, nodes.words), dtype=np.uint64), units=np.zeros((0, nodes.hosts), dtype=np.int64))
    plan.most_steps = 1
    make_room(plan, room)
    return plan


def make_room(plan: NodePlan, steps: int) -> None:
    """Make room for so many steps, and half as many jobs for which something is kept."""
    kept = steps // 2
    plan.hold(row=np.concatenate((plan.arrays["row"], np.arange(plan.most_steps, steps, dtype=np.int32))))
    plan.spare_kept = more_rows(plan, "spare", plan.spare_kept, plan.most_kept, kept)
    plan.hold(**{name: longer(plan.arrays[name], steps) for name in ("times", "rows", "sums")})
    plan.hold(**{name: longer(plan.arrays[name], kept) for name in ("sets", "units")})
    plan.most_steps, plan.most_kept = steps, kept
