"""Waiting jobs by what they ask for: the same candidates as going through the whole queue, with fewer questions."""

import math
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from batdispatch.core.jobs.job import Job
from batdispatch.core.jobs.request import Request
from batdispatch.dispatchers.backfilling.lanes import Lanes, Longest

#: Requests as readers make them: jobs that ask alike need not share one object.
JOBS = st.lists(
    st.tuples(st.integers(1, 8), st.sampled_from([1.0, 5.0, 9.0, math.inf]), st.integers(0, 3)), max_size=30
)


class Easy:
    """What EASY says about jobs: hosts that are free, hosts to spare at the shadow time, and how long until then."""

    def __init__(self, free: int, spare: int, until_shadow: float) -> None:
        self.free, self.spare, self.until_shadow = free, spare, until_shadow
        self.asked = 0

    def longest(self, job: Job) -> float:
        self.asked += 1
        if job.units > self.free:
            return -1.0
        return math.inf if job.units <= self.spare else self.until_shadow

    def start(self, job: Job, length: float) -> None:
        self.free -= job.units
        if length > self.until_shadow:
            self.spare -= job.units


def queue_of(asked: list[tuple[int, float, int]]) -> list[tuple[Any, Job]]:
    """Return (key, job) in order."""
    jobs = [Job(id=f"w!{i}", request=Request(units=n), walltime=length) for i, (n, length, _) in enumerate(asked)]
    return sorted(((urgent, i), job) for i, (job, (_, _, urgent)) in enumerate(zip(jobs, asked, strict=True)))


def lanes_of(queue: list[tuple[Any, Job]]) -> Lanes:
    lanes = Lanes()
    # Jobs do not come in the order of their keys.
    for key, job in sorted(queue, key=lambda entry: entry[0][1]):
        lanes.add(job, key, job.walltime)
    return lanes


def test_a_job_that_never_stood_in_a_lane_can_be_taken_out() -> None:
    (key, first), (_, other) = queue_of([(1, 5.0, 0), (2, 5.0, 0)])
    lanes = lanes_of([(key, first)])
    lanes.remove(other, key)
    lanes.remove(Job(id="w!9", request=first.request), (0, 9))
    assert list(lanes.candidates(list, lambda job: math.inf)) == [first]


@given(JOBS, st.integers(0, 20), st.integers(0, 20), st.sampled_from([0.0, 4.0, 5.0, math.inf]), st.data())
def test_the_candidates_are_those_of_the_whole_queue(
    asked: list[tuple[int, float, int]], free: int, spare: int, until_shadow: float, data: st.DataObject
) -> None:
    queue = queue_of(asked)
    gone = data.draw(st.sets(st.sampled_from([key for key, _ in queue]))) if queue else set()
    naive, easy = Easy(free, min(spare, free), until_shadow), Easy(free, min(spare, free), until_shadow)
    expected = []
    for key, job in queue:
        if key not in gone and job.walltime <= naive.longest(job):
            expected.append(job)
            naive.start(job, job.walltime)
    lanes = lanes_of(queue)
    for key, job in queue:
        if key in gone:
            lanes.remove(job, key)
    found = []
    for job in lanes.candidates(list, easy.longest):
        found.append(job)
        easy.start(job, job.walltime)
    assert [job.id for job in found] == [job.id for job in expected]


def test_jobs_that_cannot_start_are_not_looked_at() -> None:
    """Ten thousand jobs of two sizes, of which one of the last is short enough."""
    asked = [(1 + i % 2, 100.0, 0) for i in range(10_000)] + [(1, 5.0, 0), (2, 100.0, 0)]
    easy = Easy(free=4, spare=0, until_shadow=5.0)
    found = [job.id for job in lanes_of(queue_of(asked)).candidates(list, easy.longest)]
    assert found == ["w!10000"]
    assert easy.asked <= 4


def test_a_lane_that_is_not_plausible_is_not_asked_about() -> None:
    def never(job: Job) -> float:
        raise AssertionError(job)

    longest: Longest = never
    assert not list(lanes_of(queue_of([(1, 5.0, 0)])).candidates(lambda jobs: [], longest))
