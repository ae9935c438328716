"""A timeline on which hosts open and close to a job as time goes by, beside one that tries every second."""

import math
from typing import NamedTuple

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from batdispatch.core.capacity.granularity import space_of
from batdispatch.core.hosts.allocation import Allocation, Place
from batdispatch.core.jobs.job import Job
from batdispatch.core.machine.machine import Machine
from batdispatch.core.plans.timeline import Timeline
from strategies import make_job

HOSTS, LAST = 4, 40
ALL = (1 << HOSTS) - 1
SPACE = space_of(Machine.flat(HOSTS))


class Case(NamedTuple):
    """Spans on hosts that are taken, and those from which on to which no start is open there; whole seconds."""

    taken: list[tuple[int, int, int]]
    closed: list[tuple[int, int, int]]
    units: int
    duration: int
    after: int
    bound: int


spans = st.tuples(st.integers(0, 25), st.integers(1, 12), st.integers(1, ALL)).map(lambda x: (x[0], x[0] + x[1], x[2]))
cases = st.builds(
    Case,
    st.lists(spans, max_size=5),
    st.lists(spans, max_size=4),
    st.integers(1, HOSTS),
    st.integers(1, 10),
    st.integers(0, 20),
    st.integers(1, LAST),
)


def allowed(case: Case, start: float) -> int:
    mask = ALL
    for begin, end, hosts in case.closed:
        if begin <= start < end:
            mask &= ~hosts
    return mask


def free(case: Case, start: int, end: int) -> int:
    """Hosts that nobody takes in a span."""
    mask = ALL
    for begin, until, hosts in case.taken:
        if begin < end and start < until:
            mask &= ~hosts
    return mask


def made(case: Case) -> tuple[Timeline[int], Job]:
    job = make_job("j", units=case.units, walltime=float(case.duration))

    def opened(asked: Job, start: float) -> tuple[Job, float]:
        moments = [moment for begin, end, _ in case.closed for moment in (begin, end) if moment > start]
        mask = allowed(case, start)
        request = msgspec.structs.replace(asked.request, allowed=None if mask == ALL else mask)
        return msgspec.structs.replace(asked, request=request), min(moments, default=math.inf)

    timeline: Timeline[int] = Timeline(SPACE, 0.0, SPACE.whole(), opened)
    for begin, end, hosts in case.taken:
        timeline.restrict(~hosts & ALL, begin, end)
    return timeline, job


def lowest(free: int, job: Job, start: float, end: float) -> Place | None:
    mask = free if job.request.allowed is None else free & job.request.allowed
    return Place(Allocation(first(mask, job.units))) if mask.bit_count() >= job.units else None


def first(mask: int, units: int) -> int:
    """The lowest hosts of a mask."""
    found = 0
    for host in range(HOSTS):
        if mask >> host & 1 and found.bit_count() < units:
            found |= 1 << host
    return found


def naive(case: Case, after: int, bound: int) -> tuple[float, int] | None:
    """The first whole second up to `bound` at which enough hosts are free for long enough, and open."""
    for start in range(after, bound + 1):
        mask = free(case, start, start + case.duration) & allowed(case, start)
        if mask.bit_count() >= case.units:
            return float(start), first(mask, case.units)
    return None


@settings(max_examples=100)
@given(cases)
def test_the_earliest_start_is_one_at_which_the_hosts_are_open(case: Case) -> None:
    timeline, job = made(case)
    found = timeline.earliest(job, case.duration, lowest, after=case.after)
    expected = naive(case, case.after, 3 * LAST)
    assert expected is not None
    assert found is not None
    assert (found[0], found[1].allocation.mask) == expected
    # Copies know of the openings too.
    assert timeline.copy().earliest(job, case.duration, lowest, after=case.after) == found


@settings(max_examples=100)
@given(cases)
def test_no_start_is_after_the_latest(case: Case) -> None:
    timeline, job = made(case)
    found = timeline.earliest(job, case.duration, lowest, after=case.after, latest=case.bound)
    expected = naive(case, case.after, case.bound)
    assert (None if found is None else (found[0], found[1].allocation.mask)) == expected


@settings(max_examples=100)
@given(cases, st.integers(1, LAST))
def test_an_earlier_start_is_one_at_which_the_hosts_are_open(case: Case, behind: int) -> None:
    timeline, job = made(case)
    # It holds a place from some time on at which nothing is taken any more.
    start, end = LAST + behind, LAST + behind + case.duration
    held = Allocation(first(ALL, case.units))
    timeline.reserve(job, held, start, end)
    found = timeline.earlier(job, held, start, end, case.duration, lowest, after=case.after, before=case.bound)
    expected = naive(case, case.after, case.bound - 1)
    assert (None if found is None else (found[0], found[1].allocation.mask)) == expected
