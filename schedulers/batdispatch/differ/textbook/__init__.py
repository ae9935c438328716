"""The common policies as their papers define them, simulated naively, and what implementations do otherwise."""

from batdispatch.differ.textbook.jobs import ENDLESS, Asked, microseconds, seconds
from batdispatch.differ.textbook.rules import POLICIES, Rules
from batdispatch.differ.textbook.simulation import Parted, simulate

__all__ = ["ENDLESS", "POLICIES", "Asked", "Parted", "Rules", "microseconds", "seconds", "simulate"]
