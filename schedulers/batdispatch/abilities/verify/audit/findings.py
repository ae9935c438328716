"""What an audit found wrong with a run, and the words and tolerances of a run's files."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeGuard

#: Final states, with Batsim's names.
SUCCESS, FAILED = "COMPLETED_SUCCESSFULLY", "COMPLETED_FAILED"
WALLTIME, KILLED, REJECTED = "COMPLETED_WALLTIME_REACHED", "COMPLETED_KILLED", "REJECTED"
STATES = (SUCCESS, FAILED, WALLTIME, KILLED, REJECTED)

#: Names of files in a run's folder.
RECORDING, UNITS, LINEAGE = "decisions.jsonl", "units.csv", "lineage.csv"
DECISION_TIMES, NETWORK = "decision_times.csv", "network.csv"

#: Times in a jobs file have six decimals. So two times that should be equal differ by up to 1e-6 s, and a difference of
#: two by up to 1.5e-6 s.
TOLERANCE = 2e-6
#: Seconds within which a run time counts as its profile's. At large times the clock of a simulator is coarser.
RUNTIME_TOLERANCE = 1e-4
#: Seconds that Batsim writes for a job that took none.
NO_TIME = 1e-5
#: Relative difference below which two values of a metric are the same.
SAME_VALUE = 1e-9


def is_number(value: Any) -> TypeGuard[float]:
    """Return whether a JSON value is a number; true and false are none."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def is_amount(value: Any) -> TypeGuard[float]:
    """Return whether a JSON value is a number from 0, and finite."""
    return is_number(value) and 0 <= value < math.inf


def part(said: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Return an object within a JSON object; what is none has nothing in it."""
    value = said.get(name)
    return value if isinstance(value, dict) else {}


def alike(one: Any, other: Any, relative: float = 1e-12, absolute: float = 1e-6) -> bool:
    """Return whether two JSON values mean the same: numbers to six decimals, as Batsim prints them, or as stated."""
    if is_number(one) and is_number(other):
        return bool(one == other) or math.isclose(one, other, rel_tol=relative, abs_tol=absolute)
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(alike(value, other[name]) for name, value in one.items())
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(alike, one, other))
    return bool(one == other)


def full_name(workload: str, name: str) -> str:
    """Return ``workload!name`` for a name that may begin with a workload."""
    return name if "!" in name else f"{workload}!{name}"


def short(value: Any, most: int = 80) -> str:
    """Return a value as a message shows it, in up to so many characters."""
    text = repr(value)
    return text if len(text) <= most else text[: most - 3] + "..."


class Fault(NamedTuple):
    """One thing that a rule finds wrong: what was found and what was expected, and where.

    Attributes:
        row: of the jobs file; -1: it is about no row.
        time: seconds; None: the start of the row's job, if it ran.
        job: name of a job that is not in the jobs file, or whose row is not known.
    """

    message: str
    row: int = -1
    host: str = ""
    time: float | None = None
    job: str = ""


@dataclass(frozen=True)
class Violation:
    """One thing that is wrong with a run: the rule that is broken, what was found and what was expected, and where.

    Attributes:
        job: id as in the jobs file; empty when it is about no job, as `host` when it is about none.
        time: seconds; None when it is about no time.
    """

    kind: str
    message: str
    job: str = ""
    host: str = ""
    time: float | None = None

    def __str__(self) -> str:
        time = "" if self.time is None else f"{self.time:.6f}"
        parts = [f"{name} {text}" for name, text in (("job", self.job), ("host", self.host), ("time", time)) if text]
        return ": ".join([self.kind, *([", ".join(parts)] if parts else []), self.message])


@dataclass
class Findings:
    """Violations, counted all and kept up to a bound for each kind, so that a hopeless file does not fill the memory.

    Attributes:
        limit: most violations kept of a kind.
        kept: the violations, in the order of the rules.
        counts: kind -> how many there are.
        checked: the rules that could be checked.
        skipped: the rules that could not, with the reason.
        undone: what was to be made again and was not, with the reason; without it nobody knows that all is well.
    """

    limit: int = 100
    kept: list[Violation] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    checked: list[str] = field(default_factory=list)
    skipped: dict[str, str] = field(default_factory=dict)
    undone: dict[str, str] = field(default_factory=dict)

    @property
    def total(self) -> int:
        """Number of violations, those beyond the bound too."""
        return sum(self.counts.values())

    def add(self, violation: Violation) -> None:
        """Count a violation, and keep it if there is room."""
        self.counts[violation.kind] += 1
        if self.counts[violation.kind] <= self.limit:
            self.kept.append(violation)

    def merge(self, other: Findings) -> None:
        """Add what another look at the same run found."""
        for violation in other.kept:
            self.add(violation)
        self.counts += other.counts - Counter(violation.kind for violation in other.kept)
        self.checked += other.checked
        self.skipped |= other.skipped
        self.undone |= other.undone
