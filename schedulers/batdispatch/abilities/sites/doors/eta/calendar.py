"""Dates of starts, in the zone of the people who wait."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from typing import NamedTuple
from zoneinfo import ZoneInfo

from batdispatch.inputs.log_options import LogReading
from batdispatch.inputs.workloads.dates import known_zone
from batdispatch.inputs.workloads.moments import time_zone

#: Clocks that show less, in seconds since 1970, count from a moment of their own: they have no dates.
_EARLIEST = 315_532_800.0


class Calendar(NamedTuple):
    """Tells the date of each moment of a clock."""

    #: Seconds since 1970 at which the clock shows 0.
    begin: float
    #: Name in the tz database; empty: the clock shows local time of a zone that has no name here.
    zone: str

    def date(self, moment: float) -> str | None:
        """Return a moment, s, in ISO 8601, with the zone's offset if there is a zone; None: it has no date."""
        seconds = moment + self.begin
        if not _EARLIEST <= seconds < math.inf:
            return None
        try:
            date = datetime.fromtimestamp(round(seconds), ZoneInfo(self.zone) if self.zone else UTC)
        except (OverflowError, ValueError, OSError):
            # Beyond the year 9999.
            return None
        return (date if self.zone else date.replace(tzinfo=None)).isoformat()


#: Of a clock that counts from a moment of its own.
NO_DATES = Calendar(0.0, "")


def calendar_of_queue(reading: LogReading, zoned: bool, zone: str) -> Calendar:
    """Return the calendar of a queue.

    Args:
        reading: says the zone, if anything does.
        zoned: whether the queue's times are seconds since 1970.
        zone: of the accounts; empty: they name none.
    """
    if reading.time_zone:
        return Calendar(0.0, time_zone(reading.time_zone).key)
    return Calendar(0.0, known_zone(zone) if zoned else "")
