from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from batdispatch.core.errors import InputError
from batdispatch.core.hosts import hostset, hostsets
from batdispatch.core.hosts.hostsets import join_columns, parse_many

masks = st.lists(st.sets(st.integers(0, 300), max_size=40), max_size=20)


@given(masks)
def test_reads_what_the_host_sets_write(sets):
    texts = [hostset.to_text(hostset.mask_of(hosts)) for hosts in sets]
    intervals = parse_many(texts)
    host, row = intervals.hosts()
    assert [sorted(host[row == i].tolist()) for i in range(len(sets))] == [sorted(hosts) for hosts in sets]
    assert intervals.sizes.tolist() == [len(hosts) for hosts in sets]
    assert intervals.runs.tolist() == [sum(host - 1 not in hosts for host in hosts) for hosts in sets]
    assert intervals.texts() == texts
    assert join_columns([parse_many(texts[:2]), parse_many([]), parse_many(texts[2:])]).texts() == texts
    bounds = intervals.bounds()
    assert all((intervals.row[a:b] == i).all() for i, (a, b) in enumerate(pairwise(bounds)))


@given(st.lists(st.text("0123456789- ,", max_size=12), min_size=1, max_size=4))
def test_accepts_exactly_what_the_core_accepts(texts):
    def refused(read):
        try:
            read()
        except InputError:
            return True
        return False

    assert refused(lambda: parse_many(texts)) == refused(lambda: [hostset.from_text(text) for text in texts])


@pytest.mark.parametrize(
    "text", ["-3", "3-", "5-3", "1-2-3", "1--2", "a", "1\n2", "1 x", "٣", "9999999999", "99999999"]
)
def test_refuses_what_is_no_host_set(text):
    with pytest.raises(InputError):
        parse_many(["0-3", text])


def test_says_which_row():
    with pytest.raises(InputError, match=r"row 2.*'5-3'"):
        parse_many(["0", "", "5-3", "x"])


def test_empty_sets_keep_their_rows():
    intervals = parse_many(["", "2-3", "", "0"])
    assert intervals.sizes.tolist() == [0, 2, 0, 1]
    assert intervals.row.tolist() == [1, 3]
    assert parse_many([]).sizes.tolist() == []
    assert intervals.length.dtype == np.int64


@pytest.mark.parametrize("block", [1, 2, 1 << 13])
def test_intervals_come_row_by_row_in_any_order_of_rows(monkeypatch, block):
    monkeypatch.setattr(hostsets, "BLOCK", block)
    intervals = parse_many(["3-4 8", "", "0", "7 1-2"])
    pieces = {0: [(0, 3, 4), (0, 8, 8)], 1: [], 2: [(2, 0, 0)], 3: [(3, 7, 7), (3, 1, 2)]}
    for order in ([0, 1, 2, 3], [3, 2, 0], [1], []):
        found = list(intervals.by_rows(np.array(order, dtype=np.int64)))
        assert found == [piece for row in order for piece in pieces[row]]
    parts = [(low, part.first.tolist()) for low, part in intervals.blocks()]
    assert [first for _, some in parts for first in some] == intervals.first.tolist()
    assert all(intervals.first[low] == some[0] for low, some in parts)
