"""Moments on the ticks of a simulator's clock, and calls that come at them."""

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batdispatch.core.line.decisions import CallMeLater
from batdispatch.core.line.events import SimulationBegins
from batdispatch.core.line.ledger import SOONEST, Ledger
from batdispatch.core.line.ticks import SLIVER, TICK, tick_after, tick_before
from batdispatch.core.machine.machine import Machine

ticks = st.integers(0, 2**33 * 10**6).map(lambda count: count / 10**6)
times = st.floats(0, 2.0**33) | st.builds(lambda tick, beside: max(tick + beside, 0.0), ticks, st.floats(-1e-6, 1e-6))


@given(times)
def test_a_time_lies_between_the_ticks_before_and_after_it(time: float) -> None:
    off = Fraction(max(SLIVER, time * 2.0**-51))
    before, after = tick_before(time), tick_after(time)
    assert (before, after) == (round(before, 6), round(after, 6))
    assert Fraction(before) <= Fraction(time) + off
    assert Fraction(after) >= Fraction(time) - off
    assert after - before <= TICK + 4 * math.ulp(time)


# Beyond some years, the doubles next to a tick are nearly as far from it as the next tick.
@given(ticks.filter(lambda tick: tick < 2**28), st.integers(-2, 2))
def test_what_is_hardly_off_a_tick_is_the_tick(tick: float, ulps: int) -> None:
    time = max(tick + ulps * math.ulp(tick), 0.0)
    assert tick_before(time) == tick_after(time) == tick


@pytest.mark.parametrize(
    ("time", "before", "after"),
    [
        (419.62864721485, 419.628647, 419.628648),
        (0.1 + 0.2, 0.3, 0.3),
        (5.0, 5.0, 5.0),
        (1e-7, 0.0, 1e-6),
        (-0.5000004, -0.500001, -0.5),
        (math.inf, math.inf, math.inf),
        (-math.inf, -math.inf, -math.inf),
    ],
)
def test_ticks_by_hand(time: float, before: float, after: float) -> None:
    assert (tick_before(time), tick_after(time)) == (before, after)


@given(ticks.filter(lambda tick: tick < 1e9), st.floats(1e-9, 1e4), st.booleans(), st.booleans())
def test_a_call_comes_at_the_moment_that_is_handed_back(now: float, wait: float, at_once: bool, can: bool) -> None:
    ledger = Ledger(SimulationBegins(now, Machine.flat(1), {"calls-at-once": can}))
    time = now + wait
    if time <= now:
        return
    at = ledger.wake_at(time, at_once=at_once)
    assert ledger.take_decisions() == [CallMeLater(now, at)]
    assert at == max(tick_after(time), round(now + (TICK if at_once and can else SOONEST), 6))
    assert at > now


@given(ticks.filter(lambda tick: tick < 1e9), st.floats(1e-9, 1e4))
def test_a_call_of_batsim_5_is_put_upwards_on_the_millisecond_at_which_it_comes(now: float, wait: float) -> None:
    ledger = Ledger(SimulationBegins(now, Machine.flat(1), {"calls-in-milliseconds": True}))
    time = now + wait
    if time <= now:
        return
    at = ledger.wake_at(time)
    assert at == round(at, 3)
    assert Fraction(at) >= Fraction(max(time, now + SOONEST)) - Fraction(max(SLIVER, time * 2.0**-51))
    assert at < max(time, now + SOONEST) + 1.001e-3
    by = ledger.call_by(time)
    assert by == round(by, 3)
    assert Fraction(by) <= Fraction(time) + Fraction(max(SLIVER, time * 2.0**-51))
    assert ledger.call_from(by) == by
