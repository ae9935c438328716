"""Curves over time and distributions, several runs in one picture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from batdispatch.results.report import style
from batdispatch.results.report.evalys_bridge import load_curve

Floats = NDArray[np.float64]

#: A curve with more steps than this is averaged over as many equal stretches of time.
POINTS = 300


def step_curve(times: Floats, load: Floats, begin: float, end: float) -> tuple[Floats, Floats]:
    """Return ``(edges, values)`` of at most `POINTS` stretches, each value holding from its edge to the next one.

    Averages are exact: the integral of the load over a stretch, divided by its length.
    """
    if len(times) <= POINTS:
        return np.concatenate(([begin], times, [end])), np.concatenate(([0.0], load, [load[-1] if len(load) else 0.0]))
    area = np.concatenate(([0.0], np.cumsum(load[:-1] * np.diff(times))))
    edges = np.linspace(begin, end, POINTS + 1)
    # The load is constant between its times, so its integral is linear there; after the last it stays 0.
    values = np.diff(np.interp(edges, times, area)) / np.diff(edges)
    return edges, np.append(values, values[-1])


def load_figure(
    spans: Mapping[str, tuple[Floats, Floats, Floats]], *, label: str, total: float | None, begin: float, end: float
) -> Figure:
    """Return a picture of how much is under way over time, one curve a run (utilisation, queue).

    Args:
        spans: run -> (begin, end, weight) of what counts, float64 [job].
        label: of the vertical axis.
        total: what counts as 100 %; None: the axis shows amounts.
        begin: of the time axis, seconds.
        end: of the time axis, seconds.
    """
    with style.styled():
        figure, [axes] = style.new_figure()
        seconds = style.time_axis(axes, begin, end)
        highest = 0.0
        for index, (first, last, weight) in enumerate(spans.values()):
            edges, values = step_curve(*load_curve(first, last, weight), begin, end)
            values = values * (100.0 / total) if total else values
            highest = max(highest, float(values.max(initial=0)))
            axes.plot(
                edges / seconds,
                values,
                drawstyle="steps-post",
                linewidth=1.1,
                alpha=0.9,
                **style.series_style(index),  # type: ignore[arg-type]
            )
        axes.set_ylim(0, max(100.0 if total else 1.0, highest) * 1.03)
        axes.set_ylabel(label)
        axes.grid(True, axis="y")
        _legend(axes, list(spans))
    return figure


def distribution_figure(values: Mapping[str, Floats], *, label: str, durations: bool) -> Figure:
    """Return the share of jobs (vertical) that do not exceed a value (horizontal, logarithmic), one curve a run.

    Args:
        values: run -> float64 [job]; what is below 1 is shown at 1.
        label: of the horizontal axis.
        durations: whether the values are seconds, else ratios.
    """
    with style.styled():
        figure, [axes] = style.new_figure()
        largest = max((float(found.max(initial=1)) for found in values.values()), default=1.0)
        for index, found in enumerate(values.values()):
            at, share = style.quantiles(found)
            if len(at):
                at = np.maximum(at, 1.0)
                axes.plot(
                    np.concatenate(([1.0], at, [largest * 1.1])),
                    100 * np.concatenate(([0.0], share, [1.0])),
                    drawstyle="steps-post",
                    linewidth=1.4,
                    **style.series_style(index),  # type: ignore[arg-type]
                )
        if durations:
            style.log_duration_axis(axes, largest)
        else:
            style.plain_log_axis(axes, largest)
        axes.set_ylim(0, 100.5)
        axes.set_xlabel(label)
        axes.set_ylabel("% of jobs")
        axes.grid(True)
        _legend(axes, list(values))
    return figure


def _legend(axes: Axes, names: Sequence[str]) -> None:
    if len(names) < 2:
        return
    longest = max(map(len, names))
    columns = max(1, min(len(names), 70 // (longest + 8)))
    shown = [name if len(name) <= 60 else name[:57] + "..." for name in names]
    axes.legend(
        axes.lines[: len(names)],
        shown,
        loc="lower center",
        bbox_to_anchor=(0.5, 1.0),
        ncols=columns,
        fontsize=8.8,
        handlelength=1.8,
        columnspacing=1.2,
    )
