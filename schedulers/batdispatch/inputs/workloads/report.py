"""What an importer did to a log: nothing is dropped or altered without a count and a reason."""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

#: Job ids shown as examples of each reason.
EXAMPLES = 5


class Tally(msgspec.Struct):
    """How many records one reason concerns, and the first few of them."""

    count: int = 0
    examples: list[str] = []

    def add(self, *examples: str, count: int = 1) -> None:
        """Count records more."""
        self.count += count
        self.examples += [each for each in examples if each][: EXAMPLES - len(self.examples)]


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


class Sieve:
    """Rules that go through many records at once; the report reads as if they had gone from record to record.

    Attributes:
        kept: which records no rule has dropped so far, bool [record].
    """

    def __init__(self, report: ImportReport, names: Sequence[str]) -> None:
        """Take all records, given by the ids of their jobs."""
        self.kept = np.ones(len(names), dtype=np.bool_)
        self._report, self._names = report, names
        #: First record, tallies, reason, number of records, and the first few.
        self._found: list[tuple[int, dict[str, Tally], str, int, list[int]]] = []

    def drop(self, reason: str, which: NDArray[np.bool_]) -> None:
        """Leave out records, bool [record], unless they were left out before."""
        self._note(self._report.dropped, reason, which)
        self.kept &= ~which

    def change(self, what: str, which: NDArray[np.bool_]) -> None:
        """Note records that are altered or worth a look, bool [record], unless they were left out before."""
        self._note(self._report.changed, what, which)

    def _note(self, tallies: dict[str, Tally], reason: str, which: NDArray[np.bool_]) -> None:
        rows = np.flatnonzero(which & self.kept)
        if len(rows):
            self._found.append((int(rows[0]), tallies, reason, len(rows), rows[:EXAMPLES].tolist()))

    def tell(self) -> NDArray[np.int64]:
        """Count in the report what was noted, and return the records that are kept."""
        for _, tallies, reason, count, rows in sorted(self._found, key=itemgetter(0)):
            tallies.setdefault(reason, Tally()).add(*(self._names[row] for row in rows), count=count)
        return np.flatnonzero(self.kept)
