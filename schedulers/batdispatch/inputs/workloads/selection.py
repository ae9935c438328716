"""``--select KEY=VALUE``: which jobs of a log."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from typing import Any

from batdispatch.core.errors import InputError
from batdispatch.core.line.options import did_you_mean
from batdispatch.core.numerals import TIME_UNITS, time_of
from batdispatch.inputs.workloads.dates import LogDates
from batdispatch.inputs.workloads.logs import Selection
from batdispatch.inputs.workloads.moments import Clock, time_zone

_FIELDS = {"first": "first", "from": "start", "to": "end", "users": "users"}
_OPTION = "option --select"
_DATE = re.compile(r"\d{4}-")


def parse_time(text: str, option: str) -> float:
    """Read seconds, or a number with a unit: ``90``, ``12h``, ``30d``.

    Raises:
        InputError: it is neither.
    """
    number, unit = time_of(text)
    value = number * TIME_UNITS[unit or "s"]
    if not math.isfinite(value):
        raise InputError(f"{text!r} is no time, expected seconds or a number with s, m, min, h, d or w", source=option)
    return value


def parse_moment(text: str, option: str, dates: LogDates | None) -> float:
    """Read a moment on a workload's clock: as `parse_time`, or a date in the zone of its log.

    Raises:
        InputError: it is neither, or a date although the log had none.
    """
    if _DATE.match(text) is None:
        return parse_time(text, f"option {option}")
    if dates is None:
        raise InputError("this workload has no dates, expected seconds or 30d, 2w, ...", source=f"option {option}")
    return _parse_date(text, dates.zone, f"option {option}") - dates.begin


def _parse_date(text: str, zone: str, option: str) -> float:
    try:
        return Clock(time_zone(zone) if zone else None).read(text)
    except (ValueError, OverflowError):
        raise InputError(
            f"{text!r} is no date, expected for instance 2026-03-01 or 2026-03-01T12:00", source=option
        ) from None


def parse_selection(texts: Iterable[str], *, zone: str = "") -> Selection:
    """Read selections, each given at most once.

    Args:
        texts: ``KEY=VALUE``.
        zone: time zone of dates; empty: read as they stand, as those of a log without one are.

    Raises:
        InputError: a key is unknown or repeated, or its value has no meaning.
    """
    found: dict[str, Any] = {}
    for text in texts:
        key, equals, value = text.partition("=")
        if not equals or key not in _FIELDS:
            raise InputError(f"{text!r}, expected KEY=VALUE: {did_you_mean(key, _FIELDS)}", source=_OPTION)
        if _FIELDS[key] in found:
            raise InputError(f"{key!r} is given twice", source=_OPTION)
        if key == "first":
            if not (value.isascii() and value.isdigit() and 0 < len(value) < 12 and int(value) > 0):
                raise InputError(f"first={value!r}, expected a whole number from 1", source=_OPTION)
            found["first"] = int(value)
        elif key == "users":
            names = frozenset(name.strip() for name in value.split(",") if name.strip())
            if not names:
                raise InputError("users= names no user, expected for instance users=3,17", source=_OPTION)
            found["users"] = names
        elif _DATE.match(value):
            found["dated"] = True
            found[_FIELDS[key]] = _parse_date(value, zone, f"{_OPTION} {key}")
        else:
            found[_FIELDS[key]] = parse_time(value, f"{_OPTION} {key}")
    selection = Selection(**found)
    if selection.start >= selection.end:
        raise InputError(f"from={selection.start:g} is not before to={selection.end:g}", source=_OPTION)
    return selection
