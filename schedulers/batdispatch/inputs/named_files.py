"""Where files are that options name, such as a series of prices: a run's own may have moved since."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

#: Where the files of a run are now whose names lead elsewhere by now, by name.
_PLACES: ContextVar[Mapping[str, Path | None] | None] = ContextVar("places", default=None)


@contextmanager
def files_at(places: Mapping[str, Path | None]) -> Iterator[None]:
    """Read files from these places, by the names that options have for them; None: where the name leads."""
    token = _PLACES.set(places)
    try:
        yield
    finally:
        _PLACES.reset(token)


def place_of(name: str) -> str:
    """Return where a file is that an option names."""
    return str((_PLACES.get() or {}).get(name) or name)
