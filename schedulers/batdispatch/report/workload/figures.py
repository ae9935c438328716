"""The pictures of a workload, as SVG elements for a page."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from batdispatch.report import style
from batdispatch.report.curves import distribution_figure, load_figure, stretch
from batdispatch.report.html import Picture
from batdispatch.report.workload.traits import ACCURACY_PARTS, WEEKDAYS, Traits
from batdispatch.results.numbers import duration


def pictures(traits: Traits) -> list[Picture]:
    """Return what there is to see of a workload; what is unknown has no picture."""
    made = [_load(traits)]
    if len(traits.waits):
        made += _as_it_ran(traits)
    made += [_sizes(traits), _times(traits)]
    if len(traits.accuracy):
        made.append(_accuracy(traits))
    made.append(_hours(traits))
    weekdays = traits.by_weekday()
    if weekdays is not None:
        figure = _bars(WEEKDAYS, [100 * weekdays], "% of jobs", "day of submission")
        made.append(_picture("Arrivals by weekday", f"Days of {_clock(traits)}.", figure))
    return made


def _picture(title: str, caption: str, figure: Figure) -> Picture:
    prefix = title.lower().replace(" ", "-")
    return Picture(title, caption, style.to_svg(figure, prefix, title))


def _load(traits: Traits) -> Picture:
    begin, end = float(traits.submission[0]), float(traits.submission[-1])
    seconds = stretch(begin, end)
    edges, load = traits.submitted_load(seconds)
    with style.own_style():
        figure, (axes,) = style.new_figure()
        unit = style.time_axis(axes, begin, max(end, begin + 1))
        values = load * 100 if traits.capacity else load
        axes.plot(edges / unit, values, drawstyle="steps-post", linewidth=1.1, **style.series_style(0))
        if traits.capacity:
            axes.axhline(100, color=style.FAINT, linewidth=0.8)
        axes.set_ylim(0, max(float(values.max()), 100.0 if traits.capacity else 1e-9) * 1.05)
        axes.set_ylabel("% of the machine" if traits.capacity else f"{traits.unit}s")
        axes.grid(True, axis="y")
    caption = f"Work of the jobs submitted in each {duration(seconds)}, over what the machine can do in that time."
    if traits.capacity:
        caption += " Above the line at 100 %, more comes than can be done, and the queue grows."
    else:
        caption = (
            f"Work of the jobs submitted in each {duration(seconds)}, per second: {traits.unit}s that it keeps busy."
        )
    return _picture("Load over time", caption, figure)


def _as_it_ran(traits: Traits) -> list[Picture]:
    known = ~np.isnan(traits.start) & ~np.isnan(traits.runtime)
    start, size = traits.start[known], traits.size[known]
    submission = traits.submission[known]
    finish = start + np.minimum(traits.runtime, traits.walltime)[known]
    begin, end = float(submission.min()), float(finish.max())
    running = load_figure(
        {"log": (start, finish, size)},
        label="% of the machine" if traits.capacity else f"{traits.unit}s",
        total=traits.capacity,
        begin=begin,
        end=end,
    )
    queue = load_figure(
        {"log": (submission, start, (start > submission).astype(np.float64))},
        label="waiting jobs",
        total=None,
        begin=begin,
        end=end,
    )
    averaged = f"Long curves are averaged over {duration(stretch(begin, end))}."
    return [
        _picture("As the log ran", f"What ran at the times when the log says so. {averaged}", running),
        _picture("Queue in the log", f"Jobs that waited at the times when the log says so. {averaged}", queue),
    ]


def _sizes(traits: Traits) -> Picture:
    sizes = traits.sizes()
    figure = _bars(sizes.names, [100 * sizes.jobs, 100 * sizes.work], "%", f"{traits.unit}s", ["jobs", "work"])
    caption = f"Share of the jobs, and of the work ({traits.unit}-seconds), by size. Classes end at powers of two."
    return _picture("Sizes", caption, figure)


def _times(traits: Traits) -> Picture:
    values = {"run time": traits.runtime[~np.isnan(traits.runtime)]}
    limits = traits.walltime[np.isfinite(traits.walltime)]
    if len(limits):
        values["walltime"] = limits
    figure = distribution_figure(values, label="run time, walltime", durations=True)
    return _picture("Run times", "Share of the jobs that take, or asked for, no longer than this.", figure)


def _accuracy(traits: Traits) -> Picture:
    shares = 100 * traits.accuracy_shares()
    part = 100 // ACCURACY_PARTS
    names = [str(part * row) if row % 4 == 0 else "" for row in range(ACCURACY_PARTS)] + [">100"]
    figure = _bars(names, [shares], "% of jobs", "run time in % of the walltime")
    caption = f"Share of the jobs by how much of their walltime they used, in steps of {part} %."
    over = float(shares[-1])
    if over:
        caption += f" {over:.1f} % ran longer than it, and are killed when simulated."
    return _picture("Walltime accuracy", caption, figure)


def _hours(traits: Traits) -> Picture:
    names = [str(hour) if hour % 3 == 0 else "" for hour in range(24)]
    figure = _bars(names, [100 * traits.by_hour()], "% of jobs", "hour of submission")
    return _picture("Arrivals by hour", f"Hours of {_clock(traits)}.", figure)


def _clock(traits: Traits) -> str:
    if not traits.clock:
        return "the workload's own clock, which begins at 0: no date is known"
    return "the log's clock, as it stands, or UTC" if traits.clock == "UTC" else f"local time in {traits.clock}"


def _bars(
    names: Sequence[str], groups: Sequence[np.ndarray], label: str, below: str, legend: Sequence[str] = ()
) -> Figure:
    """Return bars, those of each group beside one another."""
    with style.own_style():
        figure, (axes,) = style.new_figure()
        wide = 0.8 / len(groups)
        at = np.arange(len(names))
        for row, values in enumerate(groups):
            axes.bar(at + (row - (len(groups) - 1) / 2) * wide, values, wide * 0.92, color=style.SERIES[row])
        axes.set_ylabel(label)
        axes.set_xlabel(below)
        axes.grid(True, axis="y")
        _name(axes, names)
        if legend:
            style.legend_above(axes, legend, ncols=len(legend))
    return figure


def _name(axes: Axes, names: Sequence[str]) -> None:
    shown = [row for row, name in enumerate(names) if name]
    # Long names, such as those of large sizes, would run into each other.
    letters = sum(len(names[row]) + 1 for row in shown)
    axes.set_xticks(shown, [names[row] for row in shown])
    if letters > 60:
        axes.set_xticks(
            shown, [names[row] for row in shown], rotation=45, ha="right", rotation_mode="anchor", fontsize=8
        )
