"""Holm's correction of p-values for their number."""

from __future__ import annotations

from collections.abc import Sequence


def holm(values: Sequence[float]) -> list[float]:
    """Return p-values corrected for their number: the i-th smallest of m times m + 1 - i, never decreasing, at most 1.

    When to use: whenever several tests answer one question, such as every dispatcher against a baseline. The chance
    that any of those called different is not stays below the significance, whatever the tests have in common.

    References:
        S. Holm: "A simple sequentially rejective multiple test procedure", Scandinavian Journal of Statistics 6 (1979).
    """
    adjusted = [0.0] * len(values)
    most = 0.0
    for rank, index in enumerate(sorted(range(len(values)), key=lambda place: values[place])):
        most = max(most, min(1.0, (len(values) - rank) * values[index]))
        adjusted[index] = most
    return adjusted
