"""What hears of long work while it goes on."""

from __future__ import annotations

from collections.abc import Sequence


class Listener:
    """Hears of a call while it works, and does nothing about it; a subclass shows what it wants to."""

    def progress(self, label: str, done: int, total: int) -> None:
        """Hear that so much of a piece of work is done, in any unit; it is over when all of it is."""

    def note(self, text: str) -> None:
        """Hear what was done and why, such as which platform was made."""

    def warn(self, text: str) -> None:
        """Hear of what is remarkable and no error."""

    def failed(self, label: str, why: str) -> None:
        """Hear that one run of several failed; the others go on."""

    def kept(self, labels: Sequence[str]) -> None:
        """Hear which runs were there already, made from the same inputs by the same code."""


#: Nobody hears.
SILENT = Listener()
