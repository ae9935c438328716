"""How fast a job is on so many units, and which sizes it can reach."""

import pytest

from batdispatch.core.jobs.scalability import parse_scalability
from batdispatch.core.jobs.sizes import Ask, Sizes


@pytest.mark.parametrize(
    ("text", "units", "expected"),
    [
        ("linear", 1, 1.0),
        ("linear", 8, 1 / 8),
        ("power:0.5", 16, 1 / 4),
        ("power:0", 16, 1.0),
        ("amdahl:0.2", 4, 0.4),
        ("amdahl:1", 99, 1.0),
        ("table:2=60,8=20,32=10", 2, 60.0),
        ("table:2=60,8=20,32=10", 32, 10.0),
        # Half way between 8 and 32 by their logarithms: the geometric mean of the times.
        ("table:2=60,8=20,32=10", 16, (20 * 10) ** 0.5),
        ("table:2=60,8=15,32=10", 4, 30.0),
        ("table:4=7", 4, 7.0),
    ],
)
def test_time_of_a_step(text: str, units: int, expected: float) -> None:
    found = parse_scalability(text)
    assert found is not None
    assert found.text == text
    assert found.time(units) == pytest.approx(expected, rel=1e-12)


def test_what_a_table_covers() -> None:
    table = parse_scalability("table:2=60,8=20")
    assert table is not None
    assert [table.covers(*bounds) for bounds in ((2, 8), (3, 3), (1, 8), (2, 9))] == [True, True, False, False]


@pytest.mark.parametrize(
    ("sizes", "units", "above", "below"),
    [
        (Sizes(2, 32), 8, [16, 32], [4, 2]),
        (Sizes(2, 31), 8, [16], [4, 2]),
        (Sizes(3, 32), 8, [16, 32], [4]),
        # Only while it is divisible.
        (Sizes(1, 20), 12, [], [6, 3]),
        (Sizes(1, 20), 5, [10, 20], []),
        (Sizes(1, 27, 3), 9, [27], [3, 1]),
        (Sizes(4, 4), 4, [], []),
    ],
)
def test_sizes_that_can_be_reached(sizes: Sizes, units: int, above: list[int], below: list[int]) -> None:
    assert (sizes.above(units), sizes.below(units)) == (above, below)


def test_what_an_application_asks_for_lasts_until_it_asks_again() -> None:
    sizes = Sizes(1, 8, asks=(Ask(2, least=4), Ask(5, most=2)))
    assert [sizes.asked(step) for step in (0, 1, 2, 4, 5, 99)] == [
        None,
        None,
        *[sizes.asks[0]] * 2,
        *[sizes.asks[1]] * 2,
    ]
