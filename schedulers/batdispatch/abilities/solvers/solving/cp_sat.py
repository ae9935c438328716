"""CP-SAT, the constraint solver of OR-Tools, as a backend of models."""

from __future__ import annotations

import math

from ortools.sat.python import cp_model

from batdispatch.abilities.solvers.solving.runner import Answer, Limits
from batdispatch.core.errors import BatdispatchError

_WORDS = {cp_model.OPTIMAL: "OPTIMAL", cp_model.FEASIBLE: "FEASIBLE", cp_model.INFEASIBLE: "INFEASIBLE"}


class CpSatModel:
    """A CP-SAT model with an objective of whole numbers, to be minimised. A subclass adds `read` (see `Model`).

    Attributes:
        cp: the model.
    """

    #: What the model is called in messages.
    name = "unnamed"
    #: Whether the search branches by the model's decision strategies alone.
    follows_rule = False

    def __init__(self) -> None:
        self.cp = cp_model.CpModel()

    def size(self) -> tuple[int, int]:
        """Return the numbers of variables and constraints as CP-SAT counts them, intervals among the latter."""
        proto = self.cp.proto
        return len(proto.variables), len(proto.constraints)

    def solve(self, limits: Limits) -> Answer:
        """Solve the model with one worker. Time: bounded by the limits; reading the answer is linear in the variables.

        Raises:
            BatdispatchError: CP-SAT refuses the model.
        """
        solver = cp_model.CpSolver()
        solver.parameters.num_workers = 1
        solver.parameters.random_seed = limits.seed % 2**31
        solver.parameters.max_deterministic_time = limits.work
        solver.parameters.max_time_in_seconds = limits.wall
        # With one worker, the default search has hardly any linear relaxation of cumulatives.
        solver.parameters.linearization_level = 2
        if self.follows_rule:
            solver.parameters.search_branching = cp_model.FIXED_SEARCH
        status = solver.solve(self.cp)
        if status == cp_model.MODEL_INVALID:
            raise BatdispatchError(f"CP-SAT refuses the {self.name} model: {self.cp.validate()[:200]}")
        word = _WORDS.get(status, "UNKNOWN")
        incumbent = word in ("OPTIMAL", "FEASIBLE")
        return Answer(
            status=word,
            # Costs are whole, the solver's bound is a float.
            bound=math.ceil(solver.best_objective_bound - 1e-6) if incumbent else -math.inf,
            work=solver.response_proto.deterministic_time,
            stopped=word in ("FEASIBLE", "UNKNOWN") and solver.wall_time >= limits.wall,
            value=solver.value if incumbent else None,
        )
