"""Means with their confidence intervals, and tables in Markdown."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from batdispatch.abilities.campaigns.statistics.student import half_width


def interval(values: Sequence[float], digits: int, sign: str = "") -> str:
    """Return mean and half width of the 95 % interval (Student's t); of a single value, that.

    Args:
        values: at least one.
        digits: after the point, of both.
        sign: "+": the mean has its sign.
    """
    # Not -0.
    mean = f"{round(float(np.mean(values)), digits) + 0.0:{sign},.{digits}f}"
    return mean if len(values) == 1 else f"{mean} ± {half_width(values):,.{digits}f}"


def table(head: Sequence[str], rows: Sequence[Sequence[str]], texts: int = 1) -> str:
    """Return a table in Markdown whose first columns are texts, the others numbers."""
    marks = ["---"] * texts + ["---:"] * (len(head) - texts)
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (head, marks, *rows))
