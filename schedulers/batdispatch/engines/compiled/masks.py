"""Sets of hosts as bits of 64-bit words: what plans keep for each of their steps."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from batdispatch.engines.compiled.jit import part

#: uint64 [word]; host i is bit ``i % 64`` of word ``i // 64``.
Mask = NDArray[np.uint64]

_NONE, _ONE = np.uint64(0), np.uint64(1)
_FIVES, _THREES = np.uint64(0x5555555555555555), np.uint64(0x3333333333333333)
_NIBBLES, _BYTE = np.uint64(0x0F0F0F0F0F0F0F0F), np.uint64(0xFF)
_SHIFT_1, _SHIFT_2, _SHIFT_4 = np.uint64(1), np.uint64(2), np.uint64(4)
_SHIFT_8, _SHIFT_16, _SHIFT_32 = np.uint64(8), np.uint64(16), np.uint64(32)


@part
def bits(word: np.uint64) -> int:
    """Return how many bits of a word are set."""
    word = word - ((word >> _SHIFT_1) & _FIVES)
    word = (word & _THREES) + ((word >> _SHIFT_2) & _THREES)
    word = (word + (word >> _SHIFT_4)) & _NIBBLES
    word = word + (word >> _SHIFT_8)
    word = word + (word >> _SHIFT_16)
    word = word + (word >> _SHIFT_32)
    return np.int64(word & _BYTE)


@part
def size(mask: Mask) -> int:
    """Return how many hosts a set has."""
    found = 0
    for word in mask:
        found += bits(word)
    return found


@part
def meet_size(one: Mask, other: Mask) -> int:
    """Return how many hosts two sets have in common."""
    found = 0
    for index in range(len(one)):
        found += bits(one[index] & other[index])
    return found


@part
def copy(source: Mask, target: Mask) -> None:
    """Make a set the same as another one."""
    for index in range(len(source)):
        target[index] = source[index]


@part
def meet(target: Mask, other: Mask) -> None:
    """Leave in a set only the hosts that another one has as well."""
    for index in range(len(target)):
        target[index] &= other[index]


@part
def join(target: Mask, other: Mask) -> None:
    """Add the hosts of another set."""
    for index in range(len(target)):
        target[index] |= other[index]


@part
def remove(target: Mask, other: Mask) -> None:
    """Take out the hosts of another set."""
    for index in range(len(target)):
        target[index] &= ~other[index]


@part
def same(one: Mask, other: Mask) -> bool:
    """Return whether two sets have the same hosts."""
    for index in range(len(one)):  # noqa: SIM110 - compiled
        if one[index] != other[index]:
            return False
    return True


@part
def within(inner: Mask, outer: Mask) -> bool:
    """Return whether a set has all hosts of another one, `inner`."""
    for index in range(len(inner)):  # noqa: SIM110 - compiled
        if inner[index] & ~outer[index] != _NONE:
            return False
    return True


@part
def lowest(mask: Mask, count: int) -> None:
    """Leave in a set only its so many lowest hosts; it has as many."""
    for index in range(len(mask)):
        word = mask[index]
        here = bits(word)
        if here <= count:
            count -= here
            continue
        kept = np.uint64(0)
        while count > 0:
            low = word & (~word + _ONE)
            kept |= low
            word ^= low
            count -= 1
        mask[index] = kept


@part
def write_runs(mask: Mask, first: NDArray[np.int32], last: NDArray[np.int32], at: int) -> int:
    """Write the runs of consecutive hosts of a set from `at` on, ascending; return where they end."""
    open_run = False
    for index in range(len(mask)):
        word = mask[index]
        if word == _NONE and not open_run:
            continue
        for bit in range(64):
            host = index * 64 + bit
            if (word >> np.uint64(bit)) & _ONE != _NONE:
                if not open_run:
                    first[at] = host
                    open_run = True
            elif open_run:
                last[at] = host - 1
                at += 1
                open_run = False
    if open_run:
        last[at] = len(mask) * 64 - 1
        at += 1
    return at
