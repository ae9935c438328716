"""Dates and times as logs write them, to seconds."""

from __future__ import annotations

import math
import re
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from batdispatch.core.errors import InputError

_EPOCH = datetime(1970, 1, 1)
_ISO = re.compile(
    r"(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d)(?::(\d\d)([.,]\d{1,9})?)?\s?(Z|z|[+-]\d\d:?\d\d)?|(\d{4}-\d\d-\d\d)", re.ASCII
)
_NUMBER = re.compile(r"-?\d{1,15}(?:\.\d{1,9})?", re.ASCII)
#: ``[D-]HH:MM:SS[.mmm]``, ``MM:SS[.mmm]`` and, as Slurm reads them, ``D-HH`` and ``D-HH:MM``.
_DURATION = re.compile(r"(?:(\d{1,7})-)?(\d{1,9})(?::(\d{1,9}))?(?::(\d{1,9}))?(\.\d{1,9})?", re.ASCII)


def time_zone(name: str) -> ZoneInfo:
    """Return a time zone of the tz database, such as ``Europe/Berlin``.

    Raises:
        InputError: there is none of this name here.
    """
    try:
        return ZoneInfo(name)
    except (OSError, ValueError):
        # ZoneInfoNotFoundError is a KeyError.
        pass
    except KeyError:
        pass
    raise InputError(
        f"{name[:60]!r} is no time zone of this machine's tz database, expected for instance Europe/Berlin or UTC",
        source="option --time-zone",
    )


class Clock:
    """A log's clock: texts to seconds since 1970.

    A text without a zone is local time in `zone`. Without a zone it is read as it stands, as if clocks never changed:
    differences are then wrong by an hour wherever a clock did.

    Attributes:
        unzoned: whether a text without a zone was read while no zone was given.
        repeated: how many texts fell into an hour that the clock repeats; the first of the two is taken.
        skipped: how many texts fell into an hour that the clock skips.
    """

    def __init__(self, zone: ZoneInfo | None = None, *, pattern: str = "") -> None:
        """Make a clock.

        Args:
            zone: of texts that name none.
            pattern: as of ``strptime``; empty: ISO 8601 or a number of seconds since 1970.
        """
        self._zone = zone
        self._pattern = pattern
        #: Date and time to the minute -> seconds since 1970 and what is remarkable about it, 0 nothing.
        self._minutes: dict[str, tuple[float, int]] = {}
        self.unzoned = False
        self.repeated = 0
        self.skipped = 0

    def read(self, text: str) -> float:
        """Return seconds since 1970.

        Raises:
            ValueError: the text is no date and time.
        """
        # The usual form, 2026-11-22T13:26:06, a million times a log.
        if not self._pattern and len(text) == 19 and text[16] == ":":
            seconds = text[17:]
            known = self._minutes.get(text[:16])
            if known is not None and seconds.isascii() and seconds.isdigit() and seconds <= "60":
                if known[1]:
                    self._count(known[1])
                return known[0] + int(seconds)
        return self._read(text)

    def _read(self, text: str) -> float:
        if self._pattern:
            moment = datetime.strptime(text, self._pattern)
            if moment.tzinfo is not None:
                return moment.timestamp()
            return self._local(f"{moment:%Y-%m-%d %H:%M}") + moment.second + moment.microsecond * 1e-6
        if _NUMBER.fullmatch(text):
            return float(text)
        match = _ISO.fullmatch(text)
        if match is None:
            raise ValueError(text)
        date, minute, second, fraction, offset, day = match.groups()
        if day is not None:
            return self._local(f"{day} 00:00")
        if second is not None and int(second) > 60:
            raise ValueError(text)
        rest = int(second or 0) + (float("0." + fraction[1:]) if fraction else 0.0)
        if offset is None:
            # The text itself is the key, as `read` looks for it.
            return self._local(text[:16]) + rest
        moment = datetime.fromisoformat(f"{date} {minute}").replace(tzinfo=UTC)
        if offset not in "Zz":
            ahead = timedelta(hours=int(offset[1:3]), minutes=int(offset[-2:]))
            moment = moment + ahead if offset[0] == "-" else moment - ahead
        return moment.timestamp() + rest

    def _local(self, minute: str) -> float:
        """Return the seconds at the beginning of a minute of local time, ``2026-11-22 13:26``, and keep them."""
        known = self._minutes.get(minute)
        if known is None:
            moment = datetime.fromisoformat(minute)
            if self._zone is None:
                self.unzoned = True
                known = (moment - _EPOCH).total_seconds(), 0
            else:
                first, second = (moment.replace(tzinfo=self._zone, fold=fold) for fold in (0, 1))
                change = (first.utcoffset() or timedelta()) - (second.utcoffset() or timedelta())
                known = first.timestamp(), (change > timedelta()) - (change < timedelta())
            self._minutes[minute] = known
        self._count(known[1])
        return known[0]

    def days_later(self, moment: float, days: int) -> float:
        """Return when the clock shows the same hour as at a moment, so many days later; seconds since 1970."""
        if self._zone is None:
            return moment + 86_400.0 * days
        return (datetime.fromtimestamp(moment, self._zone) + timedelta(days=days)).timestamp()

    def weekday(self, moment: float) -> int:
        """Return the day of the week at a moment, which is in seconds since 1970; Monday is 0."""
        if self._zone is None:
            # 1970 began on a Thursday.
            return int(moment // 86_400.0 + 3) % 7
        return datetime.fromtimestamp(moment, self._zone).weekday()

    def _count(self, remarkable: int) -> None:
        if remarkable > 0:
            self.repeated += 1
        elif remarkable < 0:
            self.skipped += 1

    def remarks(self) -> list[str]:
        """Return sentences about what could not be told from the texts."""
        found = []
        if self.unzoned:
            found.append("times without a zone are read as they stand; --time-zone NAME takes account of clock changes")
        if self.repeated:
            found.append(
                f"{self.repeated:,} times lie in an hour that the clock repeats: taken as the first of the two"
            )
        if self.skipped:
            found.append(f"{self.skipped:,} times lie in an hour that the clock skips: is the time zone right?")
        return found


def read_duration(text: str) -> float:
    """Return seconds of ``[D-]HH:MM:SS[.mmm]``, ``MM:SS[.mmm]``, ``D-HH`` or ``D-HH:MM``.

    Raises:
        ValueError: the text is none of these.
    """
    match = _DURATION.fullmatch(text)
    if match is None:
        raise ValueError(text)
    days, *parts, fraction = match.groups()
    numbers = [int(part) for part in parts if part is not None]
    if days is not None:
        hours, minutes, seconds = (*numbers, 0, 0)[:3]
    elif len(numbers) == 1:
        raise ValueError(text)
    else:
        hours, minutes, seconds = (0, *numbers)[-3:]
    total = ((int(days or 0) * 24 + hours) * 60 + minutes) * 60 + seconds + float("0" + (fraction or ""))
    if not math.isfinite(total):
        raise ValueError(text)
    return float(total)
