"""Records of a log that cannot be read: a few are left out and named, many mean that the log is another one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from batdispatch.core.errors import InputError
from batdispatch.inputs.log_options import LogOptions
from batdispatch.inputs.workloads.report import EXAMPLES, ImportReport

#: How many records may be bad in any log, and in one of so many records, unless `LogOptions.bad_records` says it.
_FEW, _SHARE = 10, 0.005
#: From so many bad records on, a log is not read to its end if most of it was bad so far.
_ENOUGH = 1000
_REASON = "that cannot be read (--bad-records)"


class BadRecords:
    """Counts bad records; `conclude` refuses the log if they are too many."""

    def __init__(self, source: str, options: LogOptions, report: ImportReport) -> None:
        self._source, self._allowed, self._report = source, options.bad_records, report
        self._first: list[InputError] = []
        self._count = 0

    @contextmanager
    def tolerated(self) -> Iterator[None]:
        """Count what is wrong with one record, which has been counted as a record already.

        Raises:
            InputError: it is one bad record too many.
        """
        try:
            yield
        except InputError as problem:
            self.add(problem)

    def add(self, problem: InputError) -> None:
        """Count a bad record, which has been counted as a record already.

        Raises:
            InputError: it is one too many.
        """
        self._count += 1
        if len(self._first) < EXAMPLES:
            self._first.append(problem)
        self._report.drop(_REASON, problem.place.removeprefix("job "))
        hopeless = self._allowed is None and self._count > _ENOUGH and 2 * self._count > self._report.records
        if hopeless or (self._allowed is not None and self._count > self._allowed):
            self._refuse()

    def conclude(self) -> None:
        """Name the bad records of a log that is read.

        Raises:
            InputError: they are too many, or there is no other record.
        """
        if not self._count:
            return
        few = max(_FEW, int(_SHARE * self._report.records))
        if (self._allowed is None and self._count > few) or self._count >= self._report.records:
            self._refuse()
        for problem in self._first:
            self._report.notes.append(f"left out: {f'{problem.place}: ' if problem.place else ''}{problem.message}")

    def _refuse(self) -> None:
        first = self._first[0]
        if self._count > 1:
            more = f"; with {self._count:,} such records the log is refused (--bad-records N lets N go)"
            raise InputError(f"{first.message}{more}", source=first.source, place=first.place)
        raise first
