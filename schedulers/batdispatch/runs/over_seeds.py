"""Means over seeds with their confidence intervals, as tables in Markdown show them."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from scipy import stats


def half_width(values: Sequence[float]) -> float:
    """Return half the width of the 95 % confidence interval of the mean (Student's t), of at least two values."""
    return float(stats.t.ppf(0.975, len(values) - 1) * np.std(values, ddof=1) / math.sqrt(len(values)))


def interval(values: Sequence[float], digits: int) -> str:
    """Return mean and half width of the interval; of a single value, that value."""
    mean = f"{float(np.mean(values)):,.{digits}f}"
    return mean if len(values) == 1 else f"{mean} ± {half_width(values):,.{digits}f}"


def table(head: Sequence[str], rows: Sequence[Sequence[str]], texts: int = 1) -> str:
    """Return a table in Markdown whose first columns are texts, the others numbers."""
    marks = ["---"] * texts + ["---:"] * (len(head) - texts)
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (head, marks, *rows))
