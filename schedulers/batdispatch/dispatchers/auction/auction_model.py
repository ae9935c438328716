"""AUCSCHED's integer program, for CP-SAT: which bids are granted, and how many units go on which node.

Numbers in brackets are those of the slides' constraints [1]. b_jc: bid c of job j is granted; u_jn: job j uses node n;
x_jn = u_jn + r_jn: with how many units. C_jn are the bids of job j that hold node n.

    maximise    sum_j sum_c w_jc b_jc                                             (1), see `weighing.py`
    subject to  sum_c b_jc <= 1                               for each job        (2)
                sum_n u_jn = sum_c |N_c| b_jc                 if j uses all nodes of a bid  (3)
                Nmin_j sum_c b_jc <= sum_n u_jn <= Nmax_j sum_c b_jc      otherwise
                sum_n x_jn = r_j sum_c b_jc                   for each job        (4)
                sum_j (a_jk x_jn + o_jkn u_jn) <= A_nk        for each node and resource k  (5), (6)
                u_jn <= x_jn <= room_jn u_jn                  for each job and node (7)
                x_jn = e_j u_jn                               if j fixes its units on each node (8)
                u_jn <= sum_{c in C_jn} b_jc                  for each job and node; the slides leave it out
                sum_j l_jk sum_c b_jc <= L_k                  for each licence k

The slides know cores (a = 1) and GPUs per node (o); here they are amounts of any resource, per unit and once per node.

Without the last but one, (4) could be met by nodes of bids that are not granted. As the slides print (3), once for each
bid, sum_{n in N_c} u_jn = b_jc |N_c|, a bid could not be granted if another bid of the same job shares a node with it:
its sum would have to be 0. With the link, the sum over all nodes says what is meant. Where all nodes of a bid are used,
u_jn = sum_{c in C_jn} b_jc follows from both, and u has no variables of its own; (8) is then as printed.

References:
    [1] S. Soner, C. Özturan. Integer programming based heterogeneous CPU-GPU clusters. Slides, Boğaziçi University,
        10 October 2012.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from batdispatch.dispatchers.auction.bids import Bids, uses_all
from batdispatch.dispatchers.auction.plans import Grant, Plan, Weights, value_of
from batdispatch.dispatchers.auction.problem import Problem
from batdispatch.parts.solving.cp_sat import CpSatModel
from batdispatch.parts.solving.runner import Value


class _Amount(NamedTuple):
    """A whole number that depends on variables: sum of `factor` times each of the variables."""

    factor: int
    variables: Sequence[Any]


class AuctionProgram(CpSatModel):
    """The program of a problem and its bids. Costs are minus the weights of the bids granted."""

    name = "auction"

    def __init__(self, problem: Problem, bids: Bids) -> None:
        """Make the program without an objective. Time and size: linear in the sum of the bids' nodes."""
        super().__init__()
        self.problem, self.bids = problem, bids
        self._granted: dict[int, list[Any]] = {}
        #: For each job and node: whether the job uses it, and with how many units.
        self._used: dict[int, dict[int, _Amount]] = {}
        self._units: dict[int, dict[int, _Amount]] = {}
        for job in bids:
            self._job(job)
        self._capacity()
        self._licences()
        self._weights: Weights = {}

    def _job(self, job: int) -> None:
        cp, asking = self.cp, self.problem.askings[job]
        granted = self._granted[job] = [cp.new_bool_var(f"b{job},{bid}") for bid in range(len(self.bids[job]))]
        # (2) At most one bid of a job is granted.
        cp.add_at_most_one(granted)
        holding: dict[int, list[Any]] = {}
        for variable, bid in zip(granted, self.bids[job], strict=True):
            for node in bid.nodes.tolist():
                holding.setdefault(node, []).append(variable)
        if uses_all(asking):
            # (3) and the missing link.
            self._used[job] = {node: _Amount(1, variables) for node, variables in holding.items()}
        else:
            self._used[job] = {node: _Amount(1, [cp.new_bool_var(f"u{job},{node}")]) for node in holding}
            for node, variables in holding.items():
                # The missing link: only nodes of the bid that is granted.
                cp.add(sum(self._used[job][node].variables) <= sum(variables))
            used = sum(amount.variables[0] for amount in self._used[job].values())
            # (3) for a range of nodes.
            if asking.least > 1:
                cp.add(used >= asking.least * sum(granted))
            if asking.most < len(holding):
                cp.add(used <= asking.most * sum(granted))
        self._units[job] = self._on_nodes(job)
        # (4) All units, or none.
        terms = [amount.factor * variable for amount in self._units[job].values() for variable in amount.variables]
        cp.add(sum(terms) == asking.units * sum(granted))

    def _on_nodes(self, job: int) -> dict[int, _Amount]:
        """Return how many units a job has on each node."""
        asking = self.problem.askings[job]
        found = {}
        for node, used in self._used[job].items():
            room = int(asking.room[node])
            if asking.each or room == 1:
                # (8), and where there is room for one unit only.
                found[node] = _Amount(asking.each or 1, used.variables)
                continue
            units = self.cp.new_int_var(0, room, f"x{job},{node}")
            # (7) A node that is used carries a unit, and no more than it has room for.
            self.cp.add(units >= sum(used.variables))
            self.cp.add(units <= room * sum(used.variables))
            found[node] = _Amount(1, [units])
        return found

    def _capacity(self) -> None:
        """Add (5) and (6), for the nodes on which several jobs may meet: one alone has room where it has a bid."""
        meeting: dict[int, list[int]] = {}
        for job, nodes in self._used.items():
            for node in nodes:
                meeting.setdefault(node, []).append(job)
        for node, jobs in meeting.items():
            for axis, free in enumerate(self.problem.free[node].tolist()):
                self._resource(node, axis, jobs, free)

    def _resource(self, node: int, axis: int, jobs: Sequence[int], free: int) -> None:
        terms, most = [], 0
        for job in jobs:
            asking = self.problem.askings[job]
            amount, once = int(asking.amounts[axis]), int(asking.once[node, axis])
            most += amount * int(asking.room[node]) + once
            for factor, (own, variables) in ((amount, self._units[job][node]), (once, self._used[job][node])):
                if factor:
                    terms += [factor * own * variable for variable in variables]
        if len(jobs) > 1 and most > free:
            self.cp.add(sum(terms) <= free)

    def _licences(self) -> None:
        for axis, left in enumerate(self.problem.licences.tolist()):
            asked = [(int(self.problem.askings[job].licences[axis]), granted) for job, granted in self._granted.items()]
            if sum(amount for amount, _ in asked) > left:
                self.cp.add(sum(amount * variable for amount, granted in asked for variable in granted) <= left)

    # ------------------------------------------------------------------ which bids are best

    def maximising(self, weights: Weights, hint: Plan) -> AuctionProgram:
        """Ask for the largest sum of weights, and tell the solver a plan. **This changes the program.**"""
        self._weights = weights
        self.cp.minimize(-self._sum(weights))
        self.cp.clear_hints()  # type: ignore[no-untyped-call]
        for job, granted in self._granted.items():
            grant = hint.get(job)
            # Uses and units may be sums of bids, and then have no variables of their own; a variable is told once.
            told: dict[int, tuple[Any, int]] = {}
            for node, units in self._units[job].items():
                count = grant.units.get(node, 0) if grant is not None else 0
                for own, amount in ((units, count), (self._used[job][node], int(count > 0))):
                    told[own.variables[0].index] = own.variables[0], amount
            for bid, variable in enumerate(granted):
                told[variable.index] = variable, int(grant is not None and grant.bid == bid)
            for variable, amount in told.values():
                self.cp.add_hint(variable, amount)
        return self

    def keeping(self, weights: Weights, total: int) -> AuctionProgram:
        """Fix a sum of weights. **This changes the program.**"""
        self.cp.add(self._sum(weights) == total)
        return self

    def _sum(self, weights: Weights) -> Any:
        return sum(
            weights[job][bid] * variable
            for job, granted in self._granted.items()
            for bid, variable in enumerate(granted)
        )

    def read(self, value: Value) -> tuple[Plan, float]:
        """Return the bids granted, and minus the sum of their weights."""
        plan: dict[int, Grant] = {}
        for job, granted in self._granted.items():
            for bid, variable in enumerate(granted):
                if value(variable):
                    counts = {
                        node: amount.factor * sum(value(one) for one in amount.variables)
                        for node, amount in self._units[job].items()
                    }
                    plan[job] = Grant(bid, {node: count for node, count in counts.items() if count})
        return plan, -value_of(plan, self._weights)
