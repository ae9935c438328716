"""The dates behind a workload's clock, as far as its log said them.

A log's clock shows 0 at ``UnixStartTime`` of its origin, in seconds since 1970 as in SWF's header. ``time_origin`` is
what the log's clock shows when the workload's shows 0.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import msgspec

#: Seconds since 1970 between which a log begins. Before 1980 its clock was never set: many SWF files say 0.
_EARLIEST, _LATEST = 315_532_800.0, 1e11
#: Seconds between two moments at which a zone is asked for its offset, and what all changes of clocks are multiples of.
_STEP, _HALF_HOUR = 7 * 86_400, 1800


class LogDates(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """When a workload's clock shows 0, and in which time zone its people lived.

    Attributes:
        begin: seconds since 1970 at which the clock shows 0.
        zone: name in the tz database; UTC if the log names none that is known here.
    """

    begin: float
    zone: str = "UTC"

    def text(self, moment: float) -> str:
        """Return a moment of the workload's clock, s, as a date and time of the zone."""
        return datetime.fromtimestamp(moment + self.begin, ZoneInfo(self.zone)).isoformat(" ", "seconds")

    def offsets(self, first: float, last: float) -> list[tuple[float, float]]:
        """Return from when on local time is ahead of UTC by how much: (moment on the workload's clock, offset), in s.

        Args:
            first: moment of the first entry, on the workload's clock.
            last: moment after which no change is told.
        """
        zone = ZoneInfo(self.zone)
        found = [(first, _offset(zone, first + self.begin))]
        moment = first + self.begin
        while moment < last + self.begin:
            ahead = moment + _STEP
            if (offset := _offset(zone, ahead)) != found[-1][1]:
                hours = range(int(moment // _HALF_HOUR) + 1, int(ahead // _HALF_HOUR) + 2)
                changed = hours[bisect_left(hours, True, key=lambda hour: _offset(zone, hour * _HALF_HOUR) == offset)]
                found.append((changed * _HALF_HOUR - self.begin, offset))
            moment = ahead
        return found


def dates_of(about: Mapping[str, Any]) -> LogDates | None:
    """Return the dates of a workload by what its file says of itself; None: it has none."""
    origin = about.get("origin")
    told = origin if isinstance(origin, dict) else {}
    parts = [told.get(name) for name in ("UnixStartTime", "time_origin")]
    if not all(isinstance(part, int | float) and abs(part) < _LATEST for part in parts):
        return None
    begin = float(sum(part for part in parts if part is not None))
    return LogDates(begin=begin, zone=known_zone(told.get("TimeZoneString"))) if begin >= _EARLIEST else None


def known_zone(zone: object) -> str:
    """Return the name of a time zone, or UTC if it names none that is known here."""
    try:
        return ZoneInfo(str(zone)).key if zone else "UTC"
    except (KeyError, OSError, ValueError):
        return "UTC"


def _offset(zone: ZoneInfo, moment: float) -> float:
    return (datetime.fromtimestamp(moment, zone).utcoffset() or timedelta()).total_seconds()
