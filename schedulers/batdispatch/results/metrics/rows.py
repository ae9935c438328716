"""A row of a table of metrics: the values of the runs in one unit, and which of them are the best."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from batdispatch.results.metrics.compute import describe
from batdispatch.results.metrics.metric import Description, Value
from batdispatch.results.numbers import durations, number, seconds_in


@dataclass(frozen=True)
class Cell:
    """A value in a table: as shown, as a number to sort by, and whether it is the best of its metric."""

    text: str
    value: float | None
    best: bool = False


@dataclass(frozen=True)
class Row:
    """A metric with its value for each run, all in one unit.

    Attributes:
        metric: what it is.
        unit: of the texts; empty where each carries its own, or where there is none.
        scale: what one such unit is of the metric's own; None: each text carries its own.
        cells: one for each run.
    """

    metric: Description
    unit: str
    scale: float | None
    cells: Sequence[Cell]


def page_unit(name: str, values: Sequence[Value]) -> tuple[float, str] | None:
    """Return the unit, (seconds, name), of a metric that is a time; None: it is none, or each value has its own."""
    metric = describe(name)
    row = None if metric is None or metric.unit != "s" else metric_row(metric, values)
    return None if row is None or row.scale is None else (row.scale, row.unit)


def metric_row(metric: Description, values: Sequence[Value], among: Sequence[float] = ()) -> Row:
    """Put a metric's values into one unit and mark the best, unless all are equally good.

    Args:
        metric: what they are.
        values: of the runs.
        among: further values of the metric on the same page, which share the unit.
    """
    known = [float(value) for value in values if value is not None]
    scale: float | None
    if metric.unit == "s":
        shown, unit = durations([*(None if value is None else float(value) for value in values), *among])
        shown = shown[: len(values)]
        scale = seconds_in(unit) if unit else None
    else:
        scale, unit = (0.01, "%") if metric.name.startswith("utilisation") else (1.0, metric.unit)
        shown = ["n/a" if value is None else number(float(value) / scale) for value in values]
    best = ""
    if known and metric.better:
        best = shown[list(values).index(min(known) if metric.better == "lower" else max(known))]
        if all(text in (best, "n/a") for text in shown):
            # What reads the same is equally good: nobody would see why one of them is marked.
            best = ""
    cells = [
        Cell(text, None if value is None else float(value), bool(best) and text == best)
        for text, value in zip(shown, values, strict=True)
    ]
    return Row(metric, unit, scale, cells)
