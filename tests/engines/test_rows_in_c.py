"""Rows that are written in C are those that Python writes, to the last digit."""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from batdispatch.core.hosts.hostsets import parse_many
from batdispatch.core.jobs.job import FINAL_STATES
from batdispatch.core.jobs.job_table import COLUMNS
from batdispatch.engines import blocks, job_rows
from batdispatch.engines.job_rows import REJECTED, EndedJobs, HostsOf, TextOf, times_of, write_rows
from batdispatch.native.record import call
from batdispatch.native.texts import PackedTexts
from compiling import needs_kernels

pytestmark = needs_kernels

#: Of a clock of microseconds, and any others; some halves of the last digit, some that are beyond the last digit.
times = st.one_of(
    st.integers(0, 10**12).map(lambda number: round(number / 1e6, 6)),
    st.floats(0, 2.0**43),
    st.floats(0, 2),
    st.sampled_from([0.0, 0.5e-6, 1.5e-6, 0.1234565, 2.0**33 - 2**-20, 2.0**33 + 2**-19, 1e9, 999999999.5, 1e-10]),
)
names = st.text("ab!é€\U0001f600-", min_size=1, max_size=9)
jobs = st.tuples(
    *[names, times, st.integers(1, 2**31 - 1), st.one_of(times, st.just(math.inf))],
    *[st.integers(0, len(FINAL_STATES) - 1), times, times, st.sampled_from(["0", "3-5", "0-1 7 900000-999999"])],
)


@contextmanager
def little_room(room: int) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "_ROOM", room)
        yield


@given(st.lists(jobs, min_size=1, max_size=20), st.integers(300, 3000))
def test_rows_of_jobs_are_those_that_python_writes(listed: list[tuple], room: int) -> None:  # type: ignore[type-arg]
    ids, submission, units, walltime, state, wait, run, hosts = zip(*listed, strict=True)
    final, count = np.array(state, dtype=np.int8), len(listed)
    ran = final != REJECTED
    start = np.where(ran, np.array(submission) + np.array(wait), np.nan)
    allocations = parse_many([text if there else "" for text, there in zip(hosts, ran.tolist(), strict=True)])
    bounds, backwards = allocations.bounds(), np.arange(count, dtype=np.int32)[::-1].copy()
    ended = EndedJobs(
        # The last one first in memory, and one a row.
        names=TextOf(PackedTexts.of(ids[::-1]), backwards),
        workloads=TextOf(["w0"], np.zeros(count, dtype=np.int32)),
        profiles=TextOf([f"p{name}" for name in ids]),
        submission=np.array(submission),
        units=np.array(units),
        walltime=np.array(walltime),
        state=final,
        start=start,
        end=start + np.array(run),
        hosts=HostsOf(allocations.first, allocations.last, bounds[:-1], np.diff(bounds)),
        held=allocations.sizes,
        metadata=TextOf([""] * count),
        joules=np.array([-1.0, 0.25])[np.arange(count) % 2],
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        figures = times_of(ended)
    # No time at all, over a time that is lost beside a late start: nobody minds which of several is the longest.
    assume(not np.isnan(figures.stretch[ran]).any())
    expected, found = bytearray(), bytearray()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(job_rows, "load", lambda: None)
        slowly = write_rows(ended, figures, expected.extend)
    with little_room(room):
        rows = write_rows(ended, figures, found.extend)
    assert found == expected
    for name in COLUMNS:
        one, other = getattr(rows, name), getattr(slowly, name)
        assert one.dtype == other.dtype
        assert np.array_equal(one, other, equal_nan=one.dtype == np.float64), name


@given(st.lists(st.tuples(times, st.integers(0, 10**6)), min_size=1, max_size=40), st.integers(600, 3000))
def test_lines_of_machine_states_are_those_of_a_format(listed: list[tuple[float, int]], room: int) -> None:
    moments, computing = np.array([time for time, _ in listed]), np.array([count for _, count in listed])
    found = bytearray()
    with little_room(room):
        blocks.write_rows(
            len(listed), found.extend, partial(call, "write_state_rows"), moments, 10**6 - computing, computing
        )
    assert found.decode() == "".join(f"{time:.9g},0,0,0,{10**6 - count},{count}\n" for time, count in listed)


@given(st.lists(st.text(max_size=5)), st.data())
def test_packed_texts_are_the_texts(texts: list[str], data: st.DataObject) -> None:
    packed = PackedTexts.of(texts)
    assert packed.tolist() == texts == [packed[row] for row in range(len(packed))]
    order = data.draw(st.lists(st.sampled_from(range(len(texts))))) if texts else []
    assert packed.take(np.array(order, dtype=np.int64)).tolist() == [texts[row] for row in order]


def test_a_moment_is_written_with_a_point_whatever_the_locale_says() -> None:
    """C's own functions write what the locale of the process has in its place."""
    import locale

    before = locale.setlocale(locale.LC_NUMERIC)
    known = next((name for name in ("de_DE.UTF-8", "fr_FR.UTF-8", "de_DE") if _has(name)), None)
    if known is None:
        pytest.skip("this machine has no locale with a decimal comma")
    try:
        out, used = np.empty(1 << 10, dtype=np.uint8), np.zeros(1, dtype=np.int64)
        call("write_state_rows", np.array([0.25]), np.array([1]), np.array([1]), 0, 1, out, len(out), used)
    finally:
        locale.setlocale(locale.LC_NUMERIC, before)
    assert out[: used[0]].tobytes() == b"0.25,0,0,0,1,1\n"


def _has(name: str) -> bool:
    import locale

    try:
        locale.setlocale(locale.LC_NUMERIC, name)
    except locale.Error:
        return False
    return True
