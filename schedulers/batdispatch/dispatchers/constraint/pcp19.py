"""PCP'19."""

from __future__ import annotations

import time
from typing import ClassVar

from batdispatch.core.errors import InputError
from batdispatch.core.ledger import Ledger
from batdispatch.core.options import Options
from batdispatch.dispatchers.constraint.base import ConstraintDispatcher, ConstraintOptions, Positive, Seconds
from batdispatch.dispatchers.constraint.greedy import Nodes, Planner, search
from batdispatch.dispatchers.constraint.instance import Instance
from batdispatch.dispatchers.constraint.outcome import Outcome


class Pcp19Options(ConstraintOptions, frozen=True, kw_only=True):
    """Options of PCP'19.

    nodes: which are filled first in the greedy plan: `fullest` (best fit), `highest` or `lowest`.
    most_variables: largest model that is built.
    """

    work: Seconds = 1.0
    nodes: Nodes = "fullest"
    most_variables: Positive = 50_000


class Pcp19(ConstraintDispatcher):
    """As PCP'20, with a variable for each unit that each node could hold: exact, and for small machines only.

    Galleguillos, Kiziltan, Sîrbu, Babaoglu: "Constraint programming-based job dispatching for modern HPC applications",
    CP 2019 (PCP'19). The model grows with the nodes; a machine on which a full window of serial jobs would exceed
    `most_variables` is refused, and an instance that exceeds it gets its greedy plan and halves the window.

    Deviation: solved by CP-SAT, which starts from the greedy plan.
    """

    options_type: ClassVar[type[Options]] = Pcp19Options

    def begin(self, cluster: Ledger) -> None:
        super().begin(cluster)
        jobs, nodes, most = self.options.window, cluster.machine.size, self.options.most_variables
        if jobs * (1 + nodes) > most:
            raise InputError(
                f"dispatcher pcp19 cannot run on this machine: a window of {jobs} jobs of one unit on {nodes:,} nodes "
                f"has {jobs} x (1 + {nodes:,}) = {jobs * (1 + nodes):,} variables, more than most_variables={most:,}. "
                "Use pcp20 or hcp19, whose models do not grow with the machine, or a smaller window"
            )

    def solve(self, instance: Instance) -> Outcome:
        began = time.perf_counter()
        planner = Planner(instance, self.options.nodes)
        first, plan = search(planner, self.options.tries)
        bound = instance.bound()
        variables = instance.node_wise_variables()
        if plan.cost <= bound or variables > self.options.most_variables or not self.options.work:
            status = "BOUND" if plan.cost <= bound else "GREEDY" if not self.options.work else "UNKNOWN"
            spent = time.perf_counter() - began
            return Outcome(plan=plan, status=status, bound=bound, first=first.cost, solve_seconds=spent)
        return self.improve("node-wise", instance, plan, first, self.options.work)
