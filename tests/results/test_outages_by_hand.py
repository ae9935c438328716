"""When hosts were away, by hand: host 1 from 10 to 20 s, host 2 from 30 s on, host 3 for no time at 15 s."""

from batdispatch.core.hosts.allocation import Allocation
from batdispatch.core.line import events as e
from batdispatch.results.outages import absences, away_at

OUTAGES = [
    e.MachinesUnavailable(10.0, Allocation.of([1])),
    e.MachinesUnavailable(15.0, Allocation.of([3])),
    e.MachinesAvailable(15.0, Allocation.of([3])),
    e.MachinesAvailable(20.0, Allocation.of([1])),
    e.MachinesUnavailable(30.0, Allocation.of([2])),
    e.MachinesAvailable(60.0, Allocation.of([2])),
]


def test_an_absence_counts_if_it_begins_in_the_time_that_is_looked_at() -> None:
    assert absences(OUTAGES, 100.0) == [(10.0, 20.0, 1), (30.0, 60.0, 2)]
    assert absences(OUTAGES, 30.0) == [(10.0, 20.0, 1)]
    # Its own end is told, even if it lies beyond that time.
    assert absences(OUTAGES, 31.0) == [(10.0, 20.0, 1), (30.0, 60.0, 2)]


def test_an_absence_without_an_end_lasts_to_the_end_of_the_time() -> None:
    assert absences(OUTAGES[:5], 40.0) == [(10.0, 20.0, 1), (30.0, 40.0, 2)]
    assert absences(OUTAGES[:5], 30.0) == [(10.0, 20.0, 1)]


def test_a_host_is_away_from_the_moment_of_its_event_on() -> None:
    moments = [9.0, 10.0, 15.0, 19.9, 20.0, 30.0, 60.0]
    assert [hosts.tolist() for hosts in away_at(OUTAGES, moments)] == [[], [1], [1], [1], [], [2], []]
