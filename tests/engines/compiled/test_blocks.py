"""Blocks of hosts beside plain sets of hosts."""

import itertools
from typing import NamedTuple

import numpy as np
import pytest

pytest.importorskip("numba")

from hypothesis import given
from hypothesis import strategies as st

from batdispatch.engines.compiled import blocks as in_blocks
from batdispatch.engines.compiled import masks
from batdispatch.engines.compiled.blocks import Blocks, Masks, blocks_of

#: Runs of hosts that run jobs, with other hosts between them.
RUNS = [(0, 30), (32, 90), (100, 140)]
HOSTS = [host for first, last in RUNS for host in range(first, last + 1)]
ROOM = 192
#: A set of all hosts, and three that come and go.
SETS = 4


class Both(NamedTuple):
    """The same sets of hosts in both forms."""

    blocks: Blocks
    rows: Masks
    plain: list[set[int]]

    def check(self) -> None:
        first, last = np.zeros(ROOM, dtype=np.int32), np.zeros(ROOM, dtype=np.int32)
        for row, hosts in zip(self.rows, self.plain, strict=True):
            end = in_blocks.write_runs(self.blocks, row, first, last, 2)
            runs = list(zip(first[2:end].tolist(), last[2:end].tolist(), strict=True))
            assert [host for a, b in runs for host in range(a, b + 1)] == sorted(hosts)
            # No run could be longer.
            assert all(run[1] + 1 < following[0] for run, following in itertools.pairwise(runs))

    @property
    def words(self) -> int:
        return -(-int(self.blocks.count[0]) // masks.WORD)


def whole() -> Both:
    first = np.array([run[0] for run in RUNS])
    last = np.array([run[1] for run in RUNS])
    rows = np.zeros((SETS, ROOM // masks.WORD), dtype=np.uint64)
    rows[:] = 7
    return Both(blocks_of(first, last - first + 1, ROOM), rows, [set(HOSTS) for _ in range(SETS)])


def leave_lowest(both: Both, row: int, count: int) -> None:
    """Leave in a set its lowest hosts, as a plan does for a job."""
    blocks, rows = both.blocks, both.rows
    position, stay = in_blocks.lowest(blocks, rows[row], count)
    block = int(blocks.order[position])
    if stay < blocks.size[block]:
        new = in_blocks.cut(blocks, position, stay)
        for other in range(SETS):
            if other != row:
                in_blocks.follow(rows[other], block, new)
    both.plain[row].intersection_update(sorted(both.plain[row])[:count])


def joined(both: Both) -> Both:
    """Join what belongs together."""
    first, size, (bits,) = in_blocks.join_blocks(both.blocks, [both.rows])
    packed = np.packbits(bits, axis=1, bitorder="little")
    raw = np.zeros((SETS, ROOM // 8), dtype=np.uint8)
    raw[:, : packed.shape[1]] = packed
    columns = list(zip(*(row.tolist() for row in bits), strict=True))
    for at in range(1, len(columns)):
        assert columns[at] != columns[at - 1] or first[at] != first[at - 1] + size[at - 1]
    return Both(blocks_of(first, size, ROOM), raw.view(np.uint64), both.plain)


steps = st.tuples(
    st.sampled_from(["copy", "lowest", "lowest", "meet", "join", "remove", "joined"]),
    st.integers(1, SETS - 1),
    st.integers(0, SETS - 1),
    st.integers(1, len(HOSTS)),
)


@given(st.lists(steps, max_size=60))
def test_sets_of_blocks_are_sets_of_hosts(doings: list[tuple[str, int, int, int]]) -> None:
    both = whole()
    for what, row, other, count in doings:
        mask, second, words = both.rows[row], both.rows[other], both.words
        if what == "copy":
            masks.copy(second, mask, words)
            both.plain[row] = set(both.plain[other])
        elif what == "meet":
            masks.meet(mask, second, words)
            both.plain[row] &= both.plain[other]
        elif what == "join":
            masks.join(mask, second, words)
            both.plain[row] |= both.plain[other]
        elif what == "remove" and row != other:
            masks.remove(mask, second, words)
            both.plain[row] -= both.plain[other]
        elif what == "lowest" and both.plain[row]:
            leave_lowest(both, row, min(count, len(both.plain[row])))
        elif what == "joined":
            both = joined(both)
        both.check()


@given(st.lists(steps, max_size=40), st.integers(0, len(HOSTS)))
def test_hosts_that_another_set_lacks_are_counted_up_to_a_limit(
    doings: list[tuple[str, int, int, int]], most: int
) -> None:
    both = whole()
    for what, row, other, count in doings:
        if what == "lowest" and both.plain[row]:
            leave_lowest(both, row, min(count, len(both.plain[row])))
        elif row != other:
            masks.remove(both.rows[row], both.rows[other], both.words)
            both.plain[row] -= both.plain[other]
        missing = len(both.plain[0] - both.plain[row])
        found = in_blocks.count_missing(both.blocks, both.rows[0], both.rows[row], both.words, most)
        assert found == missing if missing <= most else found > most
        inside = both.plain[row] <= both.plain[other]
        assert masks.within(both.rows[row], both.rows[other], both.words) == inside
        assert masks.same_sets(both.rows[row], both.rows[other], both.words) == (both.plain[row] == both.plain[other])


def test_a_new_block_has_the_upper_hosts_and_is_in_the_sets_that_have_the_old_one() -> None:
    blocks = blocks_of(np.arange(64) * 2, np.full(64, 2), 128)
    without, has = np.array([1 << 5, 0], dtype=np.uint64), np.array([1 << 3, 0], dtype=np.uint64)
    new = in_blocks.cut(blocks, 3, 1)
    in_blocks.follow(without, 3, new)
    in_blocks.follow(has, 3, new)
    assert without.tolist() == [1 << 5, 0]
    assert has.tolist() == [1 << 3, 1]
    assert blocks.order[:6].tolist() == [0, 1, 2, 3, 64, 4]
    assert (blocks.first[3], blocks.size[3], blocks.first[64], blocks.size[64]) == (6, 1, 7, 1)
