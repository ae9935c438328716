"""The common policies as their papers define them, simulated naively, and what implementations do otherwise."""

from batdispatch.abilities.verify.differ.textbook.jobs import ENDLESS, RigidJob, microseconds, seconds
from batdispatch.abilities.verify.differ.textbook.rules import POLICIES, Rules
from batdispatch.abilities.verify.differ.textbook.simulation import Departure, simulate

__all__ = ["ENDLESS", "POLICIES", "Departure", "RigidJob", "Rules", "microseconds", "seconds", "simulate"]
