"""SimGrid's quantities."""

import pytest

from batdispatch.inputs.platforms.units import UNITS, Kind, quantity


@pytest.mark.parametrize(
    ("text", "kind", "expected"),
    [
        ("1Gf", "speed", 1e9),
        ("98.095Mf", "speed", 98.095e6),
        ("5.2297E9f", "speed", 5.2297e9),
        ("1e-9Mf", "speed", 1e-3),
        ("1Ef", "speed", 1e18),
        ("2gigaflops", "speed", 2e9),
        (" 50.0Mf", "speed", 5e7),
        ("100", "speed", 100.0),
        ("125MBps", "bandwidth", 125e6),
        ("56Gbps", "bandwidth", 7e9),
        ("1KiBps", "bandwidth", 1024.0),
        ("8Kibps", "bandwidth", 1024.0),
        ("1.25E9Bps", "bandwidth", 1.25e9),
        ("50us", "time", 50e-6),
        ("1.0E-4s", "time", 1e-4),
        ("1.461517ms", "time", 1.461517e-3),
        ("2h", "time", 7200.0),
        ("0", "time", 0.0),
    ],
)
def test_quantity(text: str, kind: Kind, expected: float) -> None:
    assert quantity(text, kind) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(
    "text", ["", "f", "1 Gf", "1Gf2", "0x10f", "nanf", "inff", "1,5Gf", "-1f", "1e999f", "\u0661f"]
)
def test_not_a_speed(text: str) -> None:
    with pytest.raises(ValueError, match=r"is not a speed|has the unit|finite"):
        quantity(text, "speed")


def test_units_of_a_kind_are_no_units_of_another() -> None:
    for unit in ("f", "Gf", "Bps", "s", "ms"):
        kinds: list[Kind] = [kind for kind, units in UNITS.items() if unit in units]
        assert len(kinds) == 1
