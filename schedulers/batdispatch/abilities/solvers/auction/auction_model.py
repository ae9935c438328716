"""AUCSCHED's integer program over groups of nodes, for CP-SAT: which bids are granted, and what of them goes where.

With one node in each group this is the program of the slides [1]. Numbers in brackets are those of their constraints.
b_jc: bid c of job j is granted. T_jk: on how many of the m_k nodes of group k job j is (u_jn in the slides, for one
node), X_jk: with how many units (u + r). C_jk are the bids of job j that hold group k: all nodes of a group are in the
same bids.

    maximise    sum_j sum_c w_jc b_jc                               (1), see `bid_weights`
    subject to  sum_c b_jc <= 1                                     (2)
                sum_k T_jk = sum_c |N_c| b_jc                       (3) if j uses all nodes of a bid
                Nmin_j sum_c b_jc <= sum_k T_jk <= Nmax_j sum_c b_jc    otherwise
                sum_k X_jk = r_j sum_c b_jc                         (4)
                sum_j (a_jr X_jk + o_jr T_jk) <= m_k F_kr           (5), (6) for each resource r
                T_jk <= X_jk <= room_jk T_jk                        (7)
                X_jk = e_j T_jk                                     (8) if j fixes its units on each node
                T_jk <= m_k sum_{c in C_jk} b_jc                    the slides leave it out
                sum_j l_jr sum_c b_jc <= L_r                        for each licence r

The slides know cores (a = 1) and GPUs per node (o); here they are amounts of any resource, per unit and once per node.

Without the last but one, (4) could be met by nodes of bids that are not granted. As the slides print (3), once for each
bid, sum_{n in N_c} u_jn = b_jc |N_c|, a bid could not be granted if another bid of the same job shares a node with it:
its sum would have to be 0. With the link, the sum over all nodes says what is meant. Where all nodes of a bid are used,
T_jk = m_k sum_{c in C_jk} b_jc follows from both, and T has no variables of its own.

A group of several nodes makes the program a relaxation, since it does not say which jobs meet on one node. Rows as in
IPSCHED's program repair the most frequent case: of the jobs that take at least q of a resource on each node,
floor(F_kr / q) at most meet on one node: sum_j T_jk <= m_k floor(F_kr / q).

References:
    [1] S. Soner, C. Özturan. Integer programming based heterogeneous CPU-GPU clusters. Slides, Boğaziçi University,
        10 October 2012.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from batdispatch.abilities.solvers.auction.bids import Bids, uses_all
from batdispatch.abilities.solvers.auction.groups import Group
from batdispatch.abilities.solvers.auction.plans import Weights, value_of
from batdispatch.abilities.solvers.auction.problem import Problem
from batdispatch.abilities.solvers.auction.sketches import Share, Sketch, group_of_nodes
from batdispatch.abilities.solvers.solving.cp_sat import CpSatModel
from batdispatch.abilities.solvers.solving.runner import Value


class _Amount(NamedTuple):
    """A whole number that depends on variables: `factor` times their sum."""

    factor: int
    variables: Sequence[Any]

    @property
    def value(self) -> Any:
        """The number, for the solver."""
        return self.factor * sum(self.variables)


class AuctionProgram(CpSatModel):
    """The program of a problem, its bids, and groups of nodes. Costs are minus the weights of the bids granted."""

    name = "auction"

    def __init__(self, problem: Problem, bids: Bids, groups: Sequence[Group]) -> None:
        """Make the program without an objective.

        Args:
            problem: the problem.
            bids: the bids.
            groups: all nodes on which a job bids; those of a group are in the same bids.
        """
        super().__init__()
        self.problem, self.bids, self.groups = problem, bids, groups
        self._group_of = group_of_nodes(problem, groups)
        self._granted: dict[int, list[Any]] = {}
        #: For each job and group: on how many nodes the job is, and with how many units.
        self._nodes: dict[int, dict[int, _Amount]] = {}
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
            for group in np.unique(self._group_of[bid.nodes]).tolist():
                holding.setdefault(group, []).append(variable)
        sizes = {group: len(self.groups[group].nodes) for group in holding}
        if uses_all(asking):
            # (3) and the missing link.
            nodes = {group: _Amount(sizes[group], variables) for group, variables in holding.items()}
        else:
            nodes = {group: _Amount(1, [cp.new_int_var(0, sizes[group], f"T{job},{group}")]) for group in holding}
            for group, variables in holding.items():
                # The missing link: only nodes of the bid that is granted.
                cp.add(nodes[group].value <= sizes[group] * sum(variables))
            used = sum(amount.value for amount in nodes.values())
            # (3) for a range of nodes.
            if asking.least > 1:
                cp.add(used >= asking.least * sum(granted))
            if asking.most < sum(sizes.values()):
                cp.add(used <= asking.most * sum(granted))
        self._nodes[job] = nodes
        self._units[job] = {group: self._on_group(job, group) for group in holding}
        # (4) All units, or none.
        cp.add(sum(amount.value for amount in self._units[job].values()) == asking.units * sum(granted))

    def _on_group(self, job: int, index: int) -> _Amount:
        """Return how many units a job has on a group."""
        asking, group, nodes = self.problem.askings[job], self.groups[index], self._nodes[job][index]
        room = group.rooms[job]
        if asking.each or room == 1:
            # (8), and where there is room for one unit only.
            return nodes._replace(factor=nodes.factor * (asking.each or 1))
        units = self.cp.new_int_var(0, min(asking.units, room * len(group.nodes)), f"X{job},{index}")
        # (7) A node that is used carries a unit, and no more than it has room for.
        self.cp.add(units >= nodes.value)
        self.cp.add(units <= room * nodes.value)
        return _Amount(1, [units])

    def _capacity(self) -> None:
        """Add (5) and (6), for the groups on which several jobs may meet: one alone has room where it has a bid."""
        meeting: dict[int, list[int]] = {}
        for job, groups in self._nodes.items():
            for group in groups:
                meeting.setdefault(group, []).append(job)
        for group, jobs in meeting.items():
            for axis in range(len(self.groups[group].free) if len(jobs) > 1 else 0):
                self._resource(group, axis, jobs)

    def _resource(self, index: int, axis: int, jobs: Sequence[int]) -> None:
        group = self.groups[index]
        free, count = group.free[axis], len(group.nodes)
        terms: list[Any] = []
        least: dict[int, int] = {}
        most = 0
        for job in jobs:
            asking = self.problem.askings[job]
            amount, once = int(asking.amounts[axis]), group.once(asking)[axis]
            most += amount * group.rooms[job] + once
            least[job] = group.least_use(asking)[axis]
            if amount:
                terms.append(amount * self._units[job][index].value)
            if once:
                terms.append(once * self._nodes[job][index].value)
        if most <= free:
            return
        self.cp.add(sum(terms) <= count * free)
        if count > 1:
            # Of jobs that ask for much on each node, few meet on one.
            for much in sorted({use for use in least.values() if use > 1}):
                together = [self._nodes[job][index].value for job, use in least.items() if use >= much]
                self.cp.add(sum(together) <= count * (free // much))

    def _licences(self) -> None:
        for axis, left in enumerate(self.problem.licences.tolist()):
            asked = [(int(self.problem.askings[job].licences[axis]), granted) for job, granted in self._granted.items()]
            if sum(amount for amount, _ in asked) > left:
                self.cp.add(sum(amount * variable for amount, granted in asked for variable in granted) <= left)

    # ------------------------------------------------------------------ which bids are best

    def maximising(self, weights: Weights, hint: Sketch) -> AuctionProgram:
        """Ask for the largest sum of weights, and tell the solver a plan. **This changes the program.**"""
        self._weights = weights
        self.cp.minimize(-self._sum(weights))
        self.cp.clear_hints()  # type: ignore[no-untyped-call]
        for job, granted in self._granted.items():
            share = hint.get(job)
            # Nodes and units may be sums of bids, and then have no variables of their own; a variable is told once.
            told: dict[int, tuple[Any, int]] = {}
            for group, amount in self._units[job].items():
                nodes, units = share.spread.get(group, (0, 0)) if share is not None else (0, 0)
                for own, count in ((amount, units), (self._nodes[job][group], nodes)):
                    told[own.variables[0].index] = own.variables[0], count
            for bid, variable in enumerate(granted):
                told[variable.index] = variable, int(share is not None and share.bid == bid)
            for variable, count in told.values():
                self.cp.add_hint(variable, count)
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

    def read(self, value: Value) -> tuple[Sketch, float]:
        """Return the bids granted and how they spread over the groups, and minus the sum of their weights."""

        def worth(amount: _Amount) -> int:
            return amount.factor * sum(value(variable) for variable in amount.variables)

        sketch: dict[int, Share] = {}
        for job, granted in self._granted.items():
            for bid, variable in enumerate(granted):
                if value(variable):
                    nodes, units = self._nodes[job], self._units[job]
                    spread = {group: (worth(nodes[group]), worth(units[group])) for group in nodes}
                    sketch[job] = Share(bid, {group: counts for group, counts in spread.items() if counts[0]})
        return sketch, -value_of(sketch, self._weights)
