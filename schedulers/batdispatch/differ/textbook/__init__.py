"""The common policies as their papers define them, simulated naively, and what implementations do otherwise."""

from batdispatch.differ.textbook.jobs import ENDLESS, RigidJob, microseconds, seconds
from batdispatch.differ.textbook.rules import POLICIES, Rules
from batdispatch.differ.textbook.simulation import Departure, simulate

__all__ = ["ENDLESS", "POLICIES", "Departure", "RigidJob", "Rules", "microseconds", "seconds", "simulate"]
