"""What jobs asked for beyond time and units, if their workload is still there: user, queue, and needs in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from batdispatch.core.jobs.request import Amounts, Request
from batdispatch.results.numbers import amount
from batdispatch.results.runs import Run
from batdispatch.results.sites import NO_GROUPS, Sites


@dataclass(frozen=True)
class JobDemand:
    """Who asked, and for what. An empty text means unknown, or nothing.

    Attributes:
        user: who.
        account: whom it is charged to, or the user's group.
        queue: as the workload names it.
        partition: likewise.
        needs: resources of each unit and node, and which nodes, in words.
    """

    user: str = ""
    account: str = ""
    queue: str = ""
    partition: str = ""
    needs: str = ""


def demands_of(runs: Sequence[Run], sites: Sites) -> dict[str, JobDemand]:
    """Return id of a job -> what it asked for. Workloads that were moved or changed are left out."""
    found: dict[str, JobDemand] = {}
    for run in {(run.result.workload.path, run.result.workload.sha256): run for run in runs}.values():
        users, groups = sites.users(run), sites.groups(run)
        # What is not read whole asks for hosts and for nothing else.
        workload = sites.workload(run) if sites.read_whole(run) else None
        wants = {} if workload is None else {job.id: needs(job.request) for job in workload.jobs}
        same: dict[JobDemand, JobDemand] = {}
        for job in users | groups | wants:
            one = JobDemand(users.get(job, ""), *groups.get(job, NO_GROUPS), wants.get(job, ""))
            found[job] = same.setdefault(one, one)
    return found


@lru_cache(maxsize=4096)
def needs(request: Request) -> str:
    """Return in words what a request says beyond its number of units."""
    nodes = request.nodes
    said = [
        f"{_amounts(request.per_unit)} each" if request.per_unit else "",
        f"{_amounts(request.per_node)} on each node" if request.per_node else "",
        f"on {nodes[0]} to {nodes[1]} nodes"
        if nodes and nodes[0] != nodes[1]
        else f"on {nodes[0]} nodes"
        if nodes
        else "",
        f"{request.units_per_node} on each node" if request.units_per_node else "",
        "on nodes of its own" if request.whole_nodes and request.per_unit else "",
        "on consecutive nodes" if request.contiguous else "",
        "on named nodes" if request.named else "",
        "not on some nodes" if request.excluded else "",
        f"licences: {_amounts(request.licences)}" if request.licences else "",
        f"near {', '.join(request.io_nodes)}" if request.io_nodes else "",
        "resizable" if request.sizes is not None else "",
    ]
    return ", ".join(filter(None, said))


def _amounts(amounts: Amounts) -> str:
    return " and ".join(amount(value, name) for name, value in amounts)
