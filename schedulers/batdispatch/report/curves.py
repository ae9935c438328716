"""Curves over time and distributions, several runs in one picture."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from batdispatch.report import style

Floats = NDArray[np.float64]

#: A curve with more steps than this is averaged over equal stretches of time.
STEPS = 300
#: Most stretches of an averaged curve: more of them draw a year of daily ups and downs as a block of ink.
POINTS = 120
#: Seconds of the stretches that people know, from a minute to four weeks.
_STRETCHES = (60.0, 300.0, 900.0, 3600.0, 10800.0, 21600.0, 43200.0, 86400.0, 2 * 86400.0, 7 * 86400.0, 28 * 86400.0)
#: Panels beside each other where each run has its own.
COLUMNS = 3


def load_curve(begin: Floats, end: Floats, weight: Floats) -> tuple[Floats, Floats]:
    """Return ``(times, load)``: the sum of the weights of all spans begin..end that are under way.

    The load holds from its time to the next, as in evalys' ``compute_load``. Times are rounded to microseconds as in
    evalys' job sets: without it, jobs that follow each other overlap by a rounding error and show as spikes.
    """
    times, place = np.unique(np.concatenate([begin, end]), return_inverse=True)
    load = np.cumsum(np.bincount(place, np.concatenate([weight, -weight]), len(times)))
    rounded = np.round(times, 6)
    last = np.append(rounded[1:] != rounded[:-1], np.ones(min(1, len(times)), dtype=bool))
    return rounded[last], load[last]


def stretch(begin: float, end: float) -> float:
    """Return the seconds over which long curves are averaged: a stretch that people know, unless none will do."""
    span = end - begin
    return next((known for known in _STRETCHES if span <= POINTS * known), span / POINTS)


def step_curve(times: Floats, load: Floats, begin: float, end: float) -> tuple[Floats, Floats]:
    """Return ``(edges, values)`` of a curve, each value holding from its edge to the next one.

    A curve of more than `STEPS` steps is averaged over at most `POINTS` stretches of `stretch` seconds. Averages are
    exact: the integral of the load over a stretch, divided by its length; the last stretch ends at `end`.
    """
    if len(times) <= STEPS:
        return np.concatenate(([begin], times, [end])), np.concatenate(([0.0], load, [load[-1] if len(load) else 0.0]))
    area = np.concatenate(([0.0], np.cumsum(load[:-1] * np.diff(times))))
    seconds = stretch(begin, end)
    count = max(1, math.ceil((end - begin) / seconds - 1e-9))
    edges = np.append(begin + seconds * np.arange(count), end)
    # The load is constant between its times, so its integral is linear there; after the last it stays 0.
    values = np.diff(np.interp(edges, times, area)) / np.diff(edges)
    return edges, np.append(values, values[-1])


def load_figure(
    spans: Mapping[str, tuple[Floats, Floats, Floats]], *, label: str, total: float | None, begin: float, end: float
) -> Figure:
    """Return a picture of how much is under way over time (utilisation, queue), with a curve for each run.

    Args:
        spans: run -> (begin, end, weight) of what counts, float64 [job].
        label: of the vertical axis.
        total: what counts as 100 %; None: the axis shows amounts.
        begin: of the time axis, seconds.
        end: of the time axis, seconds.
    """
    curves = {}
    for name, (first, last, weight) in spans.items():
        edges, values = step_curve(*load_curve(first, last, weight), begin, end)
        curves[name] = edges, values * (100.0 / total) if total else values
    highest = max((float(values.max(initial=0)) for _, values in curves.values()), default=0.0)
    with style.own_style():
        figure, panels = _panels(list(curves))
        for axes in panels:
            seconds = style.time_axis(axes, begin, end)
            axes.set_ylim(0, max(100.0 if total else 1.0, highest) * 1.03)
            axes.set_ylabel(label)
            axes.grid(True, axis="y")
        _draw(figure, panels, {name: (edges / seconds, values) for name, (edges, values) in curves.items()}, width=1.1)
    return figure


def distribution_figure(values: Mapping[str, Floats], *, label: str, durations: bool) -> Figure:
    """Return a picture of the share of jobs (vertical) up to a value (horizontal, logarithmic), a curve for each run.

    Args:
        values: run -> float64 [job]; what is below 1 is shown at 1.
        label: of the horizontal axis.
        durations: whether the values are seconds, else ratios.
    """
    largest = max((float(found.max(initial=1)) for found in values.values()), default=1.0)
    curves = {}
    for name, found in values.items():
        at, share = style.quantiles(found)
        curves[name] = (
            np.concatenate(([1.0], np.maximum(at, 1.0), [largest * 1.1])),
            100 * np.concatenate(([0.0], share, [1.0])),
        )
    with style.own_style():
        figure, panels = _panels(list(values))
        for axes in panels:
            if durations:
                style.log_duration_axis(axes, largest, most=8 if len(panels) == 1 else 3)
            else:
                style.plain_log_axis(axes, largest)
            axes.set_ylim(0, 100.5)
            axes.set_xlabel(label)
            axes.set_ylabel("% of jobs")
            axes.grid(True)
        shown = {name: curve if len(values[name]) else None for name, curve in curves.items()}
        _draw(figure, panels, shown, width=1.4)
    return figure


def in_panels(runs: int) -> bool:
    """Return whether so many runs get a panel each, since there are not enough colours to tell them apart."""
    return runs > len(style.SERIES)


def _panels(names: Sequence[str]) -> tuple[Figure, list[Axes]]:
    """Return a figure and its axes: one for a few runs; for many, a small one for each, with its name above it."""
    if not in_panels(len(names)):
        return style.new_figure()
    rows = math.ceil(len(names) / COLUMNS)
    titles = [textwrap.fill(name.replace(",", ", "), 27, max_lines=4, placeholder="...") for name in names]
    lines = sum(max(title.count("\n") for title in titles[row * COLUMNS : (row + 1) * COLUMNS]) for row in range(rows))
    figure, grid = style.new_grid(rows, COLUMNS, height=0.55 + 0.95 * rows + 0.13 * lines)
    for axes, title in zip(grid, titles, strict=False):
        axes.set_title(title, fontsize=7.4, pad=3)
        axes.tick_params(labelsize=8)
    for axes in grid[len(names) :]:
        axes.remove()
    return figure, grid[: len(names)]


def _draw(
    figure: Figure, panels: Sequence[Axes], curves: Mapping[str, tuple[Floats, Floats] | None], *, width: float
) -> None:
    """Draw curves as steps: all into one panel, or each into its own, the first one faintly behind the others.

    Args:
        figure: that holds the panels.
        panels: one for all runs, or one per run.
        curves: run -> (x, y); None: the run has nothing to draw.
        width: of the lines.
    """
    if len(panels) == 1:
        for index, curve in enumerate(curves.values()):
            if curve is not None:
                panels[0].plot(*curve, drawstyle="steps-post", linewidth=width, alpha=0.9, **style.series_style(index))
        _legend(panels[0], [name for name, curve in curves.items() if curve is not None])
        return
    first = next(iter(curves.values()))
    for axes, curve in zip(panels, curves.values(), strict=True):
        if first is not None and curve is not first:
            axes.plot(*first, drawstyle="steps-post", linewidth=0.7, color=style.FAINT)
        if curve is not None:
            axes.plot(*curve, drawstyle="steps-post", linewidth=width, alpha=0.9, **style.series_style(0))
    # What an axis shows is said once for all panels.
    figure.supxlabel(panels[0].get_xlabel(), fontsize=9.8)
    figure.supylabel(panels[0].get_ylabel(), fontsize=9.8)
    for axes in panels:
        axes.set(xlabel="", ylabel="")


def _legend(axes: Axes, names: Sequence[str]) -> None:
    if len(names) < 2:
        return
    longest = max(map(len, names))
    columns = max(1, min(len(names), 70 // (longest + 8)))
    shown = [name if len(name) <= 60 else name[:57] + "..." for name in names]
    style.legend_above(axes, axes.lines[: len(names)], shown, ncols=columns, handlelength=1.8, columnspacing=1.2)
