"""A setting of slurm.conf, with the file and the line that it stands in, and what its text may mean."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import NamedTuple, NoReturn

from batdispatch.abilities.sites.doors.slurm_texts import read_limit
from batdispatch.core.errors import InputError
from batdispatch.core.hosts.names import expand, split_list
from batdispatch.core.machine.site import PreemptMode
from batdispatch.core.numerals import number_of

#: How Slurm writes yes and no.
_TRUTH = {"YES": True, "TRUE": True, "UP": True, "1": True, "NO": False, "FALSE": False, "DOWN": False, "0": False}
#: How Slurm writes that there is no limit.
_ENDLESS = frozenset({"UNLIMITED", "INFINITE", "-1", "4294967295"})
#: Largest whole number that is believed: Slurm's INFINITE64 is far above it.
_MOST = 2**53


class Setting(NamedTuple):
    """``KEY=VALUE`` in a file.

    Attributes:
        key: as the file spells it.
        value: without quotes.
        source: the file.
        line: from 1; 0: it stands in no file.
    """

    key: str
    value: str
    source: str
    line: int

    def refuse(self, expected: str) -> NoReturn:
        """Say that the value is not what was expected.

        Raises:
            InputError: always, with file and line.
        """
        raise self.error(f"{self.key} is {self.value[:60]!r}, expected {expected}")

    def error(self, message: str) -> InputError:
        """Return an error about this setting, with file and line."""
        return InputError(message, source=self.source, place=f"line {self.line}" if self.line else "")

    def whole(self, least: int = 0) -> int:
        """Return a whole number, at least `least`.

        Raises:
            InputError: it is none.
        """
        text = self.value
        if not (text.isascii() and text.isdigit() and len(text) < 17 and least <= int(text) <= _MOST):
            self.refuse(f"a whole number, at least {least}")
        return int(text)

    def whole_or_none(self, least: int = 0) -> int | None:
        """Return a whole number, or None for ``UNLIMITED``, ``INFINITE`` and ``-1``.

        Raises:
            InputError: it is none of these.
        """
        return None if self.value.upper() in _ENDLESS else self.whole(least)

    def truth(self) -> bool:
        """Return what YES or NO (TRUE, FALSE, 1, 0, UP, DOWN) say.

        Raises:
            InputError: it is none of these.
        """
        found = _TRUTH.get(self.value.upper())
        if found is None:
            self.refuse("YES or NO")
        return found

    def seconds(self) -> float:
        """Return a length of time whose bare numbers are minutes, in seconds: infinite if unlimited, or for ``NONE``.

        Raises:
            InputError: it is none.
        """
        try:
            seconds = math.inf if self.value.upper() == "NONE" else read_limit(self.value, minutes=True)
        except ValueError:
            seconds = None
        if seconds is None:
            self.refuse("minutes, or a time such as 1-12:30:00, or UNLIMITED")
        return seconds

    def grace(self) -> float:
        """Return a time in seconds, where a plain number is seconds and not minutes.

        Raises:
            InputError: it is none.
        """
        return float(self.value) if self.value.isascii() and self.value.isdigit() else self.seconds()

    def number(self) -> float:
        """Return a number, at least 0.

        Raises:
            InputError: it is none.
        """
        number = number_of(self.value)
        if not (math.isfinite(number) and number >= 0):
            self.refuse("a number, at least 0")
        return number

    def preempt_mode(self) -> PreemptMode:
        """Return what becomes of preempted jobs; empty: it is not said."""
        told = self.value.upper().split(",")
        modes: tuple[PreemptMode, ...] = ("off", "cancel", "requeue", "suspend")
        return next((mode for mode in modes if mode.upper() in told), "")

    def words(self) -> tuple[str, ...]:
        """Return the parts between commas that stand in no brackets."""
        return tuple(part for part in split_list(self.value) if part)

    def hosts(self) -> Iterator[str]:
        """Yield the names that a list such as ``n[1-4,7],login1`` stands for, in its order.

        Raises:
            InputError: it is no such list.
        """
        try:
            yield from expand(*self.words())
        except InputError as problem:
            raise self.error(f"{self.key}: {problem.message}") from None

    def parameters(self) -> tuple[Setting, ...]:
        """Return the parts of ``SchedulerParameters=bf_interval=60,defer``, each as a setting of its own.

        A part without ``=`` has an empty value.
        """
        pairs = (part.partition("=") for part in self.words())
        return tuple(Setting(key.strip(), value.strip(), self.source, self.line) for key, _, value in pairs)


#: What one line says beside its first setting, by the key in small letters.
Settings = Mapping[str, Setting]
