"""Sets of numbers as bits of 64-bit words: what plans keep for each of their steps."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from batdispatch.engines.compiled.jit import part

#: Bits of a word.
WORD = 64
#: uint64 [word]; number i is bit ``i % 64`` of word ``i // 64``.
Mask = NDArray[np.uint64]

# Sets may have more words than are in use: functions of two sets are told how many they are to look at.

NONE, _ONE = np.uint64(0), np.uint64(1)
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
def lowest_bit(word: np.uint64) -> np.uint64:
    """Return the lowest bit of a word that is not 0."""
    return word & (~word + _ONE)


@part
def place(bit: np.uint64) -> int:
    """Return the place of a single bit."""
    return bits(bit - _ONE)


@part
def has(mask: Mask, number: int) -> bool:
    """Return whether a number is in a set."""
    return (mask[number // WORD] >> np.uint64(number % WORD)) & _ONE != NONE


@part
def enter(mask: Mask, number: int) -> None:
    """Put a number into a set."""
    mask[number // WORD] |= _ONE << np.uint64(number % WORD)


@part
def clear(mask: Mask, number: int) -> None:
    """Take a number out of a set."""
    mask[number // WORD] &= ~(_ONE << np.uint64(number % WORD))


@part
def copy(source: Mask, target: Mask, words: int) -> None:
    """Make a set the same as another one."""
    for index in range(words):
        target[index] = source[index]


@part
def meet(target: Mask, other: Mask, words: int) -> None:
    """Leave in a set only the numbers that another one has as well."""
    for index in range(words):
        target[index] &= other[index]


@part
def join(target: Mask, other: Mask, words: int) -> None:
    """Add the numbers of another set."""
    for index in range(words):
        target[index] |= other[index]


@part
def remove(target: Mask, other: Mask, words: int) -> None:
    """Take out the numbers of another set."""
    for index in range(words):
        target[index] &= ~other[index]


@part
def same_sets(one: Mask, other: Mask, words: int) -> bool:
    """Return whether two sets have the same numbers."""
    for index in range(words):  # noqa: SIM110 - compiled
        if one[index] != other[index]:
            return False
    return True


@part
def within(inner: Mask, outer: Mask, words: int) -> bool:
    """Return whether a set has all numbers of another one, `inner`."""
    for index in range(words):  # noqa: SIM110 - compiled
        if inner[index] & ~outer[index] != NONE:
            return False
    return True


@part
def leave_lowest(mask: Mask, count: int) -> None:
    """Leave in a set only its so many lowest numbers; it has as many."""
    for index in range(len(mask)):
        word = mask[index]
        here = bits(word)
        if here <= count:
            count -= here
            continue
        kept = NONE
        while count > 0:
            low = lowest_bit(word)
            kept |= low
            word ^= low
            count -= 1
        mask[index] = kept
