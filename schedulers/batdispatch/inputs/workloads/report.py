"""What an importer did to a log: nothing is dropped or altered without a count and a reason."""

from __future__ import annotations

from typing import Any

import msgspec

#: Job ids shown as examples of each reason.
EXAMPLES = 5


class Tally(msgspec.Struct):
    """How many records one reason concerns, and the first few of them."""

    count: int = 0
    examples: list[str] = []

    def add(self, example: str) -> None:
        """Count a record more."""
        self.count += 1
        if example and len(self.examples) < EXAMPLES:
            self.examples.append(example)


class ImportReport(msgspec.Struct):
    """The account of one import: ``records == kept + sum of dropped``."""

    source: str
    format: str
    #: Job records in the log.
    records: int = 0
    #: Jobs in the workload.
    kept: int = 0
    #: Reason -> records left out.
    dropped: dict[str, Tally] = {}
    #: What was done -> records altered or worth a look; some of them may be dropped for another reason.
    changed: dict[str, Tally] = {}
    #: Facts about the log and the machine.
    notes: list[str] = []

    def drop(self, reason: str, job: str) -> None:
        """Count a record that is left out."""
        self.dropped.setdefault(reason, Tally()).add(job)

    def change(self, what: str, job: str) -> None:
        """Count a record that is altered or worth a look."""
        self.changed.setdefault(what, Tally()).add(job)

    def as_dict(self) -> dict[str, Any]:
        """Return the report as JSON-ready values."""
        plain: dict[str, Any] = msgspec.to_builtins(self)
        return plain

    def as_text(self) -> str:
        """Return the report as lines for a terminal."""
        lines = [f"{self.source} ({self.format}): {self.records:,} records, {self.kept:,} jobs kept"]
        for title, tallies in (("dropped", self.dropped), ("note", self.changed)):
            for reason, tally in tallies.items():
                shown = ", ".join(tally.examples)
                more = ", ..." if tally.count > len(tally.examples) else ""
                examples = f" (jobs {shown}{more})" if shown else ""
                lines.append(f"  {title}: {tally.count:,} {reason}{examples}")
        lines.extend(f"  {note}" for note in self.notes)
        return "\n".join(lines)
