"""What an audit found wrong with a run."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple


class Fault(NamedTuple):
    """One thing that a rule finds wrong, before it is known which rule.

    Attributes:
        message: what was found and what was expected.
        row: of the jobs file; -1: it is about no row.
        host: name of the host; empty when it is about none.
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
    """One thing that is wrong with a run.

    Attributes:
        kind: short name of the rule that is broken.
        message: what was found and what was expected.
        job: id as in the jobs file; empty when it is about no job.
        host: name of the host; empty when it is about none.
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
    counts: dict[str, int] = field(default_factory=dict)
    checked: list[str] = field(default_factory=list)
    skipped: dict[str, str] = field(default_factory=dict)
    undone: dict[str, str] = field(default_factory=dict)

    @property
    def total(self) -> int:
        """Number of violations, those beyond the bound too."""
        return sum(self.counts.values())

    def add(self, violation: Violation) -> None:
        """Count a violation, and keep it if there is room."""
        count = self.counts.get(violation.kind, 0)
        self.counts[violation.kind] = count + 1
        if count < self.limit:
            self.kept.append(violation)

    def merge(self, other: Findings) -> None:
        """Add what another look at the same run found."""
        for violation in other.kept:
            self.add(violation)
        for kind, count in other.counts.items():
            self.counts[kind] += count - sum(violation.kind == kind for violation in other.kept)
        self.checked += other.checked
        self.skipped |= other.skipped
        self.undone |= other.undone
