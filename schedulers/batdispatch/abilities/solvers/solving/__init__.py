"""Solving models: one runner, one account of what it cost, and one file for each solver."""

from batdispatch.abilities.solvers.solving.account import Account
from batdispatch.abilities.solvers.solving.effort import Effort
from batdispatch.abilities.solvers.solving.runner import Answer, Limits, Model, SolverResult, result_without_solver, run

__all__ = ["Account", "Answer", "Effort", "Limits", "Model", "SolverResult", "result_without_solver", "run"]
