"""What names of jobs and profiles may hold."""

from __future__ import annotations

from collections.abc import Sequence

from batdispatch.core.errors import InputError

#: Longest job id and profile name, in characters.
MAX_NAME = 256
#: What Batsim's messages or csv files cannot carry inside a name.
MARKS = ',"!'


def check_name(name: str, what: str, source: str, place: str) -> None:
    """Refuse names that Batsim's messages or csv files cannot carry.

    Raises:
        InputError: the name is empty, too long, or holds a comma, a quote, an exclamation mark or a control character.
    """
    if not name or len(name) > MAX_NAME or not name.isprintable() or any(mark in name for mark in MARKS):
        shown = repr(name) if len(repr(name)) <= 60 else repr(name)[:57] + "..."
        raise InputError(
            f"{what} name {shown}: expected 1 to {MAX_NAME} printable characters without comma, double quote "
            "and exclamation mark",
            source=source,
            place=place,
        )


def are_names(texts: Sequence[str]) -> bool:
    """Return whether `check_name` would let all of some texts pass, in a tenth of the time."""
    together = "".join(texts)
    return (
        together.isprintable()
        and not any(mark in together for mark in MARKS)
        and all(texts)
        and max(map(len, texts), default=0) <= MAX_NAME
    )
