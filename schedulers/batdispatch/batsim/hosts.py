"""Host sets of one frame: ``0-3 5`` -> Allocation, quickly and within bounded memory."""

from __future__ import annotations

from batdispatch.core.errors import FieldError, InputError
from batdispatch.core.hosts.allocation import Allocation

#: A set of hosts up to this id is kept for the next time that its text is seen (16 kB each at most).
SMALL = 1 << 17
#: Number of texts kept.
MOST_TEXTS = 1024
#: Bits that the large host sets of one frame may take together (64 MB): ``9999999`` in seven bytes takes 1.25 MB.
BUDGET = 1 << 29

_kept: dict[str, Allocation] = {}


class HostSets:
    """Reads the host sets of one frame."""

    __slots__ = ("_spent",)

    def __init__(self) -> None:
        self._spent = 0

    def read(self, text: str, field: str) -> Allocation:
        """Read a host set.

        Raises:
            FieldError: it is malformed, or the frame's sets are too large.
        """
        known = _kept.get(text)
        if known is not None:
            return known
        try:
            allocation = Allocation.parse(text)
        except InputError as problem:
            raise FieldError(field, text, f"intervals of host ids such as '0-3 5' ({problem})") from None
        size = allocation.mask.bit_length()
        if size <= SMALL:
            if len(_kept) >= MOST_TEXTS:
                _kept.clear()
            if len(text) < 256:
                _kept[text] = allocation
        else:
            self._spent += size
            if self._spent > BUDGET:
                raise FieldError(field, text, "host sets that fit in 64 MB together")
        return allocation
