"""HiGHS, the linear solver that comes with SciPy, for the linear relaxations of CP-SAT's models."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from ortools.sat.python import cp_model
from scipy.optimize import linprog
from scipy.sparse import csr_array, vstack

from batdispatch.abilities.solvers.solving.effort import Effort

#: Deterministic seconds that an entry of a model takes to be read, and to be presolved each time.
READ_SECONDS, PRESOLVE_SECONDS = 1e-5, 2e-6
#: Deterministic seconds that an iteration of the simplex method takes by itself, and for each entry.
ITERATION, OF_ENTRY = 5e-5, 4e-9
#: A side of a row beyond this has no limit.
_FREE = 2.0**61


class RelaxedOptimum(NamedTuple):
    """The optimum of a linear relaxation.

    Attributes:
        cost: about the least one; as exact as floating point is. Minus infinity if the search was cut short.
        values: of the variables, by their indices, float64 [variable].
    """

    cost: float
    values: NDArray[np.float64]


class Relaxation:
    """The linear relaxation of a CP-SAT model with a linear objective.

    Constraints that are not linear, or hold only under a condition, are left out.
    """

    def __init__(self, model: cp_model.CpModel) -> None:
        """Read the model. Time: linear in its entries."""
        proto = model.proto
        domains = [list(variable.domain) for variable in proto.variables]
        self._bounds = np.array([(domain[0], domain[-1]) for domain in domains], dtype=np.float64)
        rows: list[int] = []
        columns: list[int] = []
        factors: list[int] = []
        sides: list[tuple[int, int]] = []
        for constraint in proto.constraints:
            if constraint.has_linear() and not len(constraint.enforcement_literal):
                linear = constraint.linear
                rows += [len(sides)] * len(linear.vars)
                columns += linear.vars
                factors += linear.coeffs
                domain = list(linear.domain)
                sides.append((domain[0], domain[-1]))
        shape = len(sides), len(domains)
        matrix = csr_array((np.array(factors, dtype=np.float64), (rows, columns)), shape=shape)
        low, high = np.array(sides, dtype=np.float64).reshape(-1, 2).T
        equal = low == high
        above, below = ~equal & (high < _FREE), ~equal & (low > -_FREE)
        self._most = csr_array(vstack((matrix[above], -matrix[below])))
        self._most_side = np.concatenate((high[above], -low[below]))
        self._equal, self._equal_side = matrix[equal], low[equal]
        self._cost = np.zeros(len(domains))
        np.add.at(self._cost, list(proto.objective.vars), np.array(proto.objective.coeffs, dtype=np.float64))
        self._offset = float(proto.objective.offset)
        #: Costs as large as priorities are beyond the solver's tolerances.
        self._scale = max(float(np.abs(self._cost).max(initial=0.0)), 1.0)

    def solve(self, within: Mapping[int, tuple[float, float]], effort: Effort) -> RelaxedOptimum | None:
        """Solve the relaxation by the simplex method, with one worker; None: it has no solution.

        The answer is deterministic, unless the wall-clock limit ends the search.

        Args:
            within: further bounds of some variables, by their indices.
            effort: of the decision. **What the iterations take is added.**
        """
        entries = self._most.nnz + self._equal.nnz
        if not effort.spend(entries * PRESOLVE_SECONDS):
            return RelaxedOptimum(-math.inf, np.zeros(len(self._cost)))
        iteration = ITERATION + OF_ENTRY * entries
        began = effort.clock()
        bounds = self._bounds.copy()
        for variable, (least, most) in within.items():
            bounds[variable] = max(bounds[variable, 0], least), min(bounds[variable, 1], most)
        answer = linprog(
            self._cost / self._scale,
            A_ub=self._most,
            b_ub=self._most_side,
            A_eq=self._equal,
            b_eq=self._equal_side,
            bounds=bounds,
            method="highs-ds",
            options={"maxiter": int(effort.left / iteration), "time_limit": effort.limits.wall},
        )
        effort.solve_seconds += effort.clock() - began
        effort.spent += answer.nit * iteration
        if answer.status == 1:
            late = "ime limit" in answer.message
            effort.limited |= late
            effort.beyond |= not late
            return RelaxedOptimum(-math.inf, np.zeros(len(self._cost)))
        return RelaxedOptimum(answer.fun * self._scale + self._offset, answer.x) if answer.status == 0 else None
