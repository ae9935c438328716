"""What energy cost, what was above a cap and which power is not exceeded, by hand and second by second."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from batdispatch.abilities.power.machine.series import Series
from batdispatch.abilities.power.results.run_power import _against_series, _watts

#: Hosts burn 100 W for 10 s, then 50 W for 30 s.
ROWS = np.array([[0.0, 10.0, 40.0], [0.0, 1000.0, 2500.0]])


def test_a_cap_that_falls_when_power_does_is_kept() -> None:
    assert _against_series(ROWS, {"cap": Series((0.0, 10.0), (100.0, 50.0))}) == {"above": 0.0}
    # It falls 2 s too soon: what is above it for a part of a row is above it in the row.
    assert _against_series(ROWS, {"cap": Series((0.0, 8.0), (100.0, 50.0))}) == {"above": 0.25}
    assert _against_series(ROWS, {"cap": Series.constant(49.0)}) == {"above": 1.0}
    assert _against_series(ROWS, {"cap": Series.constant(50.0)}) == {"above": 0.25}


def test_energy_costs_its_price_when_it_is_burnt() -> None:
    # 1,000 J at 2, then 50 W for 10 s at 2 and for 20 s at 5, for 3.6e6 J each.
    price = Series((0.0, 20.0), (2.0, 5.0))
    found = _against_series(ROWS, {"price": price, "carbon": Series.constant(3.0)})
    assert found == {
        "cost": pytest.approx((1000 * 2 + 500 * 2 + 1000 * 5) / 3.6e6),
        "carbon": pytest.approx(2500 * 3 / 3.6e6),
    }


@pytest.mark.parametrize(
    ("seconds", "joules", "peak", "most"),
    [
        # 100 W for 4 % of the time: for 95 % it is not above 20 W.
        ([96.0, 4.0], [1920.0, 400.0], 100.0, 20.0),
        ([94.0, 6.0], [1880.0, 600.0], 100.0, 100.0),
        # 95 % of the time exactly.
        ([95.0, 5.0], [1900.0, 500.0], 100.0, 20.0),
        ([], [], 0.0, 0.0),
    ],
)
def test_the_peak_and_the_power_of_95_per_cent_of_the_time(
    seconds: list[float], joules: list[float], peak: float, most: float
) -> None:
    rows = np.array([np.cumsum([0.0, *seconds]), np.cumsum([0.0, *joules])])
    assert _watts(rows) == (peak, most)
    # The order of time does not matter.
    backwards = np.array([np.cumsum([0.0, *seconds[::-1]]), np.cumsum([0.0, *joules[::-1]])])
    assert _watts(backwards) == (peak, most)


STEPS = st.lists(st.tuples(st.integers(1, 5), st.integers(0, 9)), min_size=1, max_size=6)


@given(STEPS, st.integers(0, 20), st.integers(0, 20))
def test_integral_least_and_changes_of_a_series_are_those_of_its_seconds(
    steps: list[tuple[int, int]], begin: int, length: int
) -> None:
    times = np.cumsum([0, *(gap for gap, _ in steps[1:])]).tolist()
    series = Series(times, [value for _, value in steps])

    def at(second: int) -> int:
        return [value for time, (_, value) in zip(times, steps, strict=True) if time <= second][-1]

    end = begin + length
    assert series.integral(begin, end) == sum(at(second) for second in range(begin, end))
    assert series.least(begin, end) == min(at(second) for second in range(begin, end + 1))
    assert series.at(begin + 0.5) == at(begin)
    later = [time for time in times if time > begin]
    assert series.next_change(begin) == (later[0] if later else float("inf"))
    assert series.since(begin) == max(time for time in times if time <= begin)
