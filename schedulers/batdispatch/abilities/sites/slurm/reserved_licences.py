"""Which licences running jobs and the reservations of a backfill pass take, and when: what bf_licenses adds."""

from __future__ import annotations

from collections.abc import Sequence


class ReservedLicences:
    """The licences of one pass. Times in seconds, amounts along the machine's licences."""

    def __init__(self, total: Sequence[int]) -> None:
        self._total = total
        #: (start, end, amounts).
        self._taken: list[tuple[float, float, Sequence[int]]] = []

    def add(self, amounts: Sequence[int], start: float, end: float) -> None:
        """Take licences from a start to an end."""
        self._taken.append((start, end, amounts))

    def missing_until(self, amounts: Sequence[int], start: float, end: float) -> float:
        """Return when to look again, if these licences are not left all the time; 0: they are."""
        for moment in sorted({start, *(begin for begin, _, _ in self._taken if start < begin < end)}):
            taken = [entry for entry in self._taken if entry[0] <= moment < entry[1]]
            sums = map(sum, zip(amounts, *(entry[2] for entry in taken), strict=True))
            if any(asked > there for asked, there in zip(sums, self._total, strict=True)):
                return min((until for _, until, _ in taken), default=0.0)
        return 0.0
