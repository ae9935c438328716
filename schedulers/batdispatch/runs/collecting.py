"""Instances taken from a recorded run, and solved by any model."""

from __future__ import annotations

import time
from typing import Any

from batdispatch.core.job import Job
from batdispatch.core.ledger import Ledger
from batdispatch.dispatchers.constraint.greedy import Planner, orders, search
from batdispatch.dispatchers.constraint.instance import SCALE, Instance, Viewer
from batdispatch.dispatchers.constraint.saved import encode
from batdispatch.dispatchers.constraint.window import by_priority, holdable
from batdispatch.links.retrace import Retraced
from batdispatch.parts.prediction import Estimates

#: Model -> formulation for the solver.
SOLVED = {"pcp20-paper": "positions", "pcp20-counts": "counts", "pcp19": "node-wise", "hcp19": "pooled"}


class Collector(Retraced):
    """Keeps every instance of a run with at least `least` jobs that fit, at most `window` by priority.

    Attributes:
        lines: the instances, encoded.
    """

    def __init__(self, prediction: str, *, least: int, window: int) -> None:
        super().__init__()
        self.estimates = Estimates(prediction)
        self.lines: list[bytes] = []
        self._least = least
        self._window = window

    def begin(self, cluster: Ledger) -> None:
        self.estimates.begin(cluster)
        self.viewer = Viewer(cluster, self.estimates.of)

    def on_submit(self, cluster: Ledger, job: Job) -> None:
        self.estimates.of(job)

    def on_end(self, cluster: Ledger, job: Job) -> None:
        self.estimates.ended(job, cluster.now)
        self.viewer.forget(job)

    def look(self, cluster: Ledger) -> None:
        fitting = holdable(cluster, self.viewer, self.viewer.free(cluster), list(cluster.queue.values()))
        if len(fitting) >= self._least:
            jobs = by_priority(fitting, cluster.now, self.estimates.of)[: self._window]
            self.lines.append(encode(self.viewer.instance(cluster, jobs)))


def solve_with(name: str, instance: Instance, *, work: float, wall: float, seed: int) -> dict[str, Any]:
    """Return facts about one instance solved by one model.

    `delay` is the objective's part that a schedule decides, sum of (start - now) / duration; `seconds` is CPU time.
    """
    from batdispatch.dispatchers.constraint.solver import improve

    began = time.process_time()
    seen = instance.pooled() if name == "hcp19" else instance
    planner = Planner(seen)
    if name == "search-rule":
        plan = planner.forward(orders(seen)[0])
        first = plan
    else:
        first, plan = search(planner, 0)
    variables = constraints = 0
    bound, status = seen.bound(), "GREEDY"
    if name in SOLVED:
        outcome = improve(SOLVED[name], seen, plan, first=first.cost, work=work, wall=wall, seed=seed)
        plan, bound, status = outcome.plan, outcome.bound, outcome.status
        variables, constraints = outcome.variables, outcome.constraints
    elif plan.cost <= bound:
        status = "BOUND"
    return {
        "jobs": len(instance.ids),
        "running": len(instance.running),
        "status": status,
        "paper_variables": instance.node_wise_variables() if name == "pcp19" else paper_count(name, instance),
        "variables": variables,
        "constraints": constraints,
        "delay": plan.cost / SCALE,
        "bound": bound / SCALE,
        "gap": (plan.cost - bound) / plan.cost if plan.cost else 0.0,
        "slowdown": instance.slowdown(plan.starts),
        "start_now": int((plan.starts == 0).sum()),
        "seconds": time.process_time() - began,
    }


def paper_count(name: str, instance: Instance) -> int:
    """Return the variables of PCP'20 as the paper counts them, or of HCP'19, which has only start times."""
    return len(instance.ids) if name == "hcp19" else instance.paper_variables()
