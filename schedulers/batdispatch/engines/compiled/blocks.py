"""Hosts in blocks: consecutive hosts that have been in the same sets ever since, and count as one in a plan.

A set of hosts is a set of blocks, so that what a plan costs follows the number of jobs that cut the machine into blocks
and not the number of hosts. CEA-Curie's 93,312 hosts are some 2,000 blocks where 700 jobs wait. A block is cut in two
where a job takes a part of it; from time to time, those that belong together in all sets are joined again.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from batdispatch.engines.compiled import masks
from batdispatch.engines.compiled.jit import part
from batdispatch.engines.compiled.masks import WORD, Mask
from batdispatch.engines.compiled.state import Counts, Ints

Masks = NDArray[np.uint64]


class Blocks(NamedTuple):
    """The blocks. A block has a number, which is that of its bit in a mask; bits that no block has are 0 everywhere."""

    #: int64 [1]: how many blocks there are.
    count: Ints
    #: By number: first host, and how many there are.
    first: Counts
    size: Counts
    #: The numbers in the order of their hosts.
    order: Counts
    #: Number of hosts.
    hosts: int
    #: Whether each host is a block of its own, from the first on.
    single: bool


def blocks_of(first: Ints, size: Ints, most: int) -> Blocks:
    """Return blocks that are numbered in the order of their hosts.

    Args:
        first: int64 [block], first host of each, ascending.
        size: int64 [block], number of hosts.
        most: so many blocks there is room for, a multiple of 64.
    """
    count = len(first)
    blocks = Blocks(
        count=np.array([count]),
        first=np.zeros(most, dtype=np.int32),
        size=np.zeros(most, dtype=np.int32),
        order=np.zeros(most, dtype=np.int32),
        hosts=int(size.sum()),
        single=bool((size == 1).all()),
    )
    blocks.first[:count], blocks.size[:count], blocks.order[:count] = first, size, np.arange(count)
    return blocks


@part
def count_missing(blocks: Blocks, mask: Mask, other: Mask, words: int, most: int) -> int:
    """Return how many hosts of a set another one lacks in so many words; above `most`, perhaps a smaller number."""
    found = 0
    if blocks.single:
        for index in range(words):
            found += masks.bits(mask[index] & ~other[index])
        return found
    for index in range(words):
        word = mask[index] & ~other[index]
        while word:
            low = masks.lowest_bit(word)
            found += blocks.size[index * WORD + masks.place(low)]
            if found > most:
                return found
            word ^= low
    return found


@part
def lowest(blocks: Blocks, mask: Mask, count: int) -> tuple[int, int]:
    """Leave in a set only so many of its lowest hosts, or a few more; it has as many.

    Returns the position in the order of a block left, and how many of its hosts stay: all, or it is the last one.
    """
    if blocks.single:
        masks.leave_lowest(mask, count)
        return 0, 1
    last, stay = -1, 0
    for position in range(blocks.count[0]):
        block = blocks.order[position]
        if not masks.has(mask, block):
            continue
        if count:
            last, stay = position, min(blocks.size[block], count)
            count -= stay
        else:
            masks.clear(mask, block)
    return last, stay


@part
def cut(blocks: Blocks, position: int, stay: int) -> int:
    """Cut a block in two, and return the number of the new one, which has its upper hosts.

    Args:
        blocks: the blocks; there must be room for one more.
        position: of the block in the order.
        stay: so many of its hosts remain in it, at least one and not all.
    """
    block, new = blocks.order[position], blocks.count[0]
    blocks.first[new], blocks.size[new] = blocks.first[block] + stay, blocks.size[block] - stay
    blocks.size[block] = stay
    for later in range(new, position + 1, -1):
        blocks.order[later] = blocks.order[later - 1]
    blocks.order[position + 1] = new
    blocks.count[0] = new + 1
    return new


@part
def follow(mask: Mask, block: int, new: int) -> None:
    """Let a set that has a block have the new one as well that was cut from it."""
    if masks.has(mask, block):
        masks.enter(mask, new)


@part
def write_runs(blocks: Blocks, mask: Mask, first: Counts, last: Counts, at: int) -> int:
    """Write the runs of consecutive hosts of a set from `at` on, ascending; return where they end."""
    begin = at
    for position in range(blocks.count[0]):
        block = blocks.order[position]
        if not masks.has(mask, block):
            continue
        host = blocks.first[block]
        if at > begin and last[at - 1] == host - 1:
            at -= 1
        else:
            first[at] = host
        last[at] = host + blocks.size[block] - 1
        at += 1
    return at


def join_blocks(blocks: Blocks, sets: list[Masks]) -> tuple[Ints, Ints, list[NDArray[np.uint8]]]:
    """Join neighbouring blocks that belong together in all sets.

    Args:
        blocks: the blocks.
        sets: arrays of sets, each uint64 [set, word].

    Returns:
        First host of each block that remains, in ascending order; number of hosts of each; and the same sets, each an
        array uint8 [set, block] of zeros and ones in that order.
    """
    count = int(blocks.count[0])
    order = blocks.order[:count]
    first, size = blocks.first[order].astype(np.int64), blocks.size[order].astype(np.int64)
    bits = [np.unpackbits(rows.view(np.uint8), axis=1, bitorder="little")[:, order] for rows in sets]
    begins = np.ones(count, dtype=np.bool_)
    begins[1:] = first[1:] != first[:-1] + size[:-1]
    for rows in bits:
        begins[1:] |= (rows[:, 1:] != rows[:, :-1]).any(axis=0)
    kept = np.flatnonzero(begins)
    return first[kept], np.add.reduceat(size, kept), [rows[:, kept] for rows in bits]
