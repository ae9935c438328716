"""At most once in so many seconds: when it is due, and which calls are asked for."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batdispatch.core.line.decisions import CallMeLater
from batdispatch.core.line.events import SimulationBegins
from batdispatch.core.line.ledger import SOONEST, Ledger
from batdispatch.core.machine.machine import Machine
from batdispatch.core.plans.lateness import overdue
from batdispatch.core.plans.moments import milliseconds
from batdispatch.core.plans.pace import Alarm, Pace


@pytest.fixture
def ledger() -> Ledger:
    return Ledger(SimulationBegins(0.0, Machine.flat(1)))


def calls(ledger: Ledger) -> list[float]:
    """Return the times for which calls were asked since the last time."""
    return [decision.at for decision in ledger.take_decisions() if isinstance(decision, CallMeLater)]


@given(st.integers(0, 2**40), st.floats(-2e-6, 2e-6) | st.floats(0.0, 1e-3))
def test_times_are_rounded_up_to_milliseconds_from_half_a_microsecond_on(count: int, beside: float) -> None:
    time = max(count / 1000 + beside, 0.0)
    assert milliseconds(time) == math.ceil(round(time * 1000, 3)) / 1000


def test_it_is_due_once_in_a_period_and_one_call_is_asked_for_in_between(ledger: Ledger) -> None:
    pace = Pace(4.0)
    asked = []
    for now in (1.0, 2.0, 3.0, 5.0, 5.5):
        ledger.now = now
        asked.append((pace.due(ledger), calls(ledger)))
    assert asked == [(True, []), (False, [5.0]), (False, []), (True, []), (False, [9.0])]


def test_a_clock_that_is_a_little_early_is_on_time(ledger: Ledger) -> None:
    pace = Pace(4.0)
    assert pace.due(ledger)
    ledger.now = 3.995
    assert pace.due(ledger)
    assert pace.next == 7.995


def test_a_call_asked_for_at_once_is_not_asked_for_again(ledger: Ledger) -> None:
    pace = Pace(4.0)
    assert pace.due(ledger)
    pace.call(ledger)
    ledger.now = 1.0
    assert not pace.due(ledger)
    assert calls(ledger) == [4.0]


def test_without_a_period_it_is_always_due_and_a_call_comes_as_soon_as_there_can_be_one(ledger: Ledger) -> None:
    pace = Pace(0.0)
    for _ in range(2):
        assert pace.due(ledger)
        pace.call(ledger)
    (at,) = calls(ledger)
    assert at == SOONEST


def test_an_alarm_asks_for_a_call_when_an_end_is_overdue(ledger: Ledger) -> None:
    alarm = Alarm()
    ledger.now = 5.0
    alarm.missed(ledger, 7.0003)
    (time,) = calls(ledger)
    assert time == 7.012, "whole milliseconds, as Batsim 5 counts"
    assert overdue(7.0003, time)
    alarm.missed(ledger, math.inf)
    assert calls(ledger) == [], "what is expected for ever is never overdue"
    alarm.missed(ledger, 1.0)
    assert calls(ledger) == [5.011], "what was to have ended already is given the tolerance from now on"


def test_an_alarm_asks_once_for_each_moment(ledger: Ledger) -> None:
    alarm = Alarm()
    asked = []
    for now, time in ((1.0, 9.0), (2.0, 9.0), (2.0, 12.0), (3.0, 6.0), (4.0, 9.0), (4.0, 6.0), (9.0, 12.0)):
        ledger.now = now
        alarm.call(ledger, time)
        asked.append(calls(ledger))
    # A call that comes sooner is no reason not to ask: who is called may have nothing to do then.
    assert asked == [[9.0], [], [12.0], [6.0], [], [], []]
