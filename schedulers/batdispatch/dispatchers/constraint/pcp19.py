"""PCP'19."""

from __future__ import annotations

from typing import ClassVar

from batdispatch.core.errors import InputError
from batdispatch.core.ledger import Ledger
from batdispatch.core.options import Options
from batdispatch.dispatchers.constraint.base import Positive, SolverDispatcher, SolverOptions
from batdispatch.dispatchers.constraint.instance import Instance
from batdispatch.dispatchers.constraint.lists import Plan
from batdispatch.parts.solving import Found, settled


class Pcp19Options(SolverOptions, frozen=True, kw_only=True):
    """Options of PCP'19.

    ordering: by which order the window is cut, and in which the first solution takes jobs (`batdispatch list
        orderings`).
    placement: on which free hosts the first solution puts a job (`batdispatch list placements`).
    prediction, default_walltime, window, ahead, reserve: see `batdispatch explain best-list`.
    work, wall: see `batdispatch explain hcp19`.
    most_variables: size of the largest model that is built, in variables as the paper counts them.
    """

    most_variables: Positive = 50_000


class Pcp19(SolverDispatcher):
    """As PCP'20, with a variable for each unit that each node could hold: exact, and for small machines only.

    The model grows with the nodes [1]. A machine on which a full window of jobs of one unit would exceed
    `most_variables` is refused, and an instance that exceeds it gets its first solution and halves the window.

    Guarantee: none on waiting times: of the jobs that do not fit now only `ahead` are planned for. A plan never exceeds
        a capacity, and its total slowdown is at most that of the first solution, a non-delay list schedule.
    Time: bounded by `work` at each decision; the model has |Q| + sum_i sum_n p[i, n] variables, where p[i, n] is how
        many units of job i node n holds.
    Deviations: CP-SAT in place of the authors' solver and search, with the list schedule as a hint. A job whose request
        the model cannot express (see `batdispatch.dispatchers.constraint.models`) keeps the start and the place of the
        list schedule, and the others are planned around it; whole hosts that are all alike are one node.
    References:
        [1] Galleguillos, Kiziltan, Sîrbu, Babaoglu: "Constraint programming-based job dispatching for modern HPC
            applications", CP 2019, section 4.
    """

    options_type: ClassVar[type[Options]] = Pcp19Options

    def begin(self, ledger: Ledger) -> None:
        super().begin(ledger)
        jobs, nodes, most = self.options.window, ledger.machine.size, self.options.most_variables
        if jobs * (1 + nodes) > most:
            raise InputError(
                f"dispatcher pcp19 cannot run on this machine: a window of {jobs} jobs of one unit on {nodes:,} nodes "
                f"has {jobs} x (1 + {nodes:,}) = {jobs * (1 + nodes):,} variables, more than most_variables={most:,}. "
                "Use pcp20 or hcp19, whose models do not grow with the machine, or a smaller window"
            )

    def plan(self, instance: Instance, counters: dict[str, int]) -> Found[Plan]:
        began = self.clock()
        first = self.first(instance)
        too_large = instance.node_wise_variables() > self.options.most_variables
        if too_large and first.cost > instance.bound and self.options.work:
            seconds = self.clock() - began
            return settled(first, first.cost, bound=instance.bound, status="UNKNOWN", seconds=seconds)
        return self.improve("node-wise", instance, first, began)
