"""Reads series from CSV files: caps on power, prices, carbon intensities.

The first line names the columns. The first column says from when on each value holds: in seconds of simulated time, or
as dates of ISO 8601, which all have the same offset from UTC, or all none. The first date is 0 s, unless `origin` says
which one is. The value is in the column that `FILE:COLUMN` names, else in the second one.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from batdispatch.abilities.power.machine.series import Series
from batdispatch.core.errors import InputError
from batdispatch.core.numerals import number_of
from batdispatch.inputs.files import read_all
from batdispatch.inputs.named_files import place_of

#: Largest share of a step by which another one may differ: seconds are often rounded.
_UNEVEN = 1e-6
#: Largest value: products of larger ones and of times may be no number.
_LARGEST = 1e15


def read_series(files: Sequence[tuple[str, bool]], origin: str = "") -> list[Series]:
    """Read the series that texts `FILE` or `FILE:COLUMN` name.

    Args:
        files: each text, and whether all steps must be equally long: then a longer one is a hole.
        origin: the date of 0 s, as in the files; empty: the first date, which is the same in all of them.

    Raises:
        InputError: a file cannot be read, has no such column, or a value or moment is missing, malformed, out of order,
            or in another time zone.
    """
    zero = None
    if origin and (zero := _date(origin)) is None:
        raise InputError(f"found origin={origin[:40]!r}, expected a date of ISO 8601 such as 2026-01-31T00:00Z")
    series = []
    for text, even in files:
        moments = _Moments(zero, chosen=bool(origin))
        series.append(_read(text, even, moments))
        zero = moments.zero
    return series


def _read(text: str, even: bool, moments: _Moments) -> Series:
    name, _, column = text.rpartition(":") if not Path(place_of(text)).is_file() and ":" in text else (text, "", "")
    moments.source = name
    rows = _rows(name)
    index = _column(rows[0] if rows else [], column, name)
    times, values = list[float](), list[float]()
    for number, row in enumerate(rows[1:], 2):
        if len(row) > len(rows[0]):
            found = f"found {len(row)} fields, expected {len(rows[0])} as in line 1"
            raise InputError(found, source=name, place=f"line {number}")
        if row:
            times.append(moments.read(row[0], number))
            values.append(_value(row[index] if index < len(row) else "", number, name))
            _check_step(times, even, number, name)
    if not times:
        raise InputError("found no row below the names of the columns, expected at least one", source=name)
    return Series(times, values)


def _rows(path: str) -> list[list[str]]:
    try:
        return list(csv.reader(io.StringIO(read_all(place_of(path))[0].decode("utf-8-sig"), newline="")))
    except csv.Error as problem:
        raise InputError(f"found no CSV: {problem}, expected one moment and its values a line", source=path) from None
    except UnicodeDecodeError as problem:
        place = f"byte {problem.start}"
        raise InputError(f"found {problem.reason}, expected UTF-8", source=path, place=place) from None


def _column(header: list[str], column: str, source: str) -> int:
    names = [name.strip() for name in header]
    wanted = column or (names[1] if len(names) > 1 else "")
    if not wanted or wanted not in names[1:]:
        expected = f"a column {column!r} behind the first one" if column else "at least two columns, with names"
        raise InputError(f"found {','.join(names)[:80]!r}, expected {expected}", source=source, place="line 1")
    if (count := names[1:].count(wanted)) > 1:
        found = f"found {count} columns {wanted[:40]!r}, expected one"
        raise InputError(found, source=source, place="line 1")
    return names.index(wanted, 1)


def _value(text: str, line: int, source: str) -> float:
    value = number_of(text)
    if not 0 <= value <= _LARGEST:
        expected = f"a number of at least 0{f' and at most {_LARGEST:g}' if value > _LARGEST else ''}"
        expected += "" if text.strip() else ": the series has a hole"
        raise InputError(f"found {text.strip()[:40]!r}, expected {expected}", source=source, place=f"line {line}")
    return value


def _check_step(times: list[float], even: bool, line: int, source: str) -> None:
    """Check that the last moment is later than the one before and, if all steps are equal, no hole lies between."""
    if len(times) < 2:
        return
    step = times[-1] - times[-2]
    first = times[1] - times[0]
    if step <= 0:
        found = f"a moment {-step:g} s before that of the line before" if step else "the moment of the line before"
        raise InputError(f"found {found}, expected a later one", source=source, place=f"line {line}")
    if even and abs(step - first) > _UNEVEN * first:
        raise InputError(
            f"found {step:g} s since the line before, expected {first:g} s as between the first two: the series has "
            "a hole or uneven steps",
            source=source,
            place=f"line {line}",
        )


class _Moments:
    """Reads the moments of one file, all of which have the form of the first one."""

    def __init__(self, zero: datetime | None, *, chosen: bool) -> None:
        """Take the date of 0 s, if there is one, and whether a user chose it, rather than the first date of a file."""
        self.source, self.zero, self._chosen = "", zero, chosen
        #: Whether there are dates, and the offset from UTC, of the first moment and so of all others.
        self._form: tuple[bool, object] | None = None

    def read(self, text: str, line: int) -> float:
        """Return a moment in s of simulated time."""
        date = None if _is_number(text) else _date(text)
        if date is None and not _is_number(text):
            raise self._error(text, "seconds, or a date of ISO 8601 such as 2026-01-31T00:00Z", line)
        form = (date is not None, None if date is None else date.utcoffset())
        if self._form is None:
            self._form = form
            self._begin(text, date, line)
        if form != self._form:
            raise self._error(text, f"{_form_text(self._form)} as in line 2: convert all dates to one time zone", line)
        if date is None:
            return float(text)
        assert self.zero is not None, "the first date sets it"
        return (date - self.zero).total_seconds()

    def _begin(self, text: str, date: datetime | None, line: int) -> None:
        """Check the first moment against the date of 0 s, or let it be that."""
        if self.zero is None:
            self.zero = date
        elif date is None and self._chosen:
            raise self._error(text, f"a date, since origin={self.zero.isoformat()} is one", line)
        elif date is not None and date.utcoffset() != self.zero.utcoffset():
            form = _form_text((True, self.zero.utcoffset()))
            raise self._error(text, f"{form}, as the date of 0 s, {self.zero.isoformat()}, has", line)
        elif date is not None and date != self.zero and not self._chosen:
            expected = f"{self.zero.isoformat()}, with which another series begins, or the option origin"
            raise self._error(text, expected, line)

    def _error(self, text: str, expected: str, line: int) -> InputError:
        return InputError(f"found {text.strip()[:40]!r}, expected {expected}", source=self.source, place=f"line {line}")


def _form_text(form: tuple[bool, object]) -> str:
    dated, offset = form
    if not dated:
        return "seconds"
    return "a date without time zone" if offset is None else f"a date with the offset {offset} from UTC"


def _is_number(text: str) -> bool:
    return abs(number_of(text)) <= _LARGEST


def _date(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text.strip())
    except ValueError:
        return None
