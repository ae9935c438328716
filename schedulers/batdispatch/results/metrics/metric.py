"""What a metric is: a function from the sample of a run to a value, with its name, its unit and its formula."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass

from batdispatch.results.metrics.sample import Sample

Value = float | int | None


@dataclass(frozen=True)
class Description:
    """What a metric is called and what it means.

    Attributes:
        name: key in ``result.json``.
        label: for people.
        unit: of the value; empty for counts and ratios.
        better: "lower", "higher" or "" when neither is.
        group: heading it stands under.
        summary: one line.
        formula: how it is computed.
    """

    name: str
    label: str
    unit: str
    better: str
    group: str
    summary: str
    formula: str


@dataclass(frozen=True)
class Metric(Description):
    """A metric with its function, `compute`, from the sample of a run to its value."""

    compute: Callable[[Sample], Value]


def register(
    table: dict[str, Metric], label: str, *, unit: str = "", better: str = "lower", group: str
) -> Callable[[Callable[[Sample], Value]], Callable[[Sample], Value]]:
    """Enter a function of a `Sample` into a table as a metric.

    Its docstring is a summary line, a blank line and the formula.
    """

    def enter(function: Callable[[Sample], Value]) -> Callable[[Sample], Value]:
        summary, _, formula = inspect.cleandoc(function.__doc__ or "").partition("\n\n")
        table[function.__name__] = Metric(
            function.__name__, label, unit, better, group, summary, " ".join(formula.split()), function
        )
        return function

    return enter
