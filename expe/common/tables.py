"""Means with their confidence intervals, and tables in Markdown."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from scipy import stats


def half_width(values: Sequence[float]) -> float:
    """Return half the width of the 95 % confidence interval of the mean (Student's t); 0 for a single value."""
    if len(values) == 1:
        return 0.0
    return float(stats.t.ppf(0.975, len(values) - 1) * np.std(values, ddof=1) / math.sqrt(len(values)))


def interval(values: Sequence[float], digits: int, sign: str = "") -> str:
    """Return mean and half width of the interval, the mean with its sign if that is "+"; of a single value, that."""
    # Not -0.
    mean = f"{round(float(np.mean(values)), digits) + 0.0:{sign},.{digits}f}"
    return mean if len(values) == 1 else f"{mean} ± {half_width(values):,.{digits}f}"


def table(head: Sequence[str], rows: Sequence[Sequence[str]], texts: int = 1) -> str:
    """Return a table in Markdown whose first columns are texts, the others numbers."""
    marks = ["---"] * texts + ["---:"] * (len(head) - texts)
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (head, marks, *rows))
