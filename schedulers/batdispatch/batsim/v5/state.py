"""What an exchange has settled so far: the features, the profiles told, and the calls asked for."""

from __future__ import annotations

from typing import Any

from batdispatch.batsim.features import Features
from batdispatch.core.line.events import Aggregate


class ExchangeState:
    """What one exchange has settled.

    Attributes:
        features: what the decision component asked for.
        profiles: full id -> profile, of those told or registered.
        lengths: full id -> number of parts, of the sequences among them.
        workloads: those that there are; empty before the simulation has begun.
        reached: time of the last message on the simulator's own clock, s; a reply cannot be earlier.
    """

    def __init__(self) -> None:
        self.features = Features()
        self.profiles: dict[str, dict[str, Any]] = {}
        self.lengths: dict[str, int] = {}
        self.workloads: set[str] = set()
        self.reached = 0.0
        #: Name of each probe that was asked for -> how it aggregates.
        self.probes: dict[str, Aggregate] = {}
        self._calls = 0

    def add(self, workload: str, name: str, profile: dict[str, Any]) -> None:
        """Remember a profile."""
        if self.workloads:
            self.workloads.add(workload)
        self.profiles[f"{workload}!{name}"] = profile
        if profile.get("type") == "composed":
            self.lengths[f"{workload}!{name}"] = len(profile["seq"])

    def call_id(self) -> str:
        """Return a new name for a call."""
        self._calls += 1
        return str(self._calls)
