"""What came of an instance, and the account of a run."""

from __future__ import annotations

from typing import Any

import msgspec

from batdispatch.dispatchers.constraint.greedy import Plan
from batdispatch.dispatchers.constraint.instance import SCALE, Instance


class Outcome(msgspec.Struct, kw_only=True):
    """What a solver, or none, made of an instance.

    Attributes:
        plan: the best schedule known.
        status: CP-SAT's word; BOUND where a bound proves the plan optimal without it, GREEDY where nothing was proved.
        bound: a cost that no schedule undercuts.
        first: cost of the greedy first solution.
        variables, constraints: of the model built; 0 where none was.
        build_seconds, solve_seconds: wall-clock time.
        work: CP-SAT's deterministic time.
        limited: whether the wall-clock safety net ended the search, so that another machine may decide otherwise.
    """

    plan: Plan
    status: str
    bound: int
    first: int
    variables: int = 0
    constraints: int = 0
    build_seconds: float = 0.0
    solve_seconds: float = 0.0
    work: float = 0.0
    limited: bool = False

    @property
    def solved(self) -> bool:
        """Whether a schedule was found by what was to find it."""
        return self.status not in ("UNKNOWN", "INFEASIBLE", "MODEL_INVALID")


class Account:
    """Facts about every decision, and their sums.

    Attributes:
        skipped: decisions without a model, since nothing that matters had changed.
        lines: a JSON object a decision, for solver.jsonl.
    """

    def __init__(self) -> None:
        self.skipped = 0
        self.lines: list[bytes] = []
        self._counts: dict[str, int] = {}
        self._sums: dict[str, float] = {}
        self._fallbacks = 0

    def add(self, now: float, instance: Instance, outcome: Outcome, started: int, **more: int) -> None:
        """Enter a decision; `more` are counters of its own."""
        cost, bound = outcome.plan.cost, outcome.bound
        facts: dict[str, Any] = {
            "now": now,
            "jobs": len(instance.ids),
            "running": len(instance.running),
            "started": started,
            "status": outcome.status,
            "variables": outcome.variables,
            "constraints": outcome.constraints,
            "paper_variables": instance.paper_variables(),
            # In slowdown: what a plan costs is the delay's part of the sum of slowdowns.
            "delay": cost / SCALE,
            "bound": bound / SCALE,
            "gap": (cost - bound) / cost if cost else 0.0,
            "improvement": (outcome.first - cost) / outcome.first if outcome.first else 0.0,
            "build_seconds": outcome.build_seconds,
            "solve_seconds": outcome.solve_seconds,
            "work": outcome.work,
            **more,
        }
        self.lines.append(msgspec.json.encode(facts))
        self._counts[outcome.status] = self._counts.get(outcome.status, 0) + 1
        self._fallbacks += outcome.limited or not outcome.solved
        for name in ("jobs", "variables", "constraints", "gap", "improvement", "build_seconds", "solve_seconds", *more):
            self._sums[name] = self._sums.get(name, 0.0) + facts[name]

    def report(self) -> dict[str, Any]:
        """Return sums and means for result.json."""
        count = len(self.lines)
        names = ("jobs", "variables", "constraints", "gap", "improvement", "build_seconds", "solve_seconds")
        return {
            "fallbacks": self._fallbacks,
            "solved": count,
            "skipped": self.skipped,
            "statuses": dict(sorted(self._counts.items())),
            "means": {name: self._sums.get(name, 0.0) / count for name in names} if count else {},
            **{name: int(value) for name, value in self._sums.items() if name not in names},
        }
