"""Host sets of frames: ``0-3 5`` -> Allocation, quickly."""

from __future__ import annotations

from batdispatch.core.errors import FieldError, InputError
from batdispatch.core.hosts.allocation import Allocation

#: A set of hosts up to this id is kept for the next time that its text is seen: a mask takes 16 kB at most.
SMALL = 1 << 17
#: Longest text kept, and number of texts.
LONGEST_TEXT, MOST_TEXTS = 255, 1024

_kept: dict[str, Allocation] = {}


def read_hosts(text: str, field: str) -> Allocation:
    """Read a host set as runs, which take no more memory than the text: ``9999999`` as a mask takes 1.25 MB.

    Raises:
        FieldError: it is malformed.
    """
    known = _kept.get(text)
    if known is not None:
        return known
    try:
        allocation = Allocation.parse(text)
    except InputError as problem:
        raise FieldError(field, text, f"intervals of host ids such as '0-3 5' ({problem})") from None
    if len(text) <= LONGEST_TEXT and allocation.bounds[-1:] <= (SMALL,):
        if len(_kept) >= MOST_TEXTS:
            _kept.clear()
        _kept[text] = allocation
    return allocation
