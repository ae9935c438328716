"""How a name goes away: it works on for a while, and says what to use instead and until when.

The manual's page "What may be relied on" states the rules. Each deprecated name is written down once, as a
`DeprecatedName`. Whoever still uses it hears the same sentence, as a ``DeprecationWarning`` or on a terminal.
"""

from __future__ import annotations

import warnings
from typing import NamedTuple


class DeprecatedName(NamedTuple):
    """A name that goes away.

    Attributes:
        name: as people write it.
        instead: what to write in its place.
        since: the release that deprecates it.
        until: the first release that may be without it.
    """

    name: str
    instead: str
    since: str
    until: str

    def __str__(self) -> str:
        return f"{self.name} is deprecated since {self.since} and may be gone in {self.until}: use {self.instead}"

    @classmethod
    def after(cls, since: str, name: str, instead: str) -> DeprecatedName:
        """Return a name that a release deprecates, and that works in the next minor release, too."""
        major, minor, _ = since.split(".")
        return cls(name, instead, since, f"{major}.{int(minor) + 2}.0")

    def warn(self, *, stacklevel: int = 2) -> None:
        """Issue a ``DeprecationWarning`` for the code that used the name.

        Args:
            stacklevel: 2 for the caller of the function that calls this, and one more for each call between.
        """
        warnings.warn(str(self), DeprecationWarning, stacklevel=stacklevel + 1)
