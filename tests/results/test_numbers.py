"""Numbers and durations as people read them, at the borders of their units."""

import pytest

from batdispatch.results.numbers import alike, duration, durations, number


@pytest.mark.parametrize(
    ("seconds", "texts", "unit"),
    [
        # The largest is at least 2 of its unit, and the smallest at least half of one.
        ([7200.0, 1800.0], ["2", "0.500"], "h"),
        ([7199.0, 1800.0], ["120", "30"], "min"),
        ([7200.0, 1799.0], ["120", "30.0"], "min"),
        ([172_800.0, 43_200.0, 0.0], ["2", "0.500", "0"], "d"),
        # 1,500 of a unit are not too many, and 10,000 are.
        ([90_000.0, 30.0], ["1,500", "0.500"], "min"),
        ([594_000.0, 30.0], ["9,900", "0.500"], "min"),
        ([600_000.0, 30.0], ["6.94 d", "30 s"], ""),
        ([1.0, 0.5], ["1", "0.500"], "s"),
        ([0.999, None], ["999", "n/a"], "ms"),
        ([0.0, 0.0], ["0", "0"], "s"),
    ],
)
def test_durations_share_a_unit_where_one_suits_all(seconds: list[float | None], texts: list[str], unit: str) -> None:
    found, shared = durations(seconds)
    assert ([text.replace("\N{NO-BREAK SPACE}", " ") for text in found], shared) == (texts, unit)


@pytest.mark.parametrize(
    ("seconds", "text"), [(119.0, "119 s"), (120.0, "2 min"), (172_799.0, "48.0 h"), (172_800.0, "2 d")]
)
def test_a_duration_alone_has_the_largest_unit_of_which_there_are_two(seconds: float, text: str) -> None:
    assert duration(seconds).replace("\N{NO-BREAK SPACE}", " ") == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0, "0"), (12_345.0, "12,345"), (1234.5, "1,234"), (12.345, "12.3"), (0.012345, "0.0123"), (2e-9, "0.000000")],
)
def test_a_number_has_three_digits_or_is_whole(value: float, text: str) -> None:
    assert number(value) == text


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        ((90.0, 5400.0), ["1.50 min", "90 min"]),
        ((3600.0, 7200.0), ["1 h", "2 h"]),
        ((0.0, 86400.0), ["0 h", "24 h"]),
        # No unit suits both.
        ((0.5, 864000.0), ["500 ms", "10 d"]),
    ],
)
def test_durations_of_a_sentence_have_one_unit_if_one_suits_all(seconds: tuple[float, ...], shown: list[str]) -> None:
    assert [text.replace("\N{NO-BREAK SPACE}", " ") for text in alike(*seconds)] == shown


def test_a_duration_takes_the_unit_of_its_page_from_half_of_it_on() -> None:
    hour = (3600.0, "h")
    said = [duration(seconds, hour).replace("\N{NO-BREAK SPACE}", " ") for seconds in (7200.0, 1800.0, -1800.0, 1740.0)]
    assert said == ["2 h", "0.500 h", "-0.500 h", "29 min"]
