"""Pictures of PCP'20: means with one standard deviation (figures 4 and 5), and ratios over instances (figure 7)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from matplotlib.ticker import FuncFormatter

from batdispatch.inputs.files import write_whole
from batdispatch.report import style


def spread_picture(
    path: Path,
    panels: Mapping[str, Mapping[str, Mapping[str, Sequence[float]]]],
    *,
    title: str,
) -> None:
    """Draw means and standard deviations, one panel above the other, and write the picture as SVG.

    Args:
        path: to write.
        panels: label of the vertical axis -> series -> name of a group on the horizontal axis -> values. All panels and
            series have the same groups; a group without values is left empty.
        title: of the picture, for those who cannot see it.
    """
    with style.own_style():
        figure, rows = style.new_figure(2.4 * len(panels), len(panels))
        for number, (axes, (label, series)) in enumerate(zip(rows, panels.items(), strict=True)):
            groups = list(next(iter(series.values())))
            for index, (name, by_group) in enumerate(series.items()):
                there = [(place, by_group[group]) for place, group in enumerate(groups) if len(by_group[group])]
                places = np.array([place for place, _ in there]) + 0.18 * (index - (len(series) - 1) / 2)
                means = np.array([np.mean(values) for _, values in there])
                deviations = np.array([np.std(values) for _, values in there])
                # Nothing is less than nothing, so that the lower end of a bar stops there.
                axes.errorbar(
                    places,
                    means,
                    yerr=[np.minimum(deviations, means), deviations],
                    fmt="o",
                    markersize=4,
                    capsize=3,
                    label=name,
                    color=style.series_style(index)["color"],
                )
            axes.set_xticks(range(len(groups)), groups if number == len(rows) - 1 else [""] * len(groups), fontsize=8)
            axes.set_ylim(bottom=0)
            axes.set_ylabel(label)
            axes.grid(True, axis="y")
        rows[0].legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), borderaxespad=0.2, ncols=len(series))
    write_whole(path, style.alone(figure, "s", title))


def ratio_picture(
    path: Path, series: Mapping[str, Sequence[float]], *, label: str, marks: Sequence[float], title: str
) -> None:
    """Draw ratios on a logarithmic axis, each series in ascending order, and write the picture as SVG.

    Args:
        path: to write.
        series: name -> ratios, one an instance.
        label: of the vertical axis.
        marks: ratios that get a line across.
        title: of the picture, for those who cannot see it.
    """
    with style.own_style():
        figure, [axes] = style.new_figure(3.3)
        for index, (name, ratios) in enumerate(series.items()):
            values, shares = style.quantiles(np.asarray(ratios, dtype=np.float64))
            axes.step(
                100 * np.concatenate(([0.0], shares)),
                np.concatenate((values[:1], values)),
                where="pre",
                label=f"{name} ({len(ratios):,} instances)",
                linewidth=1.4,
                **style.series_style(index),
            )
        for mark in marks:
            axes.axhline(mark, color=style.FAINT, linewidth=0.8, linestyle=":")
        axes.set_yscale("log")
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axes.set_xlim(0, 100)
        axes.set_xlabel("% of the instances, in ascending order")
        axes.set_ylabel(label)
        axes.grid(True, axis="y")
        axes.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), borderaxespad=0.2)
    write_whole(path, style.alone(figure, "r", title))
