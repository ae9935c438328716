"""Solving models: one runner, one account of what it cost, and one file for each solver."""

from batdispatch.parts.solving.account import Account
from batdispatch.parts.solving.effort import Effort
from batdispatch.parts.solving.runner import Answer, Limits, Model, SolverResult, result_without_solver, run

__all__ = ["Account", "Answer", "Effort", "Limits", "Model", "SolverResult", "result_without_solver", "run"]
