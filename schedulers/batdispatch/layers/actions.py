"""What a resizing layer has done, counted for the run's result."""

from __future__ import annotations

from typing import Any


class Actions:
    """Counts checks and resizes, and how long the resizes took."""

    def __init__(self) -> None:
        self.checks = 0
        #: Expansions that found no nodes in time.
        self.dropped = 0
        #: Action -> seconds of each.
        self.seconds: dict[str, list[float]] = {"expand": [], "shrink": []}

    def did(self, kind: str, seconds: float) -> None:
        """Count a resize that takes some seconds."""
        self.seconds[kind].append(seconds)

    def report(self) -> dict[str, Any]:
        """Return the counts for result.json, with least, mean and largest seconds of each action."""
        found: dict[str, Any] = {"checks": self.checks, "dropped_expansions": self.dropped}
        for kind, times in self.seconds.items():
            found[kind] = {"count": len(times)}
            if times:
                found[kind] |= {"least": min(times), "mean": sum(times) / len(times), "most": max(times)}
        return found
