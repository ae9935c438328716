"""Numbers as people read them: few digits, and durations in a unit that suits them."""

from __future__ import annotations

import math
from collections.abc import Sequence

_UNITS = ((86400.0, "d"), (3600.0, "h"), (60.0, "min"), (1.0, "s"), (1e-3, "ms"), (1e-6, "µs"))


def duration_unit(values: Sequence[float]) -> tuple[float, str]:
    """Return the unit (seconds, name) in which the largest of some durations is at least 2, of units up to 1 s 1."""
    largest = max((abs(value) for value in values), default=0.0)
    if not largest:
        return 1.0, "s"
    return next((unit for unit in _UNITS if largest >= unit[0] * (2 if unit[0] > 1 else 1)), _UNITS[-1])


def durations(values: Sequence[float | None]) -> tuple[list[str], str]:
    """Return durations as texts, and the unit that all have; an empty unit where each text carries its own.

    One unit suits all if the smallest of them, zeros aside, is at least half of it and the largest is below ten
    thousand. Of several such units the largest is taken in which some duration is at least 2 (of
    units up to 1 s, at least 1).

    Args:
        values: in seconds; None is shown as n/a.
    """
    known = [abs(value) for value in values if value]
    least, most = min(known, default=0.0), max(known, default=0.0)
    usual = duration_unit(known)
    for scale, unit in (usual, *(other for other in _UNITS if other[0] < usual[0])):
        if (least >= 0.5 * scale and most < 10_000 * scale) or not known:
            return ["n/a" if value is None else number(value / scale) for value in values], unit
    return ["n/a" if value is None else duration(value) for value in values], ""


def alike(*seconds: float) -> list[str]:
    """Return durations that stand in one sentence, each with its unit: the same one, if one suits all."""
    texts, unit = durations(seconds)
    return [f"{text}\N{NO-BREAK SPACE}{unit}" if unit else text for text in texts]


def seconds_in(unit: str) -> float:
    """Return how many seconds a unit of `durations` has."""
    return next(seconds for seconds, name in _UNITS if name == unit)


def duration(seconds: float, shared: tuple[float, str] | None = None) -> str:
    """Return a duration in the unit that suits it.

    Args:
        seconds: the duration.
        shared: the unit, (seconds, name), that others on the page have: taken if the duration is at least half of it.
    """
    scale, unit = shared if shared and abs(seconds) >= shared[0] / 2 else duration_unit([seconds])
    return f"{number(seconds / scale)}\N{NO-BREAK SPACE}{unit}"


def amount(value: float, name: str) -> str:
    """Return an amount of a resource: ``8 core``, or ``16,384 MiB memory``, which platforms and jobs state in MiB."""
    return f"{number(value)} {'MiB ' if name == 'memory' else ''}{name}"


def count_of(count: int, noun: str) -> str:
    """Return a count with its noun: ``1 job``, ``28,476 jobs``."""
    return f"{number(count)} {noun}{'s' * (count != 1)}"


def number(value: float) -> str:
    """Return a number with three or four significant digits, thousands separated by commas."""
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    if value == int(value) and abs(value) < 1e15:
        text = f"{int(value):,}"
    else:
        digits = max(0, 2 - math.floor(math.log10(abs(value))))
        text = f"{value:,.{min(digits, 6)}f}"
    return text
