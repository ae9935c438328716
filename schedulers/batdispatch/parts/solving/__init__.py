"""Solving models: one runner, one account of what it cost, and one file for each solver."""

from batdispatch.parts.solving.account import Account
from batdispatch.parts.solving.runner import Answer, Found, Limits, Model, run, settled

__all__ = ["Account", "Answer", "Found", "Limits", "Model", "run", "settled"]
