"""What each decision of a planning dispatcher cost and what it gained: the lines of solver.jsonl and their sums.

A decision for which a solver was to find a solution and found none has no cost, gap and improvement (null).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from batdispatch.abilities.solvers.solving.runner import SolverResult

#: Facts of which the report gives the means.
_MEANS = ("variables", "constraints", "gap", "improvement", "build_seconds", "solve_seconds")


class Account:
    """Facts about every decision, and their sums.

    Attributes:
        skipped: decisions that needed no plan, since nothing that matters had changed.
        lines: one JSON object per decision, for solver.jsonl.
    """

    def __init__(self, unit: float = 1.0) -> None:
        """Begin an account; costs and bounds are divided by `unit`."""
        self.skipped = 0
        self.lines: list[bytes] = []
        self._unit = unit
        self._counts: dict[str, int] = {}
        self._means: dict[str, tuple[float, int]] = {}
        self._sums: dict[str, int] = {}
        self._fallbacks = self._beyond = 0

    def add(
        self,
        now: float,
        found: SolverResult[Any],
        facts: Mapping[str, float],
        counters: Mapping[str, int] | None = None,
    ) -> None:
        """Enter a decision.

        Args:
            now: simulated time, s.
            found: the solution of its problem, and how it was found.
            facts: further figures that the family knows; the report gives their means.
            counters: further counts that the family keeps; the report gives their sums.
        """
        # Where a solver found nothing, what is carried out is not what it found.
        none = not found.solved
        figures: dict[str, float | None] = {
            "variables": found.variables,
            "constraints": found.constraints,
            "cost": None if none else found.cost / self._unit,
            "bound": found.bound / self._unit,
            "gap": None if none else found.gap,
            "improvement": None if none else found.improvement,
            "build_seconds": found.build_seconds,
            "solve_seconds": found.solve_seconds,
            "work": found.work,
        }
        counts = dict(counters or {})
        if found.beyond:
            facts = {**facts, "beyond_limit": 1}
        line = {"now": now, "status": found.status, **figures, **facts, **counts}
        self.lines.append(msgspec.json.encode(line))
        self._counts[found.status] = self._counts.get(found.status, 0) + 1
        self._fallbacks += found.limited or not found.solved
        self._beyond += found.beyond
        for name in (*_MEANS, *(fact for fact in facts if fact != "beyond_limit")):
            value = figures[name] if name in figures else facts[name]
            if value is not None:
                total, number = self._means.get(name, (0.0, 0))
                self._means[name] = total + value, number + 1
        for name, count in counts.items():
            self._sums[name] = self._sums.get(name, 0) + count

    def report(self) -> dict[str, Any]:
        """Return sums and means for result.json; gap and improvement are means over what was found.

        planned: decisions for which a plan was made; statuses: how many of them by the solver's word; fallbacks: how
        many of them without a solution of the solver, or cut short by the wall-clock limit; skipped: see above. Where
        there are any, beyond_limit: for how many of them a search was ended, or not begun, since all effort together
        came to a multiple of the limit.
        """
        beyond = {}
        if self._beyond:
            times = "1 decision" if self._beyond == 1 else f"{self._beyond:,} decisions"
            told = f"the search for {times} was ended at ten times its limit or not begun: its model takes that long"
            beyond = {"beyond_limit": self._beyond, "warnings": [told]}
        return {
            "fallbacks": self._fallbacks,
            "planned": len(self.lines),
            "skipped": self.skipped,
            "statuses": dict(sorted(self._counts.items())),
            "means": {name: total / number for name, (total, number) in self._means.items()},
            **self._sums,
            **beyond,
        }
