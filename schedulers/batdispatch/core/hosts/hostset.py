"""Sets of host ids as bit masks: bit i is set when host i is in the set.

Python's integers give union, intersection and difference of a 128-host set in about 50 ns and of a 93,312-host set in
under a microsecond, where an interval-set object takes tens of microseconds. ``Allocation.hosts`` converts to a ProcSet
where an algebra of intervals is more comfortable.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from batdispatch.core.errors import InputError

#: Largest host id accepted from outside; a mask needs one bit per possible id, so this bounds memory.
MAX_HOST_ID = 10_000_000
#: Runs of a mask that are cheaper to find one by one.
_FEW_RUNS = 16
#: Width in bits from which halving pays.
_SMALL = 256


def mask_of(ids: Iterable[int]) -> int:
    """Return the mask whose set bits are `ids`. Linear in the number of ids plus the largest id.

    Raises:
        InputError: an id is negative or above `MAX_HOST_ID`.
    """
    listed = list(ids)
    if not listed:
        return 0
    if min(listed) < 0 or max(listed) > MAX_HOST_ID:
        wrong = min(listed) if min(listed) < 0 else max(listed)
        raise InputError(f"host id {wrong} is not a whole number from 0 to {MAX_HOST_ID}")
    data = bytearray((max(listed) >> 3) + 1)
    for host in listed:
        data[host >> 3] |= 1 << (host & 7)
    return int.from_bytes(data, "little")


def runs(mask: int) -> Iterator[tuple[int, int]]:
    """Yield the maximal runs ``(first, last)`` of consecutive ids of a mask, in ascending order."""
    base = 0
    for _ in range(_FEW_RUNS):
        if not mask:
            return
        low = mask & -mask
        skip = low.bit_length() - 1
        mask >>= skip
        length = (mask ^ (mask + 1)).bit_length() - 1
        base += skip
        yield base, base + length - 1
        mask >>= length
        base += length
    # Each run above costs a pass over the whole mask; for the many that are left, one pass finds them all.
    data = np.frombuffer(mask.to_bytes((mask.bit_length() >> 3) + 1, "little"), dtype=np.uint8)
    bits = np.unpackbits(data, bitorder="little").view(np.int8)
    edges = np.diff(bits, prepend=np.int8(0)).nonzero()[0] + base
    yield from zip(edges[::2].tolist(), (edges[1::2] - 1).tolist(), strict=True)


def ids(mask: int) -> list[int]:
    """Return the ids of a mask in ascending order."""
    return [host for first, last in runs(mask) for host in range(first, last + 1)]


def flags_of(mask: int, count: int) -> NDArray[np.bool_]:
    """Return which of the ids 0, ..., `count` - 1 are in a mask that holds no others, bool [id]."""
    data = np.frombuffer(mask.to_bytes((count + 7) >> 3, "little"), dtype=np.uint8)
    return np.unpackbits(data, count=count, bitorder="little").view(np.bool_)


def mask_of_flags(flags: NDArray[np.bool_]) -> int:
    """Return the mask of the ids that are flagged, bool [id]."""
    return int.from_bytes(np.packbits(flags, bitorder="little").tobytes(), "little")


def lowest(mask: int, count: int) -> int:
    """Return the mask of the `count` lowest ids of `mask`, which must hold at least that many.

    Linear in the largest id (and independent of the number of runs), by halving the range in which the last id lies.
    """
    if count == 0:
        return 0
    part, offset, left = mask, 0, count
    width = part.bit_length()
    while width > _SMALL:
        half = width >> 1
        low = part & ((1 << half) - 1)
        inside = low.bit_count()
        if inside >= left:
            part, width = low, half
        else:
            left -= inside
            part >>= half
            offset += half
            width -= half
    while part:
        first = part & -part
        run = part & ~(part + first)
        length = run.bit_length() - first.bit_length() + 1
        if length >= left:
            return mask & ((1 << (offset + first.bit_length() - 1 + left)) - 1)
        part ^= run
        left -= length
    raise ValueError("lowest() was asked for more ids than the mask holds")


def at_most(mask: int, count: int) -> int:
    """Return the mask of the `count` lowest ids of `mask`, of all if it holds fewer, and of none below 0."""
    return lowest(mask, max(min(count, mask.bit_count()), 0))


def lowest_run(mask: int, count: int) -> int | None:
    """Return the mask of the lowest `count` consecutive ids of `mask`, or None if it has no such run."""
    for first, last in runs(mask):
        if last - first + 1 >= count:
            return ((1 << count) - 1) << first
    return None


def to_text(mask: int) -> str:
    """Return Batsim's notation of a host set: intervals separated by spaces, such as ``0-3 5``."""
    return " ".join(str(a) if a == b else f"{a}-{b}" for a, b in runs(mask))


def intervals(text: str) -> Iterator[tuple[int, int]]:
    """Yield the intervals ``(first, last)`` of a host set in Batsim's notation, as written; commas are accepted too.

    Raises:
        InputError: the text is not a set of intervals, or an id is above `MAX_HOST_ID`.
    """
    for part in text.replace(",", " ").split():
        first, dash, last = part.partition("-")
        if not (first.isascii() and first.isdigit() and (not dash or (last.isascii() and last.isdigit()))):
            raise InputError(f"host set {text!r}: {part!r} is not a host id or an interval such as 0-3")
        if len(first) > 9 or len(last) > 9:
            raise InputError(f"host set {text!r}: {part!r} is beyond the largest host id {MAX_HOST_ID}")
        a = int(first)
        b = int(last) if dash else a
        if b < a or b > MAX_HOST_ID:
            raise InputError(f"host set {text!r}: {part!r} is not an ascending interval of ids up to {MAX_HOST_ID}")
        yield a, b


def from_text(text: str) -> int:
    """Read a host set in Batsim's notation.

    Raises:
        InputError: see `intervals`.
    """
    mask = 0
    for first, last in intervals(text):
        mask |= (1 << (last + 1)) - (1 << first)
    return mask
