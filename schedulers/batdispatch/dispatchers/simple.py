"""The field's simple orderings under EASY: what a dispatcher has to beat before it counts as good."""

from __future__ import annotations

import re
from collections.abc import Iterable

from batdispatch.core.line.options import parse_named

#: What stands for `SIMPLE` in a list of dispatchers, with options for all of them in brackets if any.
NAME = "simple"
#: Orderings by a formula of what a job asks for and how long it has waited.
ORDERINGS = ("unicef", "wfp3", "f1", "f2", "f3", "f4", "aged-area", "smallest-area")
#: EASY in order of arrival, and with each simple ordering.
SIMPLE = ("easy", *(f"easy[ordering={name}]" for name in ORDERINGS), "easy[backfill=sjf]")
#: In words, for sentences.
WORDS = "unicef, wfp3, f1 to f4, aged-area, smallest-area or sjf"
_MENTION = re.compile(rf"\b({'|'.join((*ORDERINGS, 'sjf'))})\b".replace("-", " "))
#: Orderings of ours that have another one inside.
_GUARDS = ("guarded", "late")


def is_set(text: str) -> bool:
    """Return whether an entry of a list stands for all of `SIMPLE`."""
    return text.strip().partition("[")[0] == NAME


def expand(text: str) -> list[str]:
    """Return the dispatchers that an entry of a list stands for: ``simple[prediction=last-two]`` stands for several.

    Raises:
        InputError: the text has another form.
    """
    if not is_set(text):
        return [text]
    common = [f"{key}={value}" for key, value in parse_named(text)[1].items()]
    each = ((name, [f"{key}={value}" for key, value in own.items()] + common) for name, own in map(parse_named, SIMPLE))
    return [f"{name}[{','.join(inside)}]" if inside else name for name, inside in each]


def has_simple(names: Iterable[str]) -> bool:
    """Return whether a simple ordering is among dispatchers, as tables call them."""
    lowered = [name.lower().replace("-", " ") for name in names]
    return any(_MENTION.search(name) and not any(guard in name for guard in _GUARDS) for name in lowered)
