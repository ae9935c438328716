"""The sweeps against brute force, which looks at every pair of jobs or at every instant."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from batdispatch.abilities.verify.audit.hosts import Slots, conflicts, mask_of, overloads, read_host_sets
from batdispatch.core.errors import InputError

HOSTS = 6
spans = st.tuples(st.integers(0, 20), st.integers(0, 8))
exclusive_jobs = st.lists(st.tuples(spans, st.sets(st.integers(0, HOSTS - 1), min_size=1)), max_size=10)
shared_jobs = st.lists(
    st.tuples(spans, st.dictionaries(st.integers(0, 2), st.tuples(st.integers(0, 3), st.integers(0, 2)), min_size=1)),
    max_size=10,
)


@given(exclusive_jobs)
def test_finds_whether_exclusive_hosts_are_held_twice(jobs):
    start = np.array([float(begin) for (begin, _), _ in jobs])
    finish = np.array([float(begin + length) for (begin, length), _ in jobs])
    sets = read_host_sets([" ".join(map(str, sorted(hosts))) for _, hosts in jobs])
    found = list(conflicts(sets, start, finish, 2e-6))
    overlapping = {
        (i, host)
        for i, (_, hosts) in enumerate(jobs)
        for j, (_, others) in enumerate(jobs)
        for host in hosts & others
        # i starts while j runs; of two that start together the later in the order is to blame.
        if i != j and (start[j], finish[j], j) < (start[i], finish[i], i) and finish[j] > start[i]
    }
    assert {row for row, _, _ in found} == {row for row, _ in overlapping}
    for row, other, host in found:
        assert (row, host) in overlapping
        assert host in jobs[other][1]
        assert finish[other] > start[row]


@given(shared_jobs)
def test_finds_every_overload_of_shared_hosts(jobs):
    capacity = np.array([[4, 2], [3, 3], [5, 1]])
    start = np.array([float(begin) for (begin, _), _ in jobs])
    finish = np.array([float(begin + length) for (begin, length), _ in jobs])
    rows = [(host, row, amount) for row, (_, held) in enumerate(jobs) for host, amount in held.items()]
    slots = Slots(
        np.array([host for host, _, _ in rows], dtype=np.int64),
        np.array([row for _, row, _ in rows], dtype=np.int64),
        np.array([amount for *_, amount in rows], dtype=np.int64).reshape(-1, 2),
    )
    found = {(host, axis, start[row]) for row, host, axis, _ in overloads(slots, capacity, start, finish, 2e-6)}
    expected = set()
    for time in set(start.tolist()):
        for host in range(3):
            for axis in range(2):
                running = [a[axis] for h, r, a in rows if h == host and start[r] <= time < finish[r]]
                begins = any(h == host and start[r] == time < finish[r] for h, r, _ in rows)
                if begins and sum(running) > capacity[host, axis]:
                    expected.add((host, axis, time))
    assert found == expected


def test_jobs_that_follow_each_other_within_rounding_are_fine():
    sets = read_host_sets(["0-3", "0-3"])
    start, finish = np.array([0.0, 9.999999]), np.array([10.0, 20.0])
    assert not list(conflicts(sets, start, finish, 2e-6))
    start[1] = 9.99999
    assert list(conflicts(sets, start, finish, 2e-6)) == [(1, 0, 0)]


def test_a_long_job_is_reported_against_each_that_it_disturbs():
    sets = read_host_sets(["0", "0", "0"])
    found = conflicts(sets, np.array([0.0, 1.0, 5.0]), np.array([10.0, 2.0, 6.0]), 2e-6)
    assert [(row, other) for row, other, _ in found] == [(1, 0), (2, 0)]


@given(st.lists(st.lists(st.tuples(st.integers(0, 40), st.integers(0, 3)), max_size=4), max_size=6))
def test_a_column_of_host_sets_is_read_as_each_of_them(sets):
    texts = [" ".join(f"{low}-{low + more}" if more else str(low) for low, more in parts) for parts in sets]
    found = read_host_sets(texts)
    for row, parts in enumerate(sets):
        hosts = [host for low, more in parts for host in range(low, low + more + 1)]
        assert found.of(row).tolist() == hosts
        assert mask_of(texts[row]) == sum(1 << host for host in set(hosts))
        assert (row in found.twice()) == (len(set(hosts)) < len(hosts))
        if len(set(hosts)) == len(hosts):
            assert found.pieces()[row] == sum(host - 1 not in hosts for host in hosts)


@pytest.mark.parametrize("text", ["a", "1-", "-1", "2-1", "1--2", "1  2", "1-2-3", "1\n2", "1234567890"])
def test_what_is_no_host_set_is_refused(text):
    with pytest.raises(InputError):
        read_host_sets(["0", "1-2", text])
