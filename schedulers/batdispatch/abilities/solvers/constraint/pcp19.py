"""PCP'19."""

from __future__ import annotations

from typing import ClassVar

from batdispatch.abilities.solvers.constraint.base import Positive
from batdispatch.abilities.solvers.constraint.instance import Instance
from batdispatch.abilities.solvers.constraint.lists import Plan
from batdispatch.abilities.solvers.constraint.model_search import SearchDispatcher, SearchOptions
from batdispatch.abilities.solvers.solving import SolverResult
from batdispatch.core.errors import InputError
from batdispatch.core.line.ledger import Ledger
from batdispatch.core.line.options import Options


class Pcp19Options(SearchOptions, frozen=True, kw_only=True):
    """Options of PCP'19.

    placement: By default, the model places the jobs that it plans, and this rule places those that it cannot express.
        Any other placement places whatever starts now, and a job that finds no place waits.
    most_variables: Build no model with more variables than this, counted as in the paper. An instance that needs more
        is given to the fallback, and the next window is half as large.
    """

    most_variables: Positive = 50_000


class Pcp19(SearchDispatcher):
    """Schedules and places the waiting jobs together, with a variable for each unit that each node could hold [1].

    The model is exact for units and amounts, and grows with the number of nodes. The search sets times forward: of the
    jobs that can start first, the shortest starts as early as it can, on the first nodes that have room, and so on. It
    goes on for better plans until the limit, which is doubled, four times at most, until two limits in a row give the
    same cost. The jobs that the plan starts now start, and the rest is planned anew at the next decision.

    Typical use: to compare with the papers, on small machines.
    Limits: a machine on which a full window of jobs of one unit would exceed `most_variables` is refused. An instance
        that exceeds them is not searched, and the next window is half as large. Wide jobs may starve.
    Guarantee: a plan never exceeds a capacity. There is no guarantee on waiting times: of the jobs that do not fit now
        only `ahead` are planned for.
    Time: bounded by `16 work` deterministic seconds at each decision, with the building of the model and all
        propagation counted. A model that takes more than `160 work` to be built is not searched, which is counted and
        told (`beyond_limit`). The model has `|Q| + sum_i sum_n p[i, n]`
        variables [2, section 2.2], where p[i, n] is how many units of job i node n holds.
    Deviations:
        - The limits are deterministic in place of the authors' wall clock. A doubled limit goes on where the authors
          begin anew.
        - A plan that still improves at the last limit is taken. The authors' code counts it as a failure.
        - The search puts off whole jobs, until the next job can end. The authors' puts off units, by a second.
        - A job whose request the model cannot express keeps the start and the place of a list schedule, and the others
          are planned around it (see `batdispatch.abilities.solvers.constraint.models.problem`).
        - Whole hosts that are all alike are one node.
        - A job that has no walltime is expected to run for 10^8 s.
    References:
        [1] Galleguillos, Kiziltan, Sîrbu, Babaoglu: "Constraint programming-based job dispatching for modern HPC
            applications", CP 2019, LNCS 11802, pp. 438-455, section 4. doi:10.1007/978-3-030-30048-7_26
        [2] Galleguillos, Kiziltan, Soto: "A constraint programming-based job dispatcher for modern HPC systems and
            applications", 2020, arXiv:2009.10348, section 2.2.
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

    def plan(self, instance: Instance, counters: dict[str, int]) -> SolverResult[Plan]:
        too_large = instance.node_wise_variables() > self.options.most_variables
        return self.search("node-wise", instance, too_large=too_large)
